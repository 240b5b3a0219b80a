"""Asynchronous replication of disks: started on a primary disk, stopped on either disk; groups are stopped and cloned.

Source: the pages "Manage Asynchronous Replication" and "Manage consistency groups".
"""

from __future__ import annotations

import uuid
from typing import Final

from gcpx_emulator.compute.call import Call, check_ready, handles
from gcpx_emulator.compute.collection import in_use
from gcpx_emulator.compute.disks import ACTIVE, new_disk, primaries_of, replicas_of, state_as_secondary, users_of
from gcpx_emulator.core.errors import ApiError, invalid, misused, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, change, put

_STOPPED: Final = "STOPPED"
_SECONDARY: Final = "asyncSecondaryDisk"
_GROUP: Final = "diskConsistencyGroupPolicy"
_SOURCE_GROUP: Final = "sourceConsistencyGroupPolicy"
_CLONED: Final = ("accessMode", "physicalBlockSizeBytes", "provisionedIops", "provisionedThroughput", "replicaZones",
                  "sizeGb", "type")  # fmt: skip
_SUFFIX: Final = 8
_LONGEST_STEM: Final = 63 - 1 - _SUFFIX


@handles("compute.disks.startAsyncReplication", "compute.regionDisks.startAsyncReplication")
def start_replication(call: Call) -> Json:
    """Replicate a primary disk to a secondary disk, which was created as its secondary disk and is not attached."""
    path, link = f"{call.parent}/disks/{call.path['disk']}", _link(call, _SECONDARY)
    disk, other, secondary = call.ready(path), call.linked("disk", _SECONDARY, link), call.resolve(link)
    check_ready(call, secondary)
    if call.resolve((other.get("asyncPrimaryDisk") or {}).get("disk", "")) != path:
        raise invalid(_SECONDARY, link, f"It must be a secondary disk (`asyncPrimaryDisk`) of '{path}'.")
    if replicas_of(call, disk) or state_as_secondary(disk) == ACTIVE:
        raise misused(f"The disk '{path}' is replicated already.")
    if state_as_secondary(other):  # also after the end of its replication
        raise invalid(_SECONDARY, link, "The disk was replicated to before; use a new secondary disk.")
    if users := users_of(call, secondary):
        raise ApiError(400, in_use("disk", secondary, users[0]), "resourceInUseByAnotherResource")
    replica = {"disk": other["selfLink"], "diskId": other["id"], **_group_of(call, disk)}
    primary = _changed_state(disk, "asyncSecondaryDisks", {other["selfLink"]: {"state": ACTIVE}})
    primary |= {"asyncSecondaryDisks": {other["selfLink"]: {"asyncReplicationDisk": replica}}}
    origin = {"asyncPrimaryDisk": {"disk": disk["selfLink"], "diskId": disk["id"], **_group_of(call, other)}}
    effect = change(secondary, origin | _changed_state(other, "asyncPrimaryDisk", {"state": ACTIVE}))
    return call.update(call.verb, path, disk | primary, effect)


def _link(call: Call, field: str) -> str:
    """Return the link in a field, which is required."""
    if not call.body.get(field):
        raise required(field)
    return str(call.body[field])


def _group_of(call: Call, disk: Json) -> Json:
    """Return the fields of a replication that name the consistency group of its disk, if the disk is in one."""
    for link in disk.get("resourcePolicies", ()):
        policy = call.store.get(call.resolve(link)) or {}
        if _GROUP in policy:
            return {"consistencyGroupPolicy": link, "consistencyGroupPolicyId": policy["id"]}
    return {}


@handles("compute.disks.stopAsyncReplication", "compute.regionDisks.stopAsyncReplication")
def stop_replication(call: Call) -> Json:
    """Stop the replication of a primary disk, or to a secondary disk."""
    path = f"{call.parent}/disks/{call.path['disk']}"
    disk = call.ready(path)
    if not replicas_of(call, disk) and state_as_secondary(disk) != ACTIVE:
        raise misused(f"The disk '{path}' is not replicated.")
    return call.update(call.verb, path, disk, *_effects_of_stop(call, path, disk))


@handles("compute.disks.stopGroupAsyncReplication", "compute.regionDisks.stopGroupAsyncReplication")
def stop_group(call: Call) -> Json:
    """Stop the replication of all disks of a consistency group in the scope of the call."""
    group, disks = _group(call, "resourcePolicy")
    effects = [effect for path, disk in disks.items() for effect in _effects_of_stop(call, path, disk)]
    return call.update(call.verb, group, call.read(group), *effects)


@handles("compute.disks.bulkInsert", "compute.regionDisks.bulkInsert")
def clone_group(call: Call) -> Json:
    """Clone all secondary disks of a consistency group in the scope of the call."""
    for field in call.body.keys() - {_SOURCE_GROUP}:
        raise ApiError(501, f"{call.method.id} with {field} is not emulated")
    group, disks = _group(call, _SOURCE_GROUP)
    policy = call.read(group)
    origin = {_SOURCE_GROUP: policy["selfLink"], f"{_SOURCE_GROUP}Id": policy["id"]}
    clones = [_clone(call, disk) | origin for disk in disks.values() if "asyncPrimaryDisk" in disk]
    effects = [put(f"{call.parent}/disks/{clone['name']}", clone) for clone in clones]
    return call.update(call.verb, group, policy, *effects)


def _clone(call: Call, disk: Json) -> Json:
    """Write a new disk with a name of its own and the content of another."""
    name = f"{disk['name'][:_LONGEST_STEM]}-{uuid.uuid4().hex[:_SUFFIX]}"
    shape: Json = {field: disk[field] for field in _CLONED if field in disk}
    return new_disk(call, f"{call.parent}/disks/{name}", {**shape, "sourceDisk": disk["selfLink"]})


def _group(call: Call, field: str) -> tuple[str, dict[str, Json]]:
    """Return the path of the consistency group that a field names, and its disks in the scope of the call, by path."""
    link = _link(call, field)
    policy, group = call.linked("resource policy", field, link), call.resolve(link)
    if _GROUP not in policy:
        raise invalid(field, link, f"It must be a consistency group (`{_GROUP}`).")
    rows = call.store.scan([f"{call.parent}/disks"])
    disks = {path: disk for path, disk in rows if group in map(call.resolve, disk.get("resourcePolicies", ()))}
    for path in disks:
        check_ready(call, path)
    return group, disks


def _effects_of_stop(call: Call, path: str, disk: Json) -> list[Effect]:
    """Return the effects that stop the replication from a disk, or to it; `path` is its path."""
    is_secondary = state_as_secondary(disk) == ACTIVE
    primaries = primaries_of(call, disk) if is_secondary else [path]
    secondaries = [path] if is_secondary else replicas_of(call, disk)
    stopped, effects = {"state": _STOPPED}, []
    for secondary in secondaries:
        other = call.read(secondary)
        effects.append(change(secondary, _changed_state(other, "asyncPrimaryDisk", stopped)))
        states = {other["selfLink"]: stopped}
        effects += [change(one, _changed_state(call.read(one), "asyncSecondaryDisks", states)) for one in primaries]
    return effects


def _changed_state(disk: Json, field: str, state: Json) -> Json:
    """Return the field of a disk with the states of its replication, one of them changed."""
    return {"resourceStatus": (disk.get("resourceStatus") or {}) | {field: state}}
