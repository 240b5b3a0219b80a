"""The states of an instance: which fields change when it starts, stops or is suspended, and what is deleted with it."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.effects import Effect, delete, relink
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


def started(instance: Json, moment: float) -> Json:
    """Return the fields that an instance has from the moment when it runs, in seconds since 1970."""
    platform = instance.get("minCpuPlatform") or _CPU_PLATFORM
    return {"status": RUNNING, "lastStartTimestamp": timestamp(moment), "cpuPlatform": platform}


def stopped(moment: float) -> Json:
    """Return the fields that an instance has from the moment when it is stopped."""
    return {"status": TERMINATED, "lastStopTimestamp": timestamp(moment), "cpuPlatform": _NO_CPU_PLATFORM}


def suspended(moment: float) -> Json:
    """Return the fields that an instance has from the moment when it is suspended."""
    return {"status": SUSPENDED, "lastSuspendedTimestamp": timestamp(moment)}


def effects_on_disks(store: Store, path: str, instance: Json) -> list[Effect]:
    """Return the effects on disks of an instance's deletion: each is deleted with it, or released."""
    project = path.split("/")[1]
    disks = [(path_of(disk.get("source", ""), project), disk) for disk in instance["disks"]]
    return [
        delete(source) if disk["autoDelete"] else relink(source, "users", path, None)
        for source, disk in disks
        if store.get(source) is not None
    ]
