"""The images of a project: made from disks and other images, changed, deprecated and deleted."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.collection import Collection
from gcpx_emulator.compute.disk_sources import source_of, with_given_architecture
from gcpx_emulator.compute.encryption_keys import shown_keys
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.compute.images import DEFAULTS
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json, merge

_SOURCES: Final = ("rawDisk", "sourceDisk", "sourceImage", "sourceSnapshot")
_KEYS: Final = ("imageEncryptionKey", "sourceDiskEncryptionKey", "sourceImageEncryptionKey",
                "sourceSnapshotEncryptionKey")  # fmt: skip
_NOT_KEPT: Final = (*_KEYS, "params")
_PATCHED: Final = frozenset({"description", "family"})
"""The fields that a patch can change; the API's description marks the deprecation as output-only."""


def _create(call: Call, path: str, head: Json) -> Json:
    """Create an image of the project; its disks are as large as its source."""
    if not any(call.body.get(source) for source in _SOURCES):
        raise invalid("resource.sourceDisk", "", "A source is required.")
    source = source_of(call, call.body)
    image = {
        **DEFAULTS,
        **source.inherited,
        **{name: value for name, value in with_given_architecture(call.body).items() if name not in _NOT_KEPT},
        **shown_keys(call.body, _KEYS),
        **source.links,
        **head,
        "diskSizeGb": source.sized("resource.diskSizeGb", call.body.get("diskSizeGb"), DEFAULTS["diskSizeGb"]),
        "storageLocations": call.body.get("storageLocations") or ["us"],
        "status": "READY",
    }
    return call.insert(path, with_label_fingerprint(image))


_IMAGES: Final = Collection(name="images", singular="image", create=_create)
_IMAGES.register("delete", "insert", "setLabels")


@handles("compute.images.patch")
def patch_image(call: Call) -> Json:
    """Change the family or the description of an image; omitted fields stay."""
    path, image = _image(call)
    for name in call.body:
        if name not in _PATCHED and call.body[name] != image.get(name):
            raise invalid(f"resource.{name}", "", "A patch of an image cannot change it.")
    return call.update("patch", path, merge(image, {name: call.body[name] for name in _PATCHED & call.body.keys()}))


@handles("compute.images.deprecate")
def deprecate_image(call: Call) -> Json:
    """Set the deprecation status of an image; an empty one ends it."""
    path, image = _image(call)
    status = dict(call.body)
    if status.get("replacement"):
        status["replacement"] = call.full_url(status["replacement"])
    return call.update("setDeprecation", path, image | {"deprecated": status or None})


def _image(call: Call) -> tuple[str, Json]:
    """Return the path of the image that the call names, and the image."""
    path = f"{call.parent}/images/{call.path['image']}"
    return path, call.ready(path)
