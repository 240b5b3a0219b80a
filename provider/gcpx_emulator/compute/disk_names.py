"""Which disk an instance's disk is: the one that it names, or a new one in the instance's zone or region."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import region_of, zones_of
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json


def disk_path(call: Call, instance: str, disk: Json, parameters: Json) -> str:
    """Give the path of a disk of an instance, whether the disk exists or not.

    `instance` is the instance's path, `parameters` are the `initializeParams` of the attached disk.
    """
    parent, _, name = instance.rpartition("/instances/")
    if disk.get("source"):
        # Templates name a disk of the instance's zone by its name alone.
        return call.resolve(disk["source"]) if "/" in disk["source"] else f"{parent}/disks/{disk['source']}"
    disk_name = parameters.get("diskName") or (f"{name}-{disk['index']}" if disk["index"] else name)
    zone = last_part(parent)
    zonal = f"{parent}/disks/{disk_name}"
    regional = f"{parent.rpartition('/zones/')[0]}/regions/{region_of(zone)}/disks/{disk_name}"
    if parameters.get("replicaZones"):
        field = f"resource.disks[{disk['index']}].initializeParams.replicaZones"
        _check_replica_zones(field, parameters["replicaZones"], zone)
        return regional
    if call.store.get(zonal) is not None:
        return zonal
    replicas = {last_part(link) for link in (call.store.get(regional) or {}).get("replicaZones") or ()}
    return regional if zone in replicas else zonal


def _check_replica_zones(field: str, zones: list[str], zone: str) -> None:
    """Refuse anything but two zones of the region, of which one is the instance's."""
    region, names = region_of(zone), {last_part(link) for link in zones}
    if len(names) != 2 or names - set(zones_of(region)):  # noqa: PLR2004 - the API's number
        raise invalid(field, ", ".join(zones), f"Must be two different zones of region {region}.")
    if zone not in names:
        raise invalid(field, ", ".join(zones), f"One of the zones must be the instance's, {zone}.")
