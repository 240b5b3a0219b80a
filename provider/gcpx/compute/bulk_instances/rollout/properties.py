"""The properties of a fleet's instances: those of its template, with those of the fleet merged into them."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError
from gcpx.gcp.request import Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import object_type
from gcpx.model.links import path_of
from gcpx.model.rules import nested

_MISSING: Final = object()


def merged_properties(call: Call, fleet: Fleet, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the properties that new instances get (REST JSON); reads the template, if the inputs name one.

    A label of the template that the inputs remove stays as a null, so that it is removed from members, too.

    Raises:
        ApiError: the template cannot be read.
    """
    link = inputs.get("sourceInstanceTemplate")
    return _merged(template_properties(call, fleet, link) if link else {}, inputs)


def own_properties(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the properties that the inputs themselves give to instances (REST JSON), without those of a template."""
    return _merged({}, inputs)


def _merged(template: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    """Merge a fleet's own properties into those of its template (REST JSON)."""
    has_template = bool(inputs.get("sourceInstanceTemplate"))
    own = codec.to_body(object_type(InstanceProperties), inputs.get("instanceProperties") or {}, nulls=has_template)
    if not has_template:
        return own
    merged: dict[str, Any] = merge_patch(template, own)
    nulls = {key: None for key, value in (own.get("labels") or {}).items() if value is None}
    return {**merged, "labels": {**merged.get("labels", {}), **nulls}} if nulls else merged


def rolled_properties(
    call: Call, fleet: Fleet, old: dict[str, Any], new: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the properties before and after an update of a rolling fleet; the old template may have been deleted.

    Raises:
        ApiError: the new template cannot be read.
    """
    after = merged_properties(call, fleet, new)
    return after if has_same_properties(old, new) else _readable(call, fleet, old), after


def has_same_properties(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether two inputs give instances the same properties, as far as the inputs tell."""
    return all(old.get(name) == new.get(name) for name in ("instanceProperties", "sourceInstanceTemplate"))


def set_properties(
    call: Call, fleet: Fleet, old: dict[str, Any], new: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the properties before and after an update that only sets labels, tags and metadata.

    The template is read only if the update changes them.
    """
    before, after = nested(old, "instanceProperties"), nested(new, "instanceProperties")
    if any(before.get(name, _MISSING) != after.get(name, _MISSING) for name in ("labels", "metadata", "tags")):
        return _readable(call, fleet, old), _readable(call, fleet, new)
    own = own_properties(new)
    return own, own


def _readable(call: Call, fleet: Fleet, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of instances, without those of a template that cannot be read."""
    link = inputs.get("sourceInstanceTemplate")
    try:
        return merged_properties(call, fleet, inputs)
    except ApiError as error:
        call.warn(
            f"{link} cannot be read, so labels, tags and metadata from it stay unchanged on the instances: {error}"
        )
        return own_properties(inputs)


def template_properties(call: Call, fleet: Fleet, link: str) -> dict[str, Any]:
    """Read the properties of a template (REST JSON); raises `ApiError`."""
    path = path_of(link)
    path = path if path.startswith("projects/") else f"projects/{fleet.project}/{path}"
    found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path}"), call)
    properties: dict[str, Any] = found.get("properties", {})
    return properties


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
