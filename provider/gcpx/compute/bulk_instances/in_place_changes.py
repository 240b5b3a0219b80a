"""Labels, tags and metadata, which change on the running members without replacing them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.fleet_id import RESERVED_LABELS
from gcpx.compute.collection import Collection
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import path_of
from gcpx.model.rules import nested

_MISSING: Final = object()


def change_in_place(
    call: Call, fleet: Fleet, members: list[Instance], old: dict[str, Any], new: dict[str, Any]
) -> bool:
    """Set labels, tags and metadata on the members that do not have them as wanted.

    Values that others added stay.

    Args:
        call: the engine's call.
        fleet: the fleet.
        members: the members to change.
        old: the inputs of the last update.
        new: the inputs of this update.

    Returns:
        Whether any member had to be changed.

    Raises:
        ProviderError: the first error of a member, once all members have been tried.
    """
    change = _change(call, fleet, old, new)
    stale = [member for member in members if change.settings_to_set(member)]
    fleet.for_each(call, stale, "changed", partial(_set, call, change))
    return bool(stale)


def _set(call: Call, change: _Change, instances: Collection, member: Instance) -> None:
    for setting in change.settings_to_set(member):
        instances.read_modify_write(call, member["name"], setting.method, partial(change.body, setting))


@attrs.frozen
class _Setting:
    """Labels, tags or metadata as a map, so that they are merged in the same way.

    Attributes:
        method: the method of an instance that sets them.
        read: reads the map from an instance (REST JSON) or from instance properties (inputs or REST JSON).
        body: writes the method's request body from the current instance, for its fingerprint, and the new map.
    """

    method: str
    read: Callable[[dict[str, Any]], dict[str, Any]]
    body: Callable[[Instance, dict[str, Any]], dict[str, Any]]


def _labels(properties: dict[str, Any]) -> dict[str, Any]:
    return properties.get("labels") or {}


def _labels_body(instance: Instance, labels: dict[str, Any]) -> dict[str, Any]:
    return {"labels": labels, "labelFingerprint": instance.get("labelFingerprint")}


def _metadata(properties: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: item.get("value") for item in (properties.get("metadata") or {}).get("items") or ()}


def _metadata_body(instance: Instance, metadata: dict[str, Any]) -> dict[str, Any]:
    items = [{"key": key, "value": value} for key, value in sorted(metadata.items())]
    return {"items": items, "fingerprint": instance.get("metadata", {}).get("fingerprint")}


def _tags(properties: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys((properties.get("tags") or {}).get("items") or (), True)


def _tags_body(instance: Instance, tags: dict[str, Any]) -> dict[str, Any]:
    return {"items": sorted(tags), "fingerprint": instance.get("tags", {}).get("fingerprint")}


_SETTINGS: Final = (
    _Setting("setLabels", _labels, _labels_body),
    _Setting("setMetadata", _metadata, _metadata_body),
    _Setting("setTags", _tags, _tags_body),
)


@attrs.frozen
class _Change:
    """The labels, tags and metadata that an update changes, as instance properties.

    Attributes:
        old: what the members should have had before the update.
        new: what they should have after it.
    """

    old: dict[str, Any]
    new: dict[str, Any]

    def settings_to_set(self, instance: Instance) -> list[_Setting]:
        return [setting for setting in _SETTINGS if self._merged(setting, instance) != setting.read(instance)]

    def body(self, setting: _Setting, instance: Instance) -> dict[str, Any]:
        return setting.body(instance, self._merged(setting, instance))

    def _merged(self, setting: _Setting, instance: Instance) -> dict[str, Any]:
        """Merge three ways: remove what is not wanted any more, set what is wanted, and keep what others added."""
        current, old, new = (setting.read(values) for values in (instance, self.old, self.new))
        wanted = {key: value for key, value in new.items() if value is not None}
        removed = (old.keys() | new.keys()) - wanted.keys()
        return {key: value for key, value in current.items() if key not in removed} | wanted


def _change(call: Call, fleet: Fleet, old: dict[str, Any], new: dict[str, Any]) -> _Change:
    """Merge the old and the new properties into those of the template, which is read only if they differ."""
    before, after = nested(old, "instanceProperties"), nested(new, "instanceProperties")
    link = new.get("sourceInstanceTemplate")
    template = _template_properties(call, fleet, link) if link and _differ(before, after) else {}
    wanted = _merged_into(template, after)
    labels = {**wanted["labels"], **fleet.labels}
    return _Change(_merged_into(template, before), {**wanted, "labels": labels})


def _differ(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether labels, tags or metadata differ; a null, which removes a value, differs from a missing one."""
    return any(before.get(name, _MISSING) != after.get(name, _MISSING) for name in ("labels", "tags", "metadata"))


def _template_properties(call: Call, fleet: Fleet, template: str) -> dict[str, Any]:
    """Read the properties of a template (REST JSON); if that fails, warn and continue without them."""
    path = path_of(template)
    path = path if path.startswith("projects/") else f"projects/{fleet.project}/{path}"
    try:
        found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path}"), call)
    except ApiError as error:
        call.warn(
            f"{template} cannot be read, so labels, tags and metadata from it stay unchanged on the instances: {error}"
        )
        return {}
    properties: dict[str, Any] = found.get("properties", {})
    return properties


def _merged_into(template: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    """Merge labels, tags and metadata into those of a template (JSON Merge Patch, RFC 7396).

    A label that a null removes stays in the result as null, so that it is removed from the members too.
    """
    labels = {key: value for key, value in (template.get("labels") or {}).items() if key not in RESERVED_LABELS}
    return {
        "labels": {**labels, **(properties.get("labels") or {})},
        "tags": _patched("tags", template, properties),
        "metadata": _patched("metadata", template, properties),
    }


def _patched(name: str, template: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    if name in properties and properties[name] is None:
        return {}
    return {**(template.get(name) or {}), **(properties.get(name) or {})}
