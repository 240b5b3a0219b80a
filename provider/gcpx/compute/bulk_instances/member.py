"""A member of a fleet: how gcpx finds it, the label that shows its properties, and what a change of properties needs.

A generation has three parts, one for each level of change: `1f0c2a9b-77aa01bc-d4e5f601`. A member is outdated if its
label differs from the fleet's generation in a part, and that part says what the member needs at most. While a member is
stopped to be changed, its label ends in `-changing`. So Google shows how far a change has come, whatever happened to
the run that made it.
"""

from __future__ import annotations

import enum
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs

from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.model import codec
from gcpx.model.fields import object_type
from gcpx.model.links import name_of, path_of
from gcpx.model.patterns import Form
from gcpx.model.slow_hash import slow_hash
from gcpx.model.values import Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues, InstancePropertiesValues, InstanceValues, MemberValues

Instance: TypeAlias = "InstanceValues"
"""An instance as the API returns it (REST JSON); its fields have the names of the declared properties."""
FLEET_ID_SOURCE: Final = "[Fleets: unmanaged instances](../fleets.md#unmanaged-instances)"
"""The source of rules about fleet IDs, which gcpx defines itself, as a link from `docs/reference`."""
TRACKING_LABEL: Final = "gcpx-bulk"
"""The label by which gcpx finds the members of a fleet, unless the fleet ID says otherwise."""
GENERATION_LABEL: Final = "gcpx-generation"
"""The label that shows which properties a member of a rolling fleet was created with, or was last changed to."""
FALLBACK_LABEL: Final = "gcpx-fallback"
"""The label that shows which of the fleet's fallbacks a member was created with: its index, and a hash."""
ACTION_LABEL: Final = "gcpx-action"
"""The label that shows for which rolling action a member was last restarted or created: a hash of its trigger."""
RESERVED_LABELS: Final = frozenset({TRACKING_LABEL, GENERATION_LABEL, FALLBACK_LABEL, ACTION_LABEL})
"""The labels that gcpx sets on members, and that programs must not set."""
FLEET_ID: Final = Form(
    r"[a-z0-9][-_a-z0-9]{0,62}|labels/[a-z][-_a-z0-9]{0,62}=[-_a-z0-9]{0,63}|namePattern/[-a-z0-9#]{1,63}",
    "a label value of lower-case letters, digits, hyphens and underscores, labels/KEY=VALUE or namePattern/PATTERN",
)


def fleet_values(values: Mapping[str, Any]) -> BulkInstancesValues:
    """Return inputs or outputs of a fleet, which are checked before they come here, with their declared type."""
    return cast("BulkInstancesValues", values)


def is_tracked(fleet_id: str) -> bool:
    """Return whether the members are found by gcpx's own label.

    >>> is_tracked("crew"), is_tracked("labels/role=worker"), is_tracked("namePattern/web-#")
    (True, False, False)
    """
    return "/" not in fleet_id


def membership_labels(fleet_id: str) -> dict[str, str]:
    """Return the label that every member has, as a map; empty if the members are found by their names.

    >>> membership_labels("crew"), membership_labels("labels/role=worker"), membership_labels("namePattern/web-#")
    ({'gcpx-bulk': 'crew'}, {'role': 'worker'}, {})
    """
    kind, _, rest = fleet_id.partition("/")
    if kind == "labels" and rest:
        key, _, value = rest.partition("=")
        return {key: value}
    return {} if rest else {TRACKING_LABEL: fleet_id}


def membership_pattern(fleet_id: str) -> str | None:
    """Return the pattern that the name of every member fits; None if the members are found by a label.

    >>> membership_pattern("namePattern/web-###")
    'web-###'
    """
    kind, _, pattern = fleet_id.partition("/")
    return pattern if kind == "namePattern" else None


def pattern_expression(pattern: str) -> str:
    """Write a name pattern as a regular expression that Google's filters and Python read in the same way.

    >>> pattern_expression("web###")
    'web[0-9]{3}'
    """
    runs = re.findall(r"#+|[^#]+", pattern)
    return "".join(f"[0-9]{{{len(run)}}}" if run[0] == "#" else re.escape(run) for run in runs)


def name_order(name: str) -> tuple[str, int, str]:
    """Return a sort key that orders names by the last number in them.

    >>> sorted(["web-10", "web-9"], key=name_order)
    ['web-9', 'web-10']
    """
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", name)
    return (found[1], int(found[2]), found[3]) if found else (name, -1, "")


_SUSPENDED: Final = frozenset({"SUSPENDED", "SUSPENDING"})
_STOPPED: Final = _SUSPENDED | {"STOPPED", "STOPPING", "TERMINATED"}


def is_stopped(instance: Instance | MemberValues) -> bool:
    """Return whether an instance is stopped, suspended, or about to be, and so does not count as running."""
    return instance.get("status") in _STOPPED


def is_suspended(instance: Instance | MemberValues) -> bool:
    """Return whether an instance is suspended, or about to be: it has its memory until it is stopped or deleted."""
    return instance.get("status") in _SUSPENDED


_SCHEDULING: Final = "scheduling"


class Level(enum.IntEnum):
    """The action that a member needs, the least disruptive first."""

    NONE = 0
    REFRESH = 1
    RESTART = 2
    REPLACE = 3


CHANGES: Final = (Level.REFRESH, Level.RESTART, Level.REPLACE)
_OF_PROPERTY: Final[Mapping[str, Level]] = {
    "labels": Level.REFRESH,
    "metadata": Level.REFRESH,
    "tags": Level.REFRESH,
    "machineType": Level.RESTART,
    "minCpuPlatform": Level.RESTART,
    "serviceAccounts": Level.RESTART,
    "guestAccelerators": Level.RESTART,
}
"""The properties of instances that change without a new instance. Every other change replaces the member."""
_OF_SCHEDULING: Final[Mapping[str, Level]] = {
    "automaticRestart": Level.REFRESH,
    "onHostMaintenance": Level.REFRESH,
    "instanceTerminationAction": Level.RESTART,
    "maxRunDuration": Level.RESTART,
    "terminationTime": Level.RESTART,
}
"""The parts of `scheduling` that change without a new instance."""
CHANGED_IN_PLACE: Final[frozenset[Path]] = frozenset(
    {("instanceProperties", name) for name in _OF_PROPERTY}
    | {("instanceProperties", _SCHEDULING, part) for part in _OF_SCHEDULING}
)
"""The paths of a fleet's inputs that change without new instances."""


def level_of(name: str, part: str = "") -> Level:
    """Return what a change of an instance property needs; `part` is the part of `scheduling` that changes."""
    if name == _SCHEDULING:
        return _OF_SCHEDULING.get(part, Level.REPLACE)
    return _OF_PROPERTY.get(name, Level.REPLACE)


def levels_of(paths: Iterable[Path]) -> set[Level]:
    """Return what changes at these paths of a fleet's inputs need.

    A change of the template may need anything, because it may change every property.
    """
    found: set[Level] = set()
    for path in paths:
        if path[0] == "sourceInstanceTemplate" or path == ("instanceProperties",):
            return set(CHANGES)
        if path[0] == "instanceProperties":
            is_whole = path[1:] == (_SCHEDULING,)  # which may need anything
            found |= set(CHANGES) if is_whole else {level_of(str(path[1]), str(path[2]) if path[2:] else "")}
    return found


def by_level(properties: Mapping[str, Any]) -> dict[Level, dict[str, Any]]:
    """Divide instance properties (REST JSON) by what a change of them needs."""
    parts: dict[Level, dict[str, Any]] = {level: {} for level in CHANGES}
    for name, value in properties.items():
        if name == _SCHEDULING and isinstance(value, dict):
            for part, item in value.items():
                parts[level_of(name, part)][f"{name}.{part}"] = item
        else:
            parts[level_of(name)][name] = value
    return parts


_LEVELS: Final = {level.name: level for level in CHANGES}


def level_named(name: str, default: Level) -> Level:
    """Return the level with a name, such as `RESTART`; the default for any other name."""
    return _LEVELS.get(name, default)


def ignored_settings(paths: Collection[Path]) -> frozenset[str]:
    """Return the names of the settings that the user ignores, in whole or in part, by the paths of `ignoreChanges`."""
    are_all = any(path in {("*",), ("instanceProperties",)} for path in paths)
    names = {path[1] for path in paths if path[:1] == ("instanceProperties",) and path[1:]}
    return frozenset(name for name in (*_OF_PROPERTY, _SCHEDULING) if are_all or name in names)


def own_properties(
    inputs: BulkInstancesValues, template: InstancePropertiesValues | None = None
) -> InstancePropertiesValues:
    """Return the properties that the inputs give to instances (REST JSON), merged into a template's, if given."""
    has_template = bool(inputs.get("sourceInstanceTemplate"))
    body = codec.to_body(object_type(InstanceProperties), inputs.get("instanceProperties") or {}, nulls=has_template)
    own = cast("InstancePropertiesValues", body)
    if not has_template:
        return own
    merged: InstancePropertiesValues = merge_patch(template or {}, own)
    nulls: Any = {key: None for key, value in (own.get("labels") or {}).items() if value is None}
    return {**merged, "labels": {**merged.get("labels", {}), **nulls}} if nulls else merged


def has_same_properties(old: BulkInstancesValues, new: BulkInstancesValues) -> bool:
    """Return whether two inputs give instances the same properties, as far as the inputs show."""
    return all(old.get(name) == new.get(name) for name in ("instanceProperties", "sourceInstanceTemplate"))


def template_path(project: str, link: str) -> str:
    """Return the path of a template; a link may leave out the project.

    >>> template_path("p", "global/instanceTemplates/web")
    'projects/p/global/instanceTemplates/web'
    """
    path = path_of(link)
    return path if path.startswith("projects/") else f"projects/{project}/{path}"


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON Merge Patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


_PART: Final = "[0-9a-f]{8}"
_CHANGING: Final = "-changing"
_FORM: Final = re.compile(f"({_PART})-({_PART})-({_PART})(?:{_CHANGING})?")
_ORDER: Final = (Level.REPLACE, Level.RESTART, Level.REFRESH)
_SERVER_FIELDS: Final = frozenset({"kind", "fingerprint"})
"""Fields that Google adds to a template's properties, and that say nothing about instances."""


def generation_of(
    properties: Mapping[str, Any], prior: str = "", changed: frozenset[Level] = frozenset(CHANGES)
) -> str:
    """Return the generation of instance properties.

    Args:
        properties: the instance properties, merged into the template's (REST JSON).
        prior: the generation before a change; empty if there was none.
        changed: the levels at which the change made a difference; the other parts of `prior` stay, so that another
            spelling of the same value does not make a new generation.
    """
    kept, parts = _parts(prior), by_level(properties)
    return "-".join(
        kept[level]
        if level in kept and level not in changed
        else hash_for_label(json.dumps(_plain(parts[level]), sort_keys=True))
        for level in _ORDER
    )


def need_of(label: str, wanted: str) -> Level:
    """Return what a member with this label needs at most to reach the wanted generation."""
    parts, goal = _parts(label), _parts(wanted)
    least = Level.RESTART if is_changing(label) else Level.NONE
    return max((least, *(level for level in CHANGES if parts.get(level) != goal.get(level))))


def changing(generation: str) -> str:
    """Return the label of a member that is about to be stopped, so that it gets this generation."""
    return f"{generation}{_CHANGING}"


def is_changing(label: str) -> bool:
    """Return whether the label of a member says that a restart has started, and has not ended."""
    return label.endswith(_CHANGING)


def trusted(label: str, known: str) -> str:
    """Return the generation of a member from its label and from the state (`known`); either may be empty.

    An existing member keeps the properties that need a replacement, so the state decides about that part: somebody may
    have edited the label. A member that gcpx has replaced has another ID, so the state does not know it.
    """
    found, last = _parts(label), _parts(known)
    return label.replace(found[Level.REPLACE], last[Level.REPLACE], 1) if found and last else label or known


def recorded_generation(instance: Instance) -> str:
    """Read the generation from the label of an instance (REST JSON); empty without one that gcpx has written."""
    label = str(instance.get("labels", {}).get(GENERATION_LABEL, ""))
    return label if _FORM.fullmatch(label) else ""


def last_generation(prior: BulkInstancesValues) -> str:
    """Return the generation before an update from the last outputs; empty if they have none.

    An imported fleet has no such output. Then the label of most members stands for the last inputs, which describe the
    same properties in another spelling.
    """
    if prior.get("generation"):
        return str(prior["generation"])
    labels = Counter(str(member.get("generation") or "") for member in prior.get("members") or ())
    known = [label for label, _ in labels.most_common() if _parts(label) and not is_changing(label)]
    return known[0] if known else ""


def _parts(generation: str) -> dict[Level, str]:
    found = _FORM.fullmatch(generation)
    return dict(zip(_ORDER, found.groups(), strict=True)) if found else {}


def hash_for_label(text: str) -> str:
    """Hash a text for a label: more people can read labels than metadata, for example in the export of costs."""
    return slow_hash(text)[:8]


def _plain(value: Any) -> Any:
    """Drop fields that say nothing about instances, and write links in their short form."""
    if isinstance(value, dict):
        dropped = _SERVER_FIELDS | RESERVED_LABELS
        return {key: _plain(item) for key, item in value.items() if key not in dropped and item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return path_of(value) if isinstance(value, str) and value.startswith("https://") else value


OWN_GENERATION: Final = "generation"
"""The name, among a member's own settings, that says that its generation label came from another fleet."""
_STOPPED_BY: Final = {
    "GUEST": "shut down from within",
    "HOST_ERROR": "stopped by a host error",
    "PREEMPTED": "preempted",
    "REQUESTED": "stopped by somebody",
    "RUN_LIMIT": "stopped at its run limit",
}
"""The words for a stopped member, by its `stopReason`."""


@attrs.frozen(kw_only=True)
class Member:
    """A member of a fleet.

    Attributes:
        id: its numeric ID.
        name: its name.
        zone: the name of its zone.
        status: its status, such as `RUNNING`.
        machine_type: the name of its machine type.
        local_ssds: how many local SSDs it has, including the ones of its machine type; a stop would erase them.
        hostname: its host name, unless it is the one that Google derives from its name.
        generation: which properties it was created with or last changed to; empty if that is not known.
        action: the last rolling action for which it was handled; empty if there is none.
        fallback: the fallback with which it was created, by index and hash, as in the label; empty if there is none.
        differs: the settings that somebody has changed on it, as the last refresh has found them.
        own: the parts of settings, as `Setting.part` names them, that were its own when the fleet was imported, and
            that the program has not changed since.
        stop_reason: why it is stopped, as in the outputs; empty if it is not, or if that is not known.
    """

    id: str
    name: str
    zone: str
    status: str
    machine_type: str
    local_ssds: int = 0
    hostname: str | None = None
    generation: str = ""
    action: str = ""
    fallback: str = ""
    differs: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    stop_reason: str = ""

    @classmethod
    def of_instance(cls, instance: Instance) -> Member:
        """Describe a member as Google shows it; only a refresh finds what others have changed on it."""
        labels = instance.get("labels") or {}
        return cls(
            id=str(instance["id"]),
            name=instance["name"],
            zone=name_of(instance["zone"]),
            status=instance.get("status") or "",
            machine_type=name_of(instance["machineType"]),
            local_ssds=sum(disk.get("type") == "SCRATCH" for disk in instance.get("disks") or ()),
            hostname=instance.get("hostname"),
            generation=recorded_generation(instance),
            action=labels.get(ACTION_LABEL) or "",
            fallback=labels.get(FALLBACK_LABEL) or "",
        )

    @classmethod
    def of_output(cls, item: MemberValues) -> Member:
        """Describe a member by an element of the output `members`.

        An older state, or one that somebody has edited, may lack values, which the next read from Google supplies.
        """
        return cls(
            id=item["id"],
            name=item["name"],
            zone=name_of(item.get("zone") or ""),
            status=item.get("status") or "",
            machine_type=item.get("machineType") or "",
            local_ssds=item.get("localSsds") or 0,
            hostname=item.get("hostname"),
            generation=item.get("generation") or "",
            action=item.get("rollingAction") or "",
            fallback="-".join(filter(None, (str(item.get("fallback", "")), item.get("fallbackHash")))),
            differs=tuple(item.get("differs") or ()),
            own=tuple(item.get("own") or ()),
            stop_reason=item.get("stopReason") or "",
        )

    @property
    def label_is_foreign(self) -> bool:
        """Whether an import has found on it another generation label than on the other members."""
        return OWN_GENERATION in self.own

    @property
    def runs(self) -> bool:
        """Whether it is running."""
        return self.status == "RUNNING"

    @property
    def stopped(self) -> bool:
        """Whether it is stopped or suspended, or about to be."""
        return is_stopped({"status": self.status})

    @property
    def suspended(self) -> bool:
        """Whether it is suspended, or about to be: it has its memory until it is stopped or deleted."""
        return is_suspended({"status": self.status})

    @property
    def changing(self) -> bool:
        """Whether a restart of it has started, and has not ended."""
        return is_changing(self.generation)

    @property
    def why_stopped(self) -> str:
        """Why it is stopped, in words; empty if it is not, or if that is not known."""
        if self.stop_reason == "REQUESTED" and self.suspended:
            return "suspended by somebody"
        if self.stop_reason == "REQUESTED" and self.changing:
            return "stopped for a restart"
        return _STOPPED_BY.get(self.stop_reason, "")


def members_of_state(prior: BulkInstancesValues) -> dict[str, Member]:
    """Return the members that the last outputs have, by their IDs.

    Until the first update after an import, a label that a member brought from another fleet is ignored.
    """
    members = {item["id"]: Member.of_output(item) for item in prior.get("members") or ()}
    if prior.get("generation"):
        return members
    return {key: attrs.evolve(item, generation="") if item.label_is_foreign else item for key, item in members.items()}
