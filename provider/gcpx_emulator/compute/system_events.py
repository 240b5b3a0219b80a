"""Operations that no user started: what Compute Engine itself does to an instance, such as preempting it."""

from __future__ import annotations

import uuid
from typing import Final

import attrs

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
    path = _path(instance)
    _, project, _, zone, *_ = path.split("/")
    name = f"systemevent-{int(moment * 1000)}-{uuid.uuid4().hex[:8]}"
    scope = f"zones/{zone}"
    body = {
        "kind": "compute#operation",
        "id": cloud.store.new_id(),
        "name": name,
        "operationType": event.kind,
        "targetLink": f"{_BASE}/{path}",
        "targetId": instance["id"],
        "user": _USER,
        "selfLink": f"{_BASE}/projects/{project}/{scope}/operations/{name}",
        "zone": f"{_BASE}/projects/{project}/{scope}",
        "insertTime": timestamp(moment),
        **({"statusMessage": event.message} if event.message else {}),
    }
    cloud.operations.start(
        Operation(
            name=name, project=project, scope=scope, request_id=None, body=body, begins=moment, ends=moment, effects=[]
        )
    )
    return cloud.operations.get(project, scope, name)


def _path(instance: Json) -> str:
    return str(instance["selfLink"]).partition("/compute/")[2].partition("/")[2]
