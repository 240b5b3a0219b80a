"""Deprecated images: disks can be created from them with a warning; obsolete and deleted ones are refused."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.images import linked_image
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json


def image_warnings(call: Call, properties: Json) -> Json:
    """Return an operation's `warnings` about the images of disks, if any; refuse images that cannot be used."""
    warnings = []
    for index, disk in enumerate(properties.get("disks") or ()):
        link = (disk.get("initializeParams") or {}).get("sourceImage")
        if link:
            field = f"resource.properties.disks[{index}].initializeParams.sourceImage"
            deprecated = linked_image(call, field, link).get("deprecated")
            if deprecated is not None:
                warnings.append(_warning(field, link, deprecated))
    return {"warnings": warnings} if warnings else {}


def _warning(field: str, link: str, deprecated: Json) -> Json:
    state, replacement = deprecated["state"], deprecated["replacement"]
    if state != "DEPRECATED":
        raise invalid(field, link, f"The resource is {state}; use {replacement}.")
    message = f"The resource '{link}' is deprecated. A suggested replacement is '{replacement}'."
    data = [{"key": "resource_name", "value": link}, {"key": "replacement", "value": replacement}]
    return {"code": "DEPRECATED_RESOURCE_USED", "message": message, "data": data}
