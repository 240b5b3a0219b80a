"""The life cycle of instances: start, stop, suspend, resume and reset, and what an instance has in each status."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, handles, path_of
from gcpx_emulator.compute.capacity import Hardware, shortage_in
from gcpx_emulator.compute.encryption_keys import check_own_key
from gcpx_emulator.compute.guest_attributes import FIELD, after_boot, after_shutdown
from gcpx_emulator.compute.work import Work
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, invalid, misused, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, change, delete, relink
from gcpx_emulator.core.store import DUE, Store

NO_LIMIT: Final[Json] = {DUE: None, "resourceStatus": None}
"""The fields of an instance that is not running: no end is planned."""


def run_limit(scheduling: Json, moment: float) -> Json:
    """Return the fields with the planned end of an instance that begins to run at a moment, in seconds since 1970."""
    duration, time = scheduling.get("maxRunDuration"), scheduling.get("terminationTime")
    if duration:
        end = moment + int(duration.get("seconds", 0)) + int(duration.get("nanos", 0)) / 1e9
    elif time:
        end = datetime.fromisoformat(time.upper()).timestamp()
    else:
        return {}
    return {DUE: end, "resourceStatus": {"scheduling": {"terminationTimestamp": pacific_timestamp(end)}}}


PROVISIONING: Final = "PROVISIONING"
RUNNING: Final = "RUNNING"
STAGING: Final = "STAGING"
STOPPING: Final = "STOPPING"
SUSPENDED: Final = "SUSPENDED"
SUSPENDING: Final = "SUSPENDING"
TERMINATED: Final = "TERMINATED"
_PROVISIONING_SHARE: Final = 0.5
"""The fraction of the time of its creation during which an instance is provisioned; then it is staged."""
_CPU_PLATFORM: Final = "Intel Broadwell"
_NO_CPU_PLATFORM: Final = "Unknown CPU Platform"
_SINCE_BOOT: Final = frozenset({FIELD, "lastStartTimestamp", "resourceStatus"})
"""The fields that a new instance has only after its first boot."""


def in_creation(call: Call, instance: Json) -> Json:
    """Return a new, running instance as it is until the operation that creates it ends."""
    due = call.now + _PROVISIONING_SHARE * (call.end - call.now)
    before_boot = {name: value for name, value in instance.items() if name not in _SINCE_BOOT}
    return before_boot | {"status": PROVISIONING, "cpuPlatform": _NO_CPU_PLATFORM, DUE: due}


def started(store: Store, instance: Json, moment: float) -> Json:
    """Return the fields of an instance after a boot at a moment, in seconds since 1970."""
    return running(instance, moment) | after_boot(store, instance)


def running(instance: Json, moment: float) -> Json:
    """Return the fields of an instance that runs from a moment, after a boot or a resumption."""
    platform = instance.get("minCpuPlatform") or _CPU_PLATFORM
    fields = {"status": RUNNING, "lastStartTimestamp": pacific_timestamp(moment), "cpuPlatform": platform}
    return fields | run_limit(instance.get("scheduling") or {}, moment)


def stopped(moment: float) -> Json:
    """Return the fields of an instance that is stopped at a moment; None removes a field."""
    return {
        "status": TERMINATED,
        "lastStopTimestamp": pacific_timestamp(moment),
        "cpuPlatform": _NO_CPU_PLATFORM,
    } | NO_LIMIT


def stopped_after_its_script(instance: Json, moment: float) -> Json:
    """Return the fields of an instance that is stopped at a moment, after its shutdown script if it was running."""
    return stopped(moment) | (after_shutdown(instance) if instance["status"] == RUNNING else {})


def suspended(moment: float) -> Json:
    """Return the fields of an instance that is suspended at a moment; None removes a field."""
    return {"status": SUSPENDED, "lastSuspendedTimestamp": pacific_timestamp(moment)} | NO_LIMIT


def effects_on_disks(store: Store, path: str, instance: Json) -> list[Effect]:
    """Return the effects of an instance's deletion on its disks: each is deleted with it, or released."""
    project = path.split("/")[1]
    disks = [(path_of(disk.get("source", ""), project), disk) for disk in instance["disks"]]
    return [
        delete(source) if disk["autoDelete"] else relink(source, "users", path, None)
        for source, disk in disks
        if store.get(source) is not None
    ]


@attrs.frozen(kw_only=True)
class _Transition:
    """A change of an instance's status.

    Attributes:
        sources: the statuses from which it can start.
        passing: the status until the operation ends.
        target: the status afterwards.
        fields: returns the fields that the instance has afterwards.
        repeats: whether the call succeeds, without a change, for an instance that already has the target status.
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
    fields=lambda call, instance: stopped_after_its_script(instance, call.end),
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


@handles("compute.instances.stop")
def stop(call: Call) -> Json:
    """Stop an instance that is running or suspended; do nothing if it is stopped."""
    path, instance = ready_instance(call)
    _check_local_ssds(call, instance)
    return _move(call, path, instance, _STOP)


@handles("compute.instances.start")
def start(call: Call) -> Json:
    """Start a stopped instance; do nothing if it is running."""
    path, instance = ready_instance(call)
    _check_keys(call, instance)
    return _move(call, path, instance, _START)


@handles("compute.instances.startWithEncryptionKey")
def start_with_encryption_key(call: Call) -> Json:
    """Start a stopped instance whose disks are protected by customer-supplied keys."""
    path, instance = ready_instance(call)
    _check_keys(call, instance)
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
    """Resume a suspended instance; customer-supplied keys protect its disks and the data that was suspended."""
    path, instance = ready_instance(call)
    _check_keys(call, instance)
    check_own_key("resource.instanceEncryptionKey", call.body.get("instanceEncryptionKey"), instance)
    return _move(call, path, instance, _RESUME)


@handles("compute.instances.reset")
def reset(call: Call) -> Json:
    """Reset an instance, which stays in the status RUNNING."""
    path, instance = ready_instance(call)
    check_status(path, instance, RUNNING)
    return call.update("reset", path, instance | after_boot(call.store, instance))


def ready_instance(call: Call) -> tuple[str, Json]:
    """Return the path of the instance that a call names, and the instance; no operation may be changing it."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    return path, call.ready(path)


def check_stopped(instance: Json, what: str) -> None:
    """Refuse a change of an instance that is not stopped; `what` names what changes."""
    if instance["status"] != TERMINATED:
        why = f"The instance '{instance['name']}' must be stopped before {what} can be changed."
        raise ApiError(400, why, _WRONG_STATE)


def check_status(path: str, instance: Json, *wanted: str) -> None:
    """Refuse to act on an instance in any other status."""
    if instance["status"] not in wanted:
        raise ApiError(
            400, f"The instance '{path}' is {instance['status']}. It must be {' or '.join(wanted)}.", _WRONG_STATE
        )


def _check_local_ssds(call: Call, instance: Json) -> None:
    """Require the client to say what happens to the data on local SSDs."""
    if any(disk["type"] == "SCRATCH" for disk in instance["disks"]) and "discardLocalSsd" not in call.query:
        raise required("discardLocalSsd")


def _check_keys(call: Call, instance: Json) -> None:
    """Refuse to run an instance without the customer-supplied keys of its disks, or with keys of other disks."""
    attached = [call.resolve(disk["source"]) if disk.get("source") else "" for disk in instance["disks"]]
    keys = {}
    for index, disk in enumerate(call.body.get("disks") or ()):
        path, source = call.resolve(disk.get("source", "")), disk.get("source", "")
        if path not in attached:
            raise invalid(f"resource.disks[{index}].source", source, "The disk is not attached to the instance.")
        keys[path] = disk.get("diskEncryptionKey")
    for index, path in enumerate(attached):
        stored = call.store.get(path) or {}
        check_own_key(f"resource.disks[{index}].diskEncryptionKey", keys.get(path), stored)


def _move(call: Call, path: str, instance: Json, transition: _Transition) -> Json:
    """Start the operation that moves an instance to another status."""
    kind = call.verb
    if transition.repeats and instance["status"] == transition.target:
        return call.update(kind, path, instance)
    check_status(path, instance, *transition.sources)
    fields = transition.fields(call, instance)
    runs = transition.target == RUNNING
    if runs and not any(disk["boot"] for disk in instance["disks"]):
        raise misused(f"The instance '{path}' has no boot disk, so it cannot be started.")
    failure = shortage_in(call, call.path["zone"], Hardware.of(instance)) if runs else None
    if (call.failure or failure) is None:
        call.store.put(path, instance | {"status": transition.passing})
    return call.start(
        Work(kind=kind, target=path, target_id=instance["id"], effects=[change(path, fields)], failure=failure)
    )
