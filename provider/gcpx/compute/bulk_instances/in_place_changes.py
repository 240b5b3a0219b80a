"""Labels, tags and metadata, which change on the running members without replacing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet import Failure, Fleet, Instance, MemberRequest
from gcpx.compute.bulk_instances.fleet_id import RESERVED_LABELS
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError, NotFound, PreconditionFailed
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import path_of
from gcpx.model.rules import nested

_MISSING: Final = object()


def change_in_place(
    call: Call, fleet: Fleet, members: list[Instance], old: dict[str, Any], new: dict[str, Any]
) -> None:
    """Set labels, tags and metadata on the members that do not have them as wanted.

    Values that others added stay.

    Args:
        call: the engine's call.
        fleet: the fleet.
        members: the members to change.
        old: the inputs of the last update.
        new: the inputs of this update.

    Raises:
        ProviderError: the first error of a member, once all members have been tried.
    """
    change = _change(call, fleet, old, new)
    failures = [failure for setting in _SETTINGS for failure in _set_all(call, fleet, change.of(setting), members)]
    for failure in failures:
        if not isinstance(failure.error, NotFound):
            raise failure.error


def _set_all(call: Call, fleet: Fleet, change: _SettingChange, members: list[Instance]) -> list[Failure]:
    """Change one setting of the members that need it, with the fingerprints that the members were listed with.

    Members that someone else has changed since then are read again, and tried once more.
    """
    failures = fleet.try_all(call, change.requests(members), "changed")
    outdated = [failure for failure in failures if isinstance(failure.error, PreconditionFailed)]
    if not outdated:
        return failures
    read_again = fleet.read_again(call, [failure.request.member for failure in outdated])
    others = [failure for failure in failures if failure not in outdated]
    return others + fleet.try_all(call, change.requests(read_again), "changed")


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
class _SettingChange:
    """The change of one setting.

    Attributes:
        old: what the members should have had before the update.
        new: what they should have after it; a value of None is removed.
    """

    setting: _Setting
    old: dict[str, Any]
    new: dict[str, Any]

    def is_needed(self, instance: Instance) -> bool:
        return self._merged(instance) != self.setting.read(instance)

    def requests(self, members: list[Instance]) -> list[MemberRequest]:
        """Write the requests for the members that need the change."""
        return [
            MemberRequest(member, self.setting.method, self.setting.body(member, self._merged(member)))
            for member in members
            if self.is_needed(member)
        ]

    def _merged(self, instance: Instance) -> dict[str, Any]:
        """Merge three ways: remove what is not wanted any more, set what is wanted, and keep what others added."""
        wanted = {key: value for key, value in self.new.items() if value is not None}
        removed = (self.old.keys() | self.new.keys()) - wanted.keys()
        return {key: value for key, value in self.setting.read(instance).items() if key not in removed} | wanted


@attrs.frozen
class _Change:
    """The labels, tags and metadata that an update changes, as instance properties.

    Attributes:
        old: what the members should have had before the update.
        new: what they should have after it.
    """

    old: dict[str, Any]
    new: dict[str, Any]

    def of(self, setting: _Setting) -> _SettingChange:
        return _SettingChange(setting, setting.read(self.old), setting.read(self.new))


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
