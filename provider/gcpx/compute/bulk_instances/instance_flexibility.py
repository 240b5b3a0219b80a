"""Alternative machine types, from which Google chooses.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, `instanceFlexibilityPolicy`.
"""

from __future__ import annotations

from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.model.fields import Record, field, record


@record
class InstanceSelection(Record):
    """Machine types to choose from."""

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
