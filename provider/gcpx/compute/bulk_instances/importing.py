"""Describes existing instances as the inputs of a fleet, for an import."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from gcpx.compute.bulk_instances.changes import SETTINGS, Target
from gcpx.compute.bulk_instances.fleet import RESERVED_LABELS, Fleet, Instance, is_stopped, membership_pattern
from gcpx.compute.bulk_instances.generation import own_properties, recorded_generation
from gcpx.compute.bulk_instances.member import OWN_GENERATION
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model import codec
from gcpx.model.fields import chosen, object_type
from gcpx.model.links import name_of, path_of
from gcpx.model.resource import Context
from gcpx.model.state import minimal_inputs
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AttachedDiskInitializeParamsValues,
        AttachedDiskValues,
        BulkInstancesValues,
        InstancePropertiesValues,
        NetworkInterfaceValues,
    )


def imported_inputs(context: Context, fleet: Fleet, members: list[Instance]) -> BulkInstancesValues:
    """Describe existing instances as inputs: `instanceProperties`, and `namePattern` or `perInstanceProperties`.

    The instance properties are those of the first member; at least one member is required. If members are stopped,
    they stay so (`onStopped`), because an import changes nothing. Raises `ApiError` if the disks of the first member
    cannot be read.
    """
    inputs: BulkInstancesValues = {"instanceProperties": _instance_properties(context, fleet, members[0])}
    if any(map(is_stopped, members)):
        inputs["onStopped"] = "KEEP"
    names = [member["name"] for member in members]
    pattern = membership_pattern(fleet.id) or _common_pattern(names)
    if pattern is not None:
        return {**inputs, "namePattern": pattern}
    return {**inputs, "perInstanceProperties": {name: {} for name in names}}


def own_settings(inputs: BulkInstancesValues, members: Iterable[Instance]) -> dict[str, list[str]]:
    """Return, by the IDs of members, the parts of settings that differ from imported inputs; others are left out.

    A label with another generation than most members have is one of them: it says nothing of these inputs.
    """
    target, members = Target(own_properties(inputs)), [*members]
    generations = Counter(filter(None, map(recorded_generation, members))).most_common(1)
    names = {
        str(member["id"]): {
            *(part for item in SETTINGS for part in target.differing(item, member)),
            *(OWN_GENERATION for label, _ in generations if recorded_generation(member) not in {"", label}),
        }
        for member in members
    }
    return {member: sorted(settings) for member, settings in names.items() if settings}


def describe_own(outputs: BulkInstancesValues) -> str:
    """Say in which settings members have differed since the import; empty after an update, or if none does."""
    own = [
        f"{item['name']} ({', '.join(settings)})"
        for item in outputs.get("members") or ()
        if (settings := [name for name in item.get("own") or () if name != OWN_GENERATION])
    ]
    if not own or outputs.get("generation"):
        return ""
    return (
        f"{counted(len(own), 'member differs', 'members differ')} from instanceProperties: {names_in_words(own)}; "
        "what differs stays as it is until the program changes that property"
    )


def describe_images(context: Context, fleet: Fleet, members: list[Instance]) -> str:
    """Say which members have boot disks from other images than the first one; empty if none has.

    Raises `ApiError` if a disk cannot be read.
    """

    def image(member: Instance) -> str:
        boot = [disk["source"] for disk in member.get("disks", ()) if disk.get("boot") and disk.get("source")]
        return name_of(_source_image(context, fleet, boot[0]) or "") if boot else ""

    first, *others = context.side_by_side(image, members)
    named = zip(members[1:], others, strict=True)
    other = [f"{member['name']} ({found or 'no image'})" for member, found in named if found != first]
    have = counted(len(other), "member has", "members have")
    words = f"{have} a boot disk from another image than {members[0]['name']} ({first or 'no image'})"
    return f"{words}: {names_in_words(other)}; only a change of the image replaces members" if other else ""


def _common_pattern(names: list[str]) -> str | None:
    """Return the name pattern that all names fit, if there is one: the last number in them, digit by digit."""
    patterns = {re.sub(r"\d+(?=\D*$)", lambda number: "#" * len(number[0]), name) for name in names}
    pattern = patterns.pop()
    return pattern if not patterns and "#" in pattern else None


def _instance_properties(context: Context, fleet: Fleet, instance: Instance) -> InstancePropertiesValues:
    kind = object_type(InstanceProperties)
    labels = {key: value for key, value in instance.get("labels", {}).items() if key not in RESERVED_LABELS}
    body = {**instance, "machineType": name_of(instance.get("machineType", "")), "labels": labels}
    properties = cast("InstancePropertiesValues", minimal_inputs(kind, codec.from_body(kind, body)))
    return {
        **properties,
        "disks": [_disk(context, fleet, disk) for disk in instance.get("disks", ())],
        "networkInterfaces": [_network_interface(interface) for interface in instance.get("networkInterfaces", ())],
    }


def _disk(context: Context, fleet: Fleet, disk: AttachedDiskValues) -> AttachedDiskValues:
    """Describe how an attached disk was created; the instance does not name the image."""
    attached = chosen(disk, [name for name in ("boot", "autoDelete") if disk.get(name)])
    parameters: AttachedDiskInitializeParamsValues = {}
    if disk.get("diskSizeGb"):
        parameters["diskSizeGb"] = int(disk["diskSizeGb"])
    image = _source_image(context, fleet, disk["source"]) if disk.get("source") else None
    if image:
        parameters["sourceImage"] = image
    return {**attached, "initializeParams": parameters}


def _source_image(context: Context, fleet: Fleet, disk: str) -> str | None:
    """Read the image that a disk was created from; None if there is none, or if the disk no longer exists."""
    try:
        found = fleet.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path_of(disk)}"), context)
    except NotFound:
        return None
    return found.get("sourceImage")


def _network_interface(interface: NetworkInterfaceValues) -> NetworkInterfaceValues:
    networks = chosen(interface, [name for name in ("network", "subnetwork") if interface.get(name)])
    return {**networks, "accessConfigs": [{}]} if interface.get("accessConfigs") else networks
