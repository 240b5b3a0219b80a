"""Rules that compare fallbacks with their fleet."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.creation.attempts import with_fallback
from gcpx.compute.bulk_instances.creation.fallbacks import FALLBACKS
from gcpx.compute.bulk_instances.fleet_id import FALLBACK_LABEL
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.model.check import Finding, check
from gcpx.model.fields import object_type
from gcpx.model.links import name_of
from gcpx.model.rules import Violation, elements, nested, rule, text
from gcpx.model.values import UNKNOWN, format_path

_CAPACITY: Final = ("machineType", "minCpuPlatform", "reservationAffinity")


@rule("a fallback must fit instanceProperties: merged with it, they must still follow their own rules", FALLBACKS)
def fallbacks_fit_the_instance_properties(values: dict[str, Any]) -> list[Violation]:
    """Refuse what the rules of instance properties refuse, once a fallback is merged into them."""
    own = set(_findings(values))
    return [
        (("fallbacks", index), f"does not fit instanceProperties: {format_path(finding.path)} {finding.reason}")
        for index, fallback in elements(values, "fallbacks")
        for finding in _findings(with_fallback(values, fallback))
        if finding not in own
    ]


def _findings(inputs: dict[str, Any]) -> list[Finding]:
    properties = inputs.get("instanceProperties")
    return check(object_type(InstanceProperties), properties).failures if isinstance(properties, dict) else []


@rule("a fallback must set something, and differ from the fleet and from the fallbacks before it", FALLBACKS)
def fallbacks_differ(values: dict[str, Any]) -> list[Violation]:
    """Refuse a fallback that would only repeat an earlier attempt."""
    tried = [("the fleet itself", _capacity(values))]
    failures: list[Violation] = []
    for index, fallback in elements(values, "fallbacks"):
        capacity = _capacity(with_fallback(values, fallback))
        same = next((name for name, earlier in tried if earlier == capacity), None)
        if same is not None and not _has_unknown(capacity):
            failures.append((("fallbacks", index), f"must differ from {same}, which asks for the same capacity"))
        tried.append((f"fallbacks[{index}]", capacity))
    return failures


def _capacity(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what decides which capacity the instances use, in a form that can be compared."""
    properties = nested(inputs, "instanceProperties")
    scheduling = nested(properties, "scheduling")
    default = None if inputs.get("sourceInstanceTemplate") is not None else "STANDARD"
    policy = nested(inputs, "locationPolicy")
    return {
        **{name: properties.get(name) for name in _CAPACITY},
        "instanceFlexibilityPolicy": inputs.get("instanceFlexibilityPolicy"),
        "locations": policy.get("locations"),
        "provisioningModel": "SPOT" if scheduling.get("preemptible") else scheduling.get("provisioningModel", default),
        "zones": _zone_names(policy),
    }


def _zone_names(policy: dict[str, Any]) -> Any:
    """Return the names of the zones of a location policy in one order; UNKNOWN if one of them is not known."""
    zones = [item.get("zone") for _, item in elements(policy, "zones")]
    if policy.get("zones") is UNKNOWN or not all(isinstance(zone, str) for zone in zones):
        return UNKNOWN
    return sorted(map(name_of, zones))


def _has_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_unknown, value.values()))
    return any(map(_has_unknown, value)) if isinstance(value, list) else value is UNKNOWN


@rule("zones of fallbacks must be in the fleet's region", FALLBACKS)
def fallback_zones_are_in_the_region(values: dict[str, Any]) -> list[Violation]:
    """Refuse zones of another region, if the region is known."""
    region = name_of(text(values, "region"))
    return [
        (("fallbacks", index, "zones", place), f"must be a zone of {region}, the fleet's region")
        for index, fallback in elements(values, "fallbacks")
        for place, zone in enumerate(_zones(fallback))
        if region and isinstance(zone, str) and not name_of(zone).startswith(f"{region}-")
    ]


@rule(
    "instanceProperties.labels must not be null with fallbacks, because gcpx sets a label on their members", FALLBACKS
)
def fallback_labels_can_be_set(values: dict[str, Any]) -> list[Violation]:
    """Refuse to remove all labels of a template if a label has to be added."""
    properties = nested(values, "instanceProperties")
    if not values.get("fallbacks") or properties.get("labels", {}) is not None:
        return []
    words = f"must not be null with fallbacks, whose members get the label {FALLBACK_LABEL}: to remove labels, set each of their keys to null"
    return [(("instanceProperties", "labels"), words)]


def _zones(fallback: dict[str, Any]) -> list[Any]:
    zones = fallback.get("zones")
    return zones if isinstance(zones, list) else []
