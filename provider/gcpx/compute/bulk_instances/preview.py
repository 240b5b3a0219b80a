"""What a rollout does, in words: in the preview of an update, from the state alone, and as the progress of a batch."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import inputs_of_member, labels_of_fallback
from gcpx.compute.bulk_instances.fleet import Instance, fleet_values, is_stopped, is_suspended, name_order
from gcpx.compute.bulk_instances.generation import generation_of, is_changing, last_generation, need_of, own_properties
from gcpx.compute.bulk_instances.goal import (
    OF_FALLBACKS,
    TooDisruptiveError,
    can_restart,
    is_rehosted,
    known_member,
    set_back,
    with_hostnames,
)
from gcpx.compute.bulk_instances.plan import (
    CHANGES,
    Level,
    PlannedMember,
    Policy,
    Step,
    deleted_by,
    leaving,
    levels_of,
    steps,
)
from gcpx.compute.bulk_instances.rolling_action import RollingAction, warn_of_idle_action
from gcpx.errors import UserError
from gcpx.model.fields import nested
from gcpx.model.links import name_of
from gcpx.model.resource import Context
from gcpx.model.values import UNKNOWN, Path, has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, MemberValues

_STOPPED_BY: Final = {
    "GUEST": "shut down from within",
    "HOST_ERROR": "stopped by a host error",
    "PREEMPTED": "preempted",
    "REQUESTED": "stopped by somebody",
    "RUN_LIMIT": "stopped at its run limit",
}
"""What a preview says of a stopped member, by its `stopReason`."""
_NAMED: Final = 3
_SECONDS_OF_A_BATCH: Final = 60
_SECONDS_OF_AN_HOUR: Final = 3600


def names_in_words(names: Iterable[str], unnamed: int = 0) -> str:
    """List some names, and count the others; `unnamed` are others whose names are not known.

    >>> names_in_words(["web-1", "web-2", "web-3", "web-4", "web-5"])
    'web-1, web-2, web-3 and 2 more'
    >>> names_in_words(["web-1"], 1)
    'web-1 and 1 more'
    """
    every = list(names)
    rest = len(every) + unnamed - _NAMED
    shown = every if rest <= 1 else every[:_NAMED]
    more = len(every) + unnamed - len(shown)
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)


def describe_step(step: Step, unfollowed: Container[str]) -> str:
    """Describe what a step does: `replacing web-1, web-2, starting web-7`; `unfollowed` as `without_followers` gives it."""
    replaced = [member for member in _replaced(step) if member.id not in unfollowed]
    followed = {member.id for member in replaced}
    surplus = [member for member in step.delete if member.id not in followed]
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


def _doing(what: str, members: list[PlannedMember]) -> str:
    return f"{what} {names_in_words(map(str, members))}" if members else ""


def describe_plan(
    planned: list[tuple[Step, int]],
    members: list[PlannedMember],
    policy: Policy,
    *,
    certain: bool = True,
    names: Sequence[str] | None = None,
) -> list[str]:
    """Describe what an update does to the members, in one line for each kind of work.

    Args:
        planned: the steps, each with the fewest members that run.
        members: the members as the last deployment or refresh left them.
        policy: how the change reaches them.
        certain: whether every change is known; if not, members need at most what is said.
        names: as `names_to_come` gives them.
    """
    if not planned:
        return []
    wanted = policy.wanted
    effects = _Effects.of([step for step, _ in planned], names)
    lines = effects.lines("" if certain else "at most ")
    if policy.rolling and (effects.restarted or effects.replaced):
        least = [running for step, running in planned if _restarted(step) or step.create or step.delete]
        batches = (
            f"{len(least):,} {'batch' if len(least) == 1 else 'batches'}{_hours(len(least), policy.min_ready_sec)}"
        )
        lines.append(f"{batches}; at least {min(least):,} of {wanted:,} members run at any time")
    pause = effects.left_behind(members) and policy.pause_after is not None
    return [*lines, _pause(policy.pause_after or 0, wanted)] if pause else lines


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
    time = f"about {hours:,} {'hour' if hours == 1 else 'hours'}"
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

        New members take over the lowest of these names and of those of members that leave. If Google names them, and fewer
        are created than members that are behind leave, the highest numbers have no followers.
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
        """Describe the effects, one line each; `at_most` begins the lines about what may turn out to be unnecessary."""
        changed = (*self.refreshed, *self.restarted, *self.rested, *self.replaced)
        number = f"{self.created:,} {'instance is' if self.created == 1 else 'instances are'} created"
        if self.names:
            number += f": {names_in_words(self.names, self.created - len(self.names))}"
        return [
            *_line("changed without a restart", self.refreshed),
            *_line("restarted", self.restarted, at_most),
            *_line("replaced", self.replaced, at_most),
            *_line("changed, and left stopped", self.rested),
            *_line("started", self.started),
            *_line("deleted", self.deleted),
            *([number] if self.created else []),
            *_set_back([member for member in changed if member.set_back]),
            *_forgetting([member for member in (*self.restarted, *self.rested) if member.suspended], at_most),
        ]

    def left_behind(self, members: list[PlannedMember]) -> bool:
        """Return whether members that are behind are not touched."""
        every = (self.refreshed, self.restarted, self.rested, self.replaced, self.deleted)
        touched = {member.id for group in every for member in group}
        return any(member.need and member.id not in touched for member in members)


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


def _line(what: str, members: list[PlannedMember], at_most: str = "") -> list[str]:
    """Write `3 members are restarted: web-1, web-2, web-3`, perhaps after `at most`; nothing without members."""
    if not members:
        return []
    verb = "member is" if len(members) == 1 else "members are"
    return [f"{at_most}{len(members):,} {verb} {what}: {names_in_words(map(str, members))}"]


def _set_back(members: list[PlannedMember]) -> list[str]:
    """Say what somebody has changed on members and is set back: `2 members are set back: web-1 (labels), web-2 (tags)`."""
    if not members:
        return []
    verb = "member is" if len(members) == 1 else "members are"
    names = names_in_words(f"{member.name} ({', '.join(member.set_back)})" for member in members)
    return [f"{len(members):,} {verb} set back: {names}"]


def _forgetting(members: list[PlannedMember], at_most: str) -> list[str]:
    """Say that suspended members are stopped, as only stopped ones can be changed: `1 suspended member loses its memory: web-1`."""
    if not members:
        return []
    what = "member loses its memory" if len(members) == 1 else "members lose their memory"
    return [f"{at_most}{len(members):,} suspended {what}: {names_in_words(member.name for member in members)}"]


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
    """Write what an update does as one message, of which the CLI shows the first line beside the resource."""
    return "what this update does: " + "\n- ".join(lines)


class MixedFleetError(UserError):
    """A fleet would stop to roll while its members have different properties."""

    def __init__(self, behind: list[str], members: int) -> None:
        super().__init__(
            f"updatePolicy: must stay ROLLING until the rollout has ended: {len(behind):,} of {members:,} members "
            f"{'does' if len(behind) == 1 else 'do'} not have the properties of the fleet, and nothing else would change "
            f"them: {names_in_words(behind)}. Remove pauseAfter to go on, or restore the previous properties to go back"
        )


def refuse_mixed_fleet(context: Context, new: BulkInstancesValues) -> None:
    """Raise MixedFleetError if an update ends the strategy ROLLING while members of the state are behind."""
    prior, policy = fleet_values(context.prior), Policy.of(new)
    generation, members = prior.get("generation"), prior.get("members") or ()
    if policy.rolling or not policy.wanted or not generation or new.get("updatePolicy") is UNKNOWN:
        return
    behind = [item["name"] for item in members if item.get("generation") not in {None, generation}]
    if behind:
        raise MixedFleetError(behind, len(members))


def announce(context: Context, old: BulkInstancesValues, new: BulkInstancesValues) -> None:
    """Say what an update does to the members in the state; nothing if their wanted number is not known.

    Raises:
        TooDisruptiveError: the change certainly needs more than the policy allows.
        TooManyDeletedError: the update certainly deletes more members than the policy allows.
    """
    names_are_unknown = new.get("perInstanceProperties") is UNKNOWN
    if names_are_unknown or has_unknown({name: new.get(name) for name in ("count", "updatePolicy", "onStopped")}):
        return
    refuse_mixed_fleet(context, new)
    policy, prior = Policy.of(new), fleet_values(context.prior)
    own = [nested(nested(new, "perInstanceProperties"), item["name"]) for item in prior.get("members") or ()]
    unknowns = has_unknown([new.get("instanceProperties"), new.get("rollingAction"), own])
    takes_over = _takes_over_machine_type(old, new)
    certain = ("sourceInstanceTemplate",) not in context.changed and not unknowns and not takes_over
    warn_of_idle_action(context, new, prior)
    members = _members(context, old, new, policy)
    at_least = members if certain else _members(context, old, new, policy, at_least=True)
    least = {member.id: member.need for member in at_least}
    too_much = max((least[member.id] for member in members if not member.stopped), default=Level.NONE)
    if policy.rolling and too_much > policy.most:
        raise TooDisruptiveError(too_much, policy.most)
    planned = list(steps(members, policy.wanted, policy))
    deleted = deleted_by(step for step, _ in planned)
    sure = [one for one in deleted if one.leaves or one.unwanted or least[one.id] is Level.REPLACE]
    policy.require_few_deletions(len(sure), len(members))
    lines = describe_plan(planned, members, policy, certain=certain, names=names_to_come(context, new))
    if not policy.may_delete(len(deleted), len(members)):
        lines.append(
            f"if more members have to be deleted than updatePolicy.maxDeleted allows, which is {policy.max_deleted}, the "
            "update fails before it changes anything"
        )
    properties = [("instanceProperties", name) for name in OF_FALLBACKS]
    if lines and policy.rolling and any(path[:2] in properties for path in context.changed):
        lines += _kept([item["name"] for item in prior.get("members") or () if "fallback" in item])
    if lines:
        context.inform(announcement(lines))


def _members(
    context: Context, old: BulkInstancesValues, new: BulkInstancesValues, policy: Policy, *, at_least: bool = False
) -> list[PlannedMember]:
    """Describe the members of the state for the plan of an update, with what they need at most or, instead, `at_least`."""
    need_of_member, prior = _needs(context, old, new, policy, at_least=at_least), fleet_values(context.prior)
    hosted, named = with_hostnames(old, prior), nested(new, "perInstanceProperties")

    def need_of_host(item: MemberValues) -> Level:
        is_unknown = has_unknown(nested(named, item["name"]))
        return Level.REPLACE if is_rehosted(new, hosted, item) and not (at_least and is_unknown) else Level.NONE

    found = prior.get("members") or ()
    members = [
        _member(old, new, policy, item, max(need_of_host(item), need_of_member(item)), at_least=at_least)
        for item in found
    ]
    leave = {member.id for member in leaving(members, policy.wanted, policy)}
    return [attrs.evolve(member, leaves=member.id in leave) for member in members]


def beyond_pause(context: Context, old: BulkInstancesValues, new: BulkInstancesValues) -> frozenset[str]:
    """Return the IDs of the members that the preview of an update leaves as they are, because the rollout pauses before them.

    Whom a rollout changes before its pause follows from the state, so that the update changes those that the preview has named.
    """
    policy = Policy.of(new)
    if policy.pause_after is None:
        return frozenset()
    members = _members(context, old, new, policy)
    planned = [step for step, _ in steps(members, policy.wanted, policy)]
    touched = {member.id for step in planned for member in (*step.delete, *step.restart, *step.refresh)}
    return frozenset(member.id for member in members if member.need and member.id not in touched)


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


def describe_lost(prior: BulkInstancesValues, members: list[Instance]) -> str:
    """Say which members of the state do not exist any more; empty if all do."""
    existing = {str(member["id"]) for member in members}
    lost = [item["name"] for item in prior.get("members") or () if item["id"] not in existing]
    return (
        f"{len(lost):,} {'member is' if len(lost) == 1 else 'members are'} gone: {names_in_words(lost)}" if lost else ""
    )


def describe_new(prior: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members an update has created, whose names a preview cannot know; empty if it has created none."""
    before = {item["id"] for item in prior.get("members") or ()}
    new = [item["name"] for item in outputs.get("members") or () if item["id"] not in before]
    return (
        f"{len(new):,} {'instance was' if len(new) == 1 else 'instances were'} created: {names_in_words(new)}"
        if new
        else ""
    )


def _kept(names: list[str]) -> list[str]:
    """Say which members keep what their fallbacks changed."""
    if not names:
        return []
    verb = "member keeps what its fallback" if len(names) == 1 else "members keep what their fallbacks"
    return [f"{len(names):,} {verb} changed, unless replaced: {names_in_words(names)}"]


def _is_uncertain(path: Path, new: BulkInstancesValues) -> bool:
    """Return whether the change at a path may turn out to be another one, or none."""
    return path[0] == "sourceInstanceTemplate" or has_unknown(_value_at(new, path))


def _value_at(values: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none, and UNKNOWN if it is below something that is not known."""
    for part in path:
        if isinstance(values, dict):
            values = values.get(part)
        elif isinstance(values, list) and isinstance(part, int):
            values = values[part] if part < len(values) else None
    return values


def _member(
    old: BulkInstancesValues,
    new: BulkInstancesValues,
    policy: Policy,
    known: MemberValues,
    need: Level,
    *,
    at_least: bool,
) -> PlannedMember:
    """Describe a member of the state for the plan; `need` is the most, or `at_least` the least, that it needs."""
    stopped, available = is_stopped(known), known.get("status") == "RUNNING"
    begun = is_changing(known.get("generation", ""))
    need = max(need, policy.least) if need and policy.rolling else need
    restartable = _can_restart(old, new, policy, known, at_least=at_least)
    if need is Level.RESTART and not restartable:
        need = Level.REPLACE
    behind = Level.REPLACE if stopped and policy.on_stopped == "REPLACE" else need
    drift = set_back(policy, known.get("differs") or (), can_restart=restartable)
    return attrs.evolve(
        known_member(new, policy, known),
        need=max(behind, *drift.values()) if drift else behind,
        set_back=tuple(drift),
        current=not behind,
        available=available,
        rests=stopped and policy.on_stopped == "KEEP" and not begun,
        tried=available and begun,
        note=_why_stopped(known),
    )


def _why_stopped(known: MemberValues) -> str:
    """Say why a member of the state is stopped; empty if it is not, or if that is not known."""
    reason = known.get("stopReason", "")
    if reason == "REQUESTED" and is_suspended(known):
        return "suspended by somebody"
    is_ours = reason == "REQUESTED" and is_changing(known.get("generation", ""))
    return "stopped for a restart" if is_ours else _STOPPED_BY.get(reason, "")


def _needs(
    context: Context, old: BulkInstancesValues, new: BulkInstancesValues, policy: Policy, *, at_least: bool
) -> Callable[[MemberValues], Level]:
    """Return a function that says what a member of the state needs.

    If that is not known offline, it is the most that the member can need or, with `at_least`, the least.
    """
    levels = frozenset(levels_of(path for path in context.changed if not (at_least and _is_uncertain(path, new))))
    changed = max(levels, default=Level.NONE)
    if not policy.rolling:
        return lambda _: min(changed, Level.REFRESH)
    prior = last_generation(fleet_values(context.prior)) or _offline_generation(old)
    wanted = _offline_generation(new, prior, levels) if levels else prior
    action = RollingAction.of(new, fleet_values(context.prior))
    asked = {member: min(action.level, policy.most) for member in action.pending}
    if at_least:  # what is not known may be what members that are behind have
        asked = {} if has_unknown(new.get("rollingAction")) else asked
        return lambda known: max(changed, asked.get(known["id"], Level.NONE))
    if prior and wanted:
        return lambda known: max(need_of(known.get("generation") or prior, wanted), asked.get(known["id"], Level.NONE))
    return lambda known: max(
        need_of(known.get("generation") or prior, prior) if prior else Level.NONE,
        changed,
        asked.get(known["id"], Level.NONE),
    )


def _offline_generation(
    inputs: BulkInstancesValues, prior: str = "", changed: frozenset[Level] = frozenset(CHANGES)
) -> str:
    """Return the generation that inputs stand for; empty if that depends on unknown values or a template."""
    if inputs.get("sourceInstanceTemplate") or has_unknown(inputs.get("instanceProperties")):
        return ""
    return generation_of(own_properties(inputs), prior, changed)


def will_set_back(inputs: BulkInstancesValues, members: Iterable[MemberValues]) -> bool:
    """Return whether an update sets anything back on members, as the state has them; `inputs` may hold unknowns."""
    policy = Policy.of(inputs)
    return any(_set_back_on(inputs, policy, item) for item in members if item.get("differs"))


def describe_drift(inputs: BulkInstancesValues, members: list[MemberValues]) -> str:
    """Say which members differ from the program, and in what; empty if none does."""
    changed = [item for item in members if item.get("differs")]
    if not changed:
        return ""
    names = names_in_words(f"{item['name']} ({', '.join(item['differs'])})" for item in changed)
    verb = "members differs" if len(changed) == 1 else "members differ"
    back = "; `pulumi up` sets back what the next preview names" if will_set_back(inputs, changed) else ""
    policy = Policy.of(inputs)
    is_kept = any(len(_set_back_on(inputs, policy, item)) < len(item["differs"]) for item in changed)
    kept = f"; what needs more than updatePolicy.mostDisruptiveAction: {policy.most.name} stays as it is"
    return f"{len(changed):,} of {len(members):,} {verb} from the program: {names}{back}{kept if is_kept else ''}"


def _set_back_on(inputs: BulkInstancesValues, policy: Policy, known: MemberValues) -> dict[str, Level]:
    """Return what an update sets back on a member of the state."""
    return set_back(policy, known["differs"], can_restart=_can_restart(inputs, inputs, policy, known))


def _can_restart(
    old: BulkInstancesValues, new: BulkInstancesValues, policy: Policy, known: MemberValues, *, at_least: bool = False
) -> bool:
    """Return whether a member of the state may be restarted; if that is not known, return `at_least`."""
    wanted = _machine_type(old, new, known)
    if wanted is UNKNOWN:
        return at_least
    return can_restart(policy, known["localSsds"], known["machineType"], name_of(wanted or ""))


def _machine_type(old: BulkInstancesValues, new: BulkInstancesValues, known: MemberValues) -> Any:
    """Return the machine type that a member should have, perhaps UNKNOWN; None if it keeps its own.

    Members keep what Google or their fallback has chosen, as in `Goal.target_of`. The state has the index of the fallback
    in the list as it was, which the `old` inputs have. A change of the template, which may have the machine type, replaces
    them anyway.
    """
    index, fallbacks, used = known.get("fallback"), old.get("fallbacks") or (), new
    if index is not None:
        if index >= len(fallbacks):
            return None
        if has_unknown(new.get("fallbacks")):
            return UNKNOWN
        found = inputs_of_member(new, labels_of_fallback(index, fallbacks[index]))
        if found is None:
            return None
        used = found
    if used.get("instanceFlexibilityPolicy"):
        return None
    own = nested(used, "instanceProperties").get("machineType")
    return UNKNOWN if own is None and _takes_over_machine_type(old, new) else own


def _takes_over_machine_type(old: BulkInstancesValues, new: BulkInstancesValues) -> bool:
    """Return whether members get the machine type of the template, which a preview does not read, in place of their own."""
    before, after = (nested(one, "instanceProperties").get("machineType") for one in (old, new))
    return bool(new.get("sourceInstanceTemplate")) and after is None and before is not None
