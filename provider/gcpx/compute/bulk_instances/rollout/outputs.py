"""The outputs of a fleet that say how far a rollout got."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.compute.bulk_instances.rollout.generation import generation_output, recorded_generation
from gcpx.compute.bulk_instances.rollout.goal import Goal
from gcpx.compute.bulk_instances.rollout.policy import Policy
from gcpx.compute.bulk_instances.rollout.words import names_in_words
from gcpx.model.links import name_of

_KEPT: Final = ("generation", "removedKeys", "instanceProperties", "sourceInstanceTemplate")
"""The outputs of the last update that a refresh keeps; the generation is that of the properties, so they stay together."""


def rollout_outputs(last: dict[str, Any], goal: Goal, members: list[Instance]) -> dict[str, Any]:
    """Return the outputs that the next update needs to go on.

    Args:
        last: the outputs before the update.
        goal: the goal of the update.
        members: the members after it.
    """
    outputs = generation_output(goal.generation)
    if goal.target.removed and not all(goal.is_current(member) for member in members):
        outputs["removedKeys"] = {name: sorted(keys) for name, keys in goal.target.removed.items()}
    lost = lost_members(last, goal.inputs, members)
    return {**outputs, "lostMembers": lost} if lost else outputs


def kept_outputs(last: dict[str, Any], inputs: dict[str, Any], members: list[Instance]) -> dict[str, Any]:
    """Return what a refresh keeps of these outputs, and which members have been lost since."""
    kept = {name: last[name] for name in _KEPT if last.get(name) is not None} if last.get("generation") else {}
    lost = lost_members(last, inputs, members)
    return {**kept, "lostMembers": lost} if lost else kept


def unfinished_rollout(last: dict[str, Any], inputs: dict[str, Any], members: list[Instance]) -> str:
    """Say how many members are behind, if more have to be brought to the last generation; otherwise nothing.

    Missing and stopped members do not matter here, because they show as a change of `count`.
    """
    policy, generation = Policy.of(inputs), last.get("generation")
    if not policy.rolling or not generation:
        return ""
    behind = [member["name"] for member in members if recorded_generation(member) != generation]
    current = len(members) - len(behind)
    if not behind or (policy.pause_after is not None and current >= policy.pause_after):
        return ""
    return (
        f"{len(behind):,} of {len(members):,} members {'does' if len(behind) == 1 else 'do'} not have the properties of the last update: "
        f"{names_in_words(behind)}; run `pulumi up` to go on"
    )


def lost_members(last: dict[str, Any], inputs: dict[str, Any], members: list[Instance]) -> list[dict[str, str]]:
    """Return the names and zones of members that do not exist any more, if the fleet keeps names and is short."""
    policy, existing = Policy.of(inputs), {member["name"] for member in members}
    if not policy.keep_names:
        return []
    known = {item["name"]: name_of(item["zone"]) for key in ("members", "lostMembers") for item in last.get(key) or ()}
    short = max(0, policy.wanted - len(members))
    return [{"name": name, "zone": zone} for name, zone in known.items() if name not in existing][:short]
