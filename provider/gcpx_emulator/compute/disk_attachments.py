"""Compute: disks on instances."""

from __future__ import annotations

from gcpx_emulator.compute.disks import check_unused, used
from gcpx_emulator.compute.encryption import check_opens
from gcpx_emulator.compute.instance_properties import of_disk, stored_disk
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import Effect
from gcpx_emulator.core.store import Json


def _instance(call: Call) -> tuple[str, Json]:
    path = f"{call.parent}/instances/{call.path['instance']}"
    body = call.found(path)
    check_ready(call, path)
    return path, body


def _device(body: Json, name: str) -> Json:
    for disk in body["disks"]:
        if disk["deviceName"] == name:
            found: Json = disk
            return found
    raise invalid("deviceName", name, f"No attached disk found with device name '{name}'")


@handles("compute.instances.attachDisk")
def attach(call: Call) -> Json:
    """Attach a disk that exists."""
    path, instance = _instance(call)
    disk = dict(call.body)
    if disk.get("initializeParams"):
        raise invalid("resource.initializeParams", "{}", "A disk cannot be created and attached in one step.")
    if not disk.get("source"):
        raise required("resource.source")
    source = call.linked(disk["source"])
    stored = call.found(source)
    if disk.get("mode") != "READ_ONLY":
        check_ready(call, source)
    name = disk.setdefault("deviceName", _free_device(instance))
    if any(known["deviceName"] == name for known in instance["disks"]):
        raise invalid("resource.deviceName", name, "The device name is already used on the instance.")
    check_opens("resource.diskEncryptionKey", disk.get("diskEncryptionKey"), stored)
    effects = _taken(call, path, source, stored, disk)
    index = max((known["index"] for known in instance["disks"]), default=-1) + 1
    attached = stored_disk(call, disk, index) | of_disk(call, source, stored)
    changed = instance | {"disks": [*instance["disks"], attached]}
    effects += [{"put": path, "body": changed}, used(call, source, path, by=True)]
    return call.operation("attachDisk", path, instance["id"], effects)


def _free_device(instance: Json) -> str:
    taken = {disk["deviceName"] for disk in instance["disks"]}
    return next(name for name in (f"persistent-disk-{number}" for number in range(1000)) if name not in taken)


def _taken(call: Call, path: str, source: str, stored: Json, disk: Json) -> list[Effect]:
    """Refuse a disk that is in use, or take a regional one from its user by force."""
    forced = call.query.get("forceAttach") == "true" or disk.get("forceAttach")
    if forced and "/regions/" not in source:
        raise invalid("forceAttach", "true", "Only regional disks can be attached by force.")
    users = [path_of(user, call.path["project"]) for user in stored.get("users", [])]
    if path in users:
        raise invalid("resource.source", disk["source"], "The disk is already attached to the instance.")
    if not users or (disk.get("mode") == "READ_ONLY" and not forced):
        return []
    if not forced:
        check_unused(call, source, str(disk.get("mode")))
    other = call.found(users[0])
    kept = [item for item in other["disks"] if path_of(item.get("source", ""), call.path["project"]) != source]
    return [{"put": users[0], "body": other | {"disks": kept}}, used(call, source, users[0], by=False)]


@handles("compute.instances.detachDisk")
def detach(call: Call) -> Json:
    """Detach a disk by its device name."""
    path, instance = _instance(call)
    disk = _device(instance, call.query["deviceName"])
    kept = [known for known in instance["disks"] if known is not disk]
    effects: list[Effect] = [{"put": path, "body": instance | {"disks": kept}}]
    source = path_of(disk.get("source", ""), call.path["project"])
    if call.store.get(source) is not None:
        effects.append(used(call, source, path, by=False))
    return call.operation("detachDisk", path, instance["id"], effects)


@handles("compute.instances.setDiskAutoDelete")
def set_auto_delete(call: Call) -> Json:
    """Decide whether a disk goes with its instance."""
    path, instance = _instance(call)
    disk = _device(instance, call.query["deviceName"])
    changed = disk | {"autoDelete": call.query["autoDelete"] == "true"}
    disks = [changed if known is disk else known for known in instance["disks"]]
    return call.operation(
        "setDiskAutoDelete", path, instance["id"], [{"put": path, "body": instance | {"disks": disks}}]
    )
