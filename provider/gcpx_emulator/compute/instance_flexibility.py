"""The machine types that a bulk creation may choose from, with what a choice changes in the instance."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.capacity import Hardware, room_in
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import region_in, zones_of
from gcpx_emulator.core.errors import invalid, required
from gcpx_emulator.core.json_data import Json


@attrs.frozen
class Choice:
    """One machine type that instances may have.

    Attributes:
        properties: the properties of instances with it.
    """

    rank: int
    hardware: Hardware
    properties: Json


def choices(call: Call, properties: Json) -> dict[Hardware, Choice]:
    """List the choices for instances with these properties, in the order in which they are tried.

    Lower ranks come first, and within a rank the machine type for which the region has the most room.
    """
    policy = call.body.get("instanceFlexibilityPolicy") or {}
    if not policy:
        name = last_part(str(properties.get("machineType", "")))
        own = properties | {"machineType": name}
        return {Hardware.of(own): Choice(0, Hardware.of(own), own)}
    if "zone" in call.path:
        raise invalid("resource.instanceFlexibilityPolicy", "", "Only regional bulk creations support it.")
    found = sorted(_selected(policy, properties), key=lambda choice: (choice.rank, -_room_in_region(call, choice)))
    if not found:
        raise required("resource.instanceFlexibilityPolicy.instanceSelections")
    by_hardware: dict[Hardware, Choice] = {}
    for choice in found:
        # Of several selections with the same machine type, the first applies.
        by_hardware.setdefault(choice.hardware, choice)
    return by_hardware


def _selected(policy: Json, properties: Json) -> Iterator[Choice]:
    for name, selection in (policy.get("instanceSelections") or {}).items():
        if not selection.get("machineTypes"):
            raise required(f"resource.instanceFlexibilityPolicy.instanceSelections.{name}.machineTypes")
        changes = {
            key: selection[key] for key in ("disks", "guestAccelerators", "minCpuPlatform") if selection.get(key)
        }
        for machine_type in selection["machineTypes"]:
            own = properties | changes | {"machineType": machine_type}
            yield Choice(int(selection.get("rank") or 0), Hardware.of(own), own)


def _room_in_region(call: Call, choice: Choice) -> int:
    return sum(room_in(call, zone, [choice.hardware]).free for zone in zones_of(region_in(call)))
