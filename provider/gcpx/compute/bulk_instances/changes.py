"""What an update sets on each member, and by which requests."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs

from gcpx.compute.bulk_instances.declaration import BulkInstancesModel
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.bulk_instances.member import (
    GENERATION_LABEL,
    Instance,
    Level,
    Member,
    fleet_values,
    has_same_properties,
    last_generation,
    level_of,
    members_of_state,
    membership_labels,
    own_properties,
    template_path,
    trusted,
)
from gcpx.compute.bulk_instances.plan import PlannedMember, Policy, Spec, with_hostnames
from gcpx.gcp.errors import ApiError
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model.context import Context
from gcpx.model.diff import diff
from gcpx.model.fields import chosen, nested, object_type, without
from gcpx.model.links import name_of
from gcpx.model.naming import UNREAD

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        BulkInstancesValues,
        InstancePropertiesValues,
        InstanceValues,
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

    def part(self, key: str) -> str:
        """Name what a key of its map holds: `labels.team`, or `machineType`, which has no parts."""
        return key if key == self.name else f"{self.name}.{key}"


def _scheduling(*levels: Level) -> Callable[[Properties], dict[str, Any]]:
    def read(properties: Properties) -> dict[str, Any]:
        scheduling = properties.get("scheduling") or {}
        return {name: value for name, value in scheduling.items() if level_of("scheduling", name) in levels}

    return read


def _scheduling_body(instance: Instance, scheduling: dict[str, Any]) -> dict[str, Any]:
    changeable = _scheduling(Level.REFRESH, Level.RESTART)(instance)
    return {**{key: value for key, value in instance["scheduling"].items() if key not in changeable}, **scheduling}


def _service_account(properties: Properties) -> dict[str, Any]:
    account = (properties.get("serviceAccounts") or [{}])[0]
    return {"email": account.get("email"), "scopes": sorted(account.get("scopes") or ())} if account else {}


def _numbers_of_accelerators(properties: Properties) -> dict[str, Any]:
    """Return how many accelerators of each type there are, by the names of the types."""
    accelerators = properties.get("guestAccelerators") or ()
    return {name_of(item["acceleratorType"]): int(item.get("acceleratorCount", 0)) for item in accelerators}


def _body_with_accelerators(instance: Instance, numbers: dict[str, Any]) -> dict[str, Any]:
    types = f"zones/{name_of(instance['zone'])}/acceleratorTypes"
    accelerators = [
        {"acceleratorType": f"{types}/{name}", "acceleratorCount": count} for name, count in numbers.items()
    ]
    return {"guestAccelerators": accelerators}


_DEFAULT_SCHEDULING: Final = {"automaticRestart": True, "onHostMaintenance": "MIGRATE"}
LABELS: Final = Setting(
    "labels",
    "setLabels",
    lambda properties: properties.get("labels") or {},
    lambda instance, labels: {"labels": labels, "labelFingerprint": instance.get("labelFingerprint")},
)
"""The labels are set after everything else, because one of them says that the change is done."""
ON_RUNNING: Final = (
    Setting(
        "metadata",
        "setMetadata",
        lambda properties: {
            item["key"]: item.get("value") for item in (properties.get("metadata") or {}).get("items") or ()
        },
        lambda instance, metadata: {
            "items": [{"key": key, "value": value} for key, value in sorted(metadata.items())],
            "fingerprint": instance.get("metadata", {}).get("fingerprint"),
        },
    ),
    Setting(
        "tags",
        "setTags",
        lambda properties: dict.fromkeys((properties.get("tags") or {}).get("items") or (), True),
        lambda instance, tags: {"items": sorted(tags), "fingerprint": instance.get("tags", {}).get("fingerprint")},
    ),
    Setting("scheduling", "setScheduling", _scheduling(Level.REFRESH), _scheduling_body, _DEFAULT_SCHEDULING),
)
"""What changes on a running instance, besides its labels."""
REFRESHED: Final = (*ON_RUNNING, LABELS)
"""Everything that changes on a running instance, in this order."""
MACHINE_TYPE: Final = Setting(
    "machineType",
    "setMachineType",
    lambda properties: {"machineType": name_of(properties["machineType"])} if properties.get("machineType") else {},
    lambda instance, wanted: {"machineType": f"zones/{name_of(instance['zone'])}/machineTypes/{wanted['machineType']}"},
)
_CPU_PLATFORM: Final = Setting(
    "minCpuPlatform",
    "setMinCpuPlatform",
    lambda properties: {"minCpuPlatform": properties["minCpuPlatform"]} if properties.get("minCpuPlatform") else {},
    lambda _, wanted: {"minCpuPlatform": wanted.get("minCpuPlatform", "")},
)
_ACCELERATORS: Final = Setting(
    "guestAccelerators", "setMachineResources", _numbers_of_accelerators, _body_with_accelerators
)
RELEASED: Final = (_ACCELERATORS, _CPU_PLATFORM)
"""Settings that work only with some machine types or scheduling; an unwanted one is removed before these change."""
ON_STOPPED: Final = (
    MACHINE_TYPE,
    Setting(
        "scheduling", "setScheduling", _scheduling(Level.REFRESH, Level.RESTART), _scheduling_body, _DEFAULT_SCHEDULING
    ),
    _CPU_PLATFORM,
    _ACCELERATORS,
    Setting(
        "serviceAccounts",
        "setServiceAccount",
        _service_account,
        lambda _, wanted: {name: value for name, value in {"scopes": [], **wanted}.items() if value is not None},
    ),
    *ON_RUNNING[:2],
)
"""What changes on a stopped instance, besides its labels. If one setting requires another, the other comes first."""
SETTINGS: Final = (LABELS, *ON_STOPPED)
"""Everything that changes on an instance."""


def changed_parts(old: Properties, new: Properties) -> frozenset[str]:
    """Return the parts of settings, as `Setting.part` names them, in which properties differ."""
    pairs = [(item, wanted_of(item, old), wanted_of(item, new)) for item in SETTINGS]
    return frozenset(item.part(key) for item, before, after in pairs for key in differing_keys(before, after))


def differing_keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the keys that only one of two maps has, or that have different values."""
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@attrs.frozen
class Target:
    """The properties that all members should have, or one of them.

    Attributes:
        properties: the instance properties, including the template's (REST JSON).
        removed: by the name of a setting, the keys that the fleet had set before and no longer wants.
        labels: the labels that gcpx sets.
        own: what a member keeps: parts of settings, as `Setting.part` names them, or names of whole settings.
        original: the member (REST JSON) with the values to keep; by default, the member as it is.
    """

    properties: InstancePropertiesValues
    removed: Mapping[str, frozenset[str]] = attrs.Factory(dict)
    labels: Mapping[str, str] = attrs.Factory(dict)
    own: frozenset[str] = frozenset()
    original: Instance | None = None

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
            item.name: (item.read(old).keys() | earlier.get(item.name, frozenset())) - wanted_of(item, new).keys()
            for item in SETTINGS
        }
        return cls(new, {name: frozenset(keys) for name, keys in removed.items() if keys}, labels)

    def differs(self, setting: Setting, instance: Instance) -> bool:
        """Return whether an instance does not have a setting as it is wanted."""
        return bool(self.differing(setting, instance))

    def differing(self, setting: Setting, instance: Instance) -> set[str]:
        """Return the parts of a setting that an instance does not have as they are wanted."""
        return set(map(setting.part, differing_keys(self._merged(setting, instance), setting.read(instance))))

    def wants(self, setting: Setting, instance: Instance) -> bool:
        """Return whether an instance should have anything of a setting."""
        return bool(self._merged(setting, instance))

    def body(self, setting: Setting, instance: Instance) -> dict[str, Any]:
        """Write the request body that gives an instance a setting as it is wanted."""
        return setting.body(instance, self._merged(setting, instance))

    def _merged(self, setting: Setting, instance: Instance) -> dict[str, Any]:
        """Merge three ways: remove what is no longer wanted, set what is wanted, keep `own` and additions by others."""

        def is_own(key: str) -> bool:
            return not self.own.isdisjoint((setting.name, setting.part(key)))

        nulls = {key for key, value in setting.read(self.properties).items() if value is None}
        removed = self.removed.get(setting.name, frozenset()) | nulls
        kept = {key: value for key, value in setting.read(instance).items() if key not in removed}
        defaults = {key: value for key, value in setting.defaults.items() if key in removed}
        fleets = {**kept, **defaults, **wanted_of(setting, self.properties)}
        return {
            **{key: value for key, value in fleets.items() if not is_own(key)},
            **{key: value for key, value in setting.read(self.original or instance).items() if is_own(key)},
            **(self.labels if setting is LABELS else {}),
        }


def wanted_of(setting: Setting, properties: Properties) -> dict[str, Any]:
    """Read a setting without nulls, which remove a key."""
    return {key: value for key, value in setting.read(properties).items() if value is not None}


_OF_MEMBERS: Final = ("instanceProperties", "sourceInstanceTemplate")
_COMPARED: Final = (LABELS, *ON_RUNNING[:2], MACHINE_TYPE)
"""The settings that a refresh compares: Google leaves them as they were set, so a difference is somebody's change."""


def after_last_update(
    context: Context, old: BulkInstancesValues, new: BulkInstancesValues
) -> tuple[Context, BulkInstancesValues]:
    """Return the context and the old inputs of an update as if the last update had not failed.

    Args:
        context: the engine's call.
        old: the inputs in the state.
        new: the inputs to reach; unknowns are allowed.
    """
    outputs = fleet_values(context.prior)
    given, kind = chosen(outputs, _OF_MEMBERS), object_type(BulkInstancesModel)
    if not given or not outputs.get("generation"):  # an import has no last update
        return context, old
    # What the last update, successful or not, was to set.
    prior: BulkInstancesValues = {**without(old, _OF_MEMBERS), **given}
    if not diff(kind, prior, old, {}):
        return context, old
    paths = [change.path for change in diff(kind, prior, new, {}) if change.path[0] in _OF_MEMBERS]
    return attrs.evolve(
        context, changed=(*context.changed, *(path for path in paths if path not in context.changed))
    ), prior


@attrs.frozen(kw_only=True)
class Goal:
    """The goal of an update of a fleet.

    The spec judges each member twice: as the state has it, which is what the preview has said, and as Google shows it. A
    member gets what it needs as Google shows it, and never more than the preview has said (`most`).

    Attributes:
        spec: what the program wants of the members.
        before: the properties before the update (REST JSON).
        target: what should be set on members.
        unreadable: why the template cannot be read, if the update does not change the properties; then, outdated
            members cannot be changed.
        known: the members of the state, by ID.
        said: the members as the preview has planned them, by ID.
        was_read: whether the state shows the members after the last update; otherwise, the preview does not know what they
            need, and limits only who leaves and who waits until a pause ends.
        untouched: the IDs of members that a rollback leaves alone, because the update has not changed them.
        originals: the members before an update that is rolled back, by ID (REST JSON): each gets its own settings back.
    """

    spec: Spec
    before: InstancePropertiesValues
    target: Target
    unreadable: ApiError | None = None
    known: Mapping[str, Member] = attrs.Factory(dict)
    said: Mapping[str, PlannedMember] = attrs.Factory(dict)
    was_read: bool = True
    untouched: frozenset[str] = frozenset()
    originals: Mapping[str, Instance] = attrs.Factory(dict)

    @classmethod
    def of(
        cls,
        context: Context,
        fleet: Fleet,
        old: BulkInstancesValues,
        new: BulkInstancesValues,
        stated: BulkInstancesValues | None = None,
    ) -> Goal:
        """Determine the goal of an update from old to new inputs; `stated` as for `Spec.offline`.

        Raises:
            ApiError: the template cannot be read, and the update changes the properties.
        """
        prior = fleet_values(context.prior)
        known = members_of_state(prior)
        before, after, unreadable = _properties(context, fleet, old, new)
        unfinished = prior.get("removedKeys") or {}
        given = changed_parts(
            before if stated is None or stated is old else _readable_properties(context, fleet, stated), after
        )
        spec = attrs.evolve(Spec.of(context, old, new, before, after), given=given)
        return cls(
            spec=spec,
            before=before,
            target=Target.after(
                before,
                after,
                _marks(fleet, spec.generation),
                {name: frozenset(keys) for name, keys in cast("Mapping[str, list[str]]", unfinished).items()},
            ),
            unreadable=unreadable,
            known=known,
            said={item.id: item for item in spec.plan(known.values())},
            was_read=not context.prior.get(UNREAD),
        )

    @classmethod
    def reached(cls, fleet: Fleet, inputs: BulkInstancesValues, prior: BulkInstancesValues) -> Goal:
        """Return the goal of the last update, as far as its inputs and outputs show it: a template is not read."""
        last: BulkInstancesValues = {**inputs, **chosen(prior, _OF_MEMBERS)}
        properties, generation = own_properties(last), prior.get("generation") or ""
        return cls(
            spec=Spec(inputs=last, generation=generation, base=generation, properties=properties),
            before=properties,
            target=Target(properties, labels=_marks(fleet, generation)),
            known=members_of_state(prior),
        )

    def reversed(self, old: BulkInstancesValues, before: list[Instance], settled: Container[str]) -> Goal:
        """Return the goal of a rollback: members that the update has changed get the old inputs and their own settings.

        Args:
            old: the old inputs.
            before: the members before the update, which may be more or fewer than the state has.
            settled: the IDs of the members that the update has changed.
        """
        added = {item.name: frozenset(item.read(self.target.properties)) for item in SETTINGS}
        labels = {**self.target.labels, GENERATION_LABEL: self.spec.base}
        spec = Spec(
            inputs=old,
            policy=_policy_back(self.inputs, old),
            generation=self.spec.base,
            base=self.spec.generation,
            properties=self.before,
            ignored=self.spec.ignored,
            hosted=with_hostnames(self.inputs),
        )
        known = {str(item["id"]): self.of_instance(item) for item in before}
        # The update has not replaced members that existed before it, so a rollback restarts them at most.
        said = {member: spec.planned(item, Level.RESTART, {}) for member, item in known.items()}
        return Goal(
            spec=spec,
            before=self.target.properties,
            target=Target.after(self.target.properties, self.before, labels, added),
            unreadable=self.unreadable,
            known=known,
            said=said,
            untouched=frozenset(member for member in known if member not in settled),
            originals={str(item["id"]): item for item in before},
        )

    def without_action(self, handled: Iterable[str]) -> Goal:
        """Return the goal when the action was done to members, by their IDs."""
        return attrs.evolve(self, spec=attrs.evolve(self.spec, action=self.spec.action.without(frozenset(handled))))

    @property
    def policy(self) -> Policy:
        """How the members reach the goal."""
        return self.spec.policy

    @property
    def inputs(self) -> BulkInstancesValues:
        """The inputs of the fleet that it is to reach."""
        return self.spec.inputs

    def of_instance(self, instance: Instance) -> Member:
        """Describe a member as Google shows it, with its own settings.

        If its label was removed or edited, it gets the generation from the state.
        """
        member = Member.of_instance(instance)
        known = self.known.get(member.id)
        if known is None:
            return member
        label = trusted(member.generation, known.generation)
        if known.label_is_foreign and not known.generation and not self.spec.has_written(label):
            label = ""
        return attrs.evolve(member, generation=label, own=known.own)

    def generation_of(self, instance: Instance) -> str:
        """Return the generation of a member: from its label, or from the last outputs, or the one before the update."""
        return self.of_instance(instance).generation or self.spec.base

    def is_current(self, instance: Instance) -> bool:
        """Return whether a member has reached the generation, by its label, and nothing is left of an action."""
        return self.spec.has_reached(self.of_instance(instance))

    def member(self, instance: Instance, *, ready: bool, blocked: bool = False) -> PlannedMember:
        """Describe an instance for the plan; `blocked` if something has failed for it, so that nothing more is done to it.

        Raises:
            UserError: a member that is not blocked needs more than the policy allows.
            ApiError: the template is needed and cannot be read.
        """
        member = self.of_instance(instance)
        said, target = self.said.get(member.id), self._target(member)
        need = Level.NONE if member.id in self.untouched else self._need(instance, member, target)
        planned = self.spec.planned(member, need, self._set_back(instance, member, target))
        refusal = None if blocked or planned.unwanted else self.spec.refusal(member, planned.need)
        if refusal is not None:
            if not (said and said.leaves):
                raise refusal
            planned = attrs.evolve(planned, need=Level.NONE)  # it leaves, so the preview has not refused what it needs
        return attrs.evolve(
            planned,
            available=ready and member.runs,
            unready=member.runs and not ready,
            added=bool(self.known) and member.id not in self.known,
            leaves=said is not None and said.leaves,
            waits=said is not None and said.waits,
            blocked=blocked,
        )

    def most(self, member: Member) -> Level:
        """Return the most that may be done to a member: what the preview has said, or a refresh.

        An interrupted restart is always finished, and nothing more than that is done. The preview has said nothing
        about members that the state does not have.
        """
        said = self.said.get(member.id) if self.was_read else None
        if member.changing and (said is None or said.need is not Level.REPLACE):
            return Level.RESTART
        return Level.REPLACE if said is None else max(said.need, Level.REFRESH)

    def is_left(self, member: Member) -> bool:
        """Return whether a member does not get what it needs by its label, because the preview has not said that.

        Somebody has changed the label, or a rollout that was killed has changed the member.
        """
        return self.spec.update_need(member) > self.most(member)

    def _need(self, instance: Instance, member: Member, target: Target) -> Level:
        """Return what a member needs, apart from what others have changed on it."""

        def update_need(member: Member) -> Level:
            need = self.spec.update_need(member)
            if self.unreadable is not None and (0 < need <= most or self.spec.asked(member)):
                raise self.unreadable
            if need is Level.NONE:  # someone may have removed a label of gcpx
                has_labels = target.labels.items() <= (instance.get("labels") or {}).items()
                return Level.NONE if has_labels and not self._is_half_changed(instance, target) else Level.REFRESH
            return Level.REFRESH if need is Level.RESTART and self._is_restarted(instance, member, target) else need

        most = self.most(member)
        return self.spec.need(member, most, update_need)

    def _is_restarted(self, instance: Instance, member: Member, target: Target) -> bool:
        """Return whether an interrupted rollout has done what needs a restart, so that only the label is left to set.

        Any other label than that of a started restart may be somebody's, and the preview has taken its word.
        """
        may_be = member.runs and (member.changing or not member.generation) and self.policy.least < Level.RESTART
        return may_be and not any(target.differs(item, instance) for item in ON_STOPPED)

    def _is_half_changed(self, instance: Instance, target: Target) -> bool:
        """Return whether a member with the goal's label has anything else that the previous update set on it.

        The label is set last. So if the previous update failed before that, and its change is now taken back, the label
        does not show what it had set.
        """

        def has_last(setting: Setting) -> bool:
            last, wanted, found = (wanted_of(setting, item) for item in (self.before, target.properties, instance))
            return any(found.get(key) == last.get(key) for key in differing_keys(last, wanted))

        return any(target.differs(item, instance) and has_last(item) for item in REFRESHED)

    def target_of(self, instance: Instance) -> Target:
        """Return what should be set on an instance."""
        return self._target(self.of_instance(instance))

    def _target(self, member: Member) -> Target:
        """Return what should be set on a member."""
        marks = self.spec.action.labels if self.spec.action.level_for(member) else {}
        return attrs.evolve(
            self.target,
            properties=self.spec.properties_of(member),
            labels={**self.target.labels, **marks},
            own=self.spec.kept_by(member),
            original=self.originals.get(member.id),
        )

    def drift(self, members: Iterable[Instance]) -> dict[str, list[str]]:
        """Return, by the IDs of members, the settings that are not as the goal wants them.

        A member without such settings is left out, and so are outdated members, which have other properties anyway.
        """
        found = dict[str, list[str]]()
        for instance in members:
            member = self.of_instance(instance)
            names = _differing(instance, member, self._target(member)) if self.spec.has_reached(member) else []
            if names:
                found[member.id] = names
        return found

    def _set_back(self, instance: Instance, member: Member, target: Target) -> dict[str, Level]:
        """Return which settings of a member are set back, with what each needs: those named by the preview that still differ."""
        known = self.known.get(member.id)
        if known is None or not known.differs:
            return {}
        differing = tuple(name for name in _differing(instance, member, target) if name in known.differs)
        return self.spec.set_back(attrs.evolve(member, differs=differing))

    @property
    def known_after(self) -> dict[str, Member]:
        """The members of the state, by ID, with their own settings once the goal is reached."""
        return {key: attrs.evolve(member, own=self.spec.own_of(member)) for key, member in self.known.items()}

    def known_after_failure(self, members: Iterable[Instance]) -> dict[str, Member]:
        """Return the members of the state as `known_after` does, with the own settings that the update has not removed.

        So a program that goes back leaves these to them, and one that goes on still removes them, because the inputs in
        the state stay.
        """
        known = self.known_after
        for instance in members:
            last = self.known.get(str(instance["id"]))
            if last is not None and last.own:
                left = {part for item in SETTINGS for part in self.target.differing(item, instance)}
                own = tuple(part for part in last.own if part in left.union(known[last.id].own))
                known[last.id] = attrs.evolve(last, own=own)
        return known

    @property
    def removed_keys(self) -> BulkInstancesValues:
        """The output with the keys that the goal removes; empty if there are none."""
        removed = {name: sorted(keys) for name, keys in self.target.removed.items()}
        return {"removedKeys": cast("RemovedKeysValues", removed)} if removed else {}


def _differing(instance: Instance, member: Member, target: Target) -> list[str]:
    """Return the settings of a member that are not as they are wanted; an interrupted restart counts, so that it goes on."""
    names = [item.name for item in _COMPARED if target.differs(item, instance)]
    if member.stopped and member.changing:
        names.append(MACHINE_TYPE.name)
    return list(dict.fromkeys(names))


def _marks(fleet: Fleet, generation: str) -> dict[str, str]:
    """Return the labels that gcpx sets on members."""
    return {**membership_labels(fleet.id), **({GENERATION_LABEL: generation} if generation else {})}


def merged_properties(context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> InstancePropertiesValues:
    """Return the properties that new instances get (REST JSON); reads the template, if the inputs name one.

    A label of the template that the inputs remove stays as a null, so that it is removed from members, too.

    Raises:
        ApiError: the template cannot be read.
    """
    link = inputs.get("sourceInstanceTemplate")
    if not link:
        return own_properties(inputs)
    path = template_path(fleet.project, link)
    found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path}"), context)
    return own_properties(inputs, found.get("properties", {}))


def _properties(
    context: Context, fleet: Fleet, old: BulkInstancesValues, new: BulkInstancesValues
) -> tuple[InstancePropertiesValues, InstancePropertiesValues, ApiError | None]:
    """Return the properties before and after an update, and the error if an unneeded template cannot be read.

    The old template may have been deleted.
    """
    try:
        after = merged_properties(context, fleet, new)
    except ApiError as error:
        if not (last_generation(fleet_values(context.prior)) and has_same_properties(old, new)):
            raise
        return own_properties(old), own_properties(new), error
    if has_same_properties(old, new):
        return after, after, None
    return _readable_properties(context, fleet, old), after, None


def _readable_properties(context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> InstancePropertiesValues:
    """Return the properties that new instances get (REST JSON), without a template that cannot be read."""
    try:
        return merged_properties(context, fleet, inputs)
    except ApiError as error:
        link = inputs.get("sourceInstanceTemplate")
        context.warn(
            f"{link} cannot be read, so labels, tags and metadata from it stay unchanged on the instances: {error}"
        )
        return own_properties(inputs)


def _policy_back(new: BulkInstancesValues, old: BulkInstancesValues) -> Policy:
    """Return the policy of a rollback: the new one for the old size, without its limits, and with the old readiness.

    A rollback deletes no more members than the update has created.
    """
    given = without(nested(new, "updatePolicy"), ("pauseAfter",))
    ready = nested(nested(old, "updatePolicy"), "ready")
    return Policy.of({**without(old, ("maxDeleted",)), "updatePolicy": {**given, "ready": ready}})
