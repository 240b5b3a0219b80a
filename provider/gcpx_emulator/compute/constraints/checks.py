"""Checks the bodies of Compute Engine's requests against the constraints of their objects."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.constraints import bulk_insert, disks, instances, labels, network_interfaces
from gcpx_emulator.core.constraints import Constraint, ConstraintTable
from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.validation import checks_bodies

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *bulk_insert.CONSTRAINTS,
    *disks.CONSTRAINTS,
    *instances.CONSTRAINTS,
    *labels.CONSTRAINTS,
    *network_interfaces.CONSTRAINTS,
)
_TABLE: Final = ConstraintTable(CONSTRAINTS)


@checks_bodies("compute")
def check_body(method: Method, body: Json) -> None:
    """Refuse a body that violates a constraint.

    Properties that will be merged into those of a template are left to `check_merged_properties`.
    """
    if body.get("sourceInstanceTemplate"):
        body = {key: value for key, value in body.items() if key != "instanceProperties"}
    _TABLE.check(method, str(method.request), body, "resource")


def check_object(method: Method, schema: str, value: Json) -> None:
    """Refuse an object that would result from a change, if it violates a constraint of its schema."""
    _TABLE.check(method, schema, value, "resource")


def check_merged_properties(method: Method, properties: Json) -> None:
    """Refuse the properties of a bulk creation, merged into those of the template, if they violate a constraint."""
    _TABLE.check(method, "InstanceProperties", properties, "resource.instanceProperties")
