"""Describes what the next update does to a fleet, by the state and perhaps the template; and each step of an update."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize, batches, names_taken_over
from gcpx.compute.bulk_instances.member import (
    Instance,
    Level,
    Member,
    fleet_values,
    ignored_settings,
    last_generation,
    levels_of,
    members_of_state,
    template_path,
)
from gcpx.compute.bulk_instances.outputs import CREATION_OUTPUTS
from gcpx.compute.bulk_instances.plan import (
    OF_FALLBACKS,
    PendingAction,
    PlannedMember,
    Policy,
    Spec,
    Step,
    deleted_by,
    steps,
)
from gcpx.gcp.in_project import Lookups
from gcpx.model.context import Context
from gcpx.model.fields import nested, text
from gcpx.model.values import UNKNOWN, has_unknown
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues

_OF_SAME_MEMBERS: Final = ("memberCount", "memberNames", *CREATION_OUTPUTS)
"""The outputs that stay as they are if no member is created or deleted."""


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


def read_templates(
    lookups: Lookups, context: Context, project: str, old: BulkInstancesValues, new: BulkInstancesValues
) -> dict[str, InstancePropertiesValues]:
    """Read the templates that decide what an update to new inputs does; return their properties (REST JSON), by link.

    Nothing is read if the properties of members stay. The old template is read only if the state does not show the
    members' properties, or if they keep what the user ignores. A template that cannot be read is left out, with a
    warning.
    """
    if not levels_of(context.changed):
        return {}
    is_known = last_generation(fleet_values(context.prior)) and not ignored_settings(context.ignored)
    last = None if is_known else old.get("sourceInstanceTemplate")
    links = {link for link in (new.get("sourceInstanceTemplate"), last) if isinstance(link, str) and link}
    found = {link: lookups.get(context, f"beta/{template_path(project, link)}") for link in links}
    return {link: template.get("properties") or {} for link, template in found.items() if template}


def announce(
    context: Context,
    old: BulkInstancesValues,
    new: BulkInstancesValues,
    templates: Mapping[str, InstancePropertiesValues],
    stated: BulkInstancesValues,
) -> tuple[str, ...]:
    """Say what an update does to the members in the state, at most, as far as something is not known yet.

    `templates` is the result of `read_templates`, if it was called; `stated` is as for `Spec.offline`. Returns the
    names of the outputs that the update does not change.

    Raises:
        UserError: the change certainly needs more, or the update certainly deletes more members, than the policy allows.
    """
    _warn_of_idle_action(context, new, fleet_values(context.prior))
    preview = _Preview.of(context, old, new, templates, stated)
    preview.require_allowed()
    lines = preview.lines(context)
    if lines:  # the CLI shows the first one beside the resource
        context.inform("what this update does: " + "\n- ".join(lines))
    for words in preview.warnings():
        context.warn(words)
    return preview.unchanged_outputs


@attrs.frozen
class _Preview:
    """What an update does, by the state alone.

    Attributes:
        known: the members of the state.
        unknown: the inputs that limit the update and are not known yet, as `_unknown_limits` gives them.
        spec: what the program wants; what is not known counts as what changes most.
        surely: the same, but what is not known counts as no change.
        certain: whether it is known what each member needs; then, both are the same.
        members: the members, with what `spec` says that they need.
        steps: what is done to them, each step with the fewest members that run meanwhile.
    """

    known: list[Member]
    unknown: list[str]
    spec: Spec
    surely: Spec
    certain: bool
    members: list[PlannedMember]
    steps: list[tuple[Step, int]]

    @classmethod
    def of(
        cls,
        context: Context,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        templates: Mapping[str, InstancePropertiesValues],
        stated: BulkInstancesValues,
    ) -> _Preview:
        """Plan an update from old to new inputs."""
        prior, unknown = fleet_values(context.prior), _unknown_limits(new)
        known = list(members_of_state(prior).values())
        make = partial(Spec.offline, context, old, templates=templates, stated=stated)
        spec = surely = make(_with_limits(new, known, sure=False))
        certain = not unknown and _is_certain(context, spec, known)
        if not certain:
            surely = make(_with_limits(new, known, sure=True), sure=True)
        members = spec.plan(known)
        return cls(known, unknown, spec, surely, certain, members, list(steps(members, spec.policy)))

    @property
    def at_most(self) -> str:
        """The beginning of a line about work that may turn out to be unnecessary."""
        return "" if self.certain else "at most "

    @property
    def may_leave(self) -> bool:
        """Whether it is not known which members, or how many, the program wants."""
        return not {"count", "perInstanceProperties"}.isdisjoint(self.unknown)

    @property
    def deleted(self) -> list[PlannedMember]:
        """The members that the update deletes at most."""
        return self.members if self.may_leave else deleted_by(step for step, _ in self.steps)

    @property
    def unchanged_outputs(self) -> tuple[str, ...]:
        """The names of the outputs that the update does not change."""
        if self.may_leave or any(step.create or step.delete for step, _ in self.steps):
            return ()
        return _OF_SAME_MEMBERS if self.steps else (*_OF_SAME_MEMBERS, "members", "runningCount")

    def require_allowed(self) -> None:
        """Refuse what the policy certainly does not allow; raises what `announce` raises."""
        surely = self.surely.plan(self.known)
        self.surely.require_allowed(self.known, surely)
        replaced = {member.id for member in surely if member.need is Level.REPLACE}
        deleted = [one for one in self.deleted if one.leaves or one.unwanted or one.id in replaced]
        self.spec.policy.require_few_deletions(len(deleted), len(self.members))

    def lines(self, context: Context) -> list[str]:
        """Describe what happens to the members, in one line for each kind of work."""
        policy = self.spec.policy
        effects = _Effects.of([step for step, _ in self.steps], names_to_come(context, self.spec.inputs))
        lines = effects.lines(self.at_most)
        if (effects.restarted or effects.replaced) and not self.unknown:
            least = [running for step, running in self.steps if _restarted(step) or step.create or step.delete]
            batches = f"{counted(len(least), 'batch', 'batches')}{_hours(len(least), policy.stable_for)}"
            lines.append(f"{batches}; at least {min(least):,} of {policy.wanted:,} members run at any time")
        if self.steps and any(member.waits for member in self.members):
            reached = new_of(policy.pause_after or 0, policy.wanted)
            lines.append(f"the rollout pauses when {reached}; raise updatePolicy.pauseAfter to go on")
        if self.may_leave:
            lines += _line("deleted", self.members, "at most ")
        if not policy.may_delete(len(self.deleted), len(self.members)):
            lines.append(
                f"if more members have to be deleted than maxDeleted allows, which is {policy.max_deleted}, the "
                "update fails before it changes anything"
            )
        properties = [("instanceProperties", name) for name in OF_FALLBACKS]
        if lines and any(path[:2] in properties for path in context.changed):
            lines += _say(
                [member.name for member in self.known if member.fallback],
                "member keeps what its fallback changed, unless replaced",
                "members keep what their fallbacks changed, unless replaced",
            )
        if lines and self.spec.inputs.get("sourceInstanceTemplate") is UNKNOWN:
            lines.append(
                "sourceInstanceTemplate is not known yet; if it stays the same link, no member changes: a selfLink does if the "
                "program names the template, and a selfLinkUnique never does"
            )
        if lines and self.unknown:
            are = "is" if len(self.unknown) == 1 else "are"
            lines.append(
                f"{' and '.join(self.unknown)} {are} not known yet, so batches and other numbers follow from the update"
            )
        return lines

    def warnings(self) -> list[str]:
        """Say what cannot be undone, and whether the whole fleet is down for a time."""
        disks, found = "with all disks that have autoDelete", list[str]()
        for deleted in _say(self.deleted, f"member {disks}", f"members {disks}", self.at_most):
            found.append(f"this update deletes {deleted}")
        least = min((running for _, running in self.steps), default=1)
        if (
            any(member.available for member in self.members)
            and self.spec.policy.wanted
            and least <= 0
            and not self.unknown
        ):
            found.append(
                "no member runs for a time during this update; to avoid that, lower updatePolicy.maxUnavailable, or "
                "raise count in an update before this one"
            )
        return found


def _warn_of_idle_action(context: Context, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> None:
    """Warn if an action that the program has just changed does nothing, at all or to some of the chosen members."""
    if not any(path[0] == "rollingAction" for path in context.changed) or not inputs.get("rollingAction"):
        return
    action = PendingAction.of(inputs, prior)
    if action.mark and action.mark == prior.get("lastRollingAction"):
        context.warn(
            "rollingAction.trigger: everything was already done for this value, so this update restarts and replaces "
            "nothing; set another value, such as the time"
        )
        return
    known = {name for item in prior.get("members") or () for name in (item["id"], item["name"])}
    given: Mapping[str, object] = nested(inputs, "rollingAction")
    chosen = given.get("members")
    others = [item for item in chosen if item is not UNKNOWN and item not in known] if isinstance(chosen, list) else []
    if others:
        context.warn(
            f"rollingAction.members: {', '.join(others)} {'is not a member' if len(others) == 1 else 'are not members'} of "
            "this fleet, so nothing is done there; the output members has their names and IDs"
        )


def _is_certain(context: Context, spec: Spec, members: list[Member]) -> bool:
    """Return whether it is known what each of the members needs."""
    own = [nested(spec.inputs, "perInstanceProperties").get(member.name) for member in members]
    fallbacks = spec.inputs.get("fallbacks") if any(member.fallback for member in members) else None
    unknown = has_unknown([spec.inputs.get("instanceProperties"), spec.inputs.get("rollingAction"), own, fallbacks])
    is_of_template = ("sourceInstanceTemplate",) in context.changed or spec.machine_type is UNKNOWN
    may_be_other = unknown or (is_of_template and not spec.generation)
    return not may_be_other and all(map(spec.knows, members))


_LIMITS: Final = ("count", "perInstanceProperties", "onStopped", "updatePolicy")
"""The inputs that say how many members there are, and how a change reaches them."""


def _unknown_limits(inputs: BulkInstancesValues) -> list[str]:
    """Return which of the inputs that limit an update are not known yet; properties of single members do not count."""
    return [
        name
        for name in _LIMITS
        if inputs.get(name) is UNKNOWN or (name == "updatePolicy" and has_unknown(inputs.get(name)))
    ]


def _with_limits(inputs: BulkInstancesValues, members: Iterable[Member], *, sure: bool) -> BulkInstancesValues:
    """Return the inputs of a preview with a value for each of `_unknown_limits`: the fleet keeps its size.

    Unless `sure`, the policy is the one that does the most to the members.
    """
    unknown, known = _unknown_limits(inputs), list(members)
    assumed = inputs.copy()
    if "count" in unknown:
        assumed["count"] = len(known)
    if "perInstanceProperties" in unknown:
        own: Any = {member.name: UNKNOWN for member in known}
        assumed["perInstanceProperties"] = own
    if "onStopped" in unknown:
        assumed["onStopped"] = "KEEP" if sure else "REPLACE"
    if "updatePolicy" in unknown or "count" in unknown:
        given = nested(inputs, "updatePolicy")
        policy: Any = {name: value for name, value in given.items() if not has_unknown(value)}
        is_open = inputs.get("updatePolicy") is UNKNOWN
        numbers = (given.get("maxUnavailable"), given.get("maxSurge"))  # a percentage is of an unknown number
        if sure and (is_open or any(number is UNKNOWN or isinstance(number, str) for number in numbers)):
            policy["maxUnavailable"] = "100%"
        if not sure and (is_open or given.get("minimalAction") is UNKNOWN):
            policy["minimalAction"] = text(policy, "mostDisruptiveAction") or "REPLACE"
        assumed["updatePolicy"] = policy
    return assumed


_SECONDS_OF_A_BATCH: Final = 60
_SECONDS_OF_AN_HOUR: Final = 3600


def _hours(batches: int, observed: int) -> str:
    """Say about how long many batches take; nothing for less than an hour, if each takes a minute beside `observed` seconds.

    >>> _hours(1000, 0)
    ', one after the other: about 17 hours if each takes a minute, and less with a higher updatePolicy.maxUnavailable'
    >>> _hours(5, 60)
    ', each observed for 60 s'
    """
    seconds = batches * (_SECONDS_OF_A_BATCH + observed)
    watched, beside = (f", each observed for {observed:,} s", " without that") if observed else ("", "")
    if seconds < _SECONDS_OF_AN_HOUR:
        return watched
    time = f"about {counted(round(seconds / _SECONDS_OF_AN_HOUR), 'hour')}"
    return (
        f"{watched}, one after the other: {time} if each takes a minute{beside}, and less with a higher "
        "updatePolicy.maxUnavailable"
    )


@attrs.frozen
class _Effects:
    """What all steps of a plan do together.

    Attributes:
        refreshed, restarted, started: as in `Step`.
        left_stopped: members that are changed, and stay stopped.
        replaced: members that are deleted, and replaced by new ones.
        deleted: members that are deleted, and not replaced.
        created: how many instances are created in addition to replacements.
        names: the names of these additional instances, as far as they are known.
    """

    refreshed: list[PlannedMember]
    restarted: list[PlannedMember]
    left_stopped: list[PlannedMember]
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
        in_order = sorted((member for step in taken for member in _replaced(step)), key=lambda member: member.order)
        given = _names_given(taken, names) if names is not None else [member.name for member in in_order[:created]]
        reused = {member.name for member in leaving if not member.unwanted}.intersection(given)
        followed = {member.id for member in leaving if member.name in reused}
        return cls(
            refreshed=[member for step in taken for member in step.refresh],
            restarted=[member for step in taken for member in _restarted(step)],
            left_stopped=[member for step in taken for member in _left_stopped(step)],
            replaced=[member for member in leaving if member.id in followed],
            deleted=[member for member in leaving if member.id not in followed],
            started=[member for step in taken for member in step.start],
            created=created - len(followed),
            names=[name for name in given if name not in reused],
        )

    def lines(self, at_most: str) -> list[str]:
        """Describe the effects, one line each; `at_most` begins each line about what may turn out to be unnecessary."""
        changed = (*self.refreshed, *self.restarted, *self.left_stopped, *self.replaced)
        number = f"{counted(self.created, 'instance is', 'instances are')} created"
        if self.names:
            number += f": {names_in_words(self.names, self.created - len(self.names))}"
        return [
            *_line("changed without a restart", self.refreshed),
            *_line("restarted", self.restarted, at_most),
            *_line("replaced", self.replaced, at_most),
            *_line("changed, and left stopped", self.left_stopped),
            *_line("started", self.started),
            *_line("deleted", self.deleted),
            *([number] if self.created else []),
            *_line("set back", [f"{one.name} ({', '.join(one.set_back)})" for one in changed if one.set_back]),
            *_say(  # only stopped ones can be changed
                [one.name for one in (*self.restarted, *self.left_stopped) if one.suspended],
                "suspended member loses its memory",
                "suspended members lose their memory",
                at_most,
            ),
        ]


def _names_given(taken: list[Step], names: Sequence[str]) -> list[str]:
    """Return the names that new members get, if they take over free ones, step by step."""
    free, given = list(names), list[str]()
    for step in taken:
        free += [member.name for member in step.delete if not member.unwanted]
        taken_over = dict.fromkeys(names_taken_over(free, step.create))
        given += taken_over
        free = [name for name in free if name not in taken_over]
    return given


def without_followers(taken: list[Step], names: Sequence[str] | None) -> set[str]:
    """Return the IDs of the members that steps delete and that no new ones replace; `names` as `names_to_come` gives them."""
    return {member.id for member in _Effects.of(taken, names).deleted}


def _restarted(step: Step) -> list[PlannedMember]:
    return [member for member in step.restart if not member.stays_stopped]


def _left_stopped(step: Step) -> list[PlannedMember]:
    return [member for member in step.restart if member.stays_stopped]


def _replaced(step: Step) -> list[PlannedMember]:
    return [member for member in step.delete if member.need is Level.REPLACE and not member.unwanted]


def _say(members: Sequence[object], one: str, many: str, at_most: str = "") -> list[str]:
    """Say something of members: `3 members are restarted: web-1, web-2, web-3`, perhaps after `at most`; nothing of none."""
    if not members:
        return []
    return [f"{at_most}{counted(len(members), one, many)}: {names_in_words(map(str, members))}"]


def _line(what: str, members: Sequence[object], at_most: str = "") -> list[str]:
    """Say what is done to members: `what` as in `_say`, after `are`."""
    return _say(members, f"member is {what}", f"members are {what}", at_most)


def new_of(current: int, members: int) -> str:
    """Say how many members have the new properties.

    >>> new_of(1, 10)
    '1 of 10 members has the new properties'
    """
    return f"{current:,} of {members:,} members {'has' if current == 1 else 'have'} the new properties"


def names_to_come(context: Context, new: BulkInstancesValues) -> list[str] | None:
    """Return the names that new members get before deleted members free theirs; None if Google names new members.

    They are the names that the program lists, or the names of lost members.
    """
    prior, named = fleet_values(context.prior), new.get("perInstanceProperties")
    if not named and not Policy.of(new).keep_names:
        return None
    existing = {item["name"] for item in prior.get("members") or ()}
    lost = (item["name"] for item in prior.get("lostMembers") or ())
    return [name for name in named or lost if name not in existing]


def describe_step(step: Step, unfollowed: Container[str]) -> str:
    """Describe what a step does: `replacing web-1, web-2, starting web-7`; `unfollowed` as `without_followers` gives it."""
    replaced = [member for member in _replaced(step) if member.id not in unfollowed]
    surplus = surplus_of(step, unfollowed)
    parts = [
        _doing("replacing", replaced),
        _doing("deleting", surplus),
        _doing("restarting", _restarted(step)),
        _doing("changing", [*step.refresh, *_left_stopped(step)]),
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


def describe_lost(prior: BulkInstancesValues, members: list[Instance]) -> str:
    """Say which members of the state do not exist any more; empty if all do."""
    existing = {str(member["id"]) for member in members}
    lost = [item["name"] for item in prior.get("members") or () if item["id"] not in existing]
    return "".join(_line("gone", lost))


def describe_new(prior: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members an update has created: a preview cannot know their names. Empty if it has created none."""
    before = {item["id"] for item in prior.get("members") or ()}
    new = [item["name"] for item in outputs.get("members") or () if item["id"] not in before]
    return "".join(_say(new, "instance was created", "instances were created"))


def will_set_back(inputs: BulkInstancesValues, prior: BulkInstancesValues) -> bool:
    """Return whether an update sets anything back on the members of the state; `inputs` may hold unknowns."""
    spec = Spec(inputs=inputs)
    return any(spec.set_back(member) for member in members_of_state(prior).values() if member.differs)


def describe_drift(inputs: BulkInstancesValues, outputs: BulkInstancesValues) -> str:
    """Say which members differ from the program, and in what; empty if none does."""
    members, spec = members_of_state(outputs), Spec(inputs=inputs)
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
