"""What tests of fleets inspect and set up."""

from __future__ import annotations

import uuid
from typing import Any, Final

from engines.driver import Resource
from servers.emulated import Emulated
from values.programs import PROJECT, ZONE

from gcpx_emulator.core.operations import Operation

STARTED: Final = "2031-05-01T08:00:00.000Z"
STOPPED: Final = "2031-05-01T09:00:00.000Z"
"""When instances that `stop` stops were started and stopped."""


def member_names(resource: Resource) -> list[str]:
    """Return the names of a fleet's members."""
    return [member["name"] for member in resource.outputs["members"]]


def instance_path(name: str, zone: str = ZONE) -> str:
    """Return the path of an instance in the emulator."""
    return f"projects/{PROJECT}/zones/{zone}/instances/{name}"


def set_limits(cloud: Emulated, **limits: Any) -> None:
    """Set how many instances fit into `zones`, and the quota of `instances` in regions; without limits, remove all."""
    cloud.emulator.store.put("limits/all", limits)


def stop(cloud: Emulated, name: str, kind: str | None = "stop", **fields: Any) -> None:
    """Stop an instance without a request.

    Args:
        cloud: the emulator.
        name: the instance's name.
        kind: the type of the operation that stopped it; None for no operation.
        fields: of the instance, such as `zone` and `status`; by default, the instance is terminated.
    """
    path = instance_path(name, fields.pop("zone", ZONE))
    stopped = {"status": "TERMINATED", "lastStartTimestamp": STARTED, "lastStopTimestamp": STOPPED, **fields}
    cloud.change(path, lambda body: body.update(stopped))
    if kind is not None:
        record_operation(cloud, path, kind, STOPPED)


def record_operation(cloud: Emulated, path: str, kind: str, at: str, failure: Any = None) -> None:
    """Record an operation on an instance that changed nothing in the emulator; `at` is when it was requested."""
    instance = cloud.get(path)
    assert instance is not None, path
    scope, _, _ = path.removeprefix(f"projects/{PROJECT}/").partition("/instances/")
    body = {"operationType": kind, "targetId": instance["id"], "insertTime": at, "name": f"{kind}-{at}"}
    operation = Operation(
        name=f"{kind}-{uuid.uuid4().hex}",
        project=PROJECT,
        scope=scope,
        request_id=None,
        body=body | ({"_failure": failure} if failure else {}),
        begins=cloud.clock.now(),
        effects=[],
    )
    cloud.emulator.operations.start(operation)
