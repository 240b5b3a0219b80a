"""Disks, zonal and regional, and which instances use them."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.encryption import shown_key
from gcpx_emulator.compute.images import linked_image
from gcpx_emulator.compute.links import last_part, path_of
from gcpx_emulator.compute.lists import list_scope
from gcpx_emulator.compute.locations import check_location
from gcpx_emulator.compute.names import check_free, check_name, check_ready
from gcpx_emulator.compute.predefined_resources import DISK_TYPES
from gcpx_emulator.compute.version_views import show
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.effects import Effect, change, relink
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json

_DEFAULT_SIZE: Final = "500"
_DEFAULT_TYPE: Final = "pd-standard"


def new_disk(call: Call, path: str, body: Json) -> Json:
    """Write a new disk from the fields of a `Disk` or of an attached disk's `initializeParams`."""
    parent, _, name = path.rpartition("/disks/")
    location = "region" if "/regions/" in parent else "zone"
    disk_type = last_part(str(body.get("type") or body.get("diskType") or _DEFAULT_TYPE))
    image = linked_image(call, "resource.sourceImage", body["sourceImage"]) if body.get("sourceImage") else {}
    return {
        **_kept_fields(call, body),
        **({"sourceImage": image["selfLink"], "sourceImageId": image["id"]} if image else {}),
        "kind": "compute#disk",
        "id": call.new_id(),
        "name": name,
        "creationTimestamp": timestamp(),
        "sizeGb": str(body.get("sizeGb") or body.get("diskSizeGb") or image.get("diskSizeGb", _DEFAULT_SIZE)),
        "type": call.url(f"{parent}/diskTypes/{disk_type}"),
        "status": "READY",
        location: call.url(parent),
        "selfLink": call.url(path),
        "users": body.get("users", []),
    }


def _kept_fields(call: Call, body: Json) -> Json:
    """Return the fields that a disk keeps from the request."""
    kept = {field: body[field] for field in ("description", "labels", "sourceSnapshot") if body.get(field)}
    if body.get("replicaZones"):
        kept["replicaZones"] = [call.full_url(zone) for zone in body["replicaZones"]]
    key = shown_key("resource.diskEncryptionKey", body.get("diskEncryptionKey"))
    return kept | ({"diskEncryptionKey": key} if key else {})


def use_disk(call: Call, path: str, instance: str) -> Effect:
    """Return the effect that adds an instance to the users of a disk; both are paths."""
    call.read(path)
    return relink(path, "users", instance, call.url(instance))


def release_disk(call: Call, path: str, instance: str) -> Effect:
    """Return the effect that removes an instance from the users of a disk; both are paths."""
    call.read(path)
    return relink(path, "users", instance, None)


def check_unused(call: Call, path: str, mode: str) -> None:
    """Refuse a disk that another instance uses, unless it is attached read-only.

    Instances that were removed at `/_emulator/resources` do not count.
    """
    users = [user for user in call.read(path).get("users", []) if call.store.get(call.resolve(user)) is not None]
    if users and mode != "READ_ONLY":
        message = f"The disk resource '{path}' is already being used by '{users[0]}'"
        raise ApiError(400, message, "resourceInUseByAnotherResource")


@handles("compute.disks.insert", "compute.regionDisks.insert")
def insert_disk(call: Call) -> Json:
    """Create a disk."""
    check_location(call)
    name = check_name(call.body)
    _check_new_disk(call)
    path = f"{call.parent}/disks/{name}"
    check_free(call, path)
    image = {"sourceImage": call.query["sourceImage"]} if "sourceImage" in call.query else {}
    return call.insert(path, new_disk(call, path, call.body | image))


def _check_new_disk(call: Call) -> None:
    disk_type, zones = str(call.body.get("type", _DEFAULT_TYPE)), call.body.get("replicaZones")
    if last_part(disk_type) not in DISK_TYPES:
        raise invalid("resource.type", disk_type, "The disk type does not exist.")
    if "region" in call.path and len(zones or ()) != 2:  # noqa: PLR2004 - the API's number
        raise invalid("resource.replicaZones", zones, "Exactly two replica zones are needed.")


@handles("compute.disks.get", "compute.regionDisks.get")
def get_disk(call: Call) -> Json:
    """Read a disk."""
    return show(call, call.read(f"{call.parent}/disks/{call.path['disk']}"))


@handles("compute.disks.list", "compute.regionDisks.list")
def list_disks(call: Call) -> Json:
    """List the disks of a zone or region."""
    return list_scope(call, "disks", "compute#diskList")


@handles("compute.disks.resize", "compute.regionDisks.resize")
def resize_disk(call: Call) -> Json:
    """Grow a disk; instances that it is attached to then show its new size."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    disk, size = call.read(path), call.body.get("sizeGb")
    check_ready(call, path)
    if not size:
        raise required("sizeGb")
    if int(size) <= int(disk["sizeGb"]):
        raise invalid("sizeGb", size, f"The new size must be larger than the present one, {disk['sizeGb']} GB.")
    users = [call.resolve(user) for user in disk["users"]]
    shown = [_show_size(call, user, path, size) for user in users if call.store.get(user) is not None]
    return call.update("resizeDisk", path, disk | {"sizeGb": size}, *shown)


def _show_size(call: Call, instance: str, path: str, size: str) -> Effect:
    """Return the effect by which an instance shows another size of a disk; both are paths."""
    check_ready(call, instance)
    disks = call.read(instance)["disks"]
    is_shown = [path_of(disk.get("source", ""), call.path["project"]) == path for disk in disks]
    new = [disk | {"diskSizeGb": size} if same else disk for disk, same in zip(disks, is_shown, strict=True)]
    return change(instance, {"disks": new})


@handles("compute.disks.delete", "compute.regionDisks.delete")
def delete_disk(call: Call) -> Json:
    """Delete a disk that no instance uses."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    check_unused(call, path, "")
    check_ready(call, path)
    return call.delete(path)
