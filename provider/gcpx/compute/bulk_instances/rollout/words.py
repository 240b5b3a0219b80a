"""What a rollout does, in words: for the progress of a batch, and for the preview of an update."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

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
        f"creating {step.create:,} {'instance' if step.create == 1 else 'instances'}"
        if step.create > len(replaced) or (step.create and not replaced)
        else "",
    ]
    return ", ".join(filter(None, parts))


def _doing(what: str, members: list[Member]) -> str:
    return f"{what} {names_in_words(map(str, members))}" if members else ""


def describe_plan(members: list[Member], wanted: int, policy: Policy, *, certain: bool = True) -> list[str]:
    """Describe what an update does to the members, in one line for each kind of work.

    Args:
        members: the members as the last deployment or refresh left them.
        wanted: the number of members to reach.
        policy: how the change reaches them.
        certain: whether every change is known; if not, members need at most what is said.
    """
    planned = list(steps(members, wanted, policy))
    if not planned:
        return []
    effects = _Effects.of([step for step, _ in planned])
    lines = effects.lines("" if certain else "at most ")
    if policy.rolling and (effects.restarted or effects.replaced):
        least = [running for step, running in planned if _restarted(step) or step.create or step.delete]
        lines.append(
            f"{len(least):,} {'batch' if len(least) == 1 else 'batches'}; at least {min(least):,} of {wanted:,} members run at any time"
        )
    pause = effects.left_behind(members) and policy.pause_after is not None
    return [*lines, _pause(policy.pause_after or 0, wanted)] if pause else lines


@attrs.frozen
class _Effects:
    """What all steps of a plan do together.

    Attributes:
        refreshed, restarted, started: as in `Step`.
        rested: members that are changed, and stay stopped.
        replaced: members that are deleted, and that new ones follow.
        deleted: members that are deleted, and that none follows.
        created: how many instances are created beside those that follow others.
    """

    refreshed: list[Member]
    restarted: list[Member]
    rested: list[Member]
    replaced: list[Member]
    deleted: list[Member]
    started: list[Member]
    created: int

    @classmethod
    def of(cls, taken: list[Step]) -> _Effects:
        """Add up steps. If fewer are created than members that are behind leave, the highest numbers have no followers."""
        created, leaving = sum(step.create for step in taken), [member for step in taken for member in step.delete]
        behind = sorted((member for step in taken for member in _replaced(step)), key=lambda member: member.order)
        followed = {member.id for member in behind[:created]}
        return cls(
            refreshed=[member for step in taken for member in step.refresh],
            restarted=[member for step in taken for member in _restarted(step)],
            rested=[member for step in taken for member in _changed_at_rest(step)],
            replaced=[member for member in leaving if member.id in followed],
            deleted=[member for member in leaving if member.id not in followed],
            started=[member for step in taken for member in step.start],
            created=created - len(followed),
        )

    def lines(self, at_most: str) -> list[str]:
        """Describe the effects, one line each; `at_most` begins the lines about what may turn out to be unnecessary."""
        number = f"{self.created:,} {'instance is' if self.created == 1 else 'instances are'} created"
        return [
            *_line("changed without a restart", self.refreshed),
            *_line("restarted", self.restarted, at_most),
            *_line("replaced", self.replaced, at_most),
            *_line("changed, and left stopped", self.rested),
            *_line("started", self.started),
            *_line("deleted", self.deleted),
            *([number] if self.created else []),
        ]

    def left_behind(self, members: list[Member]) -> bool:
        """Return whether members that are behind are not touched."""
        every = (self.refreshed, self.restarted, self.rested, self.replaced, self.deleted)
        touched = {member.id for group in every for member in group}
        return any(member.need and member.id not in touched for member in members)


def _restarted(step: Step) -> list[Member]:
    return [member for member in step.restart if not member.rests]


def _changed_at_rest(step: Step) -> list[Member]:
    return [member for member in step.restart if member.rests]


def _replaced(step: Step) -> list[Member]:
    return [member for member in step.delete if member.need is Level.REPLACE and not member.unwanted]


def _line(what: str, members: list[Member], at_most: str = "") -> list[str]:
    """Write `3 members are restarted: web-1, web-2, web-3`, perhaps after `at most`; nothing without members."""
    if not members:
        return []
    verb = "member is" if len(members) == 1 else "members are"
    return [f"{at_most}{len(members):,} {verb} {what}: {names_in_words(map(str, members))}"]


def _pause(current: int, wanted: int) -> str:
    """Say where the rollout pauses."""
    return f"the rollout pauses when {new_of(current, wanted)}; raise updatePolicy.pauseAfter to go on"


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
