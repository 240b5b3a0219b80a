"""Snapshots of disks."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, check_free, check_name, fingerprint, handles
from gcpx_emulator.compute.collection import Collection
from gcpx_emulator.compute.disks import check_key, shown_key
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import put

_NOT_KEPT: Final = ("guestFlush", "sourceDiskEncryptionKey")
_BYTES_PER_GB: Final = 2**28
"""The bytes that a snapshot takes for each GB of its disk, of which a quarter is in use."""


def _create(call: Call, path: str, head: Json) -> Json:
    if not call.body.get("sourceDisk"):
        raise required("resource.sourceDisk")
    disk = call.linked("disk", "resource.sourceDisk", call.body["sourceDisk"])
    return call.insert(path, _new(call, disk) | head)


def _new(call: Call, disk: Json) -> Json:
    """Write the fields of a snapshot of a disk."""
    check_key("resource.sourceDiskEncryptionKey", call.body.get("sourceDiskEncryptionKey"), disk)
    key = shown_key("resource.snapshotEncryptionKey", call.body.get("snapshotEncryptionKey"))
    size = str(int(disk["sizeGb"]) * _BYTES_PER_GB)
    return {
        **{field: value for field, value in call.body.items() if field not in _NOT_KEPT},
        **({"snapshotEncryptionKey": key} if key else {}),
        "status": "READY",
        "sourceDisk": disk["selfLink"],
        "sourceDiskId": disk["id"],
        "diskSizeGb": disk["sizeGb"],
        "storageBytes": size,
        "storageBytesStatus": "UP_TO_DATE",
        "storageLocations": call.body.get("storageLocations") or ["us"],
        "labelFingerprint": fingerprint(call.body.get("labels") or {}),
    }


Collection(name="snapshots", singular="snapshot", create=_create).register("delete", "get", "insert", "list")


@handles("compute.disks.createSnapshot", "compute.regionDisks.createSnapshot")
def create_snapshot(call: Call) -> Json:
    """Create a snapshot of a disk; the operation is one of the disk."""
    disk = f"{call.parent}/disks/{call.path['disk']}"
    name = check_name(call.body)
    path = f"{call.project}/global/snapshots/{name}"
    check_free(call, path)
    head = {"kind": "compute#snapshot", "id": call.store.new_id(), "creationTimestamp": timestamp()}
    snapshot = _new(call, call.read(disk)) | head | {"selfLink": call.url(path)}
    return call.update("createSnapshot", disk, call.read(disk), put(path, snapshot))
