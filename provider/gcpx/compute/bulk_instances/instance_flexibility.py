"""Alternative machine types, from which Google chooses.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, `instanceFlexibilityPolicy`.
"""

from __future__ import annotations

from typing import Any

from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.model.fields import Record, field, record
from gcpx.model.rules import Violation, rule


@rule(
    "machineTypes must be bare names, not URLs",
    rest("regionInstances.bulkInsert", "instanceFlexibilityPolicy.instanceSelections.machineTypes[]"),
)
def selected_machine_types_are_bare_names(values: dict[str, Any]) -> list[Violation]:
    """Refuse URLs, which name machine types of one zone."""
    names = values.get("machineTypes")
    words = "must be a bare name, not a URL: write only the part after the last slash"
    return [
        (("machineTypes", index), words)
        for index, name in enumerate(names if isinstance(names, list) else ())
        if isinstance(name, str) and "/" in name
    ]


@record
class InstanceSelection(Record):
    """Machine types to choose from."""

    RULES = (selected_machine_types_are_bare_names,)

    disks: list[AttachedDisk] = field(
        "The disks of instances that are created with this selection. Default: the disks of `instanceProperties`."
    )
    machine_types: list[str] = field("The names of the machine types, such as `[n2-standard-4]`.", identity="set")
    min_cpu_platform: str = field(
        "The oldest CPU platform to run on, such as `Intel Ice Lake`; instances may run on newer ones."
    )
    rank: int = field("The rank, such as `1`. Selections with lower ranks are tried first. Default: `0`.", int64=True)


@record
class InstanceFlexibilityPolicy(Record):
    """Alternative machine types, from which Google chooses by capacity and quota."""

    instance_selections: dict[str, InstanceSelection] = field(
        "Selections of machine types, each under a name of your choice (RFC 1035), such as `{small: {machineTypes: [e2-small]}}`."
    )
