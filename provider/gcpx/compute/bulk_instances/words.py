"""What a plan does to the members, in words: all of it in a preview, and one step as the progress of an update."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.fleet import fleet_values, name_order
from gcpx.compute.bulk_instances.member import Level
from gcpx.compute.bulk_instances.plan import PlannedMember, Policy, Step
from gcpx.model.context import Context
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_SECONDS_OF_A_BATCH: Final = 60
_SECONDS_OF_AN_HOUR: Final = 3600


def describe_step(step: Step, unfollowed: Container[str]) -> str:
    """Describe what a step does: `replacing web-1, web-2, starting web-7`; `unfollowed` as `without_followers` gives it."""
    replaced = [member for member in _replaced(step) if member.id not in unfollowed]
    surplus = surplus_of(step, unfollowed)
    parts = [
        _doing("replacing", replaced),
        _doing("deleting", surplus),
        _doing("restarting", _restarted(step)),
        _doing("changing", [*step.refresh, *_changed_at_rest(step)]),
        _doing("starting", step.start),
        f"creating {counted(step.create, 'instance')}"
        if step.create > len(replaced) or (step.create and not replaced)
        else "",
    ]
    return ", ".join(filter(None, parts))


def surplus_of(step: Step, unfollowed: Container[str]) -> list[PlannedMember]:
    """Return the members that a step deletes and that no new ones replace."""
    followed = {member.id for member in _replaced(step) if member.id not in unfollowed}
    return [member for member in step.delete if member.id not in followed]


def _doing(what: str, members: list[PlannedMember]) -> str:
    return f"{what} {names_in_words(map(str, members))}" if members else ""


def describe_plan(
    planned: list[tuple[Step, int]],
    members: list[PlannedMember],
    policy: Policy,
    at_most: str,
    names: Sequence[str] | None,
    *,
    counts: bool,
) -> list[str]:
    """Describe what an update does to the members, in one line for each kind of work.

    Args:
        planned: the steps, each with the fewest members that run.
        members: the members of the state, as `Spec.plan` describes them.
        policy: how the change reaches them.
        at_most: begins each line about what may turn out to be unnecessary.
        names: as `names_to_come` gives them.
        counts: whether the number of batches is known.
    """
    if not planned:
        return []
    wanted = policy.wanted
    effects = _Effects.of([step for step, _ in planned], names)
    lines = effects.lines(at_most)
    if (effects.restarted or effects.replaced) and counts:
        least = [running for step, running in planned if _restarted(step) or step.create or step.delete]
        batches = f"{counted(len(least), 'batch', 'batches')}{_hours(len(least), policy.stable_for)}"
        lines.append(f"{batches}; at least {min(least):,} of {wanted:,} members run at any time")
    pauses = any(member.waits for member in members)
    return [*lines, _pause(policy.pause_after or 0, wanted)] if pauses else lines


def _hours(batches: int, observed: int = 0) -> str:
    """Say about how long many batches take; nothing for less than an hour, if each takes a minute beside `observed` seconds.

    >>> _hours(1000)
    ', one after the other: about 17 hours if each takes a minute, and less with a higher updatePolicy.maxUnavailable'
    >>> _hours(5, 60)
    ', each observed for 60 s'
    """
    seconds = _SECONDS_OF_A_BATCH + observed
    hours, rest = (
        round(batches * seconds / _SECONDS_OF_AN_HOUR),
        f", each observed for {observed:,} s" if observed else "",
    )
    if batches * seconds < _SECONDS_OF_AN_HOUR:
        return rest
    time = f"about {counted(hours, 'hour')}"
    beside = " without that" if observed else ""
    return (
        f"{rest}, one after the other: {time} if each takes a minute{beside}, and less with a higher "
        "updatePolicy.maxUnavailable"
    )


@attrs.frozen
class _Effects:
    """What all steps of a plan do together.

    Attributes:
        refreshed, restarted, started: as in `Step`.
        rested: members that are changed, and stay stopped.
        replaced: members that are deleted, and replaced by new ones.
        deleted: members that are deleted, and not replaced.
        created: how many instances are created in addition to those that replace others.
        names: the names of these, as far as they are known.
    """

    refreshed: list[PlannedMember]
    restarted: list[PlannedMember]
    rested: list[PlannedMember]
    replaced: list[PlannedMember]
    deleted: list[PlannedMember]
    started: list[PlannedMember]
    created: int
    names: list[str]

    @classmethod
    def of(cls, taken: list[Step], names: Sequence[str] | None) -> _Effects:
        """Add up steps; `names` as `names_to_come` gives them.

        New members take over the lowest of these names and of the names of members that leave. If Google names the new
        members, and fewer are created than are replaced, the members with the highest numbers have no followers.
        """
        created, leaving = sum(step.create for step in taken), [member for step in taken for member in step.delete]
        behind = sorted((member for step in taken for member in _replaced(step)), key=lambda member: member.order)
        given = _names_given(taken, names) if names is not None else [member.name for member in behind[:created]]
        reused = {member.name for member in leaving if not member.unwanted}.intersection(given)
        followed = {member.id for member in leaving if member.name in reused}
        return cls(
            refreshed=[member for step in taken for member in step.refresh],
            restarted=[member for step in taken for member in _restarted(step)],
            rested=[member for step in taken for member in _changed_at_rest(step)],
            replaced=[member for member in leaving if member.id in followed],
            deleted=[member for member in leaving if member.id not in followed],
            started=[member for step in taken for member in step.start],
            created=created - len(followed),
            names=[name for name in given if name not in reused],
        )

    def lines(self, at_most: str) -> list[str]:
        """Describe the effects, one line each; `at_most` begins each line about what may turn out to be unnecessary."""
        changed = (*self.refreshed, *self.restarted, *self.rested, *self.replaced)
        number = f"{counted(self.created, 'instance is', 'instances are')} created"
        if self.names:
            number += f": {names_in_words(self.names, self.created - len(self.names))}"
        return [
            *line("changed without a restart", self.refreshed),
            *line("restarted", self.restarted, at_most),
            *line("replaced", self.replaced, at_most),
            *line("changed, and left stopped", self.rested),
            *line("started", self.started),
            *line("deleted", self.deleted),
            *([number] if self.created else []),
            *line("set back", [f"{one.name} ({', '.join(one.set_back)})" for one in changed if one.set_back]),
            *say(  # only stopped ones can be changed
                [one.name for one in (*self.restarted, *self.rested) if one.suspended],
                "suspended member loses its memory",
                "suspended members lose their memory",
                at_most,
            ),
        ]


def _names_given(taken: list[Step], names: Sequence[str]) -> list[str]:
    """Return the names that new members get, if they take over free ones, as `instances_to_create` chooses them."""
    free, given = list(names), list[str]()
    for step in taken:
        free = sorted([*free, *(member.name for member in step.delete if not member.unwanted)], key=name_order)
        given += free[: step.create]
        del free[: step.create]
    return given


def without_followers(taken: list[Step], names: Sequence[str] | None) -> set[str]:
    """Return the IDs of the members that steps delete and that no new ones replace; `names` as `names_to_come` gives them."""
    return {member.id for member in _Effects.of(taken, names).deleted}


def _restarted(step: Step) -> list[PlannedMember]:
    return [member for member in step.restart if not member.rests]


def _changed_at_rest(step: Step) -> list[PlannedMember]:
    return [member for member in step.restart if member.rests]


def _replaced(step: Step) -> list[PlannedMember]:
    return [member for member in step.delete if member.need is Level.REPLACE and not member.unwanted]


def say(members: Sequence[object], one: str, many: str, at_most: str = "") -> list[str]:
    """Say something of members: `3 members are restarted: web-1, web-2, web-3`, perhaps after `at most`; nothing of none."""
    if not members:
        return []
    return [f"{at_most}{counted(len(members), one, many)}: {names_in_words(map(str, members))}"]


def line(what: str, members: Sequence[object], at_most: str = "") -> list[str]:
    """Say what is done to members: `what` as in `say`, after `are`."""
    return say(members, f"member is {what}", f"members are {what}", at_most)


def _pause(current: int, wanted: int) -> str:
    """Say where the rollout pauses."""
    return f"the rollout pauses when {new_of(current, wanted)}; raise updatePolicy.pauseAfter to go on"


def new_of(current: int, members: int) -> str:
    """Say how many members have the new properties.

    >>> new_of(1, 10)
    '1 of 10 members has the new properties'
    """
    return f"{current:,} of {members:,} members {'has' if current == 1 else 'have'} the new properties"


def names_to_come(context: Context, new: BulkInstancesValues) -> list[str] | None:
    """Return the names that new members get before those that leave make theirs free; None if Google names new members.

    They are those that the program lists, or those of lost members.
    """
    prior, named = fleet_values(context.prior), new.get("perInstanceProperties")
    if not named and not Policy.of(new).keep_names:
        return None
    existing = {item["name"] for item in prior.get("members") or ()}
    lost = (item["name"] for item in prior.get("lostMembers") or ())
    return [name for name in named or lost if name not in existing]
