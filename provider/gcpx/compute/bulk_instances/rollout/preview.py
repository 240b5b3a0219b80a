"""What the preview of an update says about the members, from the state alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gcpx.compute.bulk_instances.fleet import name_order
from gcpx.compute.bulk_instances.health import is_stopped
from gcpx.compute.bulk_instances.rollout.generation import generation_of, is_changing, last_generation, need_of
from gcpx.compute.bulk_instances.rollout.goal import TooDisruptiveError
from gcpx.compute.bulk_instances.rollout.levels import CHANGES, Level, levels_of
from gcpx.compute.bulk_instances.rollout.plan import Member
from gcpx.compute.bulk_instances.rollout.policy import Policy
from gcpx.compute.bulk_instances.rollout.properties import own_properties
from gcpx.compute.bulk_instances.rollout.words import announcement, describe_plan
from gcpx.model.call import Call
from gcpx.model.rules import elements, nested
from gcpx.model.values import UNKNOWN, has_unknown


def announce(call: Call, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Say what an update does to the members in the state; nothing if their wanted number is not known.

    Raises:
        TooDisruptiveError: the change certainly needs more than the policy allows.
    """
    names_are_unknown = new.get("perInstanceProperties") is UNKNOWN
    if names_are_unknown or has_unknown({name: new.get(name) for name in ("count", "updatePolicy", "onStopped")}):
        return
    policy, certain = Policy.of(new), ("sourceInstanceTemplate",) not in call.changed
    need_of_member = _needs(call, old, new, policy)
    members = [
        _member(new, policy, item, Level.REPLACE if _is_recreated(call, old, item["name"]) else need_of_member(item))
        for item in call.last.get("members") or ()
    ]
    too_much = max((member.need for member in members if not member.stopped), default=Level.NONE)
    if policy.rolling and certain and too_much > policy.most:
        raise TooDisruptiveError(too_much, policy.most)
    lines = describe_plan(members, policy.wanted, policy, certain=certain)
    if lines:
        call.inform(announcement(lines))


def _member(new: dict[str, Any], policy: Policy, known: dict[str, Any], need: Level) -> Member:
    """Describe a member of the state for the plan; `need` is what its properties need."""
    name, stopped, names = known["name"], is_stopped(known), nested(new, "perInstanceProperties")
    need = max(need, policy.least) if need and policy.rolling else need
    cannot_restart = policy.rolling and (not policy.unavailable or _has_local_disks(new))
    if need is Level.RESTART and cannot_restart:
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
        id=known["id"],
    )


def _needs(call: Call, old: dict[str, Any], new: dict[str, Any], policy: Policy) -> Callable[[dict[str, Any]], Level]:
    """Return a function that says what a member of the state needs, or at most needs if that is not known offline."""
    levels = frozenset(levels_of(call.changed))
    changed = max(levels, default=Level.NONE)
    if not policy.rolling:
        return lambda _: min(changed, Level.REFRESH)
    last = last_generation(call.last) or _offline_generation(old)
    wanted = _offline_generation(new, last, levels) if levels else last
    if last and wanted:
        return lambda known: need_of(known.get("generation") or last, wanted)
    return lambda known: max(need_of(known.get("generation") or last, last) if last else Level.NONE, changed)


def _offline_generation(inputs: dict[str, Any], last: str = "", changed: frozenset[Level] = frozenset(CHANGES)) -> str:
    """Return the generation that inputs stand for; empty if that depends on unknown values or a template."""
    if inputs.get("sourceInstanceTemplate") or has_unknown(inputs.get("instanceProperties")):
        return ""
    return generation_of(own_properties(inputs), last, changed)


def _is_recreated(call: Call, old: dict[str, Any], name: str) -> bool:
    """Return whether the properties that a member has for its own have changed; a refresh leaves stopped ones out."""
    return name in nested(old, "perInstanceProperties") and any(
        path[:2] == ("perInstanceProperties", name) and len(path) > 1 for path in call.changed
    )


def _has_local_disks(new: dict[str, Any]) -> bool:
    """Return whether instances have local SSDs, which lose their data when an instance stops."""
    return any(disk.get("type") == "SCRATCH" for _, disk in elements(nested(new, "instanceProperties"), "disks"))
