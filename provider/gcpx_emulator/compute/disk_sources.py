"""The sources of disks and images: the links to them, their sizes, and the properties that follow from them."""

from __future__ import annotations

from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, last_part
from gcpx_emulator.compute.encryption_keys import check_key
from gcpx_emulator.compute.images import linked_image
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json

_INHERITED: Final = ("architecture", "guestOsFeatures", "licenseCodes", "licenses", "userLicenses")
_NOT_EMULATED: Final = "sourceInstantSnapshot"
"""A source that requests may name, but the emulator does not have; no property follows from it."""


_NO_ARCHITECTURE: Final = "ARCHITECTURE_UNSPECIFIED"


def with_given_architecture(body: Json) -> Json:
    """Leave out the architecture `ARCHITECTURE_UNSPECIFIED`."""
    return {name: value for name, value in body.items() if (name, value) != ("architecture", _NO_ARCHITECTURE)}


_BYTES_PER_GB: Final = 2**28
"""The bytes that a snapshot or a machine image takes for each GB of a disk; a quarter of the disk is in use."""


def stored_bytes(size: int) -> str:
    """Return the bytes that a snapshot of a disk takes, whose size is in GB."""
    return str(size * _BYTES_PER_GB)


@attrs.frozen(kw_only=True)
class Source:
    """The properties that a new disk or image gets from its source.

    Attributes:
        what: the kind of source in messages, such as `image`; empty without a source.
        links: the fields that name the source.
        size: the smallest size of the new disk, in GB; 0 if it is not known.
        inherited: the properties that the new disk or image has if the request does not set them.
    """

    what: str = ""
    links: Json = attrs.Factory(dict)
    size: int = 0
    inherited: Json = attrs.Factory(dict)

    def sized(self, field: str, wanted: str | None, default: str) -> str:
        """Return the size of the new disk in GB: the requested size, which `field` names, or that of the source."""
        if wanted and int(wanted) < self.size:
            why = f"Requested disk size cannot be smaller than the {self.what} size ({self.size} GB)"
            raise invalid(field, wanted, why)
        return str(wanted or self.size or default)


def source_of(call: Call, body: Json, field: str = "resource") -> Source:
    """Find the source of a disk, a snapshot or an image; it must exist, and the request must have its key.

    `body` is a `Disk`, a `Snapshot`, an `Image` or `initializeParams`, and `field` is its place in the request.
    """
    if body.get("sourceImage"):
        image = linked_image(call, f"{field}.sourceImage", body["sourceImage"])
        _check_key(body, field, "sourceImage", image)
        return _source("image", "sourceImage", image, image["diskSizeGb"])
    if body.get("sourceDisk"):
        disk = call.linked("disk", f"{field}.sourceDisk", body["sourceDisk"])
        _check_key(body, field, "sourceDisk", disk)
        return _source("disk", "sourceDisk", disk, disk["sizeGb"])
    if body.get("sourceSnapshot"):
        snapshot = call.linked("snapshot", f"{field}.sourceSnapshot", body["sourceSnapshot"])
        _check_key(body, field, "sourceSnapshot", snapshot)
        return _source("snapshot", "sourceSnapshot", snapshot, snapshot["diskSizeGb"])
    if body.get("sourceMachineImage"):
        return _disk_of_machine_image(call, body, field)
    link = body.get(_NOT_EMULATED)
    return Source(links={_NOT_EMULATED: call.full_url(link)} if link else {})


def _check_key(body: Json, field: str, name: str, source: Json) -> None:
    """Require the customer-supplied key of a source; a disk that is a copy of another has the key of that disk."""
    own = f"{name}EncryptionKey"
    given = body.get(own) or (body.get("diskEncryptionKey") if name == "sourceDisk" else None)
    check_key(f"{field}.{own}", given, source)


def _source(what: str, field: str, found: Json, size: str) -> Source:
    return Source(
        what=what,
        links={field: found["selfLink"], f"{field}Id": found["id"]},
        size=int(size),
        inherited={name: found[name] for name in _INHERITED if found.get(name)},
    )


def _disk_of_machine_image(call: Call, body: Json, field: str) -> Source:
    link, device = body["sourceMachineImage"], body.get("sourceMachineImageDiskDeviceName")
    if not device:
        raise required("resource.sourceMachineImageDiskDeviceName")
    image = call.read(call.resolve(link))
    _check_key(body, field, "sourceMachineImage", image)
    disks = [disk for disk in image["instanceProperties"]["disks"] if disk["deviceName"] == device]
    if not disks:
        why = f"The machine image '{last_part(link)}' has no disk of this device name."
        raise invalid("resource.sourceMachineImageDiskDeviceName", device, why)
    found = _source("machine image's disk", "sourceMachineImage", image | disks[0], disks[0]["diskSizeGb"])
    return attrs.evolve(found, links={**found.links, "sourceMachineImageDiskDeviceName": device})
