"""The questions of a preview to Google about a fleet: whether named things exist, quotas, and advice on capacity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from gcpx.compute.bulk_instances.capacity import FleetSize, Places
from gcpx.compute.online_checks import check_machine_type, check_quotas, instance_checks
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.model.fields import Failure, elements, nested, text
from gcpx.model.links import name_of
from gcpx.model.numbers import as_number

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues

_MODELS: Final = {"SPOT": "Spot", "FLEX_START": "flex-start"}
"""The provisioning models that have advice, with their names in messages."""
_LOW: Final = 0.5
"""Below this obtainability, a fleet is likely to get fewer instances than it asks for."""
_HOUR: Final = 3600


def show_capacity_advice(checks: OnlineChecks, inputs: BulkInstancesValues, more: int) -> list[Failure]:
    """Show how likely `more` instances can be created, and warn if that is unlikely; never a failure.

    `inputs` are the fleet's, and may hold unknowns. Without Spot or flex-start, or if the machine types are not known,
    Google is not asked.
    """
    model, selections = _provisioning_model(inputs), _selections(inputs)
    if more <= 0 or model not in _MODELS or not selections or not FleetSize.of(inputs).wanted:
        return []
    body = {
        "size": more,
        "instanceProperties": {"scheduling": {"provisioningModel": model}},
        "instanceFlexibilityPolicy": {"instanceSelections": selections},
        **_distribution(Places.of(inputs)),
    }
    path = f"v1/projects/{checks.project}/regions/{checks.region}/advice/capacity"
    advice = checks.lookups.ask(checks.context, path, body) or {}
    for _, recommendation in elements(advice, "recommendations"):
        _show(checks, f"{more:,} {_MODELS[model]} instances", nested(recommendation, "scores"))
    return []


def _show(checks: OnlineChecks, what: str, scores: dict[str, Any]) -> None:
    obtainability = as_number(scores.get("obtainability"))
    if obtainability is None:
        return
    uptime = as_number(text(scores, "estimatedUptime").removesuffix("s"))
    lasting = f", and an expected uptime of {uptime / _HOUR:,.1f} hours" if uptime is not None else ""
    said = f"capacity advice for {what}: an obtainability of {obtainability:.2f} (0 to 1){lasting}"
    if obtainability >= _LOW:
        checks.context.inform(said)
    else:
        checks.context.warn(
            f"{said}; this is low: allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy, or add fallbacks"
        )


def _provisioning_model(inputs: BulkInstancesValues) -> str:
    scheduling = nested(nested(inputs, "instanceProperties"), "scheduling")
    return "SPOT" if scheduling.get("preemptible") is True else text(scheduling, "provisioningModel")


def _selections(inputs: BulkInstancesValues) -> dict[str, Any]:
    """Return the machine types to choose from (REST JSON); empty if any of them is not known."""
    properties = nested(inputs, "instanceProperties")
    accelerators = _accelerators(properties)
    chosen = nested(nested(inputs, "instanceFlexibilityPolicy"), "instanceSelections")
    given = {name: item for name, item in chosen.items() if isinstance(item, dict)}
    types: dict[str, object] = {name: item.get("machineTypes") for name, item in given.items()} or {
        "machine-type": [properties.get("machineType")]
    }
    known = {name: names for name, names in types.items() if _are_names(names)}
    if known.keys() != types.keys():
        return {}
    ranks = {name: {"rank": str(item["rank"])} for name, item in given.items() if as_number(item.get("rank"))}
    return {
        name: {"machineTypes": list(map(name_of, names)), **ranks.get(name, {}), **accelerators}
        for name, names in known.items()
    }


def _are_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _accelerators(properties: InstancePropertiesValues) -> dict[str, Any]:
    found = [
        {"acceleratorType": name_of(text(item, "acceleratorType")), "acceleratorCount": item["acceleratorCount"]}
        for _, item in elements(properties, "guestAccelerators")
        if as_number(item.get("acceleratorCount")) and text(item, "acceleratorType")
    ]
    return {"guestAccelerators": found} if found else {}


def _distribution(places: Places) -> dict[str, Any]:
    """Return where the instances may be (REST JSON): in the zones that are listed, or in all zones of the region."""
    zones = [{"zone": f"zones/{name}"} for name in sorted(filter(places.allows, places.listed))]
    return {"distributionPolicy": {"targetShape": places.shape, **({"zones": zones} if zones else {})}}


def fleet_checks(checks: OnlineChecks, olds: BulkInstancesValues, inputs: BulkInstancesValues) -> Iterator[OnlineCheck]:
    """Yield the checks of a fleet's inputs, which may hold unknowns; `olds` are the last inputs, or empty."""
    properties = nested(inputs, "instanceProperties")
    yield from instance_checks(checks, properties, ("instanceProperties",))
    yield from _zone_checks(checks, inputs)
    template = text(inputs, "sourceInstanceTemplate")
    if template != text(olds, "sourceInstanceTemplate"):  # existing members no longer need their template
        yield partial(checks.check_link, template, "global/instanceTemplates", ("sourceInstanceTemplate",))
    policies = nested(inputs, "placement").get("policies")
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        link = policy if isinstance(policy, str) and checks.region else ""
        collection = f"regions/{checks.region}/resourcePolicies"
        yield partial(checks.check_link, link, collection, ("placement", "policies", index))
    if checks.project and checks.region:
        size, existing = FleetSize.of(inputs), FleetSize.of(olds).wanted
        more, minimum = size.wanted - existing, max(1, size.minimum) - existing  # a fleet needs at least one instance
        yield partial(check_quotas, checks, text(properties, "machineType"), more, minimum)
        yield partial(show_capacity_advice, checks, inputs, more)


def _zone_checks(checks: OnlineChecks, inputs: BulkInstancesValues) -> Iterator[OnlineCheck]:
    """Check the zones of the location policy, in both of its forms, and of the fallbacks."""
    policy = nested(inputs, "locationPolicy")
    for name in nested(policy, "locations"):
        yield partial(checks.check_zone, name, ("locationPolicy", "locations", name))
    for index, item in elements(policy, "zones"):
        yield partial(checks.check_zone, text(item, "zone"), ("locationPolicy", "zones", index, "zone"))
    for index, fallback in elements(inputs, "fallbacks"):
        zones = fallback.get("zones")
        for place, zone in enumerate(zones if isinstance(zones, list) else ()):
            known = zone if isinstance(zone, str) else ""
            yield partial(checks.check_zone, known, ("fallbacks", index, "zones", place))
        machine_type = text(fallback, "machineType")
        yield partial(check_machine_type, checks, machine_type, ("fallbacks", index, "machineType"))
