"""The states of an instance: which fields change when it starts, stops or is suspended, and what is deleted with it."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.guest_attributes import attributes_of_boot
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.run_limits import NO_LIMIT, run_limit
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.effects import Effect, apply, change, delete, relink
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

RUNNING: Final = "RUNNING"
STAGING: Final = "STAGING"
STOPPING: Final = "STOPPING"
SUSPENDED: Final = "SUSPENDED"
SUSPENDING: Final = "SUSPENDING"
TERMINATED: Final = "TERMINATED"
_CPU_PLATFORM: Final = "Intel Broadwell"
_NO_CPU_PLATFORM: Final = "Unknown CPU Platform"


def started(store: Store, instance: Json, moment: float) -> Json:
    """Return the fields that an instance has once it has booted, at a moment in seconds since 1970."""
    return running(instance, moment) | attributes_of_boot(store, instance)


def running(instance: Json, moment: float) -> Json:
    """Return the fields that an instance has from the moment when it runs, whether it has booted or was resumed."""
    platform = instance.get("minCpuPlatform") or _CPU_PLATFORM
    fields = {"status": RUNNING, "lastStartTimestamp": timestamp(moment), "cpuPlatform": platform}
    return fields | run_limit(instance.get("scheduling") or {}, moment)


def stopped(moment: float) -> Json:
    """Return the fields that an instance has from the moment when it is stopped; None removes a field."""
    return {"status": TERMINATED, "lastStopTimestamp": timestamp(moment), "cpuPlatform": _NO_CPU_PLATFORM} | NO_LIMIT


def suspended(moment: float) -> Json:
    """Return the fields that an instance has from the moment when it is suspended; None removes a field."""
    return {"status": SUSPENDED, "lastSuspendedTimestamp": timestamp(moment)} | NO_LIMIT


def effects_on_disks(store: Store, path: str, instance: Json) -> list[Effect]:
    """Return the effects on disks of an instance's deletion: each is deleted with it, or released."""
    project = path.split("/")[1]
    disks = [(path_of(disk.get("source", ""), project), disk) for disk in instance["disks"]]
    return [
        delete(source) if disk["autoDelete"] else relink(source, "users", path, None)
        for source, disk in disks
        if store.get(source) is not None
    ]


def terminate(store: Store, path: str, instance: Json, moment: float) -> None:
    """Stop an instance at a moment, or delete it, as its `instanceTerminationAction` says."""
    if instance["scheduling"].get("instanceTerminationAction") != "DELETE":
        apply(change(path, stopped(moment)), store)
        return
    for effect in (*effects_on_disks(store, path, instance), delete(path)):
        apply(effect, store)
