"""Public images whose time is over: a deprecated one still serves, with a warning; an obsolete one does not."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.errors import invalid
from gcpx_emulator.handler import Call
from gcpx_emulator.store import Json

REPLACEMENT: Final = "debian-12-bookworm-v20261014"
OLD_IMAGES: Final = {
    "debian-cloud": {
        "debian-10-buster-v20240612": "OBSOLETE",
        "debian-11-bullseye-v20251009": "DEPRECATED",
        "debian-9-stretch-v20220621": "DELETED",
    }
}
"""By project and name; no family leads to them."""


def status(call: Call, project: str, name: str) -> Json:
    """Say what has become of an image."""
    state = OLD_IMAGES.get(project, {}).get(name)
    link = f"{call.base}/projects/{project}/global/images/{REPLACEMENT}"
    return {"deprecated": {"state": state, "replacement": link}} if state else {}


def notes(call: Call, properties: Json) -> Json:
    """Give the warnings of an operation that uses deprecated images; refuse obsolete ones."""
    warnings = []
    for index, disk in enumerate(properties.get("disks") or ()):
        image = str((disk.get("initializeParams") or {}).get("sourceImage", ""))
        parts = image.rpartition("projects/")[2].split("/")
        found = status(call, parts[0], parts[-1]).get("deprecated")
        if found is None:
            continue
        if found["state"] != "DEPRECATED":
            where = f"resource.properties.disks[{index}].initializeParams.sourceImage"
            raise invalid(where, image, f"The resource is {found['state']}; use {found['replacement']}.")
        words = f"The resource '{image}' is deprecated. A suggested replacement is '{found['replacement']}'."
        data = [{"key": "resource_name", "value": image}, {"key": "replacement", "value": found["replacement"]}]
        warnings.append({"code": "DEPRECATED_RESOURCE_USED", "message": words, "data": data})
    return {"warnings": warnings} if warnings else {}
