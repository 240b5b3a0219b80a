"""The goal of an update of a fleet: what should be set on each member, and what each needs to get there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs

from gcpx.compute.bulk_instances.capacity import inputs_of_member
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import (
    GENERATION_LABEL,
    Fleet,
    Instance,
    fleet_values,
    is_stopped,
    is_suspended,
    membership_labels,
    name_order,
    number_of_local_ssds,
)
from gcpx.compute.bulk_instances.generation import (
    generation_of,
    has_same_properties,
    is_changing,
    last_generation,
    last_generations,
    need_of,
    own_properties,
    recorded_generation,
    rolled_properties,
    set_properties,
)
from gcpx.compute.bulk_instances.plan import Level, PlannedMember, Policy, is_rolling, leaving, level_of, levels_of
from gcpx.compute.bulk_instances.rolling_action import RollingAction
from gcpx.compute.instance_properties.machines import can_change_machine_type
from gcpx.errors import UserError
from gcpx.gcp.errors import ApiError
from gcpx.model.diff import diff
from gcpx.model.fields import chosen, nested, object_type, without
from gcpx.model.links import name_of
from gcpx.model.naming import UNREAD
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        BulkInstancesValues,
        InstancePropertiesValues,
        InstanceValues,
        MemberValues,
        RemovedKeysValues,
    )

Properties: TypeAlias = "InstanceValues | InstancePropertiesValues"
"""An instance, or instance properties (REST JSON)."""


@attrs.frozen
class Setting:
    """One thing that a method of an instance sets.

    Attributes:
        name: the property of instances that holds it.
        method: the method that sets it.
        read: reads it as a map.
        body: writes the method's request body from the current instance and the new map.
        defaults: the values of keys that are removed; others disappear.
    """

    name: str
    method: str
    read: Callable[[Properties], dict[str, Any]]
    body: Callable[[Instance, dict[str, Any]], dict[str, Any]]
    defaults: Mapping[str, Any] = attrs.Factory(dict)


def _labels(properties: Properties) -> dict[str, Any]:
    return properties.get("labels") or {}


def _labels_body(instance: Instance, labels: dict[str, Any]) -> dict[str, Any]:
    return {"labels": labels, "labelFingerprint": instance.get("labelFingerprint")}


def _metadata(properties: Properties) -> dict[str, Any]:
    return {item["key"]: item.get("value") for item in (properties.get("metadata") or {}).get("items") or ()}


def _metadata_body(instance: Instance, metadata: dict[str, Any]) -> dict[str, Any]:
    items = [{"key": key, "value": value} for key, value in sorted(metadata.items())]
    return {"items": items, "fingerprint": instance.get("metadata", {}).get("fingerprint")}


def _tags(properties: Properties) -> dict[str, Any]:
    return dict.fromkeys((properties.get("tags") or {}).get("items") or (), True)


def _tags_body(instance: Instance, tags: dict[str, Any]) -> dict[str, Any]:
    return {"items": sorted(tags), "fingerprint": instance.get("tags", {}).get("fingerprint")}


def _scheduling(*levels: Level) -> Callable[[Properties], dict[str, Any]]:
    def read(properties: Properties) -> dict[str, Any]:
        scheduling = properties.get("scheduling") or {}
        return {name: value for name, value in scheduling.items() if level_of("scheduling", name) in levels}

    return read


def _scheduling_body(instance: Instance, scheduling: dict[str, Any]) -> dict[str, Any]:
    changeable = _scheduling(Level.REFRESH, Level.RESTART)(instance)
    return {**{key: value for key, value in instance["scheduling"].items() if key not in changeable}, **scheduling}


def _machine_type(properties: Properties) -> dict[str, Any]:
    return {"machineType": name_of(properties["machineType"])} if properties.get("machineType") else {}


def _machine_type_body(instance: Instance, wanted: dict[str, Any]) -> dict[str, Any]:
    return {"machineType": f"zones/{name_of(instance['zone'])}/machineTypes/{wanted['machineType']}"}


def _min_cpu_platform(properties: Properties) -> dict[str, Any]:
    return {name: properties[name] for name in ("minCpuPlatform",) if properties.get(name)}


def _min_cpu_platform_body(_: Instance, wanted: dict[str, Any]) -> dict[str, Any]:
    return {"minCpuPlatform": wanted.get("minCpuPlatform", "")}


def _service_account(properties: Properties) -> dict[str, Any]:
    account = (properties.get("serviceAccounts") or [{}])[0]
    return {"email": account.get("email"), "scopes": sorted(account.get("scopes") or ())} if account else {}


def _service_account_body(_: Instance, wanted: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {"scopes": [], **wanted}.items() if value is not None}


def _accelerators(properties: Properties) -> dict[str, Any]:
    given = properties.get("guestAccelerators") or ()
    return {name_of(item["acceleratorType"]): int(item.get("acceleratorCount", 0)) for item in given}


def _accelerators_body(instance: Instance, wanted: dict[str, Any]) -> dict[str, Any]:
    types = f"zones/{name_of(instance['zone'])}/acceleratorTypes"
    accelerators = [{"acceleratorType": f"{types}/{name}", "acceleratorCount": count} for name, count in wanted.items()]
    return {"guestAccelerators": accelerators}


_DEFAULT_SCHEDULING: Final = {"automaticRestart": True, "onHostMaintenance": "MIGRATE"}
LABELS: Final = Setting("labels", "setLabels", _labels, _labels_body)
"""The labels are set after everything else, because one of them says that the change is done."""
ON_RUNNING: Final = (
    Setting("metadata", "setMetadata", _metadata, _metadata_body),
    Setting("tags", "setTags", _tags, _tags_body),
    Setting("scheduling", "setScheduling", _scheduling(Level.REFRESH), _scheduling_body, _DEFAULT_SCHEDULING),
)
"""What changes on a running instance, besides its labels."""
_MACHINE_TYPE: Final = Setting("machineType", "setMachineType", _machine_type, _machine_type_body)
_CPU_PLATFORM: Final = Setting("minCpuPlatform", "setMinCpuPlatform", _min_cpu_platform, _min_cpu_platform_body)
_ACCELERATORS: Final = Setting("guestAccelerators", "setMachineResources", _accelerators, _accelerators_body)
RELEASED: Final = (_ACCELERATORS, _CPU_PLATFORM)
"""What requires a machine type or a scheduling; where it is no longer wanted, it is removed before these change."""
ON_STOPPED: Final = (
    _MACHINE_TYPE,
    Setting(
        "scheduling", "setScheduling", _scheduling(Level.REFRESH, Level.RESTART), _scheduling_body, _DEFAULT_SCHEDULING
    ),
    _CPU_PLATFORM,
    _ACCELERATORS,
    Setting("serviceAccounts", "setServiceAccount", _service_account, _service_account_body),
    *ON_RUNNING[:2],
)
"""What changes on a stopped instance, besides its labels; what something requires is set before it."""


@attrs.frozen
class Target:
    """The properties that members should have.

    Attributes:
        properties: the instance properties, those of the template included (REST JSON).
        removed: by the name of a setting, the keys that the fleet had set before and no longer wants.
        labels: the labels that gcpx sets.
    """

    properties: InstancePropertiesValues
    removed: Mapping[str, frozenset[str]] = attrs.Factory(dict)
    labels: Mapping[str, str] = attrs.Factory(dict)

    @classmethod
    def after(
        cls,
        old: InstancePropertiesValues,
        new: InstancePropertiesValues,
        labels: Mapping[str, str],
        earlier: Mapping[str, frozenset[str]],
    ) -> Target:
        """Build the target of a change of properties; `earlier` are the keys that an unfinished change was removing."""
        removed = {
            item.name: (item.read(old).keys() | earlier.get(item.name, frozenset())) - _wanted(item, new).keys()
            for item in (LABELS, *ON_STOPPED)
        }
        return cls(new, {name: frozenset(keys) for name, keys in removed.items() if keys}, labels)

    def differs(self, setting: Setting, instance: Instance) -> bool:
        """Return whether an instance does not have a setting as it is wanted."""
        return self._merged(setting, instance) != setting.read(instance)

    def wants(self, setting: Setting, instance: Instance) -> bool:
        """Return whether an instance should have anything of a setting."""
        return bool(self._merged(setting, instance))

    def body(self, setting: Setting, instance: Instance) -> dict[str, Any]:
        """Write the request body that gives an instance a setting as it is wanted."""
        return setting.body(instance, self._merged(setting, instance))

    def _merged(self, setting: Setting, instance: Instance) -> dict[str, Any]:
        """Merge three ways: remove what is no longer wanted, set what is wanted, and keep what others added."""
        nulls = {key for key, value in setting.read(self.properties).items() if value is None}
        removed = self.removed.get(setting.name, frozenset()) | nulls
        kept = {key: value for key, value in setting.read(instance).items() if key not in removed}
        defaults = {key: value for key, value in setting.defaults.items() if key in removed}
        own = _wanted(setting, self.properties)
        return {**kept, **defaults, **own, **(self.labels if setting is LABELS else {})}


def _wanted(setting: Setting, properties: Properties) -> dict[str, Any]:
    """Read a setting without nulls, which remove a key."""
    return {key: value for key, value in setting.read(properties).items() if value is not None}


_OF_MEMBERS: Final = ("instanceProperties", "sourceInstanceTemplate")


def after_last_update(
    context: Context, old: BulkInstancesValues, new: BulkInstancesValues
) -> tuple[Context, BulkInstancesValues]:
    """Return the context and the old inputs of an update as if the last update had not failed.

    Args:
        context: the engine's call.
        old: the inputs in the state.
        new: the inputs to reach; unknowns are allowed.
    """
    given, kind = chosen(fleet_values(context.prior), _OF_MEMBERS), object_type(BulkInstancesModel)
    # What the last update, successful or not, was to set.
    prior: BulkInstancesValues = {**without(old, _OF_MEMBERS), **given} if given else old
    if not diff(kind, prior, old, {}):
        return context, old
    paths = [change.path for change in diff(kind, prior, new, {}) if change.path[0] in _OF_MEMBERS]
    return attrs.evolve(
        context, changed=(*context.changed, *(path for path in paths if path not in context.changed))
    ), prior


_RUNNING: Final = "RUNNING"
_OF_MACHINES: Final = ("machineType", "minCpuPlatform")
"""The properties that fallbacks and Google's choice among machine types change, and that a restart can set."""
OF_FALLBACKS: Final = (*_OF_MACHINES, "scheduling")
"""The properties of existing members that a fallback may have changed."""
_WITHOUT_ROLLING: Final = (*ON_RUNNING[:2], LABELS)
"""What changes on running members if the policy is not ROLLING: labels, metadata and tags."""
_COMPARED: Final = (LABELS, *ON_RUNNING[:2], _MACHINE_TYPE)
"""What a refresh compares: what Google leaves as it was set, so that a difference is somebody's change."""


def set_back(policy: Policy, differing: Iterable[str], *, can_restart: bool) -> dict[str, Level]:
    """Return which of a member's settings that differ an update sets back, and what each needs.

    What needs more than the policy allows stays as it is. A member that cannot be restarted is replaced.
    """
    levels = {name: level_of(name) for name in differing}
    if not can_restart:
        levels = {name: Level.REPLACE if level is Level.RESTART else level for name, level in levels.items()}
    return {name: level for name, level in levels.items() if level <= policy.most}


def can_restart(policy: Policy, local_ssds: int, machine_type: str, wanted: str) -> bool:
    """Return whether a member may be restarted to change it; otherwise it is replaced.

    The policy has to let one member be unavailable, unless all change at once. A stop would erase local SSDs.

    Args:
        policy: that of the update.
        local_ssds: how many the member has.
        machine_type: the name of its machine type.
        wanted: the name of the machine type that it should have; empty if it keeps its own.
    """
    may_stop = (not policy.rolling or policy.unavailable > 0) and not local_ssds
    return may_stop and (not wanted or can_change_machine_type(machine_type, wanted))


def known_member(inputs: BulkInstancesValues, policy: Policy, known: Instance | MemberValues) -> PlannedMember:
    """Describe a member for the plan, as Google or the state shows it: who it is, where, and whether it is stopped."""
    name, names = known["name"], nested(inputs, "perInstanceProperties")
    return PlannedMember(
        name=name,
        order=name_order(name),
        stopped=is_stopped(known),
        suspended=is_suspended(known),
        unwanted=bool(names) and (name not in names or not policy.wanted),
        zone=name_of(known["zone"]),
        id=str(known["id"]),
    )


def with_hostnames(*values: BulkInstancesValues) -> frozenset[str]:
    """Return the names of members to which inputs give host names, or that have got some by the outputs."""
    named = [item for one in values for item in nested(one, "perInstanceProperties").items()]
    return frozenset(name for name, own in named if isinstance(own, dict) and own.get("hostname") is not None)


def is_rehosted(inputs: BulkInstancesValues, hosted: frozenset[str], member: Instance | MemberValues) -> bool:
    """Return whether a member has another host name than inputs give it.

    If they give none, it counts only for members in `hosted`, because others came with their host names.
    """
    wanted = nested(nested(inputs, "perInstanceProperties"), member["name"]).get("hostname")
    return member.get("hostname") != wanted and (wanted is not None or member["name"] in hosted)


class TooDisruptiveError(UserError):
    """A change needs more than the update policy allows."""

    def __init__(self, need: Level, most: Level) -> None:
        super().__init__(
            f"updatePolicy.mostDisruptiveAction: {most.name} does not allow this change, which needs {need.name}; "
            f"raise it to {need.name}, or leave the properties as they were"
        )


@attrs.frozen(kw_only=True)
class Goal:
    """The goal of an update of a fleet.

    Attributes:
        inputs: the fleet's new inputs.
        policy: how the members reach the goal.
        generation: the generation that members should have; empty if the fleet is not rolling.
        base: the generation before the update, which members without a label have.
        before: the properties before the update (REST JSON).
        target: what should be set on members.
        unreadable: why the template cannot be read, in an update that does not change the properties; members that are
            behind cannot be changed then.
        known: the generations of members, by their IDs, from the last outputs.
        hosted: the names of members to which the last update, or this one, has given host names of their own.
        leaving: the IDs of the members that a scale-in deletes, as the preview has named them.
        drifted: by the IDs of members, the settings that the last refresh has found changed. Nothing else is set back,
            because the preview has not named it.
        sets_all: in a fleet that is not rolling, whether the update changes properties, and so sets what differs.
        action: the members that the program asks to restart or to replace.
        said: what the members need by the state, by ID, as the preview has said it; empty if the state does not tell.
        waiting: the IDs of members that the preview has left as they are, because the rollout pauses before them.
        untouched: the IDs of members that a rollback leaves alone, because the update has not changed them.
    """

    inputs: BulkInstancesValues
    policy: Policy
    generation: str
    base: str
    before: InstancePropertiesValues
    target: Target
    unreadable: ApiError | None = None
    known: Mapping[str, str] = attrs.Factory(dict)
    hosted: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    drifted: Mapping[str, list[str]] = attrs.Factory(dict)
    sets_all: bool = False
    action: RollingAction = attrs.Factory(RollingAction)
    said: Mapping[str, Level] = attrs.Factory(dict)
    waiting: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: Context, fleet: Fleet, old: BulkInstancesValues, new: BulkInstancesValues) -> Goal:
        """Determine the goal of an update from old to new inputs.

        Raises:
            ApiError: the template of a rolling fleet cannot be read, and the update changes the properties.
        """
        policy, prior = Policy.of(new), fleet_values(context.prior)
        before, after, unreadable = _properties(context, fleet, old, new)
        levels = frozenset(levels_of(context.changed))
        base = (last_generation(prior) or generation_of(before)) if policy.rolling else ""
        generation = generation_of(after, base, levels) if policy.rolling else ""
        action = RollingAction.of(new, prior)

        in_state = {item["id"]: item for item in prior.get("members") or ()}
        needs = {
            member: Level.REPLACE
            if is_stopped(item) and policy.on_stopped == "REPLACE"
            else need_of(item.get("generation") or base, generation)
            for member, item in in_state.items()
        }
        planned = [
            attrs.evolve(known_member(new, policy, item), current=not needs[member] and member not in action.pending)
            for member, item in in_state.items()
        ]
        labels = {**membership_labels(fleet.id), **({GENERATION_LABEL: generation} if generation else {})}
        target = Target.after(before, after, labels, _removed_keys(prior))
        return cls(
            inputs=new,
            policy=policy,
            generation=generation,
            base=base,
            before=before,
            target=target,
            unreadable=unreadable,
            known=last_generations(prior),
            hosted=with_hostnames(old, prior),
            leaving=frozenset(member.id for member in leaving(planned, policy.wanted, policy)),
            drifted={member: item["differs"] for member, item in in_state.items() if item.get("differs")},
            sets_all=bool(levels) or bool(context.prior.get(UNREAD)),
            action=action,
            said={} if context.prior.get(UNREAD) else needs,
        )

    @classmethod
    def reached(cls, fleet: Fleet, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> Goal:
        """Return the goal of the last update, as far as its inputs and outputs tell: a template is not read.

        If the fleet does not roll, and the last update failed, no member shows whether that has reached it. So the goal is
        that of the update before it, which also removes what the failed one has set.
        """
        last: BulkInstancesValues = {**inputs, **chosen(prior, _OF_MEMBERS)}
        policy = Policy.of(last)
        has_failed = not policy.rolling and bool(diff(object_type(BulkInstancesModel), last, inputs, {}))
        given = inputs if has_failed else last
        before, properties = own_properties(last), own_properties(given)
        generation = (prior.get("generation") or "") if policy.rolling else ""
        labels = {**membership_labels(fleet.id), **({GENERATION_LABEL: generation} if generation else {})}
        removed = {} if policy.rolling else _removed_keys(prior)
        return cls(
            inputs=given,
            policy=policy,
            generation=generation,
            base=generation,
            before=before,
            target=Target.after(before, properties, labels, removed),
            known=last_generations(prior),
        )

    @property
    def removed_keys(self) -> BulkInstancesValues:
        """The output that has the keys which the goal removes; nothing if there are none."""
        removed = {name: sorted(keys) for name, keys in self.target.removed.items()}
        return {"removedKeys": cast("RemovedKeysValues", removed)} if removed else {}

    def drift(self, members: Iterable[Instance]) -> dict[str, list[str]]:
        """Return, by the IDs of members, the settings that are not as the goal wants them; those that have them are left out.

        A member that is behind has other properties anyway. A restart that was interrupted has to go on.
        """
        found = {str(member["id"]): self._differing(member) for member in members if self.is_current(member)}
        return {member: names for member, names in found.items() if names}

    def _differing(self, instance: Instance) -> list[str]:
        target = self.target_of(instance)
        names = [item.name for item in _COMPARED if target.differs(item, instance)]
        if is_stopped(instance) and is_changing(recorded_generation(instance)):
            names.append(_MACHINE_TYPE.name)
        return list(dict.fromkeys(names))

    def reversed(self, old: BulkInstancesValues, untouched: frozenset[str]) -> Goal:
        """Return the goal of a rollback: it gives the old inputs to the members that the update has changed."""
        added = {item.name: frozenset(item.read(self.target.properties)) for item in (LABELS, *ON_STOPPED)}
        labels = {**self.target.labels, GENERATION_LABEL: self.base}
        target = Target.after(self.target.properties, self.before, labels, added)
        return attrs.evolve(
            self,
            inputs=old,
            before=self.target.properties,
            policy=_policy_back(self.inputs, old),
            generation=self.base,
            base=self.generation,
            target=target,
            hosted=with_hostnames(self.inputs),
            leaving=frozenset(),
            drifted={},
            action=RollingAction(),
            said={},
            waiting=frozenset(),
            untouched=untouched,
        )

    def target_of(self, instance: Instance) -> Target:
        """Return what should be set on a member; a member of a fallback keeps what the fallback changed.

        If its fallback is not in the list any more, it keeps everything that fallbacks change. The machine type stays as Google chose it, if Google could choose.
        """
        used, wanted = inputs_of_member(self.inputs, instance.get("labels") or {}), self.target.properties
        kept = without(wanted, OF_FALLBACKS) if used is None else _without_choices(wanted, self.inputs, used)
        marks = self.action.labels if self.action.level_for(instance) else {}
        target = attrs.evolve(self.target, properties=kept, labels={**self.target.labels, **marks})
        if self.policy.rolling or not is_changing(recorded_generation(instance)):
            return target
        # It was restarted to be set back. Only members of rolling fleets keep a generation.
        labels = target.removed.get(LABELS.name, frozenset()) | {GENERATION_LABEL}
        return attrs.evolve(target, removed={**target.removed, LABELS.name: labels})

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What is set on running members."""
        return (*ON_RUNNING, LABELS) if self.policy.rolling else _WITHOUT_ROLLING

    def generation_of(self, instance: Instance) -> str:
        """Return the generation of a member: from its label, or from the last outputs, or the one before the update."""
        return recorded_generation(instance) or self.known.get(str(instance["id"]), self.base)

    def is_current(self, instance: Instance) -> bool:
        """Return whether a member has reached the generation, by its label, and nothing is left of an action."""
        is_behind = self.generation and need_of(self.generation_of(instance), self.generation)
        return not is_behind and not self.action.level_for(instance)

    def member(self, instance: Instance, *, ready: bool) -> PlannedMember:
        """Describe an instance for the plan; raises TooDisruptiveError, or ApiError if it needs an unreadable template."""
        runs, behind, drift = instance.get("status") == _RUNNING, self._need(instance), self._set_back(instance)
        return attrs.evolve(
            known_member(self.inputs, self.policy, instance),
            need=max(behind, *drift.values()) if drift else behind,
            set_back=tuple(drift),
            current=not behind or (behind is Level.REFRESH and self.is_current(instance)),
            available=ready and runs,
            unready=runs and not ready,
            rests=self.rests(instance),
            tried=runs and is_changing(recorded_generation(instance)),
            added=bool(self.said) and str(instance["id"]) not in self.said,
            leaves=str(instance["id"]) in self.leaving,
            waits=str(instance["id"]) in self.waiting,
        )

    def rests(self, instance: Instance) -> bool:
        """Return whether a member stays stopped: the fleet keeps stopped ones, and no interrupted restart stopped it."""
        keeps_stopped = self.policy.on_stopped == "KEEP"
        return keeps_stopped and is_stopped(instance) and not is_changing(recorded_generation(instance))

    def _need(self, instance: Instance) -> Level:
        """Return what a member needs that is behind; if it cannot be restarted, it is replaced."""
        if str(instance["id"]) in self.untouched:
            return Level.NONE
        needs_host = is_rehosted(self.inputs, self.hosted, instance)
        if is_stopped(instance) and self.policy.on_stopped == "REPLACE" and not self._goes_on(instance):
            return Level.REPLACE
        if not self.policy.rolling:
            return Level.REPLACE if needs_host else Level.REFRESH if self._is_unset(instance) else Level.NONE
        need = max(self._behind(instance), self._action(instance))
        if needs_host or (need is Level.RESTART and not self._can_restart(instance)):
            need = Level.REPLACE
        if need > self.policy.most:
            raise TooDisruptiveError(need, self.policy.most)
        return need

    def _goes_on(self, instance: Instance) -> bool:
        """Return whether a restart has stopped a member, and ends, because the preview has not said that it is replaced."""
        return is_changing(recorded_generation(instance)) and self.said.get(str(instance["id"])) is not Level.REPLACE

    def is_left(self, instance: Instance) -> bool:
        """Return whether a member stays as it is, because its label asks for more than the preview has said.

        Somebody has changed the label, or a rollout that was killed has changed the member. An interrupted restart has
        to end anyway.
        """
        label, said = self.generation_of(instance), self.said.get(str(instance["id"]))
        if not self.policy.rolling or said is None or is_changing(label):
            return False
        return need_of(label, self.generation) > max(said, Level.REFRESH)

    def _behind(self, instance: Instance) -> Level:
        """Return what a member of a rolling fleet needs, by its label and by what is set on it."""
        if self.is_left(instance):
            return Level.NONE
        need = need_of(self.generation_of(instance), self.generation)
        if need is Level.NONE:  # someone may have removed a label of gcpx
            has_labels = self.target.labels.items() <= (instance.get("labels") or {}).items()
            return Level.NONE if has_labels and not self._is_half_changed(instance) else Level.REFRESH
        if self.unreadable is not None:
            raise self.unreadable
        is_set = need is Level.RESTART and not any(
            self.target_of(instance).differs(item, instance) for item in ON_STOPPED
        )
        if is_set and instance.get("status") == _RUNNING and self.policy.least < Level.RESTART:
            need = Level.REFRESH  # an interrupted rollout has restarted it already
        said = self.said.get(str(instance["id"]))
        # The preview applies the least action to members that are behind by the state. An interrupted restart only ends.
        is_unsaid = said is Level.NONE or (said is None and is_changing(self.generation_of(instance)))
        return need if is_unsaid else max(need, self.policy.least)

    def _is_half_changed(self, instance: Instance) -> bool:
        """Return whether a member with the label of the goal has anything else that the update before this one has set.

        The label is set last. So if that update failed or was cancelled in between, and is now taken back, the label does
        not tell. A member that is behind by the state gets everything anyway.
        """
        if self.said and self.said.get(str(instance["id"])) is not Level.NONE:
            return False
        target = self.target_of(instance)

        def has_last(setting: Setting) -> bool:
            last, wanted, found = (_wanted(setting, item) for item in (self.before, target.properties, instance))
            changed = {key for key in last.keys() | wanted.keys() if last.get(key) != wanted.get(key)}
            return any(found.get(key) == last.get(key) for key in changed)

        return any(target.differs(item, instance) and has_last(item) for item in self.settings)

    def _action(self, instance: Instance) -> Level:
        """Return what the program asks to do to a member, whatever it has; raises ApiError if the template is unreadable."""
        level = self.action.level_for(instance)
        if level and self.unreadable is not None:
            raise self.unreadable
        return max(level, self.policy.least) if level else level

    def _is_unset(self, instance: Instance) -> bool:
        """Return whether an update that changes the properties of a fleet that is not rolling has to set any of them."""
        return self.sets_all and any(self.target.differs(item, instance) for item in _WITHOUT_ROLLING)

    def _set_back(self, instance: Instance) -> dict[str, Level]:
        """Return the settings of a member that are set back: those that the preview has named, if they still differ."""
        known = self.drifted.get(str(instance["id"]))
        if not known:
            return {}
        differing = [name for name in self._differing(instance) if name in known]
        return set_back(self.policy, differing, can_restart=self._can_restart(instance))

    def _can_restart(self, instance: Instance) -> bool:
        wanted = name_of(self.target_of(instance).properties.get("machineType") or "")
        return can_restart(self.policy, number_of_local_ssds(instance), name_of(instance["machineType"]), wanted)


def _removed_keys(prior: BulkInstancesValues) -> dict[str, frozenset[str]]:
    """Return the keys that an unfinished update was removing, by the name of the setting."""
    removed = cast("Mapping[str, list[str]]", prior.get("removedKeys") or {})
    return {name: frozenset(keys) for name, keys in removed.items()}


def _properties(
    context: Context, fleet: Fleet, old: BulkInstancesValues, new: BulkInstancesValues
) -> tuple[InstancePropertiesValues, InstancePropertiesValues, ApiError | None]:
    """Return the properties before and after an update, and the error if an unneeded template cannot be read."""
    try:
        return *(rolled_properties if is_rolling(new) else set_properties)(context, fleet, old, new), None
    except ApiError as error:
        if not (last_generation(fleet_values(context.prior)) and has_same_properties(old, new)):
            raise
        return own_properties(old), own_properties(new), error


def _policy_back(new: BulkInstancesValues, old: BulkInstancesValues) -> Policy:
    """Return the policy of a rollback: the new one for the old size, without what limits it, and with the old readiness.

    A rollback deletes no more members than the update has created.
    """
    given = without(nested(new, "updatePolicy"), ("pauseAfter", "maxDeleted"))
    ready = nested(nested(old, "updatePolicy"), "ready")
    return Policy.of({**old, "updatePolicy": {**given, "ready": ready}})


def _without_choices(
    wanted: InstancePropertiesValues, inputs: BulkInstancesValues, used: BulkInstancesValues
) -> InstancePropertiesValues:
    """Return the wanted properties (REST JSON) of a member that was created with the `used` inputs of the fleet."""
    own, fleets = nested(used, "instanceProperties"), nested(inputs, "instanceProperties")
    changed = chosen(own, [name for name in _OF_MACHINES if own.get(name) != fleets.get(name)])
    kept = wanted if own.get("scheduling") == fleets.get("scheduling") else without(wanted, ("scheduling",))
    return without(kept, _OF_MACHINES) if used.get("instanceFlexibilityPolicy") else {**kept, **changed}
