"""Online checks of a fleet: whether what its inputs name exists, the region's quotas, and the capacity advice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from gcpx.compute.bulk_instances.capacity_advice import show_capacity_advice
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.online_checks import check_machine_type, check_quotas, instance_checks
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.model.rules import elements, nested, text


def fleet_checks(checks: OnlineChecks, olds: dict[str, Any], inputs: dict[str, Any]) -> Iterator[OnlineCheck]:
    """Yield the checks of a fleet's inputs, which may hold unknowns; `olds` are the last inputs, or empty."""
    properties = nested(inputs, "instanceProperties")
    yield from instance_checks(checks, properties, ("instanceProperties",))
    yield from _zone_checks(checks, inputs)
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


def _zone_checks(checks: OnlineChecks, inputs: dict[str, Any]) -> Iterator[OnlineCheck]:
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
