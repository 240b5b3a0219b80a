"""Images that disks are made from: each has to exist; a deprecated one has a warning, an obsolete one is refused."""

from __future__ import annotations

from gcpx_emulator.compute.images import found_image
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json


def notes(call: Call, properties: Json) -> Json:
    """Give the warnings about deprecated images; refuse obsolete images and links to other things."""
    warnings = []
    for index, disk in enumerate(properties.get("disks") or ()):
        image = (disk.get("initializeParams") or {}).get("sourceImage")
        if not image:
            continue
        where = f"resource.properties.disks[{index}].initializeParams.sourceImage"
        found = found_image(call, where, image).get("deprecated")
        if found is None:
            continue
        if found["state"] != "DEPRECATED":
            raise invalid(where, image, f"The resource is {found['state']}; use {found['replacement']}.")
        words = f"The resource '{image}' is deprecated. A suggested replacement is '{found['replacement']}'."
        data = [{"key": "resource_name", "value": image}, {"key": "replacement", "value": found["replacement"]}]
        warnings.append({"code": "DEPRECATED_RESOURCE_USED", "message": words, "data": data})
    return {"warnings": warnings} if warnings else {}
