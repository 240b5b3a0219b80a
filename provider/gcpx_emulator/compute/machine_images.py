"""Machine images."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, last_part
from gcpx_emulator.compute.collection import USUAL, Collection
from gcpx_emulator.compute.disk_sources import stored_bytes
from gcpx_emulator.compute.encryption_keys import check_key, shown_keys
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.instance_templates import copied_interface
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json

_NOT_KEPT: Final = (
    "guestFlush",
    "params",
    "sourceDiskEncryptionKeys",
    "instanceProperties",
    "machineImageEncryptionKey",
)
_COPIED: Final = ("guestAccelerators", "labels", "metadata", "scheduling", "serviceAccounts", "tags")
_RESTORED: Final = "_restoredDisks"
"""A stored image's field with the disks of instances that it creates; the API does not show it."""
_OF_A_DISK: Final = ("autoDelete", "boot", "deviceName", "interface", "mode", "type")


def _create(call: Call, path: str, head: Json) -> Json:
    """Create a machine image of an instance."""
    link = call.query.get("sourceInstance") or call.body.get("sourceInstance")
    if not link:
        raise required("sourceInstance")
    source = call.resolve(link)
    instance = call.read(source)
    disks = _included_disks(call, instance)
    _check_keys(call, disks)
    image = _new_image(call, instance, disks)
    return call.insert(path, image | head | {"sourceInstance": call.url(source)})


def _included_disks(call: Call, instance: Json) -> list[Json]:
    """Return the instance's disks that the call includes, without their architecture."""
    params, devices = call.body.get("params") or {}, [disk["deviceName"] for disk in instance["disks"]]
    for index, name in enumerate(params.get("includedDisks") or ()):
        if name not in devices:
            raise invalid(f"resource.params.includedDisks[{index}]", name, "No such device.")
    names = set(params.get("includedDisks") or devices)
    names -= set(params.get("excludedDisks") or ())
    included = [disk for disk in instance["disks"] if disk["deviceName"] in names]
    return [{field: value for field, value in disk.items() if field != "architecture"} for disk in included]


def _copied(instance: Json) -> Json:
    """Copy the instance's fields that both forms of the properties have."""
    return {
        **{field: instance[field] for field in _COPIED if instance.get(field)},
        "canIpForward": instance.get("canIpForward", False),
        "description": instance.get("description", ""),
        "machineType": last_part(instance["machineType"]),
        "networkInterfaces": instance["networkInterfaces"],
    }


def _source_instance_properties(call: Call, instance: Json, disks: list[Json]) -> Json:
    """Write the deprecated form of the properties, whose disks are shown as they were saved."""
    copied = {field: value for field, value in _copied(instance).items() if value != ""}
    return copied | {
        "deletionProtection": instance.get("deletionProtection", False),
        "disks": [_saved_attached_disk(call, disk) for disk in disks],
        "keyRevocationActionType": instance.get("keyRevocationActionType", "NONE"),
    }


def _saved_attached_disk(call: Call, disk: Json) -> Json:
    kept = disk | {"kind": "compute#savedAttachedDisk"}
    if "licenses" in disk:
        kept["licenses"] = [call.resolve(link) for link in disk["licenses"]]
    if not disk.get("source"):
        return kept
    path = call.resolve(disk["source"])
    stored = call.store.get(path) or {}
    kind = {"diskType": last_part(stored["type"])} if "type" in stored else {}
    return kept | {"source": path} | kind | _saved_bytes(disk)


def _new_image(call: Call, instance: Json, disks: list[Json]) -> Json:
    saved = [
        {"kind": "compute#savedDisk", "sourceDisk": call.resolve(disk["source"]), **_saved_bytes(disk)}
        for disk in disks
        if disk.get("source")
    ]
    return {
        **{field: value for field, value in call.body.items() if field not in _NOT_KEPT},
        **shown_keys(call.body, ["machineImageEncryptionKey"]),
        "status": "READY",
        "labelFingerprint": fingerprint(call.body.get("labels") or {}),
        "storageLocations": call.body.get("storageLocations") or ["us"],
        "instanceProperties": _copied(instance)
        | {"disks": disks, "minCpuPlatform": instance.get("minCpuPlatform", "")},
        "sourceInstanceProperties": _source_instance_properties(call, instance, disks),
        "savedDisks": saved,
        _RESTORED: [_restored_disk(call, disk) for disk in disks],
        "totalStorageBytes": str(sum(int(disk["storageBytes"]) for disk in saved)),
    }


def _saved_bytes(disk: Json) -> Json:
    return {"storageBytes": stored_bytes(int(disk["diskSizeGb"])), "storageBytesStatus": "UP_TO_DATE"}


def _restored_disk(call: Call, disk: Json) -> Json:
    """Write the new instance's disk that corresponds to a disk of the source instance."""
    source = call.store.get(call.resolve(disk.get("source", ""))) or {}
    disk_type = last_part(source["type"]) if source else "local-ssd"
    size = {"diskSizeGb": source["sizeGb"]} if source else {}
    return {field: disk[field] for field in _OF_A_DISK} | {"initializeParams": {"diskType": disk_type, **size}}


def linked_image_properties(call: Call, link: str) -> Json:
    """Read the properties for an instance from the linked machine image, with the disks of the call.

    A disk of the call changes the image's disk that has the same device name. A regional disk needs replica zones.
    """
    image = call.read(call.resolve(link))
    check_key("resource.sourceMachineImageEncryptionKey", call.body.get("sourceMachineImageEncryptionKey"), image)
    given = {disk.get("deviceName"): disk for disk in call.body.get("disks") or ()}
    disks = []
    for disk in image[_RESTORED]:
        change = given.pop(disk["deviceName"], {})
        parameters = disk["initializeParams"] | (change.get("initializeParams") or {})
        disks.append(disk | change | {"initializeParams": parameters})
    saved = image["instanceProperties"]["disks"]
    regional = [disk["deviceName"] for disk in saved if "/regions/" in disk.get("source", "")]
    if any(disk["deviceName"] in regional and not disk["initializeParams"].get("replicaZones") for disk in disks):
        raise invalid("", "", "All regional disks must have replica zone overrides provided.")
    return {
        **{name: value for name, value in image["instanceProperties"].items() if value != ""},
        "sourceMachineImage": image["selfLink"],
        "disks": [*disks, *given.values()],
        "networkInterfaces": [copied_interface(nic) for nic in image["instanceProperties"]["networkInterfaces"]],
    }


def _check_keys(call: Call, disks: list[Json]) -> None:
    """Refuse disks with customer-supplied keys that the call does not have."""
    given = {
        call.resolve(item.get("sourceDisk", "")): item.get("diskEncryptionKey")
        for item in call.body.get("sourceDiskEncryptionKeys") or ()
    }
    for path in (call.resolve(disk["source"]) for disk in disks if disk.get("source")):
        check_key("resource.sourceDiskEncryptionKeys", given.get(path), call.store.get(path) or {})


_IMAGES: Final = Collection(name="machineImages", singular="machineImage", create=_create)
_IMAGES.register("setLabels", *USUAL)
