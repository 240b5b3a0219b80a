"""What tests of fleets inspect and set up."""

from __future__ import annotations

from typing import Any

from driver import Resource
from emulated import Emulated
from programs import PROJECT, ZONE


def member_names(resource: Resource) -> list[str]:
    """Return the names of a fleet's members."""
    return [member["name"] for member in resource.outputs["members"]]


def instance_path(name: str, zone: str = ZONE) -> str:
    """Return the path of an instance in the emulator."""
    return f"projects/{PROJECT}/zones/{zone}/instances/{name}"


def set_limits(cloud: Emulated, **limits: Any) -> None:
    """Set how many instances fit into `zones`, and the quota of `instances` in regions; without limits, remove all."""
    cloud.emulator.store.put("limits/all", limits)
