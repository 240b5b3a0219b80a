"""Constraints: what objects in requests must satisfy beyond the types in their schemas."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs

from gcpx_emulator.core.discovery import Document, Method
from gcpx_emulator.core.errors import ApiError, invalid
from gcpx_emulator.core.json_data import Json

_LONGEST_VALUE: Final = 100
"""The number of characters of a value that an error message repeats."""
Accepts = Callable[[Any], bool]


@attrs.frozen
class Constraint:
    """What the objects of one schema must satisfy, wherever requests have them.

    Attributes:
        schema: the API's name of the object.
        field: the field that is constrained, which an error names: dotted, with `[]` for each element of a list, `{}`
            for each key of a map and `*` for each value of a map.
        message: what is required.
        accepts: tells whether the field's value satisfies the constraint.
        of_object: `accepts` gets the whole object, for constraints of several fields.
        methods: the beginnings of the IDs of the methods that it applies to; empty for all.
        secret: an error does not repeat the value.
    """

    schema: str
    field: str
    message: str
    accepts: Accepts
    of_object: bool = attrs.field(default=False, kw_only=True)
    methods: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    secret: bool = attrs.field(default=False, kw_only=True)

    def check(self, method: Method, where: str, value: Json) -> None:
        """Refuse an object that violates the constraint."""
        if self.methods and not method.id.startswith(self.methods):
            return
        if self.of_object:
            if not self.accepts(value):
                first = next((item for _, item in field_values(value, self.field)), "")
                raise self._violation(f"{where}.{self.field}", first)
            return
        for path, item in field_values(value, self.field):
            if not self.accepts(item):
                raise self._violation(f"{where}.{path}", item)

    def _violation(self, field: str, value: Any) -> ApiError:
        return invalid(field, "" if self.secret else _shortened(value), self.message)


def _shortened(value: Any) -> str:
    text = "" if isinstance(value, dict | list) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


class ConstraintTable:
    """Constraints, looked up by schema."""

    def __init__(self, constraints: Iterable[Constraint]) -> None:
        self._by_schema: defaultdict[str, list[Constraint]] = defaultdict(list)
        for constraint in constraints:
            self._by_schema[constraint.schema].append(constraint)

    def check(self, method: Method, schema: str, value: Any, where: str) -> None:
        """Check every object in a value of a schema; `where` is the value's path in error messages."""
        for name, path, item in _objects(method.document, {"$ref": schema}, value, where):
            for constraint in self._by_schema[name]:
                constraint.check(method, path, item)


def field_values(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of a field in an object, each with its path; null and absent values are left out."""
    head, _, rest = field.partition(".")
    for path, item in _spread(head, value if isinstance(value, dict) else {}):
        if item is None:
            continue
        if not rest:
            yield path, item
        for inner_path, inner in field_values(item, rest) if rest else ():
            yield f"{path}.{inner_path}", inner


def _spread(head: str, value: Json) -> Iterator[tuple[str, Any]]:
    """Yield the values of the first part of a field."""
    name = head.rstrip("[]{}")
    if head == "*":
        yield from value.items()
    elif head.endswith("[]"):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value.get(name) or ()))
    elif head.endswith("{}"):
        yield from ((f"{name}.{key}", key) for key in value.get(name) or ())
    else:
        yield name, value.get(name)


def _objects(document: Document, spec: Json, value: Any, where: str) -> Iterator[tuple[str, str, Json]]:
    """Yield every object in a value: the name of its schema, its path, and the object."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(document, spec.get("items", {}), item, f"{where}[{index}]")
    if not isinstance(value, dict):
        return
    if "$ref" in spec:
        yield spec["$ref"], where, value
        spec = document.schemas[spec["$ref"]]
    known, other = spec.get("properties", {}), spec.get("additionalProperties", {})
    for key, item in value.items():
        yield from _objects(document, known.get(key, other), item, f"{where}.{key}")


def between(low: int, high: int, step: int = 1) -> Accepts:
    """Accept whole numbers from `low` to `high`, both included, in steps that begin at `low`."""
    return lambda value: low <= int(value) <= high and (int(value) - low) % step == 0


def at_least(low: int) -> Accepts:
    """Accept whole numbers of at least `low`."""
    return lambda value: int(value) >= low


def matches(pattern: str | re.Pattern[str]) -> Accepts:
    """Accept strings that match as a whole."""
    return lambda value: re.fullmatch(pattern, value) is not None


def at_most_one(*names: str) -> Accepts:
    """Accept objects with at most one of these fields."""
    return lambda value: sum(value.get(name) is not None for name in names) <= 1
