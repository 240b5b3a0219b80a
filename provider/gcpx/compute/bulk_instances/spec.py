"""What the program wants of the members, and what each of them needs for that: one rule for the preview and the update."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import inputs_of_member
from gcpx.compute.bulk_instances.changes import MACHINE_TYPE, ignored_settings
from gcpx.compute.bulk_instances.fleet import ACTION_LABEL, fleet_values, name_order
from gcpx.compute.bulk_instances.generation import (
    changing,
    generation_of,
    hash_for_label,
    last_generation,
    need_of,
    own_properties,
)
from gcpx.compute.bulk_instances.member import OWN_GENERATION, Member, members_of_state
from gcpx.compute.bulk_instances.plan import (
    Level,
    PlannedMember,
    Policy,
    as_previewed,
    level_named,
    level_of,
    levels_of,
)
from gcpx.compute.instance_properties.machines import can_change_machine_type
from gcpx.errors import UserError
from gcpx.model.fields import nested, text
from gcpx.model.links import name_of
from gcpx.model.resource import Context
from gcpx.model.values import UNKNOWN, Path, has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues

_ACTION: Final = "rollingAction"
OF_MACHINES: Final = ("machineType", "minCpuPlatform")
"""The properties that fallbacks and Google's choice among machine types change, and that a restart can set."""
OF_FALLBACKS: Final = (*OF_MACHINES, "scheduling")
"""The properties of existing members that a fallback may have changed."""


class TooDisruptiveError(UserError):
    """A change needs more than the update policy allows."""

    def __init__(self, need: Level, most: Level) -> None:
        super().__init__(
            f"updatePolicy.mostDisruptiveAction: {most.name} does not allow this change, which needs {need.name}; "
            f"raise it to {need.name}, or leave the properties as they were"
        )


class NoRestartError(UserError):
    """A change restarts members, although none may be unavailable."""

    def __init__(self) -> None:
        super().__init__(
            "updatePolicy.maxUnavailable: 0 does not allow this change, which restarts members; set it to at least 1, or "
            "replace the members instead, with minimalAction: REPLACE"
        )


@attrs.frozen
class RollingAction:
    """A restart or a replacement of members that a program asks for each time that a trigger changes.

    Each member that was handled has a label with a hash of the trigger, and so has each member that is created meanwhile.
    So an update that was interrupted goes on with the others. When all are handled, an output holds the hash, and the
    labels do not matter any more.

    Attributes:
        level: what is done to each: a restart, or a replacement.
        mark: the value of the label of members that were handled; empty if there is no action, or if its trigger is not
            known yet.
        pending: the IDs of the members that were not handled, as the state has them. Nothing is done to others, because
            the preview has not named them.
    """

    level: Level = Level.NONE
    mark: str = ""
    pending: frozenset[str] = frozenset()

    @classmethod
    def of(cls, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> RollingAction:
        """Determine what an action has left to do.

        Args:
            inputs: the fleet's inputs. What is not known yet counts as the most that it can be.
            prior: the last outputs.
        """
        if not inputs.get(_ACTION):
            return cls()
        given, trigger = nested(inputs, _ACTION), text(nested(inputs, _ACTION), "trigger")
        mark, level = hash_for_label(trigger) if trigger else "", level_named(text(given, "action"), Level.REPLACE)
        chosen = given.get("members")
        if mark and mark == prior.get("lastRollingAction"):
            return cls(level, mark)
        left = [member for member in members_of_state(prior).values() if not mark or member.action != mark]
        if isinstance(chosen, list) and UNKNOWN not in chosen:
            left = [member for member in left if member.id in chosen or member.name in chosen]
        return cls(level, mark, frozenset(member.id for member in left))

    @property
    def labels(self) -> dict[str, str]:
        """The label of members that need nothing of it, such as new ones; empty without an action."""
        return {ACTION_LABEL: self.mark} if self.mark else {}

    def level_for(self, member: Member) -> Level:
        """Return what is left to do to a member."""
        handled = bool(self.mark) and member.action == self.mark
        return self.level if member.id in self.pending and not handled else Level.NONE

    def without(self, handled: Container[str]) -> RollingAction:
        """Return what is left when members, by their IDs, were handled."""
        return attrs.evolve(self, pending=frozenset(member for member in self.pending if member not in handled))

    def outputs(self, prior: BulkInstancesValues, members: Iterable[Member]) -> BulkInstancesValues:
        """Return the output that says which action was the last that all its members were handled for.

        Args:
            prior: the last outputs.
            members: all members as they are now.
        """
        has_ended = bool(self.mark) and not any(map(self.level_for, members))
        last = self.mark if has_ended else prior.get("lastRollingAction")
        return {"lastRollingAction": last} if last else {}


@attrs.frozen(kw_only=True)
class Spec:
    """What the program wants of the members of a fleet.

    Without anything but the inputs, it is what an unchanged program wants.

    Attributes:
        inputs: the fleet's inputs, which in a preview may hold unknowns.
        policy: how a change reaches the members; by default, as the inputs say.
        generation: stands for the properties that members should have; empty if that is not known without asking Google.
        base: stands for the properties before the update, which members without a mark have; may be empty.
        restarting: the names of the changed properties that need a restart.
        changed: what the changed properties need at most; it counts if the generation is not known.
        machine_type: the machine type of members that have no fallback: empty if they keep theirs, UNKNOWN if only the
            template names it; by default, as the inputs say.
        action: the members that the program asks to restart or to replace.
        given: the parts of settings that the update changes; what members have for themselves stays otherwise.
        ignored: the settings whose changes the user ignores, so that existing members keep theirs.
        hosted: the names of members that got host names of their own from the program.
        sure: whether an unknown value counts as no change; otherwise, it counts as the most disruptive change.
    """

    inputs: BulkInstancesValues
    policy: Policy = attrs.field()
    generation: str = ""
    base: str = ""
    restarting: frozenset[str] = frozenset()
    changed: Level = Level.NONE
    machine_type: Any = attrs.field()
    action: RollingAction = attrs.Factory(RollingAction)
    given: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    hosted: frozenset[str] = frozenset()
    sure: bool = False
    _inputs_of: dict[str, BulkInstancesValues | None] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    """The inputs of members by their labels of fallbacks."""

    @policy.default
    def _own_policy(self) -> Policy:
        return Policy.of(self.inputs)

    @machine_type.default
    def _own_machine_type(self) -> Any:
        return nested(self.inputs, "instanceProperties").get("machineType") or ""

    @classmethod
    def offline(
        cls,
        context: Context,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        templates: Mapping[str, InstancePropertiesValues] = MappingProxyType({}),
        *,
        sure: bool = False,
    ) -> Spec:
        """Build what a preview knows of an update from old to new inputs, which may hold unknowns.

        `templates` are the properties of those templates (REST JSON) that were read, by their links in the inputs.
        """
        prior = fleet_values(context.prior)
        levels = frozenset(levels_of(path for path in context.changed if not (sure and _is_uncertain(path, new))))
        before, after = _known_properties(old, templates), _known_properties(new, templates)
        base = last_generation(prior) or ("" if before is None else generation_of(before))
        generation = base
        if levels:
            generation = generation_of(after, base, levels) if base and after is not None else ""
        return cls(
            inputs=new,
            generation="" if sure else generation,  # what is not known may be what members that are behind have
            base=base,
            restarting=restarting(context.changed),
            changed=max(levels, default=Level.NONE),
            machine_type=(
                _offline_machine_type(old, new, prior) if after is None else name_of(after.get("machineType") or "")
            ),
            action=RollingAction() if sure and has_unknown(new.get("rollingAction")) else RollingAction.of(new, prior),
            given=frozenset({MACHINE_TYPE.name} if _changes_machine_type(old, new) else ()),
            ignored=ignored_settings(context.ignored),
            hosted=with_hostnames(old, prior),
            sure=sure,
        )

    def need(self, member: Member, most: Level = Level.REPLACE, behind: Level | None = None) -> Level:
        """Return what has to be done to a member, apart from what others have changed on it.

        Args:
            member: the member, as the state has it or as Google shows it.
            most: the most that may be done; a need that is more counts for nothing.
            behind: what it needs to get the wanted properties; by default, what its mark tells.
        """

        def within(need: Level) -> Level:
            need = self.carried_out(member, need)
            return need if need <= most else Level.NONE

        if self.is_lost(member) and most is Level.REPLACE:
            return Level.REPLACE
        need = max(within(self.behind(member) if behind is None else behind), within(self.asked(member)))
        return within(max(need, self.policy.least)) or need if need else need

    def is_lost(self, member: Member) -> bool:
        """Return whether a member is replaced because it is stopped."""
        return member.stopped and self.policy.on_stopped == "REPLACE"

    def behind(self, member: Member) -> Level:
        """Return what a member needs to get the wanted properties, by its mark."""
        label = member.generation or self.base
        if self.generation:
            need = need_of(label, self.generation)
            return Level.REFRESH if need is Level.RESTART and self._keeps_machine_type(member, label) else need
        if self.sure:  # one that was behind may have the wanted properties
            return self.changed if need_of(label, self.base) < self.changed else Level.NONE
        return max(need_of(label, self.base) if self.base else Level.NONE, self.changed)

    def has_written(self, label: str) -> bool:
        """Return whether this update, or one before it, has given a member this label."""
        return label in {name for one in (self.base, self.generation) for name in (one, changing(one))}

    def knows(self, member: Member) -> bool:
        """Return whether it is known what a member needs to get the wanted properties: an outdated one may have them."""
        return bool(self.generation) or not need_of(member.generation or self.base, self.base)

    def _keeps_machine_type(self, member: Member, label: str) -> bool:
        """Return whether only the machine type changes, and the member keeps its own, or has the new one."""
        is_only_change = self.restarting == {"machineType"} and need_of(label, self.base) < Level.RESTART
        return is_only_change and self.machine_type_of(member) in {"", member.machine_type}

    def asked(self, member: Member) -> Level:
        """Return what the program asks to do to a member, whatever it has."""
        return min(self.action.level_for(member), self.policy.most)

    def carried_out(self, member: Member, need: Level) -> Level:
        """Return what is done for a need: a member is replaced if it gets another host name, or cannot be restarted."""
        cannot_restart = need is Level.RESTART and not self.can_restart(member)
        return Level.REPLACE if cannot_restart or self._is_rehosted(member) else need

    def can_restart(self, member: Member) -> bool:
        """Return whether a member can be stopped and changed: a stop erases local SSDs, and machine types have limits."""
        wanted = self.machine_type_of(member)
        if member.local_ssds:
            return False
        if wanted is UNKNOWN:
            return self.sure
        return not wanted or can_change_machine_type(member.machine_type, name_of(wanted))

    def machine_type_of(self, member: Member) -> Any:
        """Return the name of the machine type that a member should have, perhaps UNKNOWN; empty if it keeps its own.

        It keeps what Google has chosen for it, and what it got from a fallback that is not in the list any more.
        """
        used: BulkInstancesValues | None = self.inputs
        if MACHINE_TYPE.name in self.kept_by(member):
            return ""
        if member.fallback:
            if has_unknown(self.inputs.get("fallbacks")):
                return UNKNOWN
            used = self.inputs_of(member)
        if used is None or used.get("instanceFlexibilityPolicy"):
            return ""
        own, fleets = (nested(one, "instanceProperties").get("machineType") for one in (used, self.inputs))
        return self.machine_type if own == fleets else own or ""

    def own_of(self, member: Member) -> tuple[str, ...]:
        """Return what a member has for itself after the update, which gives every member the label of its fleet."""
        return tuple(part for part in member.own if part not in self.given and part != OWN_GENERATION)

    def kept_by(self, member: Member) -> frozenset[str]:
        """Return what a member keeps: its own, and the settings whose changes the user ignores."""
        return self.ignored.union(self.own_of(member))

    def inputs_of(self, member: Member) -> BulkInstancesValues | None:
        """Return the inputs with which a member was created; None if its fallback is not in the list any more."""
        if member.fallback not in self._inputs_of:
            self._inputs_of[member.fallback] = inputs_of_member(self.inputs, member.fallback)
        return self._inputs_of[member.fallback]

    def set_back(self, member: Member) -> dict[str, Level]:
        """Return which settings that others have changed on a member are set back, and what each needs.

        What needs more than the policy allows stays as it is.
        """
        levels = {name: self.carried_out(member, level_of(name)) for name in member.differs}
        return {name: level for name, level in levels.items() if self.refusal(member, level) is None}

    def rests(self, member: Member) -> bool:
        """Return whether a member stays stopped: the fleet keeps stopped ones, and no interrupted restart stopped it."""
        return member.stopped and self.policy.on_stopped == "KEEP" and not member.changing

    def require_allowed(self, members: Iterable[Member], plan: Iterable[PlannedMember]) -> None:
        """Raise TooDisruptiveError or NoRestartError if a member that stays needs more than is allowed.

        `plan` is the `plan` of the members.
        """
        known = {member.id: member for member in members}
        for planned in plan:
            refusal = self.refusal(known[planned.id], planned.need)
            if refusal is not None and not (planned.leaves or planned.unwanted):
                raise refusal

    def refusal(self, member: Member, need: Level) -> UserError | None:
        """Return why the policy does not allow what a member needs; None if it does, or if the member is lost anyway."""
        if self.is_lost(member):
            return None
        if need > self.policy.most:
            return TooDisruptiveError(need, self.policy.most)
        return NoRestartError() if need is Level.RESTART and member.runs and not self.policy.unavailable else None

    def planned(self, member: Member, behind: Level, set_back: Mapping[str, Level]) -> PlannedMember:
        """Describe a member for the plan, with what it needs, and what is set back on it."""
        named = nested(self.inputs, "perInstanceProperties")
        return PlannedMember(
            name=member.name,
            order=name_order(member.name),
            need=max(behind, *set_back.values()) if set_back else behind,
            set_back=tuple(set_back),
            current=not behind,
            available=member.runs,
            stopped=member.stopped,
            suspended=member.suspended,
            rests=self.rests(member),
            tried=member.runs and member.changing,
            unwanted=bool(named) and (member.name not in named or not self.policy.wanted),
            note=member.why_stopped,
            zone=member.zone,
            id=member.id,
        )

    def plan(self, members: Iterable[Member]) -> list[PlannedMember]:
        """Describe the members of the state for the plan, with what a preview says of them."""
        return as_previewed([self.planned(one, self.need(one), self.set_back(one)) for one in members], self.policy)

    def _is_rehosted(self, member: Member) -> bool:
        """Return whether a member has another host name than the inputs give it.

        If they give none, this holds only for members in `hosted`: others, such as imported ones, came with their host names.
        """
        named = nested(self.inputs, "perInstanceProperties")
        if has_unknown(named.get(member.name)):
            return not self.sure
        wanted = nested(named, member.name).get("hostname")
        return member.hostname != wanted and (wanted is not None or member.name in self.hosted)


def restarting(paths: Iterable[Path]) -> frozenset[str]:
    """Return the names of the instance properties whose change at these paths needs a restart."""
    names = {str(path[1]) for path in paths if path[0] == "instanceProperties" and path[1:]}
    return frozenset(name for name in names if level_of(name) is Level.RESTART)


def with_hostnames(*values: BulkInstancesValues) -> frozenset[str]:
    """Return the names of members to which inputs give host names, or that have got some by the outputs."""
    named = [item for one in values for item in nested(one, "perInstanceProperties").items()]
    return frozenset(name for name, own in named if isinstance(own, dict) and own.get("hostname") is not None)


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


def _known_properties(
    inputs: BulkInstancesValues, templates: Mapping[str, InstancePropertiesValues]
) -> InstancePropertiesValues | None:
    """Return the properties that inputs stand for (REST JSON); None if unknown values or other templates are among them."""
    link = inputs.get("sourceInstanceTemplate")
    if has_unknown(inputs.get("instanceProperties")) or (link and link not in templates):
        return None
    return own_properties(inputs, templates[link] if link else None)


def _offline_machine_type(old: BulkInstancesValues, new: BulkInstancesValues, prior: BulkInstancesValues) -> Any:
    """Return `Spec.machine_type` as far as it is known without all properties. Another template replaces members anyway."""
    before, after = (nested(one, "instanceProperties").get("machineType") for one in (old, new))
    if after is not None or not new.get("sourceInstanceTemplate"):
        return after or ""
    if before is not None:  # the template's takes over
        return UNKNOWN
    return prior.get("lastMachineType") or ""


def _changes_machine_type(old: BulkInstancesValues, new: BulkInstancesValues) -> bool:
    """Return whether the inputs name another machine type, or perhaps do."""
    before, after = (nested(one, "instanceProperties").get("machineType") for one in (old, new))
    return after is UNKNOWN or name_of(before or "") != name_of(after or "")
