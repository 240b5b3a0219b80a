"""What happens to instances without a request: staging, interruptions, ends of run limits, and deletions by others."""

from __future__ import annotations

import fnmatch
import uuid
from collections.abc import Callable
from typing import Final

import attrs

from gcpx_emulator.compute.call import path_of
from gcpx_emulator.compute.instance_lifecycle import (
    PROVISIONING,
    RUNNING,
    STAGING,
    effects_on_disks,
    started,
    stopped,
    stopped_after_its_script,
)
from gcpx_emulator.compute.work import Work, operation_body
from gcpx_emulator.core.call import ANONYMOUS, Cloud
from gcpx_emulator.core.controls import TEXT, ControlBody, Field, Run, acts, is_text
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operation, apply, change, delete
from gcpx_emulator.core.store import DUE, Store


@attrs.frozen
class SystemEvent:
    """A kind of event.

    Attributes:
        kind: the type of its operation, such as `compute.instances.preempted`.
        message: the `statusMessage` of its operation, if it has one.
        user: the user of its operation.
    """

    kind: str
    message: str = ""
    user: str = "system"


_DELETION: Final = SystemEvent("delete", user=ANONYMOUS)


def record_deletion(cloud: Cloud, resource: Json) -> None:
    """Add the operation of a deletion that somebody made now; only Compute has operations."""
    if str(resource.get("kind")).startswith("compute#"):
        record_event(cloud, _DELETION, resource, cloud.operations.clock.now())


def record_event(cloud: Cloud, event: SystemEvent, resource: Json, moment: float) -> Json:
    """Add the finished operation of an event that happened to a resource; return it.

    `moment` is in seconds since 1970.
    """
    path = path_of(resource["selfLink"], "")
    _, project, *place = path.split("/")
    scope = "global" if place[0] == "global" else f"{place[0]}/{place[1]}"
    details = {"id": cloud.store.new_id(), "user": event.user}
    details |= {"statusMessage": event.message} if event.message else {}
    work = Work(kind=event.kind, target=path, target_id=resource["id"], details=details)
    operation = Operation(
        name=f"systemevent-{int(moment * 1000)}-{uuid.uuid4().hex[:8]}",
        project=project,
        scope=scope,
        begins=moment,
        ends=moment,
    )
    return cloud.operations.start(attrs.evolve(operation, body=operation_body(work, operation, "v1")))


def terminate(store: Store, path: str, instance: Json, moment: float) -> None:
    """Stop an instance at a moment, or delete it, as its `instanceTerminationAction` says."""
    if instance["scheduling"].get("instanceTerminationAction") != "DELETE":
        apply(change(path, stopped_after_its_script(instance, moment)), store)
        return
    for effect in (*effects_on_disks(store, path, instance), delete(path)):
        apply(effect, store)


_EVENTS: Final = {
    "DELETE": SystemEvent("compute.instances.deferredDelete"),
    "STOP": SystemEvent("compute.instances.deferredStop"),
}
"""The system event by `instanceTerminationAction`."""


def do_what_is_due(cloud: Cloud) -> None:
    """Stage new instances that have been provisioned; stop or delete those with a planned end that has passed."""
    for path, instance in cloud.store.due(cloud.operations.clock.now()):
        if instance["status"] == PROVISIONING:
            apply(change(path, {"status": STAGING, DUE: None}), cloud.store)
        if instance["status"] == RUNNING:
            action = instance["scheduling"].get("instanceTerminationAction", "STOP")
            terminate(cloud.store, path, instance, instance[DUE])
            record_event(cloud, _EVENTS[action], instance, instance[DUE])


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
_Interrupt = Callable[[Cloud, str, Json, float], list[Json]]
"""Interrupts a running instance, given by its path, at a moment; returns the operations."""


def _interrupts(name: str) -> Callable[[_Interrupt], Run]:
    """Register a function that interrupts one instance at `/_emulator/NAME`, for all instances of a request or none."""

    def register(interrupt: _Interrupt) -> Run:
        @acts(ControlBody(name, _FIELDS))
        def interrupt_all(cloud: Cloud, fields: Json) -> Json:
            chosen, now = _chosen(cloud, name, fields), cloud.operations.clock.now()
            with cloud.store.transaction():
                found = [interrupt(cloud, path, instance, now) for path, instance in chosen.items()]
            return {"operations": [operation for operations in found for operation in operations]}

        return interrupt_all

    return register


def _chosen(cloud: Cloud, name: str, fields: Json) -> dict[str, Json]:
    """Return the running instances that a request names, by path."""
    if set(fields) == {"instances"}:
        paths = [path_of(link, "") for link in fields["instances"]]
        return {path: _running(cloud, path) for path in paths}
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


@_interrupts("preempt")
def preempt(cloud: Cloud, path: str, instance: Json, now: float) -> list[Json]:
    """Preempt a Spot or preemptible instance."""
    if not instance["scheduling"].get("preemptible"):
        raise ApiError(400, f"The instance '{path}' is neither Spot nor preemptible, so it cannot be preempted.")
    terminate(cloud.store, path, instance, now)
    return [record_event(cloud, _PREEMPTED, instance, now)]


@_interrupts("host-error")
def fail_host(cloud: Cloud, path: str, instance: Json, now: float) -> list[Json]:
    """Make the host of an instance fail."""
    failed = record_event(cloud, _HOST_ERROR, instance, now)
    apply(change(path, stopped(now)), cloud.store)
    if not instance["scheduling"].get("automaticRestart"):
        return [failed]
    apply(change(path, started(cloud.store, instance, now)), cloud.store)
    return [failed, record_event(cloud, _RESTARTED, instance, now)]


@_interrupts("guest-terminate")
def terminate_from_within(cloud: Cloud, path: str, instance: Json, now: float) -> list[Json]:
    """Shut an instance down from within."""
    apply(change(path, stopped_after_its_script(instance, now)), cloud.store)
    return [record_event(cloud, _SHUT_DOWN, instance, now)]
