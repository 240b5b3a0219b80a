"""The inputs of an imported fleet, read from its instances."""

from __future__ import annotations

import re
from typing import Any

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.fleet_id import RESERVED_LABELS
from gcpx.compute.bulk_instances.health import is_stopped
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import Request
from gcpx.model import codec, state
from gcpx.model.call import Call
from gcpx.model.fields import object_type
from gcpx.model.links import name_of, path_of


def imported_inputs(call: Call, fleet: Fleet, members: list[Instance]) -> dict[str, Any]:
    """Describe existing instances as inputs: `instanceProperties`, and `namePattern` or `perInstanceProperties`.

    The instance properties are those of the first member; at least one member is required. If members are stopped,
    they stay so (`onStopped`), because an import changes nothing. Raises `ApiError` if the disks of the first member
    cannot be read.
    """
    inputs: dict[str, Any] = {"instanceProperties": _instance_properties(call, fleet, members[0])}
    if any(map(is_stopped, members)):
        inputs["onStopped"] = "KEEP"
    names = [member["name"] for member in members]
    pattern = fleet.name_pattern or _common_pattern(names)
    if pattern is not None:
        return {**inputs, "namePattern": pattern}
    return {**inputs, "perInstanceProperties": {name: {} for name in names}}


def _common_pattern(names: list[str]) -> str | None:
    """Return the name pattern that all names fit, if there is one: the last number in them, digit by digit."""
    patterns = {re.sub(r"\d+(?=\D*$)", lambda number: "#" * len(number[0]), name) for name in names}
    pattern = patterns.pop()
    return pattern if not patterns and "#" in pattern else None


def _instance_properties(call: Call, fleet: Fleet, instance: Instance) -> dict[str, Any]:
    kind = object_type(InstanceProperties)
    labels = {key: value for key, value in instance.get("labels", {}).items() if key not in RESERVED_LABELS}
    body = {**instance, "machineType": name_of(instance.get("machineType", "")), "labels": labels}
    return {
        **state.minimal(kind, codec.from_body(kind, body)),
        "disks": [_disk(call, fleet, disk) for disk in instance.get("disks", ())],
        "networkInterfaces": [_network_interface(interface) for interface in instance.get("networkInterfaces", ())],
    }


def _disk(call: Call, fleet: Fleet, disk: dict[str, Any]) -> dict[str, Any]:
    """Describe how an attached disk was created; the instance does not name the image."""
    attached = {name: disk[name] for name in ("boot", "autoDelete") if disk.get(name)}
    size = {"diskSizeGb": int(disk["diskSizeGb"])} if disk.get("diskSizeGb") else {}
    image = _source_image(call, fleet, disk["source"]) if disk.get("source") else None
    return {**attached, "initializeParams": {**size, **({"sourceImage": image} if image else {})}}


def _source_image(call: Call, fleet: Fleet, disk: str) -> str | None:
    """Read the image that a disk was created from; None if there is none, or if the disk no longer exists."""
    try:
        found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path_of(disk)}"), call)
    except NotFound:
        return None
    return found.get("sourceImage")


def _network_interface(interface: dict[str, Any]) -> dict[str, Any]:
    networks = {name: interface[name] for name in ("network", "subnetwork") if interface.get(name)}
    return {**networks, "accessConfigs": [{}]} if interface.get("accessConfigs") else networks
