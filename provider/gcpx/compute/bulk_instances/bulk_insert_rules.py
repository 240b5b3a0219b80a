"""What bulk creation refuses, although the API accepts it for a single instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gcpx.compute.documentation import BULK_CREATION, rest
from gcpx.compute.instance_properties.encryption_keys import no_customer_keys
from gcpx.model.rules import Violation, elements, nested, rule, text
from gcpx.model.values import Path

_SNAPSHOTS: Final = ("sourceSnapshot", "sourceInstantSnapshot")


@rule("boot disks of a fleet must not be created from snapshots", BULK_CREATION)
def boot_disks_are_not_from_snapshots(values: dict[str, Any]) -> list[Violation]:
    """Refuse snapshots on every boot disk that an instance may get."""
    words = "must not be set on a boot disk of a fleet, because bulk creation does not support it: use sourceImage"
    return [
        ((*path, "initializeParams", name), words)
        for path, disk in _disks(values)
        for name in _SNAPSHOTS
        if disk.get("boot") is True and nested(disk, "initializeParams").get(name) is not None
    ]


def _disks(values: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the disks of the instance properties and of each selection of machine types, with their paths."""
    selections = nested(nested(values, "instanceFlexibilityPolicy"), "instanceSelections")
    owners: list[tuple[Path, dict[str, Any]]] = [
        (("instanceProperties",), nested(values, "instanceProperties")),
        *((("instanceFlexibilityPolicy", "instanceSelections", name), nested(selections, name)) for name in selections),
    ]
    for path, owner in owners:
        for index, disk in elements(owner, "disks"):
            yield (*path, "disks", index), disk


@rule(
    "instanceProperties must not have nodeAffinities, because bulk creation does not support sole-tenant nodes",
    BULK_CREATION,
)
def sole_tenant_nodes_are_not_used(values: dict[str, Any]) -> list[Violation]:
    """Refuse node affinities."""
    if not nested(nested(values, "instanceProperties"), "scheduling").get("nodeAffinities"):
        return []
    words = "must be left out of a fleet: bulk creation does not support sole-tenant nodes"
    return [(("instanceProperties", "scheduling", "nodeAffinities"), words)]


@rule(
    "instanceProperties must not have customer-supplied encryption keys, which bulk creation does not support",
    BULK_CREATION,
)
def customer_supplied_keys_are_not_used(values: dict[str, Any]) -> list[Violation]:
    """Refuse keys that Google does not store."""
    return no_customer_keys("instanceProperties", values)


@rule(
    "instanceProperties.machineType must be a bare name, not a URL",
    rest("regionInstances.bulkInsert", "instanceProperties.machineType"),
)
def machine_type_is_a_bare_name(values: dict[str, Any]) -> list[Violation]:
    """Refuse a URL, which names a machine type of one zone."""
    if "/" not in text(nested(values, "instanceProperties"), "machineType"):
        return []
    return [
        ("instanceProperties.machineType", "must be a bare name, not a URL: write only the part after the last slash")
    ]
