"""Compute: instances."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.compute.catalog import MACHINES, check_place, zone_names
from gcpx_emulator.compute.deprecations import notes
from gcpx_emulator.compute.disk_names import disk_path
from gcpx_emulator.compute.disks import check_unused, new_disk, used
from gcpx_emulator.compute.encryption import check_opens
from gcpx_emulator.compute.instance_properties import check_disk, fingerprint, of_disk, stored_properties
from gcpx_emulator.compute.instance_templates import of_template
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.names import check_free, check_name, check_ready
from gcpx_emulator.compute.network_interfaces import fingerprinted
from gcpx_emulator.compute.presentation import aggregated, listed, seen
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import Effect, timestamp
from gcpx_emulator.core.store import Json

_CUSTOM: Final = re.compile(r"(?:[a-z]\w+-)?custom-\d+-\d+(?:-ext)?")


@handles("compute.instances.insert")
def insert_instance(call: Call) -> Json:
    """Make an instance with its disks; until the operation is done it is being provisioned."""
    check_place(call)
    name = check_name(call.body)
    path = f"{call.parent}/instances/{name}"
    check_free(call, path)
    _check_sources(call.body)
    link = call.query.get("sourceInstanceTemplate")
    given = (of_template(call, "sourceInstanceTemplate", link) if link else {}) | call.body
    check_instance(given)
    extra = notes(call, given)
    body, effects = new_instance(call, path, given)
    if call.failure is None:
        call.store.put(path, body | {"status": "PROVISIONING"})
    return call.operation("insert", path, body["id"], effects, extra=extra)


def _check_sources(body: Json) -> None:
    """Refuse disks by their names alone, which only templates and bulk creations have."""
    for index, disk in enumerate(body.get("disks") or ()):
        if disk.get("source") and "/" not in disk["source"]:
            raise invalid(f"resource.disks[{index}].source", disk["source"], "The URL is malformed.")


def check_instance(body: Json) -> None:
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


def new_instance(call: Call, path: str, given: Json) -> tuple[Json, list[Effect]]:
    """Describe an instance that is made now, with what making it does to disks."""
    parent, _, name = path.rpartition("/instances/")
    kept = stored_properties(call, {"networkInterfaces": [{}], **given})
    kept.pop("params", None)
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
    pairs = [_instance_disk(call, path, disk, own) for disk, own in zip(kept["disks"], given["disks"], strict=True)]
    body["disks"] = [disk for disk, _ in pairs]
    _check_different(body["disks"])
    body["networkInterfaces"] = [fingerprinted(_addressed(call, nic)) for nic in kept["networkInterfaces"]]
    return body, [{"put": path, "body": body}, *(effect for _, effect in pairs if effect)]


def _check_different(disks: list[Json]) -> None:
    """Refuse an instance that has one disk twice."""
    sources = [disk["source"] for disk in disks if "source" in disk]
    for index, source in enumerate(sources):
        if source in sources[:index]:
            raise invalid(f"resource.disks[{index}]", source, "The disk is named more than once.")


def _addressed(call: Call, nic: Json) -> Json:
    """Give an interface its addresses."""
    number = call.store.next("address")
    octets = f"{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    external = [{"natIP": f"34.{octets}", **config} for config in nic.get("accessConfigs", ())]
    return {"networkIP": f"10.{octets}", **nic, **({"accessConfigs": external} if external else {})}


def _instance_disk(call: Call, instance: str, disk: Json, given: Json) -> tuple[Json, Effect | None]:
    """Attach the named disk, or create it if it does not exist."""
    made = disk.pop("initializeParams", {})
    if disk.get("type") == "SCRATCH":
        return disk, None
    where = f"resource.disks[{disk['index']}]"
    path = disk_path(call, instance, disk, made)
    stored = call.found(path) if disk.get("source") else call.store.get(path)
    if stored is None:
        check_ready(call, path)
        key = given.get("diskEncryptionKey")
        own = {"diskEncryptionKey": key, "users": [f"{call.base}/{instance}"]}
        body = new_disk(call, path, {"sizeGb": disk.get("diskSizeGb"), **made, **own})
        return disk | of_disk(call, path, body), {"put": path, "body": body}
    check_unused(call, path, disk["mode"])
    check_opens(f"{where}.diskEncryptionKey", given.get("diskEncryptionKey"), stored)
    return disk | of_disk(call, path, stored), used(call, path, instance, by=True)


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
