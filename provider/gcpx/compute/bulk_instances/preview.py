"""What a rollout does, in words: in the preview of an update, from the state alone, and as the progress of a batch."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize
from gcpx.compute.bulk_instances.creation import batches
from gcpx.compute.bulk_instances.fleet import Instance, fleet_values, name_order
from gcpx.compute.bulk_instances.member import Member, members_of_state
from gcpx.compute.bulk_instances.outputs import CREATION_OUTPUTS
from gcpx.compute.bulk_instances.plan import Level, PlannedMember, Policy, Step, deleted_by, steps
from gcpx.compute.bulk_instances.spec import OF_FALLBACKS, Spec, unknown_limits, warn_of_idle_action, with_limits
from gcpx.model.fields import nested, text
from gcpx.model.resource import Context
from gcpx.model.values import UNKNOWN, has_unknown
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_OF_SAME_MEMBERS: Final = ("memberCount", "memberNames", *CREATION_OUTPUTS)
"""The outputs that stay as they are if no member is created or deleted."""
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
    *,
    certain: bool = True,
    names: Sequence[str] | None = None,
    unknown: Sequence[str] = (),
) -> list[str]:
    """Describe what an update does to the members, in one line for each kind of work.

    Args:
        planned: the steps, each with the fewest members that run.
        members: the members of the state, as `Spec.plan_of_state` describes them.
        policy: how the change reaches them.
        certain: whether every change is known; if not, members need at most what is said.
        names: as `names_to_come` gives them.
        unknown: as `unknown_limits` gives them; then, nothing is said of batches.
    """
    if not planned:
        return []
    wanted = policy.wanted
    effects = _Effects.of([step for step, _ in planned], names)
    lines = effects.lines("" if certain else "at most ")
    if (effects.restarted or effects.replaced) and not unknown:
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
    """The sum of all steps of a plan.

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
            *_line("changed without a restart", self.refreshed),
            *_line("restarted", self.restarted, at_most),
            *_line("replaced", self.replaced, at_most),
            *_line("changed, and left stopped", self.rested),
            *_line("started", self.started),
            *_line("deleted", self.deleted),
            *([number] if self.created else []),
            *_line("set back", [f"{one.name} ({', '.join(one.set_back)})" for one in changed if one.set_back]),
            *_say(  # only stopped ones can be changed
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


def _say(members: Sequence[object], one: str, many: str, at_most: str = "") -> list[str]:
    """Say something of members: `3 members are restarted: web-1, web-2, web-3`, perhaps after `at most`; nothing of none."""
    if not members:
        return []
    return [f"{at_most}{counted(len(members), one, many)}: {names_in_words(map(str, members))}"]


def _line(what: str, members: Sequence[object], at_most: str = "") -> list[str]:
    return _say(members, f"member is {what}", f"members are {what}", at_most)


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


def announce_creation(context: Context, inputs: BulkInstancesValues) -> None:
    """Say what the creation of a fleet does; nothing if the number of its instances is not known."""
    size, named = FleetSize.of(inputs).wanted, inputs.get("perInstanceProperties")
    if not size or has_unknown([inputs.get("count"), inputs.get("placement")]):
        return
    requests = len(list(batches(inputs, [], size, [])))
    number, calls = f"{counted(size, 'instance is', 'instances are')} created", counted(requests, "request")
    names = names_in_words(named) if isinstance(named, dict) else text(inputs, "namePattern") or "named by namePattern"
    more = " (fallbacks may need more)" if inputs.get("fallbacks") else ""
    context.inform(f"what this creation does: {number} with {calls}{more}: {names}")


def announce(context: Context, old: BulkInstancesValues, new: BulkInstancesValues) -> tuple[str, ...]:
    """Say what an update does to the members in the state, at most, as far as something is not known yet.

    Returns the names of the outputs that it does not change.

    Raises:
        UserError: the change certainly needs more than the policy allows.
        TooManyDeletedError: the update certainly deletes more members than the policy allows.
    """
    prior, unknown = fleet_values(context.prior), unknown_limits(new)
    known = members_of_state(prior)
    warn_of_idle_action(context, new, prior)
    spec = sure = Spec.offline(context, old, with_limits(new, known.values(), sure=False))
    members = surely = spec.plan_of_state(prior)
    certain = not unknown and _is_certain(context, spec, list(known.values()))
    if not certain:
        sure = Spec.offline(context, old, with_limits(new, known.values(), sure=True), sure=True)
        surely = sure.plan_of_state(prior)
    sure.require_allowed_plan(prior, surely)
    policy, planned = spec.policy, list(steps(members, spec.policy))
    may_leave = bool({"count", "perInstanceProperties"} & set(unknown))
    deleted = members if may_leave else deleted_by(step for step, _ in planned)
    certainly = {member.id for member in surely if member.need is Level.REPLACE}
    surely_deleted = [one for one in deleted if one.leaves or one.unwanted or one.id in certainly]
    policy.require_few_deletions(len(surely_deleted), len(members))
    lines = describe_plan(
        planned, members, policy, certain=certain, names=names_to_come(context, spec.inputs), unknown=unknown
    )
    lines += _line("deleted", members, "at most ") if may_leave else []
    if not policy.may_delete(len(deleted), len(members)):
        lines.append(
            f"if more members have to be deleted than maxDeleted allows, which is {policy.max_deleted}, the "
            "update fails before it changes anything"
        )
    properties = [("instanceProperties", name) for name in OF_FALLBACKS]
    if lines and any(path[:2] in properties for path in context.changed):
        lines += _say(
            [member.name for member in known.values() if member.fallback],
            "member keeps what its fallback changed, unless replaced",
            "members keep what their fallbacks changed, unless replaced",
        )
    if lines and unknown:
        are = "is" if len(unknown) == 1 else "are"
        lines.append(
            f"{' and '.join(unknown)} {are} not known yet, so batches and other numbers follow from the update"
        )
    if lines:
        context.inform(announcement(lines))
    if deleted:
        disks, at_most = "with all disks that have autoDelete", "" if certain else "at most "
        context.warn(f"this update deletes {_say(deleted, f'member {disks}', f'members {disks}', at_most)[0]}")
    if (
        any(member.available for member in members)
        and policy.wanted
        and min((least for _, least in planned), default=1) <= 0
        and not unknown
    ):
        context.warn(
            "no member runs for a time during this update; to avoid that, lower updatePolicy.maxUnavailable, or raise "
            "count in an update before this one"
        )
    if may_leave or any(step.create or step.delete for step, _ in planned):
        return ()
    return _OF_SAME_MEMBERS if planned else (*_OF_SAME_MEMBERS, "members", "runningCount")


def _is_certain(context: Context, spec: Spec, members: list[Member]) -> bool:
    """Return whether it is known what each of the members needs."""
    own = [nested(spec.inputs, "perInstanceProperties").get(member.name) for member in members]
    fallbacks = spec.inputs.get("fallbacks") if any(member.fallback for member in members) else None
    unknown = has_unknown([spec.inputs.get("instanceProperties"), spec.inputs.get("rollingAction"), own, fallbacks])
    may_be_other = unknown or ("sourceInstanceTemplate",) in context.changed or spec.machine_type is UNKNOWN
    return not may_be_other and all(map(spec.knows, members))


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
    return "".join(_line("gone", lost))


def describe_new(prior: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members an update has created, whose names a preview cannot know; empty if it has created none."""
    before = {item["id"] for item in prior.get("members") or ()}
    new = [item["name"] for item in outputs.get("members") or () if item["id"] not in before]
    return "".join(_say(new, "instance was created", "instances were created"))


def will_set_back(inputs: BulkInstancesValues, prior: BulkInstancesValues) -> bool:
    """Return whether an update sets anything back on the members of the state; `inputs` may hold unknowns."""
    spec = _unchanged(inputs)
    return any(spec.set_back(member) for member in members_of_state(prior).values() if member.differs)


def describe_drift(inputs: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members differ from the program, and in what; empty if none does."""
    members, spec = members_of_state(outputs), _unchanged(inputs)
    changed = [member for member in members.values() if member.differs]
    if not changed:
        return ""
    names = names_in_words(f"{member.name} ({', '.join(member.differs)})" for member in changed)
    verb = "members differs" if len(changed) == 1 else "members differ"
    back = "; `pulumi up` sets back what its preview names" if any(map(spec.set_back, changed)) else ""
    refused = {
        member.name: [name for name in member.differs if name not in spec.set_back(member)] for member in changed
    }
    kept = names_in_words(f"{name} ({', '.join(settings)})" for name, settings in refused.items() if settings)
    stays = f"; not set back, because updatePolicy does not allow it: {kept}" if kept else ""
    return f"{len(changed):,} of {len(members):,} {verb} from the program: {names}{back}{stays}"


def _unchanged(inputs: BulkInstancesValues) -> Spec:
    """Return what inputs want of members, as far as it matters for what is set back."""
    return Spec(
        inputs=inputs,
        policy=Policy.of(inputs),
        machine_type=nested(inputs, "instanceProperties").get("machineType") or "",
    )
