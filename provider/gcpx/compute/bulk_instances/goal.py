"""The goal of an update of a fleet: what the members need, as Google shows them, and what is set on each."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

import attrs

from gcpx.compute.bulk_instances.changes import (
    LABELS,
    MACHINE_TYPE,
    ON_RUNNING,
    ON_STOPPED,
    REFRESHED,
    Setting,
    Target,
    ignored_settings,
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
from gcpx.compute.bulk_instances.plan import Level, PlannedMember, Policy, levels_of
from gcpx.compute.bulk_instances.spec import (
    OF_FALLBACKS,
    OF_MACHINES,
    OF_MEMBERS,
    RollingAction,
    Spec,
    restarting,
    with_hostnames,
)
from gcpx.gcp.errors import ApiError
from gcpx.model.fields import chosen, nested, without
from gcpx.model.links import name_of
from gcpx.model.naming import UNREAD
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues, RemovedKeysValues

_COMPARED: Final = (LABELS, *ON_RUNNING[:2], MACHINE_TYPE)
"""What a refresh compares: what Google leaves as it was set, so that a difference is somebody's change."""


@attrs.frozen(kw_only=True)
class Goal:
    """The goal of an update of a fleet.

    The spec judges each member twice: as the state has it, which is what the preview has said, and as Google shows it. A
    member gets what it needs as Google shows it, and never more than the preview has said (`most`).

    Attributes:
        spec: what the program wants of the members.
        before: the properties before the update (REST JSON).
        target: what should be set on members.
        unreadable: why the template cannot be read, if the update does not change the properties; then, members that are
            behind cannot be changed.
        known: the members of the state, by ID.
        said: the members as the preview has planned them, by ID.
        was_read: whether the state shows the members after the last update; otherwise, the preview does not know what they
            need, and limits only who leaves and who waits until a pause ends.
        untouched: the IDs of members that a rollback leaves alone, because the update has not changed them.
    """

    spec: Spec
    before: InstancePropertiesValues
    target: Target
    unreadable: ApiError | None = None
    known: Mapping[str, Member] = attrs.Factory(dict)
    said: Mapping[str, PlannedMember] = attrs.Factory(dict)
    was_read: bool = True
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
            ignored=ignored_settings(context.ignored),
            hosted=with_hostnames(old, prior),
        )
        return cls(
            spec=spec,
            before=before,
            target=Target.after(before, after, _labels(fleet, generation), _removed_keys(prior)),
            unreadable=unreadable,
            known=members_of_state(prior),
            said={item.id: item for item in spec.plan_of_state(prior)},
            was_read=not context.prior.get(UNREAD),
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
        """Return the settings that differ from the goal, by the IDs of their members.

        An outdated member is left out, because it has other properties anyway.
        """
        found = dict[str, list[str]]()
        for instance in members:
            member = self.of_instance(instance)
            names = _differing(instance, member, self._target(member)) if self._has_reached(member) else []
            if names:
                found[member.id] = names
        return found

    def reversed(self, old: BulkInstancesValues, before: list[Instance], settled: Container[str]) -> Goal:
        """Return the goal of a rollback: it gives the old inputs to the members that the update has changed.

        Args:
            old: the old inputs.
            before: the members before the update, which may be more or fewer than the state has.
            settled: the IDs of those that the update has changed.
        """
        added = {item.name: frozenset(item.read(self.target.properties)) for item in (LABELS, *ON_STOPPED)}
        labels = {**self.target.labels, GENERATION_LABEL: self.spec.base}
        spec = Spec(
            inputs=old,
            policy=_policy_back(self.inputs, old),
            generation=self.spec.base,
            base=self.spec.generation,
            machine_type=name_of(self.before.get("machineType") or ""),
            given=self.spec.given,
            ignored=self.spec.ignored,
            hosted=with_hostnames(self.inputs),
        )
        known = {str(item["id"]): self.of_instance(item) for item in before}
        # The update has not replaced those that existed before it, so a rollback restarts them at most.
        said = {member: spec.planned(item, Level.RESTART, {}) for member, item in known.items()}
        return Goal(
            spec=spec,
            before=self.target.properties,
            target=Target.after(self.target.properties, self.before, labels, added),
            unreadable=self.unreadable,
            known=known,
            said=said,
            untouched=frozenset(member for member in known if member not in settled),
        )

    def without_action(self, handled: Iterable[str]) -> Goal:
        """Return the goal when the action was done to members, by their IDs."""
        return attrs.evolve(self, spec=attrs.evolve(self.spec, action=self.spec.action.without(frozenset(handled))))

    def target_of(self, instance: Instance) -> Target:
        """Return what should be set on an instance."""
        return self._target(self.of_instance(instance))

    def _target(self, member: Member) -> Target:
        """Return what should be set on a member.

        A member keeps what its fallback changed or, if that is not in the list any more, everything that fallbacks change.
        It keeps a machine type that Google could choose, and its own settings since an import that the update leaves alone.
        """
        wanted, used = self.target.properties, self.spec.inputs_of(member)
        kept = without(wanted, OF_FALLBACKS) if used is None else _without_choices(wanted, self.inputs, used)
        kept = without(kept, self.spec.own_of(member))
        marks = self.spec.action.labels if self.spec.action.level_for(member) else {}
        return attrs.evolve(self.target, properties=kept, labels={**self.target.labels, **marks})

    def of_instance(self, instance: Instance) -> Member:
        """Describe a member as Google shows it, with what it has for itself, and its generation if the label is removed."""
        member = Member.of_instance(instance)
        known = self.known.get(member.id)
        if known is None:
            return member
        label = member.generation or known.generation
        if known.label_is_foreign and not known.generation and not self.spec.has_written(label):
            label = ""
        return attrs.evolve(member, generation=label, own=known.own)

    def generation_of(self, instance: Instance) -> str:
        """Return the generation of a member: from its label, or from the last outputs, or the one before the update."""
        return self.of_instance(instance).generation or self.spec.base

    def is_current(self, instance: Instance) -> bool:
        """Return whether a member has reached the generation, by its label, and nothing is left of an action."""
        return self._has_reached(self.of_instance(instance))

    def _has_reached(self, member: Member) -> bool:
        is_behind = self.spec.generation and self.spec.behind(member)
        return not is_behind and not self.spec.action.level_for(member)

    def member(self, instance: Instance, *, ready: bool, blocked: bool = False) -> PlannedMember:
        """Describe an instance for the plan; `blocked` if something has failed for it, so that nothing more is done to it.

        Raises:
            TooDisruptiveError, NoRestartError: the policy does not allow what a member needs that is not blocked.
            ApiError: the template is needed and cannot be read.
        """
        member = self.of_instance(instance)
        said, target = self.said.get(member.id), self._target(member)
        behind = Level.NONE if member.id in self.untouched else self._need(instance, member, target)
        planned = self.spec.planned(member, behind, self._set_back(instance, member, target))
        refusal = None if blocked or planned.unwanted else self.spec.refusal(member, planned.need)
        if refusal is not None:
            if not (said and said.leaves):
                raise refusal
            planned = attrs.evolve(planned, need=Level.NONE)  # it leaves, so the preview has not refused what it needs
        return attrs.evolve(
            planned,
            current=not behind or (behind is Level.REFRESH and self._has_reached(member)),
            available=ready and member.runs,
            unready=member.runs and not ready,
            added=bool(self.known) and member.id not in self.known,
            leaves=said is not None and said.leaves,
            waits=said is not None and said.waits,
            blocked=blocked,
        )

    def most(self, member: Member) -> Level:
        """Return the most that may be done to a member: what the preview has said, or a refresh.

        An interrupted restart ends in any case, and only ends. Nothing was said of members that the state does not have.
        """
        said = self.said.get(member.id) if self.was_read else None
        if member.changing and (said is None or said.need is not Level.REPLACE):
            return Level.RESTART
        return Level.REPLACE if said is None else max(said.need, Level.REFRESH)

    def is_left(self, member: Member) -> bool:
        """Return whether a member does not get what its label asks for, because that is more than the preview has said.

        Somebody has changed the label, or a rollout that was killed has changed the member.
        """
        return self.spec.behind(member) > self.most(member)

    def _need(self, instance: Instance, member: Member, target: Target) -> Level:
        """Return what a member needs, apart from what others have changed on it."""
        behind, most = self.spec.behind(member), self.most(member)
        is_lost = most is Level.REPLACE and self.spec.is_lost(member)
        if self.unreadable is not None and not is_lost and (0 < behind <= most or self.spec.asked(member)):
            raise self.unreadable
        if behind > most:
            behind = Level.NONE
        elif behind is Level.NONE:  # someone may have removed a label of gcpx
            has_labels = target.labels.items() <= (instance.get("labels") or {}).items()
            behind = Level.NONE if has_labels and not self._is_half_changed(instance, target) else Level.REFRESH
        elif behind is Level.RESTART and member.runs and self._is_restarted(instance, target):
            behind = Level.REFRESH
        return self.spec.need(member, most, behind)

    def _is_restarted(self, instance: Instance, target: Target) -> bool:
        """Return whether an interrupted rollout has done what needs a restart, so that only the label is left to set."""
        return self.policy.least < Level.RESTART and not any(target.differs(item, instance) for item in ON_STOPPED)

    def _is_half_changed(self, instance: Instance, target: Target) -> bool:
        """Return whether a member with the label of the goal has anything else that the update before this one has set.

        The label is set last. So if that update failed or was cancelled before it had set the label, and its change is now
        taken back, the label does not show what was set.
        """

        def has_last(setting: Setting) -> bool:
            last, wanted, found = (wanted_of(setting, item) for item in (self.before, target.properties, instance))
            changed = {key for key in last.keys() | wanted.keys() if last.get(key) != wanted.get(key)}
            return any(found.get(key) == last.get(key) for key in changed)

        return any(target.differs(item, instance) and has_last(item) for item in REFRESHED)

    def _set_back(self, instance: Instance, member: Member, target: Target) -> dict[str, Level]:
        """Return which settings of a member are set back, with what each needs: those named by the preview that still differ."""
        known = self.known.get(member.id)
        if known is None or not known.differs:
            return {}
        differing = tuple(name for name in _differing(instance, member, target) if name in known.differs)
        return self.spec.set_back(attrs.evolve(member, differs=differing))


def _differing(instance: Instance, member: Member, target: Target) -> list[str]:
    """Return the settings of a member that are not as they are wanted; an interrupted restart counts, so that it goes on."""
    names = [item.name for item in _COMPARED if target.differs(item, instance)]
    if member.stopped and member.changing:
        names.append(MACHINE_TYPE.name)
    return list(dict.fromkeys(names))


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
    changed = chosen(own, [name for name in OF_MACHINES if own.get(name) != fleets.get(name)])
    kept = wanted if own.get("scheduling") == fleets.get("scheduling") else without(wanted, ("scheduling",))
    return without(kept, OF_MACHINES) if used.get("instanceFlexibilityPolicy") else {**kept, **changed}
