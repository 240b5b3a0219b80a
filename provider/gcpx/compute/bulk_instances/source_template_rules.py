"""Rules between `sourceInstanceTemplate` and the instance properties that override it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gcpx.compute.bulk_instances.fleet_id import membership_labels
from gcpx.compute.documentation import BULK_CREATION, rest
from gcpx.compute.instance_properties.instance_rules import boot_disk_is_missing
from gcpx.model.links import name_of
from gcpx.model.rules import Violation, nested, rule, text
from gcpx.model.values import Path

_TEMPLATE: Final = rest("regionInstances.bulkInsert", "sourceInstanceTemplate")
_PROPERTIES: Final = rest("regionInstances.bulkInsert", "instanceProperties")


@rule("sourceInstanceTemplate must be an instance template, not a machine image", BULK_CREATION)
def source_is_not_a_machine_image(values: dict[str, Any]) -> list[Violation]:
    """Refuse the link of a machine image."""
    if "machineImages/" not in text(values, "sourceInstanceTemplate"):
        return []
    return [("sourceInstanceTemplate", "must be an instance template: bulk creation does not accept a machine image")]


@rule("a regional sourceInstanceTemplate must be in the fleet's region", _TEMPLATE)
def regional_template_is_in_the_region(values: dict[str, Any]) -> list[Violation]:
    """Refuse a template of another region, if both regions are known."""
    link, region = text(values, "sourceInstanceTemplate"), name_of(text(values, "region"))
    found = re.search(r"(?:^|/)regions/([^/]+)/instanceTemplates/", link)
    if found is None or not region or found[1] == region:
        return []
    return [("sourceInstanceTemplate", f"must be global or in the fleet's region {region}, not in {found[1]}")]


@rule("instanceProperties must have a boot disk, unless sourceInstanceTemplate has one", _PROPERTIES)
def boot_disk_is_required(values: dict[str, Any]) -> list[Violation]:
    """Require a boot disk, if there is no template that can have one."""
    properties = values.get("instanceProperties")
    if values.get("sourceInstanceTemplate") is not None or not isinstance(properties, dict):
        return []
    return [(("instanceProperties", str(name)), reason) for name, reason in boot_disk_is_missing(properties)]


@rule(
    "instanceProperties.labels must not be null, because gcpx sets a label; null removes a label by its key", _TEMPLATE
)
def template_labels_are_removed_one_by_one(values: dict[str, Any]) -> list[Violation]:
    """Refuse null for all labels, if gcpx has to set one of them."""
    properties = nested(values, "instanceProperties")
    if values.get("sourceInstanceTemplate") is None or properties.get("labels", {}) is not None:
        return []
    if not membership_labels(text(values, "fleetId")):
        return []
    words = (
        "must not be null, because gcpx finds the members by a label: to remove labels, set each of their keys to null"
    )
    return [(("instanceProperties", "labels"), words)]


@rule("objects in instanceProperties that override a template should not be empty", _TEMPLATE, warns=True)
def overrides_are_not_empty(values: dict[str, Any]) -> list[Violation]:
    """Warn about an empty object, which usually remains after an SDK has dropped nulls."""
    if values.get("sourceInstanceTemplate") is None:
        return []
    words = (
        "is empty, so it changes nothing in the template: leave it out, or, if the program has a null here, write it "
        "in a Python dict, because YAML programs and the SDK's typed classes drop nulls"
    )
    return [(path, words) for path in _empty_objects(values.get("instanceProperties"), ("instanceProperties",))]


def _empty_objects(value: Any, path: Path) -> Iterator[Path]:
    if value == {}:
        yield path
    for name, item in value.items() if isinstance(value, dict) else ():
        yield from _empty_objects(item, (*path, name))
