"""Checks that the parts to which an instance's machine refers exist and fit together."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.compute import machine_families
from gcpx_emulator.compute.call import Call, last_part
from gcpx_emulator.compute.disk_sources import with_given_architecture
from gcpx_emulator.compute.images import linked_image
from gcpx_emulator.compute.locations import zones_of
from gcpx_emulator.compute.machine_types import MachineType, accelerator_zones, find_machine_type
from gcpx_emulator.core.errors import ApiError, invalid, misused, not_found
from gcpx_emulator.core.json_data import Json

_PLATFORMS: Final = frozenset(
    {
        *(f"AMD {name}" for name in ("Genoa", "Milan", "Rome", "Turin")),
        "Ampere Altra",
        "Google Axion",
        *(f"Intel {name}" for name in ("Sandy Bridge", "Ivy Bridge", "Haswell", "Broadwell", "Skylake")),
        *(f"Intel {name}" for name in ("Cascade Lake", "Ice Lake", "Sapphire Rapids", "Emerald Rapids")),
        "Intel Granite Rapids",
        "NVIDIA Grace",
    }
)
_AUTOMATIC: Final = "Automatic"
"""The minimum CPU platform that means no minimum."""
_ZONE: Final = re.compile(r"(?:^|/)zones/([^/]+)/")
_FEWEST_INTERFACES, _MOST_INTERFACES = 2, 10
"""The bounds of a machine's number of network interfaces, which is one for each CPU."""


def check_machine(call: Call, properties: Json) -> None:
    """Refuse new instances whose disk types, platform, accelerators, images or interfaces do not fit.

    Their machine type must exist somewhere.
    """
    minimum_platform(properties)
    link = str(properties["machineType"])
    _check_zone(call, "resource.machineType", link)
    machine_type = find_machine_type(call.store, last_part(link))
    if machine_type is None:
        raise not_found(f"{call.parent}/machineTypes/{last_part(link)}")
    for index, disk in enumerate(properties["disks"]):
        _check_disk(call, f"resource.disks[{index}].initializeParams", disk, machine_type)
    check_parts(call, properties, machine_type)


def check_parts(call: Call, properties: Json, machine_type: MachineType) -> None:
    """Refuse accelerators, disks and a number of interfaces that a machine type cannot have."""
    check_accelerators(call, properties.get("guestAccelerators") or [], machine_type)
    for disk in properties["disks"]:
        check_disk_type(machine_type, _disk_type(call, disk), disk.get("mode"))
    _check_interfaces(machine_type, properties.get("networkInterfaces") or [])


def minimum_platform(properties: Json) -> str | None:
    """Return the minimum CPU platform, which must exist; None if there is no minimum."""
    name = properties.get("minCpuPlatform")
    if not name or name == _AUTOMATIC:
        return None
    if name not in _PLATFORMS:
        raise invalid("resource.minCpuPlatform", name, "Invalid CPU platform.")
    return str(name)


def check_accelerators(call: Call, accelerators: list[Json], machine_type: MachineType | None) -> None:
    """Refuse accelerators of a type that does not exist in the zone, or that the machine type cannot have.

    `machine_type` is None if it is not known.
    """
    zones = [call.path["zone"]] if "zone" in call.path else zones_of(call.path["region"])
    for index, item in enumerate(accelerators):
        link = item.get("acceleratorType", "")
        _check_zone(call, f"resource.guestAccelerators[{index}].acceleratorType", link)
        if accelerator_zones().get(last_part(link), frozenset()).isdisjoint(zones):
            raise not_found(f"{call.project}/zones/{zones[0]}/acceleratorTypes/{last_part(link)}")
        if machine_type and int(item.get("acceleratorCount") or 0) and not _has(machine_type, last_part(link)):
            raise _incompatible(last_part(link), machine_type.name)


def _has(machine_type: MachineType, accelerator: str) -> bool:
    """Return whether a machine type can have an accelerator; that of a virtual workstation ends in `-vws`."""
    model = accelerator.removesuffix("-vws")
    own = [item["guestAcceleratorType"] for item in machine_type.item.get("accelerators", ())]
    return model in own if own else machine_type.series == "n1" and model in machine_families.FOR_N1


def _incompatible(*features: str) -> ApiError:
    """Say that features exclude each other, as in public reports."""
    why = f"[{', '.join(features)}] features are not compatible for creating instance."
    return ApiError(400, why, "badRequest")


def _disk_type(call: Call, disk: Json) -> str:
    """Return the type of a disk that exists or will be created."""
    stored = call.store.get(call.resolve(disk["source"])) if "/" in disk.get("source", "") else None
    link = stored["type"] if stored else (disk.get("initializeParams") or {}).get("diskType", "")
    return "local-ssd" if disk.get("type") == "SCRATCH" else last_part(link)


def check_disk_type(machine_type: MachineType | None, disk_type: str, mode: str | None) -> None:
    """Refuse a disk of a type that the machine type cannot have, or that cannot be attached in this mode.

    `machine_type` is None if it is not known.
    """
    if disk_type == "hyperdisk-balanced" and mode == "READ_ONLY":
        raise ApiError(400, f"{disk_type} disk type cannot be attached in read-only mode.", "badRequest")
    if machine_type is None:
        return
    if disk_type == "local-ssd" and machine_type.series in machine_families.WITHOUT_LOCAL_SSDS:
        raise _incompatible(machine_type.name, disk_type)
    is_balanced = disk_type.startswith("hyperdisk-balanced")
    without = machine_families.WITHOUT_BALANCED_HYPERDISKS if is_balanced else machine_families.WITHOUT_HYPERDISKS
    if disk_type.startswith("hyperdisk-") and machine_type.series in without:
        raise _incompatible(disk_type, machine_type.name)


def _check_zone(call: Call, field: str, link: str) -> None:
    """Refuse a link to something in another zone than the instance's."""
    found, zone = _ZONE.search(link), call.path.get("zone")
    if found and zone and found[1] != zone:
        raise invalid(field, link, f"It must be in the zone '{zone}'.")


def _check_disk(call: Call, field: str, disk: Json, machine_type: MachineType) -> None:
    """Refuse a disk type of another zone, and an image for processors of another architecture."""
    parameters = with_given_architecture(disk.get("initializeParams") or {})
    _check_zone(call, f"{field}.diskType", parameters.get("diskType", ""))
    link = parameters.get("sourceImage")
    if not link:
        return
    own = linked_image(call, f"{field}.sourceImage", link).get("architecture")
    architecture = parameters.get("architecture", own)
    if own and architecture != own:
        why = f"Requested architecture must be the same as the source resource architecture ({own})."
        raise invalid(f"{field}.architecture", architecture, why)
    needed = machine_type.item["architecture"]
    if disk.get("boot") and architecture not in {None, needed}:
        raise misused(
            f"Requested boot disk architecture ({architecture}) is not compatible with machine type architecture "
            f"({needed})."
        )


def _check_interfaces(machine_type: MachineType, interfaces: list[Json]) -> None:
    """Refuse more network interfaces than a machine can have; dynamic ones do not count, as they share their parent."""
    most = min(max(machine_type.cpus, _FEWEST_INTERFACES), _MOST_INTERFACES)
    if sum(not nic.get("parentNicName") for nic in interfaces) > most:
        why = f"The maximum number of network interfaces allowed for this machine type is {most}."
        raise invalid("resource.networkInterfaces", "", f"Too many network interfaces. {why}")
