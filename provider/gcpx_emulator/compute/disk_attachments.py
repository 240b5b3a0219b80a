"""Disks on instances: attached and detached."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.disks import check_unused, release_disk, use_disk
from gcpx_emulator.compute.encryption import check_key
from gcpx_emulator.compute.instance_properties import fields_of_disk, kept_disk
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.effects import Effect, change
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json


@handles("compute.instances.attachDisk")
def attach(call: Call) -> Json:
    """Attach a disk that exists."""
    path, instance = _instance(call)
    disk = _checked_disk(call.body)
    source = call.resolve(disk["source"])
    stored = call.read(source)
    if disk.get("mode") != "READ_ONLY":
        check_ready(call, source)
    disk = {"deviceName": _free_device_name(instance), **disk}
    if disk["deviceName"] in _device_names(instance):
        raise invalid("resource.deviceName", disk["deviceName"], "The device name is already used on the instance.")
    check_key("resource.diskEncryptionKey", disk.get("diskEncryptionKey"), stored)
    released = _release_from_others(call, path, source, disk)
    index = max((other["index"] for other in instance["disks"]), default=-1) + 1
    attached = kept_disk(call, disk, index) | fields_of_disk(call, source, stored)
    changed = instance | {"disks": [*instance["disks"], attached]}
    return call.update("attachDisk", path, changed, *released, use_disk(call, source, path))


def _instance(call: Call) -> tuple[str, Json]:
    """Return the path of the instance that the call names, and the instance."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.read(path)
    check_ready(call, path)
    return path, instance


def _checked_disk(body: Json) -> Json:
    if body.get("initializeParams"):
        raise invalid("resource.initializeParams", "{}", "A disk cannot be created and attached in one step.")
    if not body.get("source"):
        raise required("resource.source")
    return body


def _device_names(instance: Json) -> set[str]:
    return {disk["deviceName"] for disk in instance["disks"]}


def _free_device_name(instance: Json) -> str:
    used = _device_names(instance)
    return next(name for name in (f"persistent-disk-{number}" for number in range(1000)) if name not in used)


def _release_from_others(call: Call, path: str, source: str, disk: Json) -> list[Effect]:
    """Return the effects that detach a disk by force from the instance that uses it; refuse a disk that is not free.

    `path` is the path of the instance to which the disk will be attached, `source` is the path of the disk.
    """
    is_forced = call.query.get("forceAttach") == "true" or disk.get("forceAttach")
    if is_forced and "/regions/" not in source:
        raise invalid("forceAttach", "true", "Only regional disks can be attached by force.")
    users = [path_of(user, call.path["project"]) for user in call.read(source).get("users", [])]
    if path in users:
        raise invalid("resource.source", disk["source"], "The disk is already attached to the instance.")
    if not users or (disk.get("mode") == "READ_ONLY" and not is_forced):
        return []
    if not is_forced:
        check_unused(call, source, str(disk.get("mode")))
    return _detach(call, users[0], source)


def _detach(call: Call, path: str, source: str) -> list[Effect]:
    """Return the effects that detach a disk from an instance; both are paths."""
    instance = call.read(path)
    kept = [disk for disk in instance["disks"] if path_of(disk.get("source", ""), call.path["project"]) != source]
    return [change(path, {"disks": kept}), release_disk(call, source, path)]


@handles("compute.instances.detachDisk")
def detach(call: Call) -> Json:
    """Detach a disk by its device name."""
    path, instance = _instance(call)
    detached = _disk_of_device(instance, call.query["deviceName"])
    changed = instance | {"disks": [disk for disk in instance["disks"] if disk is not detached]}
    source = path_of(detached.get("source", ""), call.path["project"])
    released = [release_disk(call, source, path)] if call.store.get(source) is not None else []
    return call.update("detachDisk", path, changed, *released)


@handles("compute.instances.setDiskAutoDelete")
def set_auto_delete(call: Call) -> Json:
    """Decide whether a disk is deleted with its instance."""
    path, instance = _instance(call)
    disk = _disk_of_device(instance, call.query["deviceName"])
    changed = disk | {"autoDelete": call.query["autoDelete"] == "true"}
    disks = [changed if other is disk else other for other in instance["disks"]]
    return call.update("setDiskAutoDelete", path, instance | {"disks": disks})


def _disk_of_device(instance: Json, name: str) -> Json:
    disks: list[Json] = [disk for disk in instance["disks"] if disk["deviceName"] == name]
    if not disks:
        raise invalid("deviceName", name, f"No attached disk found with device name '{name}'")
    return disks[0]
