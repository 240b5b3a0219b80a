"""A fleet's overrides of its instance template, merged by JSON Merge Patch (RFC 7396)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gcpx.compute.bulk_instances.fleet import TRACKING_LABEL, labels_of
from gcpx.model.rules import Failure, nested, rule, text
from gcpx.model.values import Path

_SOURCE: Final = "compute 4.3"
_SETTINGS: Final = ("tags", "metadata")
_NOTHING: Final = object()


@rule("labels of a template are removed one by one, because members are found by a label", _SOURCE)
def labels_are_removed_one_by_one(values: dict[str, Any]) -> list[Failure]:
    """Refuse to remove all labels at once, because gcpx sets a label in the same object."""
    properties = nested(values, "instanceProperties")
    if values.get("sourceInstanceTemplate") is None or properties.get("labels", {}) is not None:
        return []
    if not labels_of(text(values, "fleetId")):
        return []
    reason = "must not be null, because members are found by a label: to remove labels, set each of their keys to null"
    return [(("instanceProperties", "labels"), reason)]


@rule(
    "an object that overrides part of a template is not empty; a null that the SDK drops removes nothing",
    _SOURCE,
    warns=True,
)
def overrides_hold_something(values: dict[str, Any]) -> list[Failure]:
    """Warn about an empty object, which usually results from an SDK that drops nulls."""
    if values.get("sourceInstanceTemplate") is None:
        return []
    reason = (
        "is empty, so it changes nothing in the template; if the program has a null here, it was dropped: YAML "
        "programs and the SDK's typed classes drop nulls, while a dict in a Python program keeps them"
    )
    return [(path, reason) for path in _empty(values.get("instanceProperties"), ("instanceProperties",))]


def _empty(value: Any, path: Path) -> Iterator[Path]:
    if value == {}:
        yield path
    for name, item in value.items() if isinstance(value, dict) else ():
        yield from _empty(item, (*path, name))


def differ(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tell whether the overrides of labels, tags or metadata differ; null and missing are not the same."""
    return any(before.get(name, _NOTHING) != after.get(name, _NOTHING) for name in ("labels", *_SETTINGS))


def laid_over(template: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Say what labels, tags and metadata instances have; a label that is removed stays as null."""
    below = {key: value for key, value in (template.get("labels") or {}).items() if key != TRACKING_LABEL}
    labels = {**below, **(overrides.get("labels") or {})}
    return {"labels": labels, **{name: _merged(template.get(name), overrides, name) for name in _SETTINGS}}


def _merged(below: Any, overrides: dict[str, Any], name: str) -> dict[str, Any]:
    if name in overrides and overrides[name] is None:
        return {}
    return {**(below or {}), **(overrides.get(name) or {})}
