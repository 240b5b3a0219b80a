"""Compact placement: which members share a placement policy, and how new ones are divided into groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.rules import nested

MOST_INSTANCES: Final = 1500
"""The most instances that Google allows in a compact placement policy."""


@attrs.define
class PlacementGroup:
    """The members that share one placement policy.

    Attributes:
        policy: the policy's name.
        free: how many more members the group may have.
        zone: the name of the zone that its members are in; None if it has none.
    """

    policy: str
    free: int
    zone: str | None


def placement_groups(inputs: dict[str, Any], members: list[Instance]) -> list[PlacementGroup]:
    """Return the groups of a fleet in the order of its policies; empty if it has no `placement`."""
    placement = nested(inputs, "placement")
    size = as_integer(placement.get("size")) or MOST_INSTANCES
    return [_group(name_of(policy), size, members) for policy in placement.get("policies") or ()]


def _group(policy: str, size: int, members: list[Instance]) -> PlacementGroup:
    zones = [name_of(member["zone"]) for member in members if policy in _policies(member)]
    return PlacementGroup(policy, max(0, size - len(zones)), zones[0] if zones else None)


def _policies(member: Instance) -> Iterator[str]:
    return (name_of(link) for link in member.get("resourcePolicies") or ())
