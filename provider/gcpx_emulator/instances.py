"""Compute: instances."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.catalog import MACHINES, check_place
from gcpx_emulator.errors import invalid, required
from gcpx_emulator.handler import Call, handles
from gcpx_emulator.instance_properties import check_disk, fingerprint, stored_properties
from gcpx_emulator.listing import listing
from gcpx_emulator.naming import check_free, check_name
from gcpx_emulator.operations import timestamp
from gcpx_emulator.presentation import seen
from gcpx_emulator.store import Json

_CUSTOM: Final = re.compile(r"(?:[a-z]\w+-)?custom-\d+-\d+(?:-ext)?")


@handles("compute.instances.insert")
def insert_instance(call: Call) -> Json:
    """Make an instance with its disks."""
    check_place(call)
    name, body = check_name(call.body), dict(call.body)
    path = f"{call.parent}/instances/{name}"
    check_free(call, path)
    machine = str(body.get("machineType", "")).rpartition("/")[2]
    if not machine:
        raise required("resource.machineType")
    if machine not in MACHINES and not _CUSTOM.fullmatch(machine):
        raise invalid("resource.machineType", body["machineType"], "The machine type does not exist.")
    if not body.get("disks"):
        raise required("resource.disks")
    for index, disk in enumerate(body["disks"]):
        check_disk(f"resource.disks[{index}]", disk, index, by_name=False)
    number = str(10**18 + call.store.next())
    kept = stored_properties(call, {"networkInterfaces": [{}], **body})
    kept |= {
        "kind": "compute#instance",
        "id": number,
        "name": name,
        "creationTimestamp": timestamp(),
        "lastStartTimestamp": timestamp(),
        "machineType": f"{call.base}/{call.parent}/machineTypes/{machine}",
        "zone": f"{call.base}/{call.parent}",
        "status": "RUNNING",
        "cpuPlatform": "Intel Broadwell",
        "labelFingerprint": fingerprint(body.get("labels") or {}),
        "fingerprint": fingerprint(body),
        "startRestricted": False,
        "deletionProtection": body.get("deletionProtection", False),
        "selfLink": f"{call.base}/{path}",
        "disks": [_instance_disk(call, name, disk, index) for index, disk in enumerate(kept["disks"])],
    }
    return call.operation("insert", path, number, [{"put": path, "body": kept}])


def _instance_disk(call: Call, instance: str, disk: Json, index: int) -> Json:
    made = disk.pop("initializeParams", {})
    name = made.get("diskName") or (instance if index == 0 else f"{instance}-{index}")
    return disk | {
        "source": disk.get("source") or f"{call.base}/{call.parent}/disks/{name}",
        "diskSizeGb": str(made.get("diskSizeGb", disk.get("diskSizeGb", 10))),
        "_image": made.get("sourceImage"),
        "_type": str(made.get("diskType", "pd-standard")).rpartition("/")[2],
    }


@handles("compute.instances.get")
def get_instance(call: Call) -> Json:
    """Read an instance."""
    return seen(call, call.found(f"{call.parent}/instances/{call.path['instance']}"))


@handles("compute.instances.list")
def list_instances(call: Call) -> Json:
    """List the instances of a zone."""
    check_place(call)
    path = f"{call.parent}/instances"
    items = [seen(call, item) for item in call.store.list(path)]
    return listing("compute#instanceList", path, items, call.query, call.base)


@handles("compute.instances.delete")
def delete_instance(call: Call) -> Json:
    """Delete an instance."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    if call.found(path).get("deletionProtection"):
        raise invalid("resource.deletionProtection", "true", "The instance is protected against deletion.")
    return call.delete(path)
