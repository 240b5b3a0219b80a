"""What the preview of an update says about the members, from the state alone."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.fleet import name_order
from gcpx.compute.bulk_instances.health import is_stopped
from gcpx.compute.bulk_instances.rollout.generation import need_of
from gcpx.compute.bulk_instances.rollout.goal import TooDisruptiveError
from gcpx.compute.bulk_instances.rollout.levels import Level, levels_of
from gcpx.compute.bulk_instances.rollout.plan import Member
from gcpx.compute.bulk_instances.rollout.policy import Policy
from gcpx.compute.bulk_instances.rollout.words import announcement, describe_plan
from gcpx.model.call import Call
from gcpx.model.rules import elements, nested
from gcpx.model.values import UNKNOWN, has_unknown


def announce(call: Call, new: dict[str, Any]) -> None:
    """Say what an update does to the members that the state knows; nothing if their number is not known.

    Raises:
        TooDisruptiveError: the change certainly needs more than the policy allows.
    """
    names_are_unknown = new.get("perInstanceProperties") is UNKNOWN
    if names_are_unknown or has_unknown({name: new.get(name) for name in ("count", "updatePolicy", "onStopped")}):
        return
    policy, certain = Policy.of(new), ("sourceInstanceTemplate",) not in call.changed
    need = max(levels_of(call.changed), default=Level.NONE)
    need = need if policy.rolling else min(need, Level.REFRESH)
    members = [_member(call, new, policy, item, need) for item in call.last.get("members") or ()]
    too_much = max((member.need for member in members if not member.stopped), default=Level.NONE)
    if policy.rolling and certain and too_much > policy.most:
        raise TooDisruptiveError(too_much, policy.most)
    lines = describe_plan(members, policy.wanted, policy, certain=certain)
    if lines:
        call.inform(announcement(lines))


def _member(call: Call, new: dict[str, Any], policy: Policy, known: dict[str, Any], changed: Level) -> Member:
    """Describe a member of the state for the plan; `changed` is what the change needs."""
    name, stopped, names = known["name"], is_stopped(known), nested(new, "perInstanceProperties")
    behind = need_of(known.get("generation", ""), call.last.get("generation", "")) if known.get("generation") else 0
    need = Level(max(behind, changed)) if policy.rolling else changed
    need = max(need, policy.least) if need and policy.rolling else need
    cannot_restart = policy.rolling and (not policy.unavailable or _has_local_disks(new))
    if (need is Level.RESTART and cannot_restart) or _is_recreated(call, name):
        need = Level.REPLACE
    return Member(
        name=name,
        order=name_order(name),
        need=Level.REPLACE if stopped and policy.replaces_stopped else need,
        available=known.get("status") == "RUNNING",
        stopped=stopped,
        unwanted=bool(names) and (name not in names or not policy.wanted),
        note=str(known.get("stopReason", "")).lower().replace("_", " "),
        id=known["id"],
    )


def _is_recreated(call: Call, name: str) -> bool:
    """Return whether the properties that a member has for its own have changed."""
    return any(path[:2] == ("perInstanceProperties", name) and len(path) > 1 for path in call.changed)


def _has_local_disks(new: dict[str, Any]) -> bool:
    """Return whether instances have local SSDs, which lose their data when an instance stops."""
    return any(disk.get("type") == "SCRATCH" for _, disk in elements(nested(new, "instanceProperties"), "disks"))
