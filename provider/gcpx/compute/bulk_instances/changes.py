"""How gcpx sets something on existing instances: by which method, in which order, and without losing what others set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.compute.bulk_instances.plan import Level, level_of
from gcpx.model.links import name_of
from gcpx.model.values import Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import InstancePropertiesValues, InstanceValues

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
REFRESHED: Final = (*ON_RUNNING, LABELS)
"""Everything that changes on a running instance, in this order."""
MACHINE_TYPE: Final = Setting("machineType", "setMachineType", _machine_type, _machine_type_body)
_CPU_PLATFORM: Final = Setting("minCpuPlatform", "setMinCpuPlatform", _min_cpu_platform, _min_cpu_platform_body)
_ACCELERATORS: Final = Setting("guestAccelerators", "setMachineResources", _accelerators, _accelerators_body)
RELEASED: Final = (_ACCELERATORS, _CPU_PLATFORM)
"""What works only with some machine types or scheduling. If it is no longer wanted, it is removed before these change."""
ON_STOPPED: Final = (
    MACHINE_TYPE,
    Setting(
        "scheduling", "setScheduling", _scheduling(Level.REFRESH, Level.RESTART), _scheduling_body, _DEFAULT_SCHEDULING
    ),
    _CPU_PLATFORM,
    _ACCELERATORS,
    Setting("serviceAccounts", "setServiceAccount", _service_account, _service_account_body),
    *ON_RUNNING[:2],
)
"""What changes on a stopped instance, besides its labels. If one setting requires another, the other comes first."""
SETTINGS: Final = (LABELS, *ON_STOPPED)
"""Everything that changes on an instance."""


def ignored_settings(paths: Collection[Path]) -> frozenset[str]:
    """Return the names of the settings that the user ignores, in whole or in part, by the paths of `ignoreChanges`."""
    are_all = any(path in {("*",), ("instanceProperties",)} for path in paths)
    names = {path[1] for path in paths if path[:1] == ("instanceProperties",) and path[1:]}
    return frozenset(item.name for item in SETTINGS if are_all or item.name in names)


def changed_parts(old: Properties, new: Properties) -> frozenset[str]:
    """Return the parts of settings, as `Setting.part` names them, in which properties differ."""
    pairs = [(item, wanted_of(item, old), wanted_of(item, new)) for item in SETTINGS]
    return frozenset(item.part(key) for item, before, after in pairs for key in differing_keys(before, after))


def differing_keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the keys that two maps do not have in common with the same value."""
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@attrs.frozen
class Target:
    """The properties that members should have, or that one of them should have.

    Attributes:
        properties: the instance properties, those of the template included (REST JSON).
        removed: by the name of a setting, the keys that the fleet had set before and no longer wants.
        labels: the labels that gcpx sets.
        own: what a member keeps for itself: parts of settings, as `Setting.part` names them, or names of whole settings.
        original: the member that has what is kept (REST JSON); by default, the member as it is.
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
        """Merge three ways: remove what is no longer wanted, set what is wanted, and keep what others added, and its own."""

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
