"""Values that were read from responses, compared with the declared types.

A wrong value in the state would look like drift, or like a resource that is gone; so nothing follows from a response
that has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gcpx.errors import MalformedResponse
from gcpx.model.check import PERCENTAGE, describe, describe_value
from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, Type
from gcpx.model.numbers import as_integer, as_number
from gcpx.model.values import Path, format_path


def require_types(kind: ObjectType, properties: dict[str, Any]) -> dict[str, Any]:
    """Return properties that were read from a response; raise MalformedResponse if one has not its declared type."""
    for path, expected, value in _mismatches(kind, properties, ()):
        raise MalformedResponse(
            f"Google's response has another form than its API promises: {format_path(path) or 'it'} must be "
            f"{describe(expected)}, not {describe_value(value)}"
        )
    return properties


def _mismatches(kind: Type, value: Any, path: Path) -> Iterator[tuple[Path, Type, Any]]:
    """Yield the values of other types than the declared ones; null stands for a missing value."""
    if value is None or (isinstance(kind, Scalar) and _is_scalar(kind, value)):
        return
    parts = _parts(kind, value)
    if parts is None:
        yield path, kind, value
    for name, inner, item in parts or ():
        yield from _mismatches(inner, item, (*path, name))


def _parts(kind: Type, value: Any) -> list[tuple[str | int, Type, Any]] | None:
    """Return the parts of a value with their types; None if the value is not of the type."""
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return [(name, kind.properties[name].type, item) for name, item in value.items()]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return [(name, kind.item, item) for name, item in value.items()]
    if isinstance(kind, ListOf) and isinstance(value, list):
        return None if None in value else [(index, kind.item, item) for index, item in enumerate(value)]
    return None


def _is_scalar(kind: Scalar, value: Any) -> bool:
    if kind.name in {"string", "boolean"}:
        return isinstance(value, str if kind.name == "string" else bool)
    if kind.name == "integer":
        return as_integer(value) is not None
    return kind == Scalar("any") or kind == PERCENTAGE or as_number(value) is not None
