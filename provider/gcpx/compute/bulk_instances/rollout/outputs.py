"""The outputs of a fleet that tell how far a rollout got."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.compute.bulk_instances.rollout.goal import Goal
from gcpx.compute.bulk_instances.rollout.policy import Policy
from gcpx.model.fields import Record, output_field, record
from gcpx.model.links import name_of

KEPT_OUTPUTS: Final = ("generation", "removedKeys")
"""The outputs of the last update that a refresh keeps."""


@record
class LostMember(Record):
    """A member that does not exist at the moment, and is going to be created again."""

    name: str = output_field("The name of the instance.", always=True)
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)


def rollout_outputs(last: dict[str, Any], goal: Goal, members: list[Instance]) -> dict[str, Any]:
    """Return the outputs that the next update needs to go on.

    Args:
        last: the outputs before the update.
        goal: what the update brings the fleet to.
        members: the members after it.
    """
    outputs: dict[str, Any] = {"generation": goal.generation} if goal.generation else {}
    if goal.target.removed and not all(goal.is_current(member) for member in members):
        outputs["removedKeys"] = {name: sorted(keys) for name, keys in goal.target.removed.items()}
    lost = lost_members(last, goal.inputs, members)
    return {**outputs, "lostMembers": lost} if lost else outputs


def lost_members(last: dict[str, Any], inputs: dict[str, Any], members: list[Instance]) -> list[dict[str, str]]:
    """Return the names and zones of members that do not exist any more, if the fleet keeps names and is short."""
    policy, existing = Policy.of(inputs), {member["name"] for member in members}
    if not policy.keep_names:
        return []
    known = {item["name"]: name_of(item["zone"]) for key in ("members", "lostMembers") for item in last.get(key) or ()}
    short = max(0, policy.wanted - len(members))
    return [{"name": name, "zone": zone} for name, zone in known.items() if name not in existing][:short]
