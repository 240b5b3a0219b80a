"""What tests of rollouts set up: rolling fleets, failures during a rollout, and what a failure leaves in the state."""

from __future__ import annotations

from typing import Any

from engines.driver import Failed, Resource, plain
from rolling.fleets import instance_path, member_names
from servers.emulated import Emulated
from values.programs import DEBIAN, fleet, one_at_a_time

BULK = "compute.regionInstances.bulkInsert"
DELETE, STOP, START = (f"compute.instances.{name}" for name in ("delete", "stop", "start"))
SET_LABELS = "compute.instances.setLabels"
BROKEN = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
"""The result of an operation that failed."""
BIGGER_DISK = {
    "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"diskSizeGb": 50, "sourceImage": DEBIAN}}]
}
"""A change that replaces members."""
ATTRIBUTES = {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]}}


def rolling(count: int = 4, policy: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the inputs of a fleet that rolls by a policy, in which `maxDeleted` stands for the setting of the fleet."""
    given = dict(policy or {})
    limit = {"maxDeleted": given.pop("maxDeleted")} if "maxDeleted" in given else {}
    return fleet(count, updatePolicy=one_at_a_time(given), **limit, **more)


def fail_after(cloud: Emulated, method: str, successes: int) -> None:
    """Let some calls of a method succeed, and make the operation of the next one fail."""
    if successes:
        cloud.fail(method, times=successes, delay=0.0)
    cloud.fail(method, operation=BROKEN)


def left_by(failed: Failed, resource: Resource) -> Resource:
    """Return a resource as the engine keeps it after a failed update."""
    return Resource(resource.urn, failed.partial.id, plain(failed.partial.inputs), plain(failed.partial.properties))


def instances(cloud: Emulated, resource: Resource) -> list[dict[str, Any]]:
    """Return those members of the state that still exist, as they are, in their order."""
    zones = {member["name"]: member["zone"] for member in resource.outputs["members"]}
    found = [cloud.get(instance_path(name, zones[name])) for name in member_names(resource)]
    return [instance for instance in found if instance is not None]
