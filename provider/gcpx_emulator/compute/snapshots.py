"""Snapshots of disks."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, check_free, check_name, handles
from gcpx_emulator.compute.collection import Collection
from gcpx_emulator.compute.disk_sources import source_of
from gcpx_emulator.compute.disks import check_key, shown_key
from gcpx_emulator.compute.labels import with_label_fingerprint
from gcpx_emulator.core.errors import required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import put

_KEYS: Final = ("snapshotEncryptionKey", "sourceDiskEncryptionKey", "sourceInstantSnapshotEncryptionKey")
_NOT_KEPT: Final = (*_KEYS, "guestFlush", "params")
_BYTES_PER_GB: Final = 2**28
"""The bytes that a snapshot takes for each GB of its disk; a quarter of the disk is in use."""


def _create(call: Call, path: str, head: Json) -> Json:
    if not call.body.get("sourceDisk"):
        raise required("resource.sourceDisk")
    return call.insert(path, _new(call, call.body["sourceDisk"]) | head)


def _new(call: Call, disk: str) -> Json:
    """Write the fields of a snapshot of the disk that a link names."""
    source = source_of(call, {"sourceDisk": disk})
    check_key(
        "resource.sourceDiskEncryptionKey", call.body.get("sourceDiskEncryptionKey"), call.read(call.resolve(disk))
    )
    keys = {name: shown_key(f"resource.{name}", call.body.get(name)) for name in _KEYS}
    stored = str(source.size * _BYTES_PER_GB)
    snapshot = {
        **source.inherited,
        **{field: value for field, value in call.body.items() if field not in _NOT_KEPT},
        **{name: key for name, key in keys.items() if key},
        "status": "READY",
        **source.links,
        "diskSizeGb": str(source.size),
        "creationSizeBytes": stored,
        "downloadBytes": stored,
        "enableConfidentialCompute": False,
        "storageBytes": stored,
        "storageBytesStatus": "UP_TO_DATE",
        "storageLocations": call.body.get("storageLocations") or ["us"],
    }
    return with_label_fingerprint(snapshot)


_SNAPSHOTS: Final = Collection(name="snapshots", singular="snapshot", create=_create)
_SNAPSHOTS.register("delete", "get", "insert", "list")


@handles("compute.disks.createSnapshot", "compute.regionDisks.createSnapshot")
def create_snapshot(call: Call) -> Json:
    """Create a snapshot of a disk; the operation's target is the disk."""
    disk = f"{call.parent}/disks/{call.path['disk']}"
    name = check_name(call.body)
    path = f"{call.project}/global/snapshots/{name}"
    check_free(call, path)
    source = call.read(disk)
    snapshot = _new(call, disk) | _SNAPSHOTS.head(call, path)
    return call.update("createSnapshot", disk, source, put(path, snapshot))
