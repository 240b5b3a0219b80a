"""Checks values from responses against the declared types.

A wrong value in the state would look like drift, or like a missing resource; so a response with one is an error.
"""

from __future__ import annotations

from typing import Any, TypeVar

from gcpx.errors import MalformedResponse
from gcpx.model.check import PERCENTAGE, describe, describe_value
from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, Type
from gcpx.model.numbers import as_integer, as_number
from gcpx.model.values import Path, format_path

V = TypeVar("V")


def require_types(kind: Type, value: V, path: Path = ()) -> V:
    """Return a value from a response; raise MalformedResponse if any part of it has another type than declared.

    Null stands for a missing value, except as an element of a list.
    """
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        for name, item in value.items():
            require_types(kind.properties[name].type, item, (*path, name))
    elif isinstance(kind, MapOf) and isinstance(value, dict):
        for key, item in value.items():
            require_types(kind.item, item, (*path, key))
    elif isinstance(kind, ListOf) and isinstance(value, list) and None not in value:
        for index, item in enumerate(value):
            require_types(kind.item, item, (*path, index))
    elif value is not None and not (isinstance(kind, Scalar) and _is_scalar(kind, value)):
        raise MalformedResponse(
            f"Google's response has a different form than its API promises: {format_path(path) or 'it'} must be "
            f"{describe(kind)}, not {describe_value(value)}"
        )
    return value


def _is_scalar(kind: Scalar, value: Any) -> bool:
    if kind.name in {"string", "boolean"}:
        return isinstance(value, str if kind.name == "string" else bool)
    if kind.name == "integer":
        return as_integer(value) is not None
    return kind == Scalar("any") or kind == PERCENTAGE or as_number(value) is not None
