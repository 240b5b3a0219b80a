"""The properties of a fleet's instances: those of its template, with those of the fleet merged into them."""

from __future__ import annotations

from typing import Any

from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.request import Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import object_type
from gcpx.model.links import path_of


def merged_properties(call: Call, fleet: Fleet, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the properties that new instances get (REST JSON); reads the template, if the inputs name one.

    A label that the inputs remove from the template's stays as a null, so that it is removed from members, too.

    Raises:
        ApiError: the template cannot be read.
    """
    link, given = inputs.get("sourceInstanceTemplate"), inputs.get("instanceProperties") or {}
    own = codec.to_body(object_type(InstanceProperties), given, nulls=bool(link))
    if not link:
        return own
    merged: dict[str, Any] = merge_patch(template_properties(call, fleet, link), own)
    nulls = {key: None for key, value in (own.get("labels") or {}).items() if value is None}
    return {**merged, "labels": {**merged.get("labels", {}), **nulls}} if nulls else merged


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
