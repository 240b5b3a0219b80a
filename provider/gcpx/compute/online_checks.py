"""Checks of instances against Google at preview: the resources in their properties, and a region's quotas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks, missing
from gcpx.model.fields import Failure, elements, nested, text
from gcpx.model.links import name_of
from gcpx.model.values import Path


def instance_checks(checks: OnlineChecks, properties: Mapping[str, Any], path: Path) -> Iterator[OnlineCheck]:
    """Yield the checks of machine type, disks, images, snapshots, networks and subnetworks.

    Args:
        checks: the checks of the resource, with its project and region.
        properties: instance properties from inputs, which may contain unknown values.
        path: the place of the properties in the inputs.
    """
    yield partial(check_machine_type, checks, text(properties, "machineType"), (*path, "machineType"))
    for index, disk in elements(properties, "disks"):
        disk_path, made_from = (*path, "disks", index), nested(disk, "initializeParams")
        yield partial(check_disk, checks, text(disk, "source"), (*disk_path, "source"))
        for name, collection in (("sourceImage", "global/images"), ("sourceSnapshot", "global/snapshots")):
            link = text(made_from, name)
            yield partial(checks.check_link, link, collection, (*disk_path, "initializeParams", name))
    subnetworks = f"regions/{checks.region}/subnetworks" if checks.region else ""
    for index, interface in elements(properties, "networkInterfaces"):
        interface_path = (*path, "networkInterfaces", index)
        network, subnetwork = text(interface, "network"), text(interface, "subnetwork")
        yield partial(checks.check_link, network, "global/networks", (*interface_path, "network"))
        yield partial(checks.check_link, subnetwork, subnetworks, (*interface_path, "subnetwork"))


def check_disk(checks: OnlineChecks, source: str, path: Path) -> list[Failure]:
    """Check that a disk exists; a bare name stands for a zonal disk in a zone of the region, or in any zone."""
    if not source or "/" in source or not checks.project:
        return checks.check_link(source, "", path)
    every = f"beta/projects/{checks.project}/aggregated/disks"
    listed = checks.get(every, filter=f'name = "{source}"', fields="kind,items/*(disks(name))") or {}
    if not listed or _is_in(listed, "disks", f"zones/{checks.region}-" if checks.region else "zones/"):
        return []
    return [missing(f"a disk {source} in {checks.region or 'any zone'} of {checks.project}", path)]


def _is_in(listed: Mapping[str, Any], collection: str, place: str) -> bool:
    """Return whether an aggregated list has items in scopes that begin with a place, such as `zones/us-east1-`."""
    return any(group.get(collection) and scope.startswith(place) for scope, group in listed.get("items", {}).items())


def check_machine_type(checks: OnlineChecks, machine_type: str, path: Path) -> list[Failure]:
    """Check that a zone of the region, or any zone, has a machine type. Custom types are skipped: no list has them."""
    name, region = name_of(machine_type), checks.region
    if not name or "custom-" in name or not checks.project:
        return []
    listed = _machine_types(checks, name)
    if not listed or _is_in(listed, "machineTypes", f"zones/{region}-" if region else "zones/"):
        return []
    return [
        Failure(
            path, f"must be a machine type in {region or 'any zone'} of {checks.project}; {name} is not: correct it"
        )
    ]


def check_quotas(checks: OnlineChecks, machine_type: str, count: int, minimum: int) -> list[Failure]:
    """Check that the region's quotas allow `count` more instances; if they allow only `minimum`, warn."""
    available = _available_quotas(checks)
    family = f"{name_of(machine_type).partition('-')[0].upper()}_CPUS"
    metric = family if family in available else "CPUS"
    failures: list[Failure] = []
    for name, each in (("INSTANCES", 1), (metric, _processors(checks, machine_type))):
        left = available.get(name)
        if left is None or count * each <= left:
            continue
        words = f"needs {count * each:,} of quota {name} in {checks.region}, where {left:,.0f} are left: request a higher quota"
        if minimum * each > left:
            failures.append(Failure("count", words))
        else:
            checks.context.warn(f"count {words}; minCount can be met")
    return failures


def _available_quotas(checks: OnlineChecks) -> dict[str, float]:
    """Return the unused part of each quota of the region, by metric; empty if it cannot be determined."""
    region = checks.get(f"beta/projects/{checks.project}/regions/{checks.region}") or {}
    return {item.get("metric"): item.get("limit", 0) - item.get("usage", 0) for item in region.get("quotas", ())}


def _processors(checks: OnlineChecks, machine_type: str) -> int:
    """Return the number of CPUs of a machine type; 0 if no list has the type."""
    for group in _machine_types(checks, name_of(machine_type)).get("items", {}).values():
        for item in group.get("machineTypes", ()):
            return int(item.get("guestCpus", 0))
    return 0


def _machine_types(checks: OnlineChecks, name: str) -> dict[str, Any]:
    """Look up a machine type in all zones; empty if it cannot be determined."""
    path = f"beta/projects/{checks.project}/aggregated/machineTypes"
    return checks.get(path, filter=f'name = "{name}"', fields="kind,items/*(machineTypes(name,guestCpus))") or {}
