"""Snapshots of disks."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, check_free, check_name, handles
from gcpx_emulator.compute.collection import USUAL, Collection
from gcpx_emulator.compute.disk_sources import source_of, stored_bytes
from gcpx_emulator.compute.disks import check_not_replicated_to
from gcpx_emulator.compute.encryption_keys import shown_keys
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.core.errors import check_given
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import put

_KEYS: Final = ("snapshotEncryptionKey", "sourceDiskEncryptionKey", "sourceInstantSnapshotEncryptionKey")
_NOT_KEPT: Final = (*_KEYS, "guestFlush", "params")


def _create(call: Call, path: str, head: Json) -> Json:
    check_given(call.body, "sourceDisk")
    return call.insert(path, _new(call, call.body["sourceDisk"]) | head)


def _new(call: Call, disk: str) -> Json:
    """Write the fields of a snapshot of the disk that a link names."""
    source = source_of(call, call.body | {"sourceDisk": disk})
    check_not_replicated_to(call, call.resolve(disk))
    stored = stored_bytes(source.size)
    snapshot = {
        **source.inherited,
        **{field: value for field, value in call.body.items() if field not in _NOT_KEPT},
        **shown_keys(call.body, _KEYS),
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
_SNAPSHOTS.register("setLabels", *USUAL)


@handles("compute.disks.createSnapshot", "compute.regionDisks.createSnapshot")
def create_snapshot(call: Call) -> Json:
    """Create a snapshot of a disk; the operation's target is the disk."""
    disk, path = f"{call.parent}/disks/{call.path['disk']}", f"{call.project}/global/snapshots/{check_name(call.body)}"
    check_free(call, path)
    source = call.read(disk)
    return call.update("createSnapshot", disk, source, put(path, _new(call, disk) | _SNAPSHOTS.head(call, path)))
