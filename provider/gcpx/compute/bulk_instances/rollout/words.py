"""What a rollout does, in words: for the progress of a batch, and for the preview of an update."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gcpx.compute.bulk_instances.rollout.levels import Level
from gcpx.compute.bulk_instances.rollout.plan import Member, Step, steps
from gcpx.compute.bulk_instances.rollout.policy import Policy

_NAMED: Final = 3


def names_in_words(names: Iterable[str]) -> str:
    """List some names, and count the others.

    >>> names_in_words(["web-1", "web-2", "web-3", "web-4", "web-5"])
    'web-1, web-2, web-3 and 2 more'
    """
    every = list(names)
    rest = len(every) - _NAMED
    return f"{', '.join(every[:_NAMED])} and {rest:,} more" if rest > 1 else ", ".join(every)


def describe_step(step: Step) -> str:
    """Describe what a step does: `replacing web-1, web-2, starting web-7`."""
    replaced = [member for member in step.delete if member.need is Level.REPLACE and not member.unwanted]
    surplus = [member for member in step.delete if member not in replaced]
    parts = [
        _doing("replacing", replaced),
        _doing("deleting", surplus),
        _doing("restarting", _restarted(step)),
        _doing("changing", [*step.refresh, *_changed_at_rest(step)]),
        _doing("starting", step.start),
        f"creating {step.create:,}" if step.create > len(replaced) or (step.create and not replaced) else "",
    ]
    return ", ".join(filter(None, parts))


def _doing(what: str, members: list[Member]) -> str:
    return f"{what} {names_in_words(map(str, members))}" if members else ""


def describe_plan(members: list[Member], wanted: int, policy: Policy, *, certain: bool = True) -> list[str]:
    """Describe what an update does to the members, one line each kind of work.

    Args:
        members: the members as the last deployment or refresh left them.
        wanted: the number of members to reach.
        policy: how the change reaches them.
        certain: every change is known; otherwise members need at most what is said.
    """
    planned = list(steps(members, wanted, policy))
    if not planned:
        return []
    lines = [_count(planned, kind, certain=certain) for kind in (Level.REFRESH, Level.RESTART, Level.REPLACE)]
    lines.append(_line("changed, and stopped as before", [m for step, _ in planned for m in _changed_at_rest(step)]))
    started = [member for step, _ in planned for member in step.start]
    surplus = [member for step, _ in planned for member in step.delete if member.need is not Level.REPLACE]
    lines += [_line("started", started), _line("deleted", surplus), _created(planned)]
    batches = [running for step, running in planned if _restarted(step) or step.create or step.delete]
    if policy.rolling and any(_restarted(step) or _replaced(step) for step, _ in planned):
        least = min(batches)
        lines.append(
            f"{len(batches):,} {'batch' if len(batches) == 1 else 'batches'}; at least {least:,} of {wanted:,} members run at any time"
        )
    return list(filter(None, [*lines, _pause(members, policy)]))


def _count(planned: list[tuple[Step, int]], kind: Level, *, certain: bool) -> str:
    words = {Level.REFRESH: "changed while they run", Level.RESTART: "restarted", Level.REPLACE: "replaced"}
    of_kind = {Level.REFRESH: lambda step: step.refresh, Level.RESTART: _restarted, Level.REPLACE: _replaced}[kind]
    found = [member for step, _ in planned for member in of_kind(step)]
    at_most = "" if certain or kind is Level.REFRESH else "at most "
    return _line(f"{at_most}{words[kind]}" if at_most else words[kind], found)


def _restarted(step: Step) -> list[Member]:
    return [member for member in step.restart if not member.rests]


def _changed_at_rest(step: Step) -> list[Member]:
    return [member for member in step.restart if member.rests]


def _replaced(step: Step) -> list[Member]:
    return [member for member in step.delete if member.need is Level.REPLACE and not member.unwanted]


def _line(what: str, members: list[Member]) -> str:
    """Write `3 members are restarted: web-1, web-2, web-3`."""
    if not members:
        return ""
    verb = "member is" if len(members) == 1 else "members are"
    return f"{len(members):,} {verb} {what}: {names_in_words(map(str, members))}"


def _created(planned: list[tuple[Step, int]]) -> str:
    """Count the instances that are created beside those that replace others."""
    number = sum(step.create - len(_replaced(step)) for step, _ in planned)
    return f"{number:,} {'instance is' if number == 1 else 'instances are'} created" if number > 0 else ""


def _pause(members: list[Member], policy: Policy) -> str:
    """Say where the rollout pauses, if it does."""
    behind = sum(bool(member.need) for member in members)
    if policy.pause_after is None or policy.pause_after >= len(members) or not behind:
        return ""
    return f"the rollout pauses when {new_of(policy.pause_after, len(members))}; raise updatePolicy.pauseAfter to go on"


def new_of(current: int, members: int) -> str:
    """Say how many members have the new properties.

    >>> new_of(1, 10)
    '1 of 10 members has the new properties'
    """
    return f"{current:,} of {members:,} members {'has' if current == 1 else 'have'} the new properties"


def announcement(lines: list[str]) -> str:
    """Write what an update does as one message; a single line needs no list."""
    if len(lines) == 1:
        return f"what this update does: {lines[0]}"
    return "\n".join(["what this update does:", *(f"- {line}" for line in lines)])
