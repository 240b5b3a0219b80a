"""Compute: instances."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.catalog import MACHINES, check_place, zone_names
from gcpx_emulator.deprecations import notes
from gcpx_emulator.disks import new_disk, used
from gcpx_emulator.errors import ApiError, invalid, required
from gcpx_emulator.handler import Call, handles
from gcpx_emulator.instance_properties import check_disk, fingerprint, stored_properties
from gcpx_emulator.links import path_of
from gcpx_emulator.naming import check_free, check_name, check_ready
from gcpx_emulator.operations import Effect, timestamp
from gcpx_emulator.presentation import aggregated, listed, seen
from gcpx_emulator.store import Json
from gcpx_emulator.templates import of_template

_CUSTOM: Final = re.compile(r"(?:[a-z]\w+-)?custom-\d+-\d+(?:-ext)?")


@handles("compute.instances.insert")
def insert_instance(call: Call) -> Json:
    """Make an instance with its disks; until the operation is done it is being provisioned."""
    check_place(call)
    name = check_name(call.body)
    path = f"{call.parent}/instances/{name}"
    check_free(call, path)
    link = call.query.get("sourceInstanceTemplate")
    given = (of_template(call, "sourceInstanceTemplate", link) if link else {}) | call.body
    check_instance(call, given)
    extra = notes(call, given)
    body, effects = new_instance(call, path, given)
    if call.failure is None:
        call.store.put(path, body | {"status": "PROVISIONING"})
    return call.operation("insert", path, body["id"], effects, extra=extra)


def check_instance(call: Call, body: Json) -> None:
    """Refuse what no instance can be made of."""
    machine = str(body.get("machineType", "")).rpartition("/")[2]
    if not machine:
        raise required("resource.machineType")
    if machine not in MACHINES and not _CUSTOM.fullmatch(machine):
        raise invalid("resource.machineType", body["machineType"], "The machine type does not exist.")
    if not body.get("disks"):
        raise required("resource.disks")
    for index, disk in enumerate(body["disks"]):
        check_disk(f"resource.disks[{index}]", disk, index, by_name=False)
        if "source" in disk:
            check_unused(call, call.linked(disk["source"]), disk)


def check_unused(call: Call, path: str, disk: Json) -> None:
    """Refuse a disk that another instance writes to."""
    users = call.found(path).get("users")
    if users and disk.get("mode") != "READ_ONLY":
        words = f"The disk resource '{path}' is already being used by '{users[0]}'"
        raise ApiError(400, words, "resourceInUseByAnotherResource")


def new_instance(call: Call, path: str, given: Json) -> tuple[Json, list[Effect]]:
    """Describe an instance that is made now, with what making it does to disks."""
    parent, _, name = path.rpartition("/instances/")
    kept = stored_properties(call, {"networkInterfaces": [{}], **given})
    labels = given.get("labels") or {}
    body = kept | {
        "kind": "compute#instance",
        "id": str(10**18 + call.store.next()),
        "name": name,
        "creationTimestamp": timestamp(),
        "lastStartTimestamp": timestamp(),
        "machineType": f"{call.base}/{parent}/machineTypes/{str(given['machineType']).rpartition('/')[2]}",
        "zone": f"{call.base}/{parent}",
        "status": "RUNNING",
        "cpuPlatform": "Intel Broadwell",
        "labelFingerprint": fingerprint(labels),
        "fingerprint": fingerprint(given),
        "startRestricted": False,
        "deletionProtection": given.get("deletionProtection", False),
        "selfLink": f"{call.base}/{path}",
    }
    pairs = [_instance_disk(call, path, disk, index) for index, disk in enumerate(kept["disks"])]
    body["disks"] = [disk for disk, _ in pairs]
    body["networkInterfaces"] = [_addressed(call, nic) for nic in kept["networkInterfaces"]]
    return body, [{"put": path, "body": body}, *(effect for _, effect in pairs if effect)]


def _addressed(call: Call, nic: Json) -> Json:
    """Give an interface its addresses."""
    number = call.store.next("address")
    octets = f"{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    external = [{"natIP": f"34.{octets}", **config} for config in nic.get("accessConfigs", ())]
    return {"networkIP": f"10.{octets}", **nic, **({"accessConfigs": external} if external else {})}


def _instance_disk(call: Call, instance: str, disk: Json, index: int) -> tuple[Json, Effect | None]:
    made = disk.pop("initializeParams", {})
    parent, _, name = instance.rpartition("/instances/")
    if disk.get("type") == "SCRATCH":
        return disk, None
    if "source" in disk:
        path = call.linked(disk["source"])
        effect = used(call, path, instance, by=True)
    else:
        path = f"{parent}/disks/{made.get('diskName') or (name if index == 0 else f'{name}-{index}')}"
        body = new_disk(call, path, {"sizeGb": disk.get("diskSizeGb"), **made, "users": [f"{call.base}/{instance}"]})
        effect = {"put": path, "body": body}
    stored = effect["body"]
    shown = disk | {
        "source": f"{call.base}/{path}",
        "diskSizeGb": stored["sizeGb"],
        "_image": stored.get("sourceImage"),
    }
    return shown | {"_type": stored["type"].rpartition("/")[2]}, effect


@handles("compute.instances.get")
def get_instance(call: Call) -> Json:
    """Read an instance."""
    return seen(call, call.found(f"{call.parent}/instances/{call.path['instance']}"))


@handles("compute.instances.list")
def list_instances(call: Call) -> Json:
    """List the instances of a zone."""
    return listed(call, "instances", "compute#instanceList")


@handles("compute.instances.aggregatedList")
def aggregate_instances(call: Call) -> Json:
    """List the instances of every zone."""
    return aggregated(call, "instances", "compute#instanceAggregatedList", [f"zones/{name}" for name in zone_names()])


@handles("compute.instances.delete")
def delete_instance(call: Call) -> Json:
    """Delete an instance, and the disks that go with it."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    body = call.found(path)
    if body.get("deletionProtection"):
        raise invalid("resource.deletionProtection", "true", "The instance is protected against deletion.")
    check_ready(call, path)
    effects: list[Effect] = [{"delete": path}]
    for disk in body["disks"]:
        source = path_of(disk.get("source", ""), call.path["project"])
        if call.store.get(source) is not None:
            effects.append({"delete": source} if disk["autoDelete"] else used(call, source, path, by=False))
    if call.failure is None:
        call.store.put(path, body | {"status": "STOPPING"})
    return call.operation("delete", path, body["id"], effects)
