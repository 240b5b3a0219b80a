"""What bulk creation refuses that single instances may have: said at preview."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gcpx.compute.instance_properties.instance_rules import boot_disk_is_missing
from gcpx.compute.sources import BULK_CREATION
from gcpx.model.links import name_of
from gcpx.model.rules import Failure, elements, nested, rule, text
from gcpx.model.values import Path

_SNAPSHOTS: Final = ("sourceSnapshot", "sourceInstantSnapshot")


def _disks(values: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give every disk that instances may get: of the properties, and of each choice of machine types."""
    owners: list[tuple[Path, dict[str, Any]]] = [(("instanceProperties",), nested(values, "instanceProperties"))]
    choices = nested(nested(values, "instanceFlexibilityPolicy"), "instanceSelections")
    owners += [(("instanceFlexibilityPolicy", "instanceSelections", name), nested(choices, name)) for name in choices]
    for path, owner in owners:
        for index, disk in elements(owner, "disks"):
            yield (*path, "disks", index), disk


@rule("bulk creation does not create boot disks from snapshots", "the API's description of sourceSnapshot")
def boots_from_no_snapshot(values: dict[str, Any]) -> list[Failure]:
    """Refuse snapshots as contents of boot disks."""
    return [
        ((*path, "initializeParams", name), "must not be set on a boot disk of a fleet; use an image: sourceImage")
        for path, disk in _disks(values)
        for name in _SNAPSHOTS
        if disk.get("boot") is True and nested(disk, "initializeParams").get(name) is not None
    ]


@rule("bulk creation does not support sole-tenant affinity", BULK_CREATION)
def is_on_no_node(values: dict[str, Any]) -> list[Failure]:
    """Refuse sole-tenant nodes."""
    if not nested(nested(values, "instanceProperties"), "scheduling").get("nodeAffinities"):
        return []
    words = "must not be set for a fleet: bulk creation does not create instances on sole-tenant nodes"
    return [(("instanceProperties", "scheduling", "nodeAffinities"), words)]


@rule("the machineType of a fleet is a bare name", "the API's description of bulk creation")
def machine_is_a_bare_name(values: dict[str, Any]) -> list[Failure]:
    """Refuse machine types of one zone."""
    if "/" not in text(nested(values, "instanceProperties"), "machineType"):
        return []
    return [("instanceProperties.machineType", "must be a bare name: the part behind the last slash")]


@rule("instanceProperties have a boot disk, unless sourceInstanceTemplate has one", BULK_CREATION)
def needs_a_boot_disk(values: dict[str, Any]) -> list[Failure]:
    """Miss a boot disk where no template gives one."""
    properties = values.get("instanceProperties")
    if values.get("sourceInstanceTemplate") is not None or not isinstance(properties, dict):
        return []
    return [(("instanceProperties", str(name)), reason) for name, reason in boot_disk_is_missing(properties)]


@rule(
    "sourceInstanceTemplate is an instance template, not a machine image; a regional one is in the fleet's region",
    "compute 4.3",
)
def template_is_of_the_region(values: dict[str, Any]) -> list[Failure]:
    """Refuse machine images, and templates of another region where both are known."""
    link, region = text(values, "sourceInstanceTemplate"), name_of(text(values, "region"))
    if "machineImages/" in link:
        words = "must be an instance template: bulk creation does not accept a machine image"
        return [("sourceInstanceTemplate", words)]
    found = re.search(r"(?:^|/)regions/([^/]+)/instanceTemplates/", link)
    if found is None or not region or found[1] == region:
        return []
    return [("sourceInstanceTemplate", f"must be global or in the fleet's region {region}, not in {found[1]}")]
