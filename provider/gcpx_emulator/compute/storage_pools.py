"""Storage pools, and the hyperdisks in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gcpx_emulator.compute.call import Call, check_ready, handles, last_part, path_of
from gcpx_emulator.compute.collection import USUAL, Collection, given
from gcpx_emulator.compute.disk_sources import stored_bytes
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.compute.lists import list_page
from gcpx_emulator.compute.locations import ZONAL
from gcpx_emulator.compute.predefined_resources import POOL_TYPES
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, check_given, invalid, required
from gcpx_emulator.core.json_data import Json, field_names
from gcpx_emulator.core.listing import Page, in_order, page_of

_ADVANCED: Final = "ADVANCED"
_DEFAULTS: Final = {"capacityProvisioningType": _ADVANCED, "performanceProvisioningType": _ADVANCED}
_THIN: Final = 5
"""How many times the capacity of a pool its disks may have together, if it is thin-provisioned (`ADVANCED`).

Source: the page "About Hyperdisk Storage Pools".
"""
_CAPACITY: Final = "poolProvisionedCapacityGb"
_UPDATED: Final = frozenset({_CAPACITY, "poolProvisionedIops", "poolProvisionedThroughput"})
"""The fields that an update can change."""
_NOT_EMULATED: Final = ("exapoolProvisionedCapacityGb", "shareSettings")
_SHOWN_OF_DISKS: Final = ("creationTimestamp", "name", "provisionedIops", "provisionedThroughput", "sizeGb", "status")


def _create(call: Call, path: str, head: Json) -> Json:
    for name in _NOT_EMULATED:
        if call.body.get(name):
            raise ApiError(501, f"{call.method.id} with {name} is not emulated")
    check_given(call.body, "storagePoolType", _CAPACITY)
    kind = call.body["storagePoolType"]
    if last_part(kind) not in POOL_TYPES:
        raise invalid("resource.storagePoolType", kind, "The storage pool type does not exist.")
    own = {
        "state": "READY",
        "storagePoolType": call.url(f"{call.parent}/storagePoolTypes/{last_part(kind)}"),
        "selfLinkWithId": call.url(f"{call.parent}/storagePools/{head['id']}"),
    }
    return call.insert(path, with_label_fingerprint({**_DEFAULTS, **given(call), **head, **own}))


def _disks_in(call: Call, pool: str) -> dict[str, Json]:
    """Return the disks in the pool at a path, by path."""
    return {path: disk for path, disk in call.store.scan([_disks_near(pool)]) if _is_in(disk, pool)}


def _planned_sizes(call: Call, pool: str) -> dict[str, int]:
    """Return the GB of the disks in the pool at a path, by path, after the end of all operations that run.

    A disk that an operation deletes counts until then.
    """
    planned = call.cloud.operations.planned(_disks_near(pool))
    disks = _disks_in(call, pool) | {path: disk for path, disk in planned.items() if _is_in(disk, pool)}
    return {path: int(disk["sizeGb"]) for path, disk in disks.items()}


def _disks_near(pool: str) -> str:
    """Return the path of the disks in the zone of the pool at a path."""
    return f"{pool.rpartition('/storagePools/')[0]}/disks"


def _is_in(disk: Json, pool: str) -> bool:
    return path_of(disk.get("storagePool", ""), "") == pool


def _most_capacity(pool: Json) -> int:
    """Return how many GB the disks in a pool may have together."""
    return int(pool[_CAPACITY]) * (_THIN if pool["capacityProvisioningType"] == _ADVANCED else 1)


def _with_status(call: Call) -> Callable[[Json], Json]:
    """Return what adds to a pool what its disks use."""

    def complete(pool: Json) -> Json:
        disks = _disks_in(call, path_of(pool["selfLink"], "")).values()
        total, iops, throughput = (
            sum(int(disk.get(name, 0)) for disk in disks)
            for name in ("sizeGb", "provisionedIops", "provisionedThroughput")
        )
        used = stored_bytes(total)
        status = {
            "diskCount": str(len(disks)),
            "maxTotalProvisionedDiskCapacityGb": str(_most_capacity(pool)),
            "poolUsedCapacityBytes": used,
            "poolUserWrittenBytes": used,
            "poolUsedIops": str(iops),
            "poolUsedThroughput": str(throughput),
            "totalProvisionedDiskCapacityGb": str(total),
            "totalProvisionedDiskIops": str(iops),
            "totalProvisionedDiskThroughput": str(throughput),
            **({"lastResizeTimestamp": pool["_resized"]} if "_resized" in pool else {}),
        }
        return pool | {"resourceStatus": status, "status": status}

    return complete


_POOLS: Final = Collection(
    name="storagePools",
    singular="storagePool",
    create=_create,
    scopes=ZONAL,
    complete=_with_status,
    users=lambda call, path: list(_planned_sizes(call, path)),
)
_POOLS.register("aggregatedList", *USUAL)


@handles("compute.storagePools.update")
def update_pool(call: Call) -> Json:
    """Set the fields that the mask names."""
    fields = field_names(call.query.get("updateMask") or "")
    if not fields:
        raise required("updateMask")
    path, pool = _POOLS.find(call)
    for name in fields:
        if name not in _UPDATED:
            raise invalid("updateMask", name, "An update of a storage pool cannot change it.")
    changed = {name: call.body.get(name) for name in fields}
    if _CAPACITY in changed:
        check_given(changed, _CAPACITY)
        used = sum(_planned_sizes(call, path).values())
        if _most_capacity(pool | changed) < used:
            raise invalid(f"resource.{_CAPACITY}", changed[_CAPACITY], f"The disks in the pool have {used} GB.")
        changed["_resized"] = pacific_timestamp(call.end)
    return _POOLS.change(call, "update", changed)


@handles("compute.storagePools.listDisks")
def list_disks(call: Call) -> Json:
    """List the disks in a pool."""
    pool, _ = _POOLS.find(call)

    def page() -> Page:
        items = {path: _listed(call, path, disk) for path, disk in _disks_in(call, pool).items()}
        return page_of(in_order(items), call.query)

    return list_page(call, "compute#storagePoolListDisks", f"{pool}/listDisks", page)


def _listed(call: Call, path: str, disk: Json) -> Json:
    lists = {"attachedInstances": disk.get("users"), "resourcePolicies": disk.get("resourcePolicies")}
    return {
        **{name: disk[name] for name in _SHOWN_OF_DISKS if name in disk},
        **{name: [call.full_url(link) for link in links] for name, links in lists.items() if links},
        "disk": call.url(path),
        "type": call.full_url(disk["type"]),
        "usedBytes": stored_bytes(int(disk["sizeGb"])),
    }


def check_pool(call: Call, field: str, path: str, disk: Json) -> None:
    """Refuse a new or changed disk at a path if its pool does not exist in its zone, or cannot have it.

    `field` is the place of the pool in the request.
    """
    link = disk.get("storagePool")
    if not link:
        return
    pool, place = call.linked("storage pool", field, link), call.resolve(link)
    if place.rpartition("/storagePools/")[0] != path.rpartition("/disks/")[0]:
        raise invalid(field, link, "The storage pool must be in the zone of the disk.")
    kind = last_part(pool["storagePoolType"])
    if last_part(disk["type"]) not in POOL_TYPES[kind]:
        raise invalid(field, link, f"A pool of the type {kind} has disks of the type {', '.join(POOL_TYPES[kind])}.")
    check_ready(call, place)
    key = f"sizes in {place}"
    if key not in call.found:
        call.found[key] = _planned_sizes(call, place)
    sizes: dict[str, int] = call.found[key]
    others = sum(size for other, size in sizes.items() if other != path)
    sizes[path] = int(disk["sizeGb"])  # the call may create more disks
    if others + sizes[path] > _most_capacity(pool):
        why = f"The disks in the pool may have {_most_capacity(pool)} GB together, and the others have {others} GB."
        raise invalid(field, link, why)
