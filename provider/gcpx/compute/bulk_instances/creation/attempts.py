"""The ways in which a fleet's instances are created: with its own properties, then with those of each fallback."""

from __future__ import annotations

from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.creation.wanted import Wanted
from gcpx.compute.bulk_instances.fleet_id import FALLBACK_LABEL
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.rules import nested

_DIRECT: Final = ("machineType", "minCpuPlatform", "reservationAffinity")
"""The properties of a fallback that are instance properties of the same name."""
_OWN: Final = -1
"""The index of the attempt with the fleet's own properties."""


@attrs.frozen(kw_only=True)
class Attempt:
    """One way to create instances.

    Attributes:
        name: what it is called in messages: `fallbacks[0]`, or empty for the fleet's own properties.
        inputs: the fleet's inputs with what the fallback changes.
        labels: the labels that show which fallback a member was created with.
        is_last: whether no other attempt follows.
    """

    name: str = ""
    inputs: dict[str, Any]
    labels: dict[str, str] = attrs.Factory(dict)
    is_last: bool

    @property
    def index(self) -> int:
        """The index of the fallback; -1 for the fleet's own properties."""
        return int(self.labels.get(FALLBACK_LABEL, _OWN))


def attempts(inputs: dict[str, Any], wanted: Wanted) -> list[Attempt]:
    """List the attempts to create instances in their order; fallbacks without the wanted zone are left out."""
    own = Attempt(inputs=inputs, is_last=False)
    found = [own, *(
        Attempt(name=f"fallbacks[{index}]", inputs=with_fallback(inputs, fallback), labels={FALLBACK_LABEL: str(index)}, is_last=False)
        for index, fallback in enumerate(inputs.get("fallbacks") or ())
        if wanted.zone is None or not fallback.get("zones") or wanted.zone in map(name_of, fallback["zones"])
    )]  # fmt: skip
    return [*found[:-1], attrs.evolve(found[-1], is_last=True)]


def attempt_of(instance: dict[str, Any]) -> int:
    """Return the index of the attempt that created a member (REST JSON), from its label."""
    index = as_integer(instance.get("labels", {}).get(FALLBACK_LABEL))
    return _OWN if index is None else index


def inputs_of_member(inputs: dict[str, Any], instance: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs with which a member (REST JSON) was created: those of its fallback, if it still exists."""
    index, fallbacks = attempt_of(instance), inputs.get("fallbacks") or ()
    return with_fallback(inputs, fallbacks[index]) if 0 <= index < len(fallbacks) else inputs


def with_fallback(inputs: dict[str, Any], fallback: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a fleet with what a fallback changes in them; both may hold unknowns."""
    changed = {name: fallback[name] for name in _DIRECT if fallback.get(name) is not None}
    if fallback.get("provisioningModel") is not None:
        scheduling = nested(nested(inputs, "instanceProperties"), "scheduling")
        changed["scheduling"] = _provisioned(scheduling, fallback["provisioningModel"])
    merged = dict(inputs)
    if changed:
        merged["instanceProperties"] = {**nested(inputs, "instanceProperties"), **changed}
    if fallback.get("machineType") is not None or fallback.get("instanceFlexibilityPolicy") is not None:
        merged["instanceFlexibilityPolicy"] = fallback.get("instanceFlexibilityPolicy")
    if fallback.get("zones"):
        merged["locationPolicy"] = _in_zones(nested(inputs, "locationPolicy"), fallback["zones"])
    return merged


def _provisioned(scheduling: dict[str, Any], model: Any) -> dict[str, Any]:
    """Return scheduling with another provisioning model, and without settings that only the previous one has.

    Removed settings are null, which also removes those of a template.
    """
    removed = [] if model == "SPOT" else ["preemptible", "preemptionNoticeDuration"]
    if model == "STANDARD" and not any(scheduling.get(name) for name in ("maxRunDuration", "terminationTime")):
        removed.append("instanceTerminationAction")
    return {**scheduling, "provisioningModel": model, **dict.fromkeys(removed)}


def _in_zones(policy: dict[str, Any], zones: Any) -> dict[str, Any]:
    """Return a location policy that allows only these zones; the target shape stays."""
    rest = {name: value for name, value in policy.items() if name != "locations"}
    return {**rest, "zones": [_listed(zone) for zone in zones] if isinstance(zones, list) else zones}


def _listed(zone: Any) -> dict[str, Any]:
    return {"zone": f"zones/{name_of(zone)}" if isinstance(zone, str) else zone}
