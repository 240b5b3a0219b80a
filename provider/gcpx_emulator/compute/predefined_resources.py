"""Resources that every project has and that never change: regions, zones, accelerator types and disk types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call, fixed_id, handles
from gcpx_emulator.compute.capacity import limit
from gcpx_emulator.compute.lists import aggregate, list_page, without_unavailable_quotas
from gcpx_emulator.compute.locations import REGIONS, ZONAL, ZONES, check_location, region_of, zones_of
from gcpx_emulator.compute.machine_types import accelerator_zones, count_cpus
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page, in_order, page_of

CREATED: Final = "2024-01-01T00:00:00.000-08:00"
DISK_TYPES: Final = (
    "hyperdisk-balanced",
    "hyperdisk-balanced-high-availability",
    "hyperdisk-extreme",
    "hyperdisk-ml",
    "hyperdisk-throughput",
    "local-ssd",
    "pd-balanced",
    "pd-extreme",
    "pd-ssd",
    "pd-standard",
)
POOL_TYPES: Final = {name: (name,) for name in ("hyperdisk-balanced", "hyperdisk-throughput")}
"""The types of disks in each type of storage pools."""
SMALLEST_POOL: Final = 10240
"""GB of the smallest storage pool.

Source: the page "About Hyperdisk Storage Pools".
"""
_CPU_PLATFORMS: Final = (
    "Ampere Altra",
    "Intel Broadwell",
    "Intel Cascade Lake",
    "Intel Emerald Rapids",
    "AMD Genoa",
    "NVIDIA Grace",
    "Intel Granite Rapids",
    "Intel Haswell",
)
"""CPU platforms of a zone, as recorded in 2025 and 2026."""
QUOTAS: Final = {"CPUS": 1000, "DISKS_TOTAL_GB": 40960, "INSTANCES": 2000, "IN_USE_ADDRESSES": 500}


def predefined_resource(call: Call, kind: str, collection: str, name: str, **fields: Any) -> Json:
    """Describe something that exists without being created; `collection` is the path of its collection."""
    path = f"{collection}/{name}"
    head = {"kind": f"compute#{kind}", "id": fixed_id(path), "name": name, "creationTimestamp": CREATED}
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
    usage = {"INSTANCES": len(machines), "CPUS": count_cpus(call.store, machines)}
    quota = limit(call.store, "instances", region)
    limits = QUOTAS | ({"INSTANCES": quota} if quota is not None else {})
    return [{"metric": metric, "limit": limit, "usage": usage.get(metric, 0)} for metric, limit in limits.items()]


def _zone(call: Call, name: str) -> Json:
    region = call.url(f"{call.project}/regions/{region_of(name)}")
    fields = {
        "availableCpuPlatforms": _CPU_PLATFORMS,
        "description": name,
        "region": region,
        "status": "UP",
        "supportsPzs": True,
    }
    return predefined_resource(call, "zone", f"{call.project}/zones", name, **fields)


def _disk_type(call: Call, name: str) -> Json:
    return _of_zone(call, "diskType", name)


def _of_zone(call: Call, kind: str, name: str) -> Json:
    return predefined_resource(call, kind, f"{call.parent}/{kind}s", name, zone=call.url(call.parent))


def _pool_type(call: Call, name: str) -> Json:
    fields = {
        "minPoolProvisionedCapacityGb": str(SMALLEST_POOL),
        "minSizeGb": str(SMALLEST_POOL),
        "supportedDiskTypes": POOL_TYPES[name],
        "zone": call.url(call.parent),
    }
    found = predefined_resource(call, "storagePoolType", f"{call.parent}/storagePoolTypes", name, **fields)
    return found | {"selfLinkWithId": call.url(f"{call.parent}/storagePoolTypes/{found['id']}")}


def _accelerators_in(call: Call) -> Iterable[str]:
    """Name the accelerator types of a call's zone."""
    return [name for name, zones in accelerator_zones().items() if call.path["zone"] in zones]


def _accelerator_type(call: Call, name: str) -> Json:
    return _of_zone(call, "acceleratorType", name)


@attrs.frozen
class _Collection:
    """A collection that never changes.

    Attributes:
        name: such as `regions`.
        parameter: the parameter of the path that names an item, such as `region`.
        names: gives the names of its items, of which a zone may have its own.
        describe: writes the item with a name.
    """

    name: str
    parameter: str
    names: Callable[[Call], Iterable[str]]
    describe: Callable[[Call, str], Json]

    def get(self, call: Call) -> Json:
        """Read an item by name or numeric ID."""
        wanted = call.path[self.parameter]
        if not self._is_of_project:
            check_location(call)
        for name in self.names(call):
            item = self.describe(call, name) if wanted == name or wanted.isdecimal() else {}
            if wanted in {item.get("name"), item.get("id")}:
                return item
        raise not_found(f"{self._path(call)}/{wanted}")

    def list(self, call: Call) -> Json:
        """List the items."""
        check_location(call)
        items = in_order({name: self.describe(call, name) for name in self.names(call)})
        path, kind = self._path(call), f"compute#{self.parameter}List"
        return list_page(call, kind, path, lambda: page_of(items, call.query))

    def aggregate(self, call: Call) -> Json:
        """List the items of every zone."""

        def page(paths: list[str]) -> Page:
            items: dict[str, Json] = {}
            for path in paths:
                scope = path.removeprefix(f"{call.project}/").removesuffix(f"/{self.name}")
                own = call.within(scope)
                names = self.names(own) if scope in ZONAL else ()
                items |= {f"{path}/{name}": self.describe(own, name) for name in names}
            return page_of(in_order(items), call.query)

        return aggregate(call, self.name, f"compute#{self.parameter}AggregatedList", ZONAL, page)

    @property
    def _is_of_project(self) -> bool:
        """Whether the collection belongs to the project itself, and not to one of its scopes."""
        return self.name in {"regions", "zones"}

    def _path(self, call: Call) -> str:
        return f"{call.project if self._is_of_project else call.parent}/{self.name}"


_OF_ZONES: Final = (
    _Collection("acceleratorTypes", "acceleratorType", _accelerators_in, _accelerator_type),
    _Collection("diskTypes", "diskType", lambda _: DISK_TYPES, _disk_type),
    _Collection("storagePoolTypes", "storagePoolType", lambda _: POOL_TYPES, _pool_type),
)
for _collection in (
    *_OF_ZONES,
    _Collection("regions", "region", lambda _: REGIONS, _region),
    _Collection("zones", "zone", lambda _: ZONES, _zone),
):
    handles(f"compute.{_collection.name}.get")(_collection.get)
    handles(f"compute.{_collection.name}.list")(_collection.list)
for _collection in _OF_ZONES:
    handles(f"compute.{_collection.name}.aggregatedList")(_collection.aggregate)
