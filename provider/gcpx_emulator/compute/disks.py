"""Compute: disks, zonal and regional, and which instances use them."""

from __future__ import annotations

from gcpx_emulator.compute.catalog import DISKS, check_place
from gcpx_emulator.compute.encryption import shown_key
from gcpx_emulator.compute.images import found_image
from gcpx_emulator.compute.instance_properties import full
from gcpx_emulator.compute.names import check_free, check_name, check_ready
from gcpx_emulator.compute.presentation import listed, seen
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import Effect, timestamp
from gcpx_emulator.core.store import Json

_DEFAULT_SIZE = "500"


def new_disk(call: Call, path: str, body: Json) -> Json:
    """Describe a disk that is made now."""
    parent, _, name = path.rpartition("/disks/")
    place, _, where = parent.rpartition("/")
    kind = "zone" if place.endswith("zones") else "region"
    zones, key = body.get("replicaZones") or [], shown_key("resource.diskEncryptionKey", body.get("diskEncryptionKey"))
    type_name = str(body.get("type") or body.get("diskType") or "pd-standard").rpartition("/")[2]
    link = body.get("sourceImage")
    image = found_image(call, "resource.sourceImage", link) if link else {}
    source = {"sourceImage": image["selfLink"], "sourceImageId": image["id"]} if image else {}
    return {
        **{key: body[key] for key in ("description", "labels", "sourceSnapshot") if body.get(key)},
        **({"replicaZones": [full(call, zone, call.path["project"]) for zone in zones]} if zones else {}),
        **({"diskEncryptionKey": key} if key else {}),
        **source,
        "kind": "compute#disk",
        "id": str(10**18 + call.store.next()),
        "name": name,
        "creationTimestamp": timestamp(),
        "sizeGb": str(body.get("sizeGb") or body.get("diskSizeGb") or image.get("diskSizeGb", _DEFAULT_SIZE)),
        "type": f"{call.base}/{parent}/diskTypes/{type_name}",
        "status": "READY",
        kind: f"{call.base}/{place}/{where}",
        "selfLink": f"{call.base}/{path}",
        "users": body.get("users", []),
    }


def used(call: Call, path: str, instance: str, *, by: bool) -> Effect:
    """Note that an instance uses a disk, or no longer does, once the operation is done."""
    call.found(path)
    return {"disk": path, "instance": instance, "link": f"{call.base}/{instance}" if by else None}


def check_unused(call: Call, path: str, mode: str) -> None:
    """Refuse a disk that another instance uses, unless it is read by all of them.

    An instance that was taken away behind the API's back uses nothing any more.
    """
    users = [user for user in call.found(path).get("users", []) if call.store.get(call.linked(user)) is not None]
    if users and mode != "READ_ONLY":
        words = f"The disk resource '{path}' is already being used by '{users[0]}'"
        raise ApiError(400, words, "resourceInUseByAnotherResource")


@handles("compute.disks.insert", "compute.regionDisks.insert")
def insert_disk(call: Call) -> Json:
    """Make a disk."""
    check_place(call)
    name = check_name(call.body)
    kind = str(call.body.get("type", "pd-standard")).rpartition("/")[2]
    if kind not in DISKS:
        raise invalid("resource.type", call.body["type"], "The disk type does not exist.")
    if "region" in call.path and len(call.body.get("replicaZones") or ()) != 2:  # noqa: PLR2004 - the API's number
        raise invalid("resource.replicaZones", call.body.get("replicaZones"), "Exactly two replica zones are needed.")
    path = f"{call.parent}/disks/{name}"
    check_free(call, path)
    body = new_disk(call, path, call.body | {key: call.query[key] for key in ("sourceImage",) if key in call.query})
    return call.operation("insert", path, body["id"], [{"put": path, "body": body}])


@handles("compute.disks.get", "compute.regionDisks.get")
def get_disk(call: Call) -> Json:
    """Read a disk."""
    return seen(call, call.found(f"{call.parent}/disks/{call.path['disk']}"))


@handles("compute.disks.list", "compute.regionDisks.list")
def list_disks(call: Call) -> Json:
    """List the disks of a zone or region."""
    return listed(call, "disks", "compute#diskList")


@handles("compute.disks.delete", "compute.regionDisks.delete")
def delete_disk(call: Call) -> Json:
    """Delete a disk that no instance uses."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    check_unused(call, path, "")
    check_ready(call, path)
    return call.delete(path)
