"""The life cycle of instances: start, stop, suspend, interrupt, and end at the run limit."""

from __future__ import annotations

import fnmatch
import re
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import attrs

from gcpx_emulator.compute.call import Call, Work, check_ready, handles, path_of
from gcpx_emulator.compute.capacity import Hardware, shortage_in
from gcpx_emulator.compute.disks import check_key
from gcpx_emulator.compute.guest_scripts import SHUTDOWN, STARTUP, attributes_after
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.controls import TEXT, ControlBody, Field, acts, is_object, is_text, setting
from gcpx_emulator.core.errors import ApiError, not_found, required
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.operations import Effect, Operation, apply, change, delete, relink
from gcpx_emulator.core.store import DUE, Store

_FIELD: Final = "_guestAttributes"
"""The field of a stored instance with its guest attributes, by `NAMESPACE/KEY`; the API does not show it."""
_NAME: Final = re.compile(r"[^/]{1,128}/[^/]{1,128}")


def _are_attributes(value: Any, *, removes: bool = False) -> bool:
    """Accept strings by `NAMESPACE/KEY`; with `removes`, also nulls."""
    if not is_object(value) or not all(map(_NAME.fullmatch, value)):
        return False
    return all(is_text(text) or (removes and text is None) for text in value.values())


_NAME_OF_CONTROL: Final = "guest-attributes"
_ON_BOOT: Final = {"onBoot": Field("strings by NAMESPACE/KEY", _are_attributes), "only": TEXT}
_BODY: Final = ControlBody(
    _NAME_OF_CONTROL,
    {
        "instance": TEXT,
        "attributes": Field(
            "strings, or null to remove one, by NAMESPACE/KEY", lambda value: _are_attributes(value, removes=True)
        ),
        **_ON_BOOT,
    },
)
_BOOTS: Final = setting(_NAME_OF_CONTROL, ControlBody(_NAME_OF_CONTROL, _ON_BOOT).check)
"""The guest attributes that instances report at boot: `onBoot`, and `only` with a pattern of instance names."""


@acts(_BODY)
def set_guest_attributes(cloud: Cloud, fields: Json) -> Json:
    """Set attributes of an instance, or the attributes that instances get at future boots."""
    if set(fields) == {"instance", "attributes"}:
        return _set(cloud.store, path_of(fields["instance"], ""), fields["attributes"])
    if "onBoot" in fields and set(fields) <= set(_ON_BOOT):
        return _BOOTS.write(cloud.store, fields)
    expected = "either instance and attributes or onBoot and, optionally, only"
    raise ApiError(400, f"The body of a request to /_emulator/{_NAME_OF_CONTROL} must have {expected}.")


def _set(store: Store, path: str, change: Json) -> Json:
    instance = store.get(path)
    if instance is None or "/instances/" not in path:
        raise not_found(path)
    attributes: Json = merge(instance.get(_FIELD), change)
    store.put(path, instance | {_FIELD: attributes})
    return attributes


def attributes_of_boot(store: Store, instance: Json) -> Json:
    """Return the field of an instance with the guest attributes that it has after a boot, if it has any.

    Attributes of a control request for boots override those of the startup script.
    """
    boots, found = _BOOTS.read(store), attributes_after(instance, STARTUP, instance.get(_FIELD, {}))
    if fnmatch.fnmatchcase(instance["name"], boots.get("only", "*")):
        found |= boots.get("onBoot", {})
    return {_FIELD: found} if found else {}


@handles("compute.instances.getGuestAttributes")
def get_guest_attributes(call: Call) -> Json:
    """Read the guest attributes of a namespace, or one of them."""
    path, query_path = f"{call.parent}/instances/{call.path['instance']}", call.query.get("queryPath", "")
    attributes = call.read(path).get(_FIELD, {})
    head = {"kind": "compute#guestAttributes", "selfLink": call.url(f"{path}/guestAttributes/{query_path}")}
    head |= {"queryPath": query_path} if query_path else {}
    if call.query.get("variableKey"):
        return head | _variable(attributes, query_path, call.query["variableKey"])
    found = [name for name in sorted(attributes) if _is_at(name, query_path)]
    if not found:
        raise _no_attribute(query_path)
    return head | {"queryValue": {"items": [_entry(name, attributes[name]) for name in found]}}


def _is_at(name: str, query_path: str) -> bool:
    """Return whether a path names an attribute or its namespace."""
    return not query_path or name == query_path or name.partition("/")[0] == query_path.removesuffix("/")


def _variable(attributes: Json, query_path: str, key: str) -> Json:
    """Read one attribute by its key, given alone, at the end of the path, or within its namespace."""
    namespace = query_path.removesuffix(f"/{key}").removesuffix("/")
    name = f"{namespace}/{key}" if namespace else key
    if name not in attributes:
        raise _no_attribute(name)
    return {"variableKey": key, "variableValue": attributes[name]}


def _entry(name: str, value: str) -> Json:
    namespace, _, key = name.partition("/")
    return {"namespace": namespace, "key": key, "value": value}


def _no_attribute(name: str) -> ApiError:
    return ApiError(404, f"The resource '{name}' of type 'Guest Attribute' was not found.")


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


RUNNING: Final = "RUNNING"
STAGING: Final = "STAGING"
STOPPING: Final = "STOPPING"
SUSPENDED: Final = "SUSPENDED"
SUSPENDING: Final = "SUSPENDING"
TERMINATED: Final = "TERMINATED"
_CPU_PLATFORM: Final = "Intel Broadwell"
_NO_CPU_PLATFORM: Final = "Unknown CPU Platform"


def started(store: Store, instance: Json, moment: float) -> Json:
    """Return the fields of an instance after a boot at a moment, in seconds since 1970."""
    return running(instance, moment) | attributes_of_boot(store, instance)


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
    attributes = instance.get(_FIELD, {})
    left = attributes_after(instance, SHUTDOWN, attributes) if instance["status"] == RUNNING else attributes
    return stopped(moment) | ({_FIELD: left} if attributes else {})


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


def terminate(store: Store, path: str, instance: Json, moment: float) -> None:
    """Stop an instance at a moment, or delete it, as its `instanceTerminationAction` says."""
    if instance["scheduling"].get("instanceTerminationAction") != "DELETE":
        apply(change(path, stopped_after_its_script(instance, moment)), store)
        return
    for effect in (*effects_on_disks(store, path, instance), delete(path)):
        apply(effect, store)


_BASE: Final = "https://www.googleapis.com/compute/v1"
_SYSTEM: Final = "system"
_SOMEBODY: Final = "operator@example.com"


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
    user: str = _SYSTEM


_DELETION: Final = SystemEvent("delete", user=_SOMEBODY)


def record_deletion(cloud: Cloud, resource: Json) -> None:
    """Add the operation of a deletion that somebody made now; only Compute has operations."""
    if str(resource.get("kind")).startswith("compute#"):
        record_event(cloud, _DELETION, resource, cloud.operations.clock.now())


def record_event(cloud: Cloud, event: SystemEvent, resource: Json, moment: float) -> Json:
    """Add the finished operation of an event that happened to a resource; return it.

    `moment` is in seconds since 1970.
    """
    name = f"systemevent-{int(moment * 1000)}-{uuid.uuid4().hex[:8]}"
    _, project, *place = _path(resource).split("/")
    scope = "global" if place[0] == "global" else f"{place[0]}/{place[1]}"
    details = {"id": cloud.store.new_id(), "insertTime": pacific_timestamp(moment)}
    body = _body(event, resource, f"projects/{project}/{scope}", name) | details
    cloud.operations.start(
        Operation(
            name=name, project=project, scope=scope, request_id=None, body=body, begins=moment, ends=moment, effects=[]
        )
    )
    return cloud.operations.get(project, scope, name)


def _body(event: SystemEvent, resource: Json, parent: str, name: str) -> Json:
    """Write the operation of an event; `parent` is the path of its scope."""
    kind = parent.split("/")[2].removesuffix("s")
    return {
        "kind": "compute#operation",
        "name": name,
        "operationType": event.kind,
        "targetLink": f"{_BASE}/{_path(resource)}",
        "targetId": resource["id"],
        "user": event.user,
        "selfLink": f"{_BASE}/{parent}/operations/{name}",
        **({} if kind == "global" else {kind: f"{_BASE}/{parent}"}),
        **({"statusMessage": event.message} if event.message else {}),
    }


def _path(resource: Json) -> str:
    return path_of(resource["selfLink"], "")


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
    """Refuse to act on an instance in any other status."""
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
    runs = transition.target == RUNNING
    failure = shortage_in(call, call.path["zone"], Hardware.of(instance)) if runs else None
    if (call.failure or failure) is None:
        call.store.put(path, instance | {"status": transition.passing})
    return call.start(
        Work(kind=kind, target=path, target_id=instance["id"], effects=[change(path, fields)], failure=failure)
    )


_EVENTS: Final = {
    "DELETE": SystemEvent("compute.instances.deferredDelete"),
    "STOP": SystemEvent("compute.instances.deferredStop"),
}
"""The system event by `instanceTerminationAction`."""


def end_expired_runs(cloud: Cloud) -> None:
    """Stop or delete every instance whose planned end has passed, as of that moment."""
    for path, instance in cloud.store.due(cloud.operations.clock.now()):
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
_Interrupt = Callable[[Cloud, str, Json], list[Json]]
"""Interrupts an instance, given by its path; returns the operations."""


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
    apply(change(path, stopped_after_its_script(instance, now)), cloud.store)
    return [record_event(cloud, _SHUT_DOWN, instance, now)]
