"""Which instances a step creates: under which names, and in which zones."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.creation.wanted import Wanted
from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.compute.bulk_instances.names import names_after_the_highest
from gcpx.compute.bulk_instances.rollout.generation import generation_label
from gcpx.compute.bulk_instances.rollout.goal import Goal
from gcpx.model.call import Call
from gcpx.model.links import name_of


def instances_to_create(
    call: Call, goal: Goal, kept: list[Instance], deleted: list[Instance], count: int
) -> list[Wanted]:
    """Return what to create, one element for each bulk creation.

    Args:
        call: the engine's call, whose last outputs give the names and zones of members that were lost.
        goal: the goal of the update.
        kept: the members that exist.
        deleted: the members that the same step has deleted.
        count: the number of instances.
    """
    labels = generation_label(goal.generation)
    zones = _zones_by_name(call, goal, kept, deleted)
    if goal.inputs.get("perInstanceProperties"):
        existing = {member["name"] for member in kept}
        names = [name for name in goal.inputs["perInstanceProperties"] if name not in existing][:count]
        return _grouped({name: zones.get(name) for name in names}, labels)
    slots = dict(list(zones.items())[:count])
    rest = count - len(slots)
    in_use = {*(member["name"] for member in kept), *slots}
    names = names_after_the_highest(goal.inputs["namePattern"], in_use, rest)
    return [*_grouped(slots, labels), *([Wanted(count=rest, names=names, labels=labels)] if rest else [])]


def _zones_by_name(call: Call, goal: Goal, kept: list[Instance], deleted: list[Instance]) -> dict[str, str | None]:
    """Return the names that new members take over, with their zones; empty unless the policy keeps names."""
    if not goal.policy.keep_names:
        return {}
    lost: list[dict[str, Any]] = [*(call.last.get("lostMembers") or ()), *(call.last.get("members") or ())]
    existing = {member["name"] for member in kept}
    found = {item["name"]: name_of(item["zone"]) for item in [*deleted, *lost]}
    return {name: zone for name, zone in found.items() if name not in existing}


def _grouped(zones: dict[str, str | None], labels: dict[str, str]) -> list[Wanted]:
    """Put the names of one zone into one bulk creation."""
    groups: dict[str | None, list[str]] = {}
    for name, zone in zones.items():
        groups.setdefault(zone, []).append(name)
    return [Wanted(count=len(names), names=names, zone=zone, labels=labels) for zone, names in groups.items()]
