"""The paths of an instance's disks: of those that it names, and of new ones in its zone or region."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import region_of, zones_of
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json


def disk_path(call: Call, instance: str, disk: Json, parameters: Json) -> str:
    """Return the path of a disk of an instance, whether the disk exists or not.

    `instance` is the instance's path, `parameters` are the `initializeParams` of the attached disk.
    """
    parent, _, name = instance.rpartition("/instances/")
    if disk.get("source"):
        # Templates refer to a disk in the instance's zone by its name only.
        return call.resolve(disk["source"]) if "/" in disk["source"] else f"{parent}/disks/{disk['source']}"
    disk_name = parameters.get("diskName") or (f"{name}-{disk['index']}" if disk["index"] else name)
    if parameters.get("replicaZones"):
        field = f"resource.disks[{disk['index']}].initializeParams.replicaZones"
        _check_replica_zones(field, parameters["replicaZones"], last_part(parent))
        return _regional_path(parent, disk_name)
    return _existing_or_zonal_path(call, parent, disk_name)


def _regional_path(parent: str, disk_name: str) -> str:
    """Return the path of a disk in the region of a zone, whose path is `parent`."""
    project, _, zone = parent.rpartition("/zones/")
    return f"{project}/regions/{region_of(zone)}/disks/{disk_name}"


def _existing_or_zonal_path(call: Call, parent: str, disk_name: str) -> str:
    """Return the path of the disk of this name in a zone, or of one that the region replicates to the zone."""
    zonal, regional = f"{parent}/disks/{disk_name}", _regional_path(parent, disk_name)
    if call.store.get(zonal) is not None:
        return zonal
    replicas = {last_part(link) for link in (call.store.get(regional) or {}).get("replicaZones") or ()}
    return regional if last_part(parent) in replicas else zonal


def _check_replica_zones(field: str, zones: list[str], zone: str) -> None:
    """Refuse anything but two zones of the region, one of which is the instance's."""
    region, names = region_of(zone), {last_part(link) for link in zones}
    if len(names) != 2 or names - set(zones_of(region)):  # noqa: PLR2004 - the API's number
        raise invalid(field, ", ".join(zones), f"Must be two different zones of region {region}.")
    if zone not in names:
        raise invalid(field, ", ".join(zones), f"One of the zones must be the instance's, {zone}.")
