"""What Google's capacity advice says about a fleet of Spot or flex-start instances, for users who set `validateOnline`.

Source: Compute Engine REST reference, `advice.capacity`.
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard

from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.model.links import name_of
from gcpx.model.numbers import as_number
from gcpx.model.rules import Violation, elements, nested, text

_MODELS: Final = {"SPOT": "Spot", "FLEX_START": "flex-start"}
"""The provisioning models that have advice, with their names in messages."""
_LOW: Final = 0.5
"""Below this obtainability, a fleet is likely to get fewer instances than it asks for."""
_HOUR: Final = 3600


def show_capacity_advice(checks: OnlineChecks, inputs: dict[str, Any], more: int) -> list[Violation]:
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
        **_distribution(nested(inputs, "locationPolicy")),
    }
    path = f"v1/projects/{checks.project}/regions/{checks.region}/advice/capacity"
    advice = checks.lookups.ask(checks.call, path, body) or {}
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
        checks.call.inform(said)
    else:
        checks.call.warn(
            f"{said}; this is low: allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy, or add fallbacks"
        )


def _provisioning_model(inputs: dict[str, Any]) -> str:
    scheduling = nested(nested(inputs, "instanceProperties"), "scheduling")
    return "SPOT" if scheduling.get("preemptible") is True else text(scheduling, "provisioningModel")


def _selections(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the machine types to choose from (REST JSON); empty if any of them is not known."""
    properties = nested(inputs, "instanceProperties")
    accelerators = _accelerators(properties)
    chosen = nested(nested(inputs, "instanceFlexibilityPolicy"), "instanceSelections")
    given = {name: item for name, item in chosen.items() if isinstance(item, dict)}
    types = {name: item.get("machineTypes") for name, item in given.items()} or {
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


def _accelerators(properties: dict[str, Any]) -> dict[str, Any]:
    found = [
        {"acceleratorType": name_of(text(item, "acceleratorType")), "acceleratorCount": item["acceleratorCount"]}
        for _, item in elements(properties, "guestAccelerators")
        if as_number(item.get("acceleratorCount")) and text(item, "acceleratorType")
    ]
    return {"guestAccelerators": found} if found else {}


def _distribution(policy: dict[str, Any]) -> dict[str, Any]:
    """Return where the instances may be (REST JSON), as far as a location policy says."""
    locations = nested(policy, "locations")
    allowed = [name for name in locations if nested(locations, name).get("preference") in {None, "ALLOW"}]
    listed = [text(zone, "zone") for _, zone in elements(policy, "zones")]
    zones = [{"zone": f"zones/{name}"} for name in dict.fromkeys(map(name_of, [*allowed, *listed])) if name]
    shape = text(policy, "targetShape") or "ANY_SINGLE_ZONE"
    return {"distributionPolicy": {"targetShape": shape, **({"zones": zones} if zones else {})}}
