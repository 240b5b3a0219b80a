"""Compute: machine images."""

from __future__ import annotations

from gcpx_emulator.compute.encryption import check_opens, shown_key
from gcpx_emulator.compute.instance_properties import fingerprint
from gcpx_emulator.compute.names import check_free, check_name
from gcpx_emulator.compute.network_interfaces import without_fingerprint
from gcpx_emulator.compute.presentation import listed, seen
from gcpx_emulator.core.errors import required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json

_INPUT_ONLY = ("guestFlush", "params", "sourceDiskEncryptionKeys", "instanceProperties")
_COPIED = ("canIpForward", "description", "labels", "metadata", "scheduling", "serviceAccounts", "tags")
_USED_SHARE = 2**28
"""Bytes of storage for each GB of disk: a quarter is in use."""


@handles("compute.machineImages.insert")
def insert_image(call: Call) -> Json:
    """Make a machine image of an instance."""
    name = check_name(call.body)
    path = f"{call.parent}/machineImages/{name}"
    check_free(call, path)
    link = call.query.get("sourceInstance") or call.body.get("sourceInstance")
    if not link:
        raise required("sourceInstance")
    source = call.linked(link)
    instance = call.found(source)
    number = str(10**18 + call.store.next())
    body = {key: value for key, value in call.body.items() if key not in _INPUT_ONLY}
    excluded = set((call.body.get("params") or {}).get("excludedDisks") or ())
    disks = [disk for disk in instance["disks"] if disk["deviceName"] not in excluded]
    properties = {key: instance[key] for key in _COPIED if instance.get(key)}
    properties |= {
        "machineType": instance["machineType"].rpartition("/")[2],
        "disks": disks,
        "networkInterfaces": [without_fingerprint(nic) for nic in instance["networkInterfaces"]],
    }
    _check_keys(call, disks)
    saved = [_saved(disk) for disk in disks if disk.get("source")]
    body |= {
        "kind": "compute#machineImage",
        "id": number,
        "creationTimestamp": timestamp(),
        "selfLink": f"{call.base}/{path}",
        "sourceInstance": f"{call.base}/{source}",
        "status": "READY",
        "labelFingerprint": fingerprint(body.get("labels") or {}),
        "storageLocations": call.body.get("storageLocations") or ["us"],
        "instanceProperties": properties,
        "sourceInstanceProperties": properties,
        "savedDisks": saved,
        "totalStorageBytes": str(sum(int(disk["storageBytes"]) for disk in saved)),
    }
    key = shown_key("resource.machineImageEncryptionKey", body.pop("machineImageEncryptionKey", None))
    body |= {"machineImageEncryptionKey": key} if key else {}
    return call.operation("insert", path, number, [{"put": path, "body": body}])


def _saved(disk: Json) -> Json:
    size = str(int(disk["diskSizeGb"]) * _USED_SHARE)
    status = {"storageBytes": size, "storageBytesStatus": "UP_TO_DATE", "architecture": "X86_64"}
    return {"kind": "compute#savedDisk", "sourceDisk": disk["source"], **status}


def _check_keys(call: Call, disks: list[Json]) -> None:
    """Refuse to save disks that customers' keys protect without those keys."""
    given = {
        call.linked(item.get("sourceDisk", "")): item.get("diskEncryptionKey")
        for item in call.body.get("sourceDiskEncryptionKeys") or ()
    }
    for path in (call.linked(disk["source"]) for disk in disks if disk.get("source")):
        check_opens("resource.sourceDiskEncryptionKeys", given.get(path), call.store.get(path) or {})


@handles("compute.machineImages.get")
def get_image(call: Call) -> Json:
    """Read a machine image."""
    return seen(call, call.found(f"{call.parent}/machineImages/{call.path['machineImage']}"))


@handles("compute.machineImages.list")
def list_images(call: Call) -> Json:
    """List a project's machine images."""
    return listed(call, "machineImages", "compute#machineImageList")


@handles("compute.machineImages.delete")
def delete_image(call: Call) -> Json:
    """Delete a machine image."""
    return call.delete(f"{call.parent}/machineImages/{call.path['machineImage']}")
