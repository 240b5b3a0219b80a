"""What exists in every project and never changes: regions, zones, machine types and disk types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.capacity import limit
from gcpx_emulator.compute.lists import list_head, list_items, scope_warning, without_unavailable_quotas
from gcpx_emulator.compute.locations import REGIONS, ZONES, check_location, region_of, zones_of
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import page_of

_CREATED: Final = "2024-01-01T00:00:00.000-08:00"
MACHINE_TYPES: Final = {
    "e2-micro": (2, 1024),
    "e2-small": (2, 2048),
    "e2-medium": (2, 4096),
    "e2-standard-2": (2, 8192),
    "e2-standard-4": (4, 16384),
    "n1-standard-1": (1, 3840),
    "n2-standard-2": (2, 8192),
    "n2-standard-4": (4, 16384),
    "c3-standard-4": (4, 16384),
    "g2-standard-4": (4, 16384),
}
"""Machine types, each with its number of CPUs and its memory in MB."""
DISK_TYPES: Final = (
    "hyperdisk-balanced",
    "hyperdisk-extreme",
    "hyperdisk-ml",
    "hyperdisk-throughput",
    "local-ssd",
    "pd-balanced",
    "pd-extreme",
    "pd-ssd",
    "pd-standard",
)
ACCELERATOR_TYPES: Final = (
    "nvidia-a100-80gb",
    "nvidia-b200",
    "nvidia-gb200",
    "nvidia-h100-80gb",
    "nvidia-h100-mega-80gb",
    "nvidia-h200-141gb",
    "nvidia-l4",
    "nvidia-l4-vws",
    "nvidia-tesla-a100",
    "nvidia-tesla-p100",
    "nvidia-tesla-p100-vws",
    "nvidia-tesla-p4",
    "nvidia-tesla-p4-vws",
    "nvidia-tesla-t4",
    "nvidia-tesla-t4-vws",
    "nvidia-tesla-v100",
)
_QUOTAS: Final = {"CPUS": 1000, "DISKS_TOTAL_GB": 40960, "INSTANCES": 2000, "IN_USE_ADDRESSES": 500}


@functools.lru_cache(maxsize=4096)
def _fixed_id(path: str) -> str:
    """Return a numeric ID that is always the same for a path."""
    return str(10**17 + sum(ord(letter) * 131**place for place, letter in enumerate(path)) % 10**17)


def predefined_resource(call: Call, kind: str, collection: str, name: str, **fields: Any) -> Json:
    """Describe something that exists without being created; `collection` is the path of its collection."""
    path = f"{collection}/{name}"
    head = {"kind": f"compute#{kind}", "id": _fixed_id(path), "name": name, "creationTimestamp": _CREATED}
    return head | {"selfLink": call.url(path)} | fields


def _region(call: Call, name: str) -> Json:
    zones = [call.url(f"{call.project}/zones/{zone}") for zone in zones_of(name)]
    fields = {"status": "UP", "description": name, "zones": zones, "quotas": _region_quotas(call, name)}
    region = predefined_resource(call, "region", f"{call.project}/regions", name, **fields, supportsPzs=False)
    return without_unavailable_quotas(call, region)


def _region_quotas(call: Call, region: str) -> list[Json]:
    """List the quotas of a region, with their usage."""
    collections = [f"{call.project}/zones/{zone}/instances" for zone in zones_of(region)]
    machines = [instance["machineType"].rpartition("/")[2] for _, instance in call.store.scan(collections)]
    cpus = sum(MACHINE_TYPES.get(machine, (1, 0))[0] for machine in machines)
    usage = {"INSTANCES": len(machines), "CPUS": cpus}
    quota = limit(call.store, "instances", region)
    limits = _QUOTAS | ({"INSTANCES": quota} if quota is not None else {})
    return [{"metric": metric, "limit": limit, "usage": usage.get(metric, 0)} for metric, limit in limits.items()]


def _zone(call: Call, name: str) -> Json:
    region = call.url(f"{call.project}/regions/{region_of(name)}")
    fields = {"status": "UP", "description": name, "region": region}
    return predefined_resource(call, "zone", f"{call.project}/zones", name, **fields)


def _machine_type(call: Call, name: str) -> Json:
    zone, (cpus, memory) = call.path["zone"], MACHINE_TYPES[name]
    fields = {"guestCpus": cpus, "memoryMb": memory, "zone": zone, "isSharedCpu": "e2-m" in name}
    return predefined_resource(call, "machineType", f"{call.parent}/machineTypes", name, **fields)


def _disk_type(call: Call, name: str) -> Json:
    return predefined_resource(call, "diskType", f"{call.parent}/diskTypes", name, zone=call.path["zone"])


def _accelerator_type(call: Call, name: str) -> Json:
    return predefined_resource(
        call, "acceleratorType", f"{call.parent}/acceleratorTypes", name, zone=call.url(call.parent)
    )


@attrs.frozen
class _Collection:
    """A collection that never changes.

    Attributes:
        name: such as `regions`.
        parameter: the parameter of the path that names an item, such as `region`.
        names: the names of its items.
        describe: writes the item of this name.
    """

    name: str
    parameter: str
    names: Iterable[str]
    describe: Callable[[Call, str], Json]

    def get(self, call: Call) -> Json:
        """Read an item by name or numeric ID."""
        wanted = call.path[self.parameter]
        if not self._is_of_project:
            check_location(call)
        for name in self.names:
            item = self.describe(call, name) if wanted == name or wanted.isdecimal() else {}
            if wanted in {item.get("name"), item.get("id")}:
                return item
        raise not_found(f"{self._path(call)}/{wanted}")

    def list(self, call: Call) -> Json:
        """List the items."""
        check_location(call)
        items = [self.describe(call, name) for name in self.names]
        return list_items(call, f"compute#{self.parameter}List", self._path(call), items)

    @property
    def _is_of_project(self) -> bool:
        """Whether it belongs to the project itself, and not to one of its scopes."""
        return self.name in {"regions", "zones"}

    def _path(self, call: Call) -> str:
        return f"{call.project if self._is_of_project else call.parent}/{self.name}"


for _collection in (
    _Collection("acceleratorTypes", "acceleratorType", ACCELERATOR_TYPES, _accelerator_type),
    _Collection("regions", "region", REGIONS, _region),
    _Collection("zones", "zone", ZONES, _zone),
    _Collection("machineTypes", "machineType", MACHINE_TYPES, _machine_type),
    _Collection("diskTypes", "diskType", DISK_TYPES, _disk_type),
):
    handles(f"compute.{_collection.name}.get")(_collection.get)
    handles(f"compute.{_collection.name}.list")(_collection.list)


@handles("compute.machineTypes.aggregatedList")
def aggregate_machine_types(call: Call) -> Json:
    """List the machine types of every zone; all zones have the same."""
    groups: Json = {}
    for zone in ZONES:
        in_zone = attrs.evolve(call, path={**call.path, "zone": zone})
        items, _ = page_of([_machine_type(in_zone, name) for name in MACHINE_TYPES], call.query)
        scope = f"zones/{zone}"
        warning = scope_warning("NO_RESULTS_ON_PAGE", f"There are no results for scope '{scope}'.", scope)
        groups[scope] = {"machineTypes": items} if items else {"warning": warning}
    head = list_head(call, "compute#machineTypeAggregatedList", f"{call.project}/aggregated/machineTypes", None)
    return head | {"items": groups}


@handles("compute.projects.get")
def get_project(call: Call) -> Json:
    """Read a project; every project exists."""
    name = call.path["project"]
    number = _fixed_id(name)
    return {
        "kind": "compute#project",
        "id": number,
        "name": name,
        "creationTimestamp": _CREATED,
        "selfLink": call.url(call.project),
        "defaultNetworkTier": "PREMIUM",
        "defaultServiceAccount": f"{number[:12]}-compute@developer.gserviceaccount.com",
        "quotas": [{"metric": metric, "limit": limit, "usage": 0} for metric, limit in _QUOTAS.items()],
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": "AAAAAAAAAAA="},
    }
