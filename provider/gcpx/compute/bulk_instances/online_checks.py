"""Online checks of a fleet: what its inputs name exists, and the region's quotas allow its instances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.online_checks import check_quotas, instance_checks
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.model.rules import elements, nested, text


def fleet_checks(checks: OnlineChecks, olds: dict[str, Any], inputs: dict[str, Any]) -> Iterator[OnlineCheck]:
    """Yield the checks of a fleet's inputs, which may hold unknowns; `olds` are the last inputs, or empty."""
    properties = nested(inputs, "instanceProperties")
    yield from instance_checks(checks, properties, ("instanceProperties",))
    yield from _zone_checks(checks, nested(inputs, "locationPolicy"))
    if checks.project and checks.region:
        size, existing = FleetSize.of(inputs), FleetSize.of(olds).wanted
        more, minimum = size.wanted - existing, max(1, size.minimum) - existing  # a fleet needs at least one instance
        yield partial(check_quotas, checks, text(properties, "machineType"), more, minimum)


def _zone_checks(checks: OnlineChecks, policy: dict[str, Any]) -> Iterator[OnlineCheck]:
    """Check the zones of a location policy, in both of its forms."""
    for name in nested(policy, "locations"):
        yield partial(checks.check_zone, name, ("locationPolicy", "locations", name))
    for index, item in elements(policy, "zones"):
        yield partial(checks.check_zone, text(item, "zone"), ("locationPolicy", "zones", index, "zone"))
