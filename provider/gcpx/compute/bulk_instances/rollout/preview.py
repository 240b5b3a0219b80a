"""What the preview of an update says about the members, from the state alone."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.fleet import name_order
from gcpx.compute.bulk_instances.health import is_stopped
from gcpx.compute.bulk_instances.rollout.generation import generation_of, is_changing, need_of
from gcpx.compute.bulk_instances.rollout.goal import TooDisruptiveError
from gcpx.compute.bulk_instances.rollout.levels import Level, levels_of
from gcpx.compute.bulk_instances.rollout.plan import Member
from gcpx.compute.bulk_instances.rollout.policy import Policy
from gcpx.compute.bulk_instances.rollout.properties import own_properties
from gcpx.compute.bulk_instances.rollout.words import describe_plan
from gcpx.model.call import Call
from gcpx.model.rules import elements, nested
from gcpx.model.values import has_unknown


def announce(call: Call, new: dict[str, Any]) -> None:
    """Say what an update does to the members that the state knows; nothing if their number is not known.

    Raises:
        TooDisruptiveError: the change certainly needs more than the policy allows.
    """
    if has_unknown({name: new.get(name) for name in ("count", "updatePolicy", "onStopped")}):
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
        call.inform("\n".join(["What this update does:", *(f"- {line}" for line in lines)]))


def _member(call: Call, new: dict[str, Any], policy: Policy, known: dict[str, Any], changed: Level) -> Member:
    """Describe a member of the state for the plan; `changed` is what the change needs."""
    name, stopped, names = known["name"], is_stopped(known), nested(new, "perInstanceProperties")
    need = _behind(call, new, known, changed) if policy.rolling else changed
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
        rests=stopped and policy.keeps_stopped and not is_changing(known.get("generation", "")),
        unwanted=bool(names) and (name not in names or not policy.wanted),
        note=str(known.get("stopReason", "")).lower().replace("_", " "),
    )


def _behind(call: Call, new: dict[str, Any], known: dict[str, Any], changed: Level) -> Level:
    """Return what a member of a rolling fleet needs; at the most, if the new generation cannot be told offline."""
    last, wanted = call.last.get("generation", ""), _offline_generation(call, new)
    if wanted:
        return need_of(known.get("generation") or last, wanted)
    behind = need_of(known["generation"], last) if known.get("generation") else Level.NONE
    return max(behind, changed)


def _offline_generation(call: Call, new: dict[str, Any]) -> str:
    """Return the generation that an update leads to; empty if that takes unknown values, or reading a template."""
    last, levels = call.last.get("generation", ""), frozenset(levels_of(call.changed))
    if not levels or not last:
        return str(last)
    if new.get("sourceInstanceTemplate") or has_unknown(new.get("instanceProperties")):
        return ""
    return generation_of(own_properties(new), last, levels)


def _is_recreated(call: Call, name: str) -> bool:
    """Return whether the properties that a member has for its own have changed."""
    return any(path[:2] == ("perInstanceProperties", name) and len(path) > 1 for path in call.changed)


def _has_local_disks(new: dict[str, Any]) -> bool:
    """Return whether instances have local SSDs, which lose their data when an instance stops."""
    return any(disk.get("type") == "SCRATCH" for _, disk in elements(nested(new, "instanceProperties"), "disks"))
