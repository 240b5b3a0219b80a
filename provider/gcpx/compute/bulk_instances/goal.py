"""The goal of an update of a fleet: what the members need, as Google shows them, and what is set on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import inputs_of_member
from gcpx.compute.bulk_instances.changes import (
    LABELS,
    MACHINE_TYPE,
    ON_RUNNING,
    ON_STOPPED,
    REFRESHED,
    Setting,
    Target,
    wanted_of,
)
from gcpx.compute.bulk_instances.fleet import GENERATION_LABEL, Fleet, Instance, fleet_values, membership_labels
from gcpx.compute.bulk_instances.generation import (
    generation_of,
    has_same_properties,
    last_generation,
    own_properties,
    rolled_properties,
)
from gcpx.compute.bulk_instances.member import Member, members_of_state
from gcpx.compute.bulk_instances.plan import Level, PlannedMember, Policy, beyond_pause, levels_of
from gcpx.compute.bulk_instances.spec import OF_MEMBERS, RollingAction, Spec, restarting, with_hostnames
from gcpx.gcp.errors import ApiError
from gcpx.model.fields import chosen, nested, without
from gcpx.model.links import name_of
from gcpx.model.naming import UNREAD
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues, RemovedKeysValues

_OF_MACHINES: Final = ("machineType", "minCpuPlatform")
"""The properties that fallbacks and Google's choice among machine types change, and that a restart can set."""
OF_FALLBACKS: Final = (*_OF_MACHINES, "scheduling")
"""The properties of existing members that a fallback may have changed."""
_COMPARED: Final = (LABELS, *ON_RUNNING[:2], MACHINE_TYPE)
"""What a refresh compares: what Google leaves as it was set, so that a difference is somebody's change."""


@attrs.frozen(kw_only=True)
class Goal:
    """The goal of an update of a fleet.

    The spec judges each member twice: as the state has it, which is what the preview has said, and as Google shows it. A
    member gets what it needs as Google shows it. If that is more than the preview has said, it is left alone; only a
    refresh, and the end of an interrupted restart, are done anyway.

    Attributes:
        spec: what the program wants of the members.
        before: the properties before the update (REST JSON).
        target: what should be set on members.
        unreadable: why the template cannot be read, if the update does not change the properties; then, members that are
            behind cannot be changed.
        known: the members of the state, by ID.
        said: what members need according to the preview, by ID; empty if the state does not tell.
        leaving: the IDs of members that a scale-in deletes.
        waiting: the IDs of members that stay as they are, because the rollout pauses before them.
        untouched: the IDs of members that a rollback leaves alone, because the update has not changed them.
    """

    spec: Spec
    before: InstancePropertiesValues
    target: Target
    unreadable: ApiError | None = None
    known: Mapping[str, Member] = attrs.Factory(dict)
    said: Mapping[str, Level] = attrs.Factory(dict)
    leaving: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: Context, fleet: Fleet, old: BulkInstancesValues, new: BulkInstancesValues) -> Goal:
        """Determine the goal of an update from old to new inputs.

        Raises:
            ApiError: the template cannot be read, and the update changes the properties.
        """
        policy, prior = Policy.of(new), fleet_values(context.prior)
        before, after, unreadable = _properties(context, fleet, old, new)
        base = last_generation(prior) or generation_of(before)
        generation = generation_of(after, base, frozenset(levels_of(context.changed)))
        spec = Spec(
            inputs=new,
            policy=policy,
            generation=generation,
            base=base,
            restarting=restarting(context.changed),
            machine_type=name_of(after.get("machineType") or ""),
            action=RollingAction.of(new, prior),
            given=context.changed,
            hosted=with_hostnames(old, prior),
        )
        known, planned = members_of_state(prior), spec.plan_of_state(prior)
        return cls(
            spec=spec,
            before=before,
            target=Target.after(before, after, _labels(fleet, generation), _removed_keys(prior)),
            unreadable=unreadable,
            known=known,
            said={} if context.prior.get(UNREAD) else {member: spec.need(item) for member, item in known.items()},
            leaving=frozenset(member.id for member in planned if member.leaves),
            waiting=beyond_pause(planned, policy),
        )

    @classmethod
    def reached(cls, fleet: Fleet, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> Goal:
        """Return the goal of the last update, as far as its inputs and outputs tell: a template is not read."""
        last: BulkInstancesValues = {**inputs, **chosen(prior, OF_MEMBERS)}
        properties, generation = own_properties(last), prior.get("generation") or ""
        return cls(
            spec=Spec(inputs=last, policy=Policy.of(last), generation=generation, base=generation),
            before=properties,
            target=Target(properties, labels=_labels(fleet, generation)),
            known=members_of_state(prior),
        )

    @property
    def policy(self) -> Policy:
        """How the members reach the goal."""
        return self.spec.policy

    @property
    def inputs(self) -> BulkInstancesValues:
        """The inputs of the fleet that it is to reach."""
        return self.spec.inputs

    @property
    def removed_keys(self) -> BulkInstancesValues:
        """The output that has the keys which the goal removes; nothing if there are none."""
        removed = {name: sorted(keys) for name, keys in self.target.removed.items()}
        return {"removedKeys": cast("RemovedKeysValues", removed)} if removed else {}

    def drift(self, members: Iterable[Instance]) -> dict[str, list[str]]:
        """Return, by the IDs of members, the settings that are not as the goal wants them; those that have them are left out.

        A member that is behind is left out, because it has other properties anyway. A member whose restart was
        interrupted differs, so that the restart goes on.
        """
        found = {str(member["id"]): self._differing(member) for member in members if self.is_current(member)}
        return {member: names for member, names in found.items() if names}

    def _differing(self, instance: Instance) -> list[str]:
        target, member = self.target_of(instance), Member.of_instance(instance)
        names = [item.name for item in _COMPARED if target.differs(item, instance)]
        if member.stopped and member.changing:
            names.append(MACHINE_TYPE.name)
        return list(dict.fromkeys(names))

    def reversed(self, old: BulkInstancesValues, untouched: frozenset[str]) -> Goal:
        """Return the goal of a rollback: it gives the old inputs to the members that the update has changed."""
        added = {item.name: frozenset(item.read(self.target.properties)) for item in (LABELS, *ON_STOPPED)}
        labels = {**self.target.labels, GENERATION_LABEL: self.spec.base}
        spec = Spec(
            inputs=old,
            policy=_policy_back(self.inputs, old),
            generation=self.spec.base,
            base=self.spec.generation,
            machine_type=name_of(self.before.get("machineType") or ""),
            given=self.spec.given,
            hosted=with_hostnames(self.inputs),
        )
        return Goal(
            spec=spec,
            before=self.target.properties,
            target=Target.after(self.target.properties, self.before, labels, added),
            unreadable=self.unreadable,
            known={member: attrs.evolve(item, differs=()) for member, item in self.known.items()},
            untouched=untouched,
        )

    def without_action(self, handled: Iterable[str]) -> Goal:
        """Return the goal when the action was done to members, by their IDs."""
        return attrs.evolve(self, spec=attrs.evolve(self.spec, action=self.spec.action.without(frozenset(handled))))

    def target_of(self, instance: Instance) -> Target:
        """Return what should be set on a member; a member of a fallback keeps what the fallback changed.

        What it has had for itself since an import stays, unless the update changes that.

        If its fallback is not in the list any more, it keeps everything that fallbacks change. If Google could choose
        the machine type, it stays.
        """
        member, wanted = self.of_instance(instance), self.target.properties
        used = inputs_of_member(self.inputs, member.fallback)
        kept = without(wanted, OF_FALLBACKS) if used is None else _without_choices(wanted, self.inputs, used)
        kept = without(kept, self.spec.own_of(member))
        marks = self.spec.action.labels if self.spec.action.level_for(member) else {}
        return attrs.evolve(self.target, properties=kept, labels={**self.target.labels, **marks})

    def of_instance(self, instance: Instance) -> Member:
        """Describe a member as Google shows it, with what it has for itself, and its generation if the label is removed."""
        member = Member.of_instance(instance)
        known = self.known.get(member.id)
        return (
            attrs.evolve(member, generation=member.generation or known.generation, own=known.own) if known else member
        )

    def generation_of(self, instance: Instance) -> str:
        """Return the generation of a member: from its label, or from the last outputs, or the one before the update."""
        return self.of_instance(instance).generation or self.spec.base

    def is_current(self, instance: Instance) -> bool:
        """Return whether a member has reached the generation, by its label, and nothing is left of an action."""
        member = self.of_instance(instance)
        is_behind = self.spec.generation and self.spec.behind(member)
        return not is_behind and not self.spec.action.level_for(member)

    def member(self, instance: Instance, *, ready: bool, blocked: bool = False) -> PlannedMember:
        """Describe an instance for the plan; `blocked` if something has failed for it, so that nothing more is done to it.

        Raises:
            TooDisruptiveError, NoRestartError: the policy does not allow what a member needs that is not blocked.
            ApiError: the template is needed and cannot be read.
        """
        member = self.of_instance(instance)
        behind = self._need(instance, member)
        planned = self.spec.planned(member, behind, self._set_back(instance, member))
        if member.id not in self.leaving and not planned.unwanted and not blocked:
            self.spec.require_allowed(member, behind)
        return attrs.evolve(
            planned,
            current=not behind or (behind is Level.REFRESH and self.is_current(instance)),
            available=ready and member.runs,
            unready=member.runs and not ready,
            added=bool(self.known) and member.id not in self.known,
            leaves=member.id in self.leaving,
            waits=member.id in self.waiting,
            blocked=blocked,
        )

    def rests(self, instance: Instance) -> bool:
        """Return whether a member stays stopped."""
        return self.spec.rests(Member.of_instance(instance))

    def _need(self, instance: Instance, member: Member) -> Level:
        """Return what a member needs, apart from what others have changed on it."""
        if member.id in self.untouched:
            return Level.NONE
        if self.spec.is_lost(member) and not self._goes_on(member):
            return Level.REPLACE
        asked = self.spec.asked(member)
        if asked and self.unreadable is not None:
            raise self.unreadable
        least = max(asked, self.policy.least) if asked else asked
        return self.spec.carried_out(member, max(self._behind(instance, member), least))

    def _goes_on(self, member: Member) -> bool:
        """Return whether a restart has stopped a member, and ends, because the preview has not said that it is replaced."""
        return member.changing and self.said.get(member.id) is not Level.REPLACE

    def is_left(self, member: Member) -> bool:
        """Return whether a member stays as it is, because its label asks for more than the preview has said.

        Somebody has changed the label, or a rollout that was killed has changed the member. An interrupted restart has
        to end anyway.
        """
        said = self.said.get(member.id)
        return said is not None and not member.changing and self.spec.behind(member) > max(said, Level.REFRESH)

    def _behind(self, instance: Instance, member: Member) -> Level:
        """Return what a member needs, by its label and by what is set on it."""
        if self.is_left(member):
            return Level.NONE
        need = self.spec.behind(member)
        if need is Level.NONE:  # someone may have removed a label of gcpx
            has_labels = self.target.labels.items() <= (instance.get("labels") or {}).items()
            return Level.NONE if has_labels and not self._is_half_changed(instance, member) else Level.REFRESH
        if self.unreadable is not None:
            raise self.unreadable
        is_set = need is Level.RESTART and not any(
            self.target_of(instance).differs(item, instance) for item in ON_STOPPED
        )
        if is_set and member.runs and self.policy.least < Level.RESTART:
            need = Level.REFRESH  # an interrupted rollout has restarted it already
        said = self.said.get(member.id)
        # The preview applies the least action to members that are behind by the state. An interrupted restart only ends.
        is_unsaid = said is Level.NONE or (said is None and member.changing)
        return need if is_unsaid else max(need, self.policy.least)

    def _is_half_changed(self, instance: Instance, member: Member) -> bool:
        """Return whether a member with the label of the goal has anything else that the update before this one has set.

        The label is set last. So if that update failed or was cancelled before it had set the label, and its change is now
        taken back, the label does not show what was set. A member that is behind by the state gets everything anyway.
        """
        if self.said and self.said.get(member.id) is not Level.NONE:
            return False
        target = self.target_of(instance)

        def has_last(setting: Setting) -> bool:
            last, wanted, found = (wanted_of(setting, item) for item in (self.before, target.properties, instance))
            changed = {key for key in last.keys() | wanted.keys() if last.get(key) != wanted.get(key)}
            return any(found.get(key) == last.get(key) for key in changed)

        return any(target.differs(item, instance) and has_last(item) for item in REFRESHED)

    def _set_back(self, instance: Instance, member: Member) -> dict[str, Level]:
        """Return which settings of a member are set back, with what each needs: those named by the preview that still differ."""
        known = self.known.get(member.id)
        if known is None or not known.differs:
            return {}
        differing = tuple(name for name in self._differing(instance) if name in known.differs)
        return self.spec.set_back(attrs.evolve(member, differs=differing))


def _labels(fleet: Fleet, generation: str) -> dict[str, str]:
    """Return the labels that gcpx sets on members."""
    return {**membership_labels(fleet.id), **({GENERATION_LABEL: generation} if generation else {})}


def _removed_keys(prior: BulkInstancesValues) -> dict[str, frozenset[str]]:
    """Return the keys that an unfinished update was removing, by the name of the setting."""
    removed = cast("Mapping[str, list[str]]", prior.get("removedKeys") or {})
    return {name: frozenset(keys) for name, keys in removed.items()}


def _properties(
    context: Context, fleet: Fleet, old: BulkInstancesValues, new: BulkInstancesValues
) -> tuple[InstancePropertiesValues, InstancePropertiesValues, ApiError | None]:
    """Return the properties before and after an update, and the error if an unneeded template cannot be read."""
    try:
        return *rolled_properties(context, fleet, old, new), None
    except ApiError as error:
        if not (last_generation(fleet_values(context.prior)) and has_same_properties(old, new)):
            raise
        return own_properties(old), own_properties(new), error


def _policy_back(new: BulkInstancesValues, old: BulkInstancesValues) -> Policy:
    """Return the policy of a rollback: the new one for the old size, without what limits it, and with the old readiness.

    A rollback deletes no more members than the update has created.
    """
    given = without(nested(new, "updatePolicy"), ("pauseAfter",))
    ready = nested(nested(old, "updatePolicy"), "ready")
    return Policy.of({**without(old, ("maxDeleted",)), "updatePolicy": {**given, "ready": ready}})


def _without_choices(
    wanted: InstancePropertiesValues, inputs: BulkInstancesValues, used: BulkInstancesValues
) -> InstancePropertiesValues:
    """Return the wanted properties (REST JSON) of a member that was created with the `used` inputs of the fleet."""
    own, fleets = nested(used, "instanceProperties"), nested(inputs, "instanceProperties")
    changed = chosen(own, [name for name in _OF_MACHINES if own.get(name) != fleets.get(name)])
    kept = wanted if own.get("scheduling") == fleets.get("scheduling") else without(wanted, ("scheduling",))
    return without(kept, _OF_MACHINES) if used.get("instanceFlexibilityPolicy") else {**kept, **changed}
