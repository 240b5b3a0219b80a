"""How a fleet scales: which members are deleted, and how many instances are created, under which names.

A fleet with a name pattern grows with higher numbers, which Google chooses, and shrinks from the highest number down. A
fleet of named instances (`perInstanceProperties`) has exactly the instances that its inputs name.
"""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.compute.bulk_instances.fleet import Instance, name_order
from gcpx.compute.bulk_instances.size import FleetSize, is_parked


@attrs.frozen(kw_only=True)
class Scaling:
    """What to delete and what to create, so that a fleet has the members that its inputs ask for.

    Attributes:
        members: the members that exist.
        surplus: those of them to delete.
        missing: the number of instances to create.
        missing_names: their names; empty if a name pattern gives them.
    """

    members: list[Instance]
    surplus: list[Instance] = attrs.Factory(list)
    missing: int = 0
    missing_names: list[str] = attrs.Factory(list)

    @property
    def kept(self) -> list[Instance]:
        """The members that stay, in the order of `members`."""
        deleted = {member["id"] for member in self.surplus}
        return [member for member in self.members if member["id"] not in deleted]


def plan_scaling(members: list[Instance], old: dict[str, Any], new: dict[str, Any]) -> Scaling:
    """Plan what to delete and what to create.

    `old` are the inputs of the last update, empty for a new fleet, and `new` are those of this one.
    """
    if is_parked(new):
        return Scaling(members=members, surplus=members)
    if new.get("perInstanceProperties"):
        return _by_name(members, old.get("perInstanceProperties") or {}, new["perInstanceProperties"])
    return _by_count(members, FleetSize.of(new).wanted)


def _by_count(members: list[Instance], wanted: int) -> Scaling:
    highest_first = sorted(members, key=lambda member: name_order(member["name"]), reverse=True)
    surplus = highest_first[: max(0, len(members) - wanted)]
    return Scaling(members=members, surplus=surplus, missing=max(0, wanted - len(members)))


def _by_name(members: list[Instance], old: dict[str, Any], new: dict[str, Any]) -> Scaling:
    """Plan for named instances. One whose own properties changed is deleted and created again."""
    changed = {name for name, own in new.items() if name in old and old[name] != own}
    surplus = [member for member in members if member["name"] not in new or member["name"] in changed]
    existing = {member["name"] for member in members} - {member["name"] for member in surplus}
    names = [name for name in new if name not in existing]
    return Scaling(members=members, surplus=surplus, missing=len(names), missing_names=names)
