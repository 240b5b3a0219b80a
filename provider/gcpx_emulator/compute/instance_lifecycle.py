"""The life cycle of instances: stopped and started, suspended and resumed, and reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.encryption import check_key
from gcpx_emulator.compute.guest_attributes import attributes_of_boot
from gcpx_emulator.compute.instance_states import (
    RUNNING,
    STAGING,
    STOPPING,
    SUSPENDED,
    SUSPENDING,
    TERMINATED,
    running,
    started,
    stopped,
    suspended,
)
from gcpx_emulator.compute.limits import zone_capacity
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.compute.operation_resource import Work
from gcpx_emulator.core.effects import change
from gcpx_emulator.core.errors import ApiError, required
from gcpx_emulator.core.json_data import Json


@attrs.frozen(kw_only=True)
class _Transition:
    """A change of an instance's status.

    Attributes:
        sources: the statuses that it starts from.
        passing: the status until the operation ends.
        target: the status afterwards.
        fields: returns the fields that the instance has afterwards.
        repeats: whether an instance that already has the target status is left as it is, and not refused.
    """

    sources: tuple[str, ...]
    passing: str
    target: str
    fields: Callable[[Call, Json], Json]
    repeats: bool = False


_STOP: Final = _Transition(
    sources=(RUNNING, SUSPENDED),
    passing=STOPPING,
    target=TERMINATED,
    fields=lambda call, _: stopped(call.end),
    repeats=True,
)
_START: Final = _Transition(
    sources=(TERMINATED,),
    passing=STAGING,
    target=RUNNING,
    fields=lambda call, instance: started(call.store, instance, call.end),
    repeats=True,
)
_SUSPEND: Final = _Transition(
    sources=(RUNNING,), passing=SUSPENDING, target=SUSPENDED, fields=lambda call, _: suspended(call.end)
)
_RESUME: Final = _Transition(
    sources=(SUSPENDED,), passing=STAGING, target=RUNNING, fields=lambda call, instance: running(instance, call.end)
)
_WRONG_STATE: Final = "invalidResourceUsage"
_WITHOUT_CAPACITY: Final = frozenset({SUSPENDED, TERMINATED})
"""The statuses in which an instance takes no capacity of its zone."""


@handles("compute.instances.stop")
def stop(call: Call) -> Json:
    """Stop an instance that is running or suspended; one that is stopped stays as it is."""
    path, instance = ready_instance(call)
    _check_local_ssds(call, instance)
    return _move(call, path, instance, _STOP)


@handles("compute.instances.start")
def start(call: Call) -> Json:
    """Start a stopped instance; one that is running stays as it is."""
    path, instance = ready_instance(call)
    _check_keys(call, instance, {})
    return _move(call, path, instance, _START)


@handles("compute.instances.startWithEncryptionKey")
def start_with_encryption_key(call: Call) -> Json:
    """Start a stopped instance whose disks are protected by customer-supplied keys."""
    path, instance = ready_instance(call)
    disks = call.body.get("disks") or []
    keys = {call.resolve(disk["source"]): disk.get("diskEncryptionKey") for disk in disks if disk.get("source")}
    _check_keys(call, instance, keys)
    return _move(call, path, instance, _START)


@handles("compute.instances.suspend")
def suspend(call: Call) -> Json:
    """Suspend a running instance."""
    path, instance = ready_instance(call)
    _check_local_ssds(call, instance)
    if instance.get("guestAccelerators"):
        raise ApiError(400, f"The instance '{path}' has GPUs, so it cannot be suspended.", _WRONG_STATE)
    return _move(call, path, instance, _SUSPEND)


@handles("compute.instances.resume")
def resume(call: Call) -> Json:
    """Resume a suspended instance."""
    return _move(call, *ready_instance(call), _RESUME)


@handles("compute.instances.reset")
def reset(call: Call) -> Json:
    """Reset an instance, which stays in the status RUNNING."""
    path, instance = ready_instance(call)
    check_status(path, instance, RUNNING)
    return call.update("reset", path, instance | attributes_of_boot(call.store, instance))


def ready_instance(call: Call) -> tuple[str, Json]:
    """Return the path of the instance that a call names, and the instance; no operation may be changing it."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.read(path)
    check_ready(call, path)
    return path, instance


def check_status(path: str, instance: Json, *wanted: str) -> None:
    """Refuse to act on an instance that has none of these statuses."""
    if instance["status"] not in wanted:
        raise ApiError(
            400, f"The instance '{path}' is {instance['status']}. It must be {' or '.join(wanted)}.", _WRONG_STATE
        )


def _check_local_ssds(call: Call, instance: Json) -> None:
    """Require the client to say what happens to the data on local SSDs."""
    if any(disk["type"] == "SCRATCH" for disk in instance["disks"]) and "discardLocalSsd" not in call.query:
        raise required("discardLocalSsd")


def _check_keys(call: Call, instance: Json, keys: dict[str, Json | None]) -> None:
    """Refuse to start an instance without the customer-supplied keys of its disks; `keys` are by the disk's path."""
    for index, disk in enumerate(instance["disks"]):
        path = call.resolve(disk["source"]) if disk.get("source") else ""
        stored = call.store.get(path)
        if stored is not None:
            check_key(f"resource.disks[{index}].diskEncryptionKey", keys.get(path), stored)


def _move(call: Call, path: str, instance: Json, transition: _Transition) -> Json:
    """Start the operation that moves an instance to another status."""
    kind = call.method.id.rpartition(".")[2]
    if transition.repeats and instance["status"] == transition.target:
        return call.update(kind, path, instance)
    check_status(path, instance, *transition.sources)
    fields = transition.fields(call, instance)
    failure = _stock_out(call) if transition.target == RUNNING else None
    if (call.failure or failure) is None:
        call.store.put(path, instance | {"status": transition.passing})
    return call.start(
        Work(kind=kind, target=path, target_id=instance["id"], effects=[change(path, fields)], failure=failure)
    )


def _stock_out(call: Call) -> Json | None:
    """Return the failure to start one more instance, if the zone has no capacity left."""
    zone = call.path["zone"]
    capacity = zone_capacity(call.store, zone)
    if capacity is None or _running_in(call) < capacity:
        return None
    message = f"The zone '{zone}' does not have enough resources available to fulfill the request."
    return {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": message}], "httpErrorStatusCode": 503}


def _running_in(call: Call) -> int:
    """Count the instances that run in the zone of a call, or are about to."""
    return sum(item["status"] not in _WITHOUT_CAPACITY for item in call.store.list(f"{call.parent}/instances"))
