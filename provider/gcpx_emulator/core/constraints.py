"""What a rule is that requests are held to beyond the types of their fields, and how its fields are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx_emulator.core.discovery import Document, Json
from gcpx_emulator.core.errors import invalid

NAME: Final = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
NAME_WORDS: Final = (
    "Must be 1 to 63 lower-case letters, digits and hyphens, as RFC 1035 has it, beginning with a letter."
)
TEMPLATES: Final = ("compute.instanceTemplates.", "compute.regionInstanceTemplates.")
"""Methods whose properties are kept, and are of no zone yet."""
_SHOWN: Final = 100
"""Characters of a value that a refusal repeats."""


@attrs.frozen(kw_only=True)
class Rule:
    """What an object of a request has to be like.

    Attributes:
        schema: the API's name of the object; the rule holds wherever a request has one.
        field: what is bounded, and what a refusal names; dotted, with `[]` for each element of a list, `{}` for each
            key of a map and `*` for each of its values.
        words: what is required.
        holds: tells whether the field's value is right, or the whole object, for rules across fields.
        across: `holds` gets the object.
        only: beginnings of the IDs of the methods that have the rule; empty for all.
        secret: a refusal does not repeat the value.
    """

    schema: str
    field: str
    words: str
    holds: Callable[[Any], bool]
    across: bool = False
    only: tuple[str, ...] = ()
    secret: bool = False

    def check(self, method: str, where: str, found: Json) -> None:
        """Refuse an object that breaks the rule."""
        if self.only and not method.startswith(self.only):
            return
        if self.across:
            if not self.holds(found):
                value = next((value for _, value in places(found, self.field)), "")
                raise self._refusal(f"{where}.{self.field}", value)
            return
        for path, value in places(found, self.field):
            if not self.holds(value):
                raise self._refusal(f"{where}.{path}", value)

    def _refusal(self, field: str, value: Any) -> Exception:
        return invalid(field, "" if self.secret else _short(value), self.words)


def _short(value: Any) -> str:
    text = "" if isinstance(value, dict | list) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def places(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Find a field's values, with their paths; what is null or absent is not found."""
    head, _, rest = field.partition(".")
    for path, item in _spread(head, value if isinstance(value, dict) else {}):
        if item is None:
            continue
        if not rest:
            yield path, item
        for inner, deeper in places(item, rest) if rest else ():
            yield f"{path}.{inner}", deeper


def _spread(head: str, value: Json) -> Iterator[tuple[str, Any]]:
    name = head.rstrip("[]{}")
    if head == "*":
        yield from value.items()
    elif head.endswith("[]"):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value.get(name) or ()))
    elif head.endswith("{}"):
        yield from ((f"{name}.{key}", key) for key in value.get(name) or ())
    else:
        yield name, value.get(name)


def objects(document: Document, schema: str, value: Any, where: str) -> Iterator[tuple[str, str, Json]]:
    """Walk over the objects of a body: the name of each one's schema, its path, and the object itself."""
    yield from _walk(document, {"$ref": schema}, value, where)


def _walk(document: Document, spec: Json, value: Any, where: str) -> Iterator[tuple[str, str, Json]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(document, spec.get("items", {}), item, f"{where}[{index}]")
    if not isinstance(value, dict):
        return
    if "$ref" in spec:
        yield spec["$ref"], where, value
        spec = document.schemas[spec["$ref"]]
    known, other = spec.get("properties", {}), spec.get("additionalProperties", {})
    for key, item in value.items():
        yield from _walk(document, known.get(key, other), item, f"{where}.{key}")


def between(low: int, high: int, step: int = 1) -> Callable[[Any], bool]:
    """Take whole numbers from one bound to the other, both included, in steps from the first."""
    return lambda value: low <= int(value) <= high and (int(value) - low) % step == 0


def at_least(low: int) -> Callable[[Any], bool]:
    """Take whole numbers from a bound on."""
    return lambda value: int(value) >= low


def like(pattern: str | re.Pattern[str]) -> Callable[[Any], bool]:
    """Take texts that match as a whole."""
    return lambda value: re.fullmatch(pattern, value) is not None


def at_most_one(*names: str) -> Callable[[Any], bool]:
    """Take objects that have no two of these fields."""
    return lambda found: sum(found.get(name) is not None for name in names) <= 1
