"""Interruptions of instances by Compute Engine or by the guest, on demand at `/_emulator`.

- `preempt` preempts Spot and preemptible instances: they are stopped or deleted, by `instanceTerminationAction`.
- `host-error` lets the host of instances fail: they are restarted, or stopped without `automaticRestart`.
- `guest-terminate` shuts instances down from within.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Final

from gcpx_emulator.compute.instance_states import RUNNING, started, stopped, terminate
from gcpx_emulator.compute.links import path_of
from gcpx_emulator.compute.system_events import SystemEvent, record_event
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.control_actions import acts
from gcpx_emulator.core.control_bodies import TEXT, ControlBody, Field, is_text
from gcpx_emulator.core.effects import apply, change
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.json_data import Json

_PREEMPTED: Final = SystemEvent("compute.instances.preempted", "Instance was preempted.")
_HOST_ERROR: Final = SystemEvent("compute.instances.hostError", "Instance terminated by Compute Engine.")
_RESTARTED: Final = SystemEvent(
    "compute.instances.automaticRestart", "Instance automatically restarted by Compute Engine."
)
_SHUT_DOWN: Final = SystemEvent("compute.instances.guestTerminate", "Instance terminated by guest OS shutdown.")
_FIELDS: Final = {
    "instances": Field(
        "a list of paths (projects/PROJECT/zones/ZONE/instances/NAME)",
        lambda value: isinstance(value, list) and bool(value) and all(map(is_text, value)),
    ),
    "names": TEXT,
    "project": TEXT,
}
_Interrupt = Callable[[Cloud, str, Json], list[Json]]
"""Interrupts an instance, named by its path, now; returns the operations of what happened."""


@acts(ControlBody("preempt", _FIELDS))
def preempt(cloud: Cloud, fields: Json) -> Json:
    """Preempt Spot and preemptible instances."""
    chosen = _chosen(cloud, "preempt", fields)
    for path, instance in chosen.items():
        if not instance["scheduling"].get("preemptible"):
            raise ApiError(400, f"The instance '{path}' is neither Spot nor preemptible, so it cannot be preempted.")
    return _interrupt(cloud, chosen, _preempt)


@acts(ControlBody("host-error", _FIELDS))
def fail_host(cloud: Cloud, fields: Json) -> Json:
    """Make the hosts of instances fail."""
    return _interrupt(cloud, _chosen(cloud, "host-error", fields), _fail_host)


@acts(ControlBody("guest-terminate", _FIELDS))
def terminate_from_within(cloud: Cloud, fields: Json) -> Json:
    """Shut instances down from within."""
    return _interrupt(cloud, _chosen(cloud, "guest-terminate", fields), _shut_down)


def _chosen(cloud: Cloud, name: str, fields: Json) -> dict[str, Json]:
    """Return the running instances that a request names, by path."""
    if set(fields) == {"instances"}:
        return {path: _running(cloud, path) for path in (path_of(link, "") for link in fields["instances"])}
    if set(fields) != {"names", "project"}:
        raise ApiError(
            400, f"The body of a request to /_emulator/{name} must have either instances or names and project."
        )
    collections = list(cloud.store.collections(f"projects/{fields['project']}/zones/", "/instances"))
    found = {
        path: instance
        for path, instance in cloud.store.scan(collections)
        if instance["status"] == RUNNING and fnmatch.fnmatchcase(instance["name"], fields["names"])
    }
    if not found:
        raise ApiError(404, f"No running instance of the project '{fields['project']}' matches '{fields['names']}'.")
    return found


def _running(cloud: Cloud, path: str) -> Json:
    instance = cloud.store.get(path)
    if instance is None or "/instances/" not in path:
        raise not_found(path)
    if instance["status"] != RUNNING:
        raise ApiError(400, f"The instance '{path}' is {instance['status']}, so it cannot be interrupted.")
    return instance


def _interrupt(cloud: Cloud, chosen: dict[str, Json], interrupt: _Interrupt) -> Json:
    """Interrupt instances; return the operations."""
    return {"operations": [item for path, instance in chosen.items() for item in interrupt(cloud, path, instance)]}


def _preempt(cloud: Cloud, path: str, instance: Json) -> list[Json]:
    now = cloud.operations.clock.now()
    terminate(cloud.store, path, instance, now)
    return [record_event(cloud, _PREEMPTED, instance, now)]


def _fail_host(cloud: Cloud, path: str, instance: Json) -> list[Json]:
    now = cloud.operations.clock.now()
    failed = record_event(cloud, _HOST_ERROR, instance, now)
    apply(change(path, stopped(now)), cloud.store)
    if not instance["scheduling"].get("automaticRestart"):
        return [failed]
    apply(change(path, started(cloud.store, instance, now)), cloud.store)
    return [failed, record_event(cloud, _RESTARTED, instance, now)]


def _shut_down(cloud: Cloud, path: str, instance: Json) -> list[Json]:
    now = cloud.operations.clock.now()
    apply(change(path, stopped(now)), cloud.store)
    return [record_event(cloud, _SHUT_DOWN, instance, now)]
