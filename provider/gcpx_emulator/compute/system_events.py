"""Operations that no request started: what Compute Engine itself does to an instance, such as preempting it.

What tests delete at `/_emulator/resources` has an operation, too, as if somebody had deleted it by the API.
"""

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
_SYSTEM: Final = "system"
_SOMEBODY: Final = "operator@example.com"


@attrs.frozen
class SystemEvent:
    """A kind of event.

    Attributes:
        kind: the type of its operation, such as `compute.instances.preempted`.
        message: the `statusMessage` of its operation, if it has one.
        user: who caused it.
    """

    kind: str
    message: str = ""
    user: str = _SYSTEM


_DELETION: Final = SystemEvent("delete", user=_SOMEBODY)


def record_deletion(cloud: Cloud, resource: Json) -> None:
    """Add the operation by which somebody has deleted a resource now; other APIs than Compute have no operations."""
    if str(resource.get("kind")).startswith("compute#"):
        record_event(cloud, _DELETION, resource, cloud.operations.now())


def record_event(cloud: Cloud, event: SystemEvent, resource: Json, moment: float) -> Json:
    """Add the operation of an event that happened to an instance or another resource; return it, done at that moment.

    `moment` is in seconds since 1970.
    """
    name = f"systemevent-{int(moment * 1000)}-{uuid.uuid4().hex[:8]}"
    _, project, *place = _path(resource).split("/")
    scope = "global" if place[0] == "global" else f"{place[0]}/{place[1]}"
    details = {"id": cloud.store.new_id(), "insertTime": timestamp(moment)}
    body = _body(event, resource, f"projects/{project}/{scope}", name) | details
    cloud.operations.start(
        Operation(
            name=name, project=project, scope=scope, request_id=None, body=body, begins=moment, ends=moment, effects=[]
        )
    )
    return cloud.operations.get(project, scope, name)


def _body(event: SystemEvent, resource: Json, parent: str, name: str) -> Json:
    """Write what the operation of this name shows of an event; `parent` is the path of its scope."""
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
