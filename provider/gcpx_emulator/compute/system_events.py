"""Operations that no user started: what Compute Engine itself does to an instance, such as preempting it."""

from __future__ import annotations

import uuid
from typing import Final

import attrs

from gcpx_emulator.compute.links import path_of
from gcpx_emulator.core.call import Cloud
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operation

_BASE: Final = "https://www.googleapis.com/compute/v1"
_USER: Final = "system"


@attrs.frozen
class SystemEvent:
    """A kind of event.

    Attributes:
        kind: the type of its operation, such as `compute.instances.preempted`.
        message: the `statusMessage` of its operation, if it has one.
    """

    kind: str
    message: str = ""


def record_event(cloud: Cloud, event: SystemEvent, instance: Json, moment: float) -> Json:
    """Add the operation of an event that happened to an instance; return it, done at that moment.

    `moment` is in seconds since 1970.
    """
    name = f"systemevent-{int(moment * 1000)}-{uuid.uuid4().hex[:8]}"
    _, project, scope_kind, zone, *_ = _path(instance).split("/")
    scope = f"{scope_kind}/{zone}"
    details = {"id": cloud.store.new_id(), "insertTime": timestamp(moment)}
    body = _body(event, instance, name) | details
    cloud.operations.start(
        Operation(
            name=name, project=project, scope=scope, request_id=None, body=body, begins=moment, ends=moment, effects=[]
        )
    )
    return cloud.operations.get(project, scope, name)


def _body(event: SystemEvent, instance: Json, name: str) -> Json:
    """Write what the operation of this name shows of an event."""
    path = _path(instance)
    zone = path.partition("/instances/")[0]
    return {
        "kind": "compute#operation",
        "name": name,
        "operationType": event.kind,
        "targetLink": f"{_BASE}/{path}",
        "targetId": instance["id"],
        "user": _USER,
        "selfLink": f"{_BASE}/{zone}/operations/{name}",
        "zone": f"{_BASE}/{zone}",
        **({"statusMessage": event.message} if event.message else {}),
    }


def _path(instance: Json) -> str:
    return path_of(instance["selfLink"], "")
