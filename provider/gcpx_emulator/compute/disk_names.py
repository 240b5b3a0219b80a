"""Which disk an instance's disk is: the one that is named, by link or by name, in its zone or in its region."""

from __future__ import annotations

from gcpx_emulator.compute.catalog import ZONES
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json


def disk_path(call: Call, instance: str, disk: Json, made: Json) -> str:
    """Give the path of a disk of an instance, whether it exists or is to be made."""
    parent, _, name = instance.rpartition("/instances/")
    if disk.get("source"):
        # Templates name a disk of the instance's zone by its name alone.
        return call.linked(disk["source"]) if "/" in disk["source"] else f"{parent}/disks/{disk['source']}"
    wanted = made.get("diskName") or (f"{name}-{disk['index']}" if disk["index"] else name)
    zone = parent.rpartition("/")[2]
    zonal = f"{parent}/disks/{wanted}"
    regional = f"{parent.rpartition('/zones/')[0]}/regions/{zone.rpartition('-')[0]}/disks/{wanted}"
    if made.get("replicaZones"):
        _check_replicas(f"resource.disks[{disk['index']}].initializeParams.replicaZones", made["replicaZones"], zone)
        return regional
    elsewhere = call.store.get(zonal) is None and zone in _names((call.store.get(regional) or {}).get("replicaZones"))
    return regional if elsewhere else zonal


def _names(zones: list[str] | None) -> set[str]:
    return {zone.rpartition("/")[2] for zone in zones or ()}


def _check_replicas(where: str, zones: list[str], zone: str) -> None:
    """Refuse anything but two zones of the region, one of them the instance's."""
    region, names = zone.rpartition("-")[0], _names(zones)
    if len(names) != 2 or names - {f"{region}-{letter}" for letter in ZONES[region]}:  # noqa: PLR2004 - the API's number
        raise invalid(where, ", ".join(zones), f"Must be two different zones of region {region}.")
    if zone not in names:
        raise invalid(where, ", ".join(zones), f"One of the zones must be the instance's, {zone}.")
