"""Every rule that requests are held to, and the one place where they are."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from gcpx_emulator.compute.constraints import bulk_insert, disks, instances, labels, network_interfaces
from gcpx_emulator.core.constraints import Rule, objects
from gcpx_emulator.core.discovery import Document, Json, Method, document

RULES: Final = (*bulk_insert.RULES, *disks.RULES, *instances.RULES, *labels.RULES, *network_interfaces.RULES)
_BY_SCHEMA: Final[defaultdict[str, list[Rule]]] = defaultdict(list)
for _rule in RULES:
    _BY_SCHEMA[_rule.schema].append(_rule)


def check_body(method: Method, body: Json) -> None:
    """Refuse a body that breaks a rule.

    Properties that are to be merged into a template's are only checked when they are.
    """
    if method.request is None or not method.id.startswith("compute."):
        return
    if body.get("sourceInstanceTemplate"):
        body = {key: value for key, value in body.items() if key != "instanceProperties"}
    _check(method.document, method.id, method.request, body, "resource")


def check_merged(version: str, method: str, properties: Json) -> None:
    """Refuse properties of a bulk creation, as they are when the template's are in them."""
    found = document(f"compute.{version}")
    _check(found, method, "InstanceProperties", properties, "resource.instanceProperties")


def _check(within: Document, method: str, schema: str, body: Json, where: str) -> None:
    for name, path, found in objects(within, schema, body, where):
        for rule in _BY_SCHEMA[name]:
            rule.check(method, path, found)
