"""Rules across the properties of one object, and safe ways to read values that may be wrong or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from gcpx.model.numbers import as_number
from gcpx.model.values import Path

Failure = tuple[str | Path, str]
"""Where, from the object on (a dotted path, or its parts; empty for the object itself), and what is wrong there."""
Finder = Callable[[dict[str, Any]], list[Failure]]
"""From an object's values, unknown ones included, to what is wrong across them; an unknown is never wrong."""


@attrs.frozen
class Rule:
    """Something that has to hold across the properties of one object.

    Attributes:
        name: tells it apart within its object.
        words: what has to hold; also the reason given where values are secret.
        source: where Google says so.
        warns: what breaks it may still be right, so it is only warned about.
    """

    name: str
    words: str
    source: str
    find: Finder
    warns: bool = False

    def __call__(self, values: dict[str, Any]) -> list[Failure]:
        """Find what is wrong."""
        return self.find(values)


def rule(words: str, source: str, *, warns: bool = False) -> Callable[[Finder], Rule]:
    """Make a function a rule."""

    def made(find: Finder) -> Rule:
        return Rule(getattr(find, "__name__", "rule").strip("_"), words, source, find, warns)

    return made


def exclusive(*names: str, source: str = "the API's description") -> Rule:
    """At most one of these properties may be set."""

    def find(values: dict[str, Any]) -> list[Failure]:
        found = [name for name in names if values.get(name) is not None]
        return [(found[1], f"conflicts with {found[0]}: set only one of {', '.join(names)}")] if found[1:] else []

    return Rule(f"only one of {', '.join(names)}", f"only one of {', '.join(names)} may be set", source, find)


def one_required(*names: str, source: str = "the API's description") -> Rule:
    """At least one of these properties must be set."""

    def find(values: dict[str, Any]) -> list[Failure]:
        missing = all(values.get(name) is None for name in names)
        return [("", f"needs one of {' or '.join(names)}")] if missing else []

    return Rule(f"one of {' or '.join(names)}", f"needs one of {' or '.join(names)}", source, find)


def text(values: dict[str, Any], name: str) -> str:
    """Read a text; empty where there is none, or another thing."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def number(values: dict[str, Any], name: str) -> float | None:
    """Read a number, also one that is written as a text."""
    return as_number(values.get(name))


def nested(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Read an object; empty where there is none, or another thing."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def elements(values: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a list with their places."""
    value = values.get(name)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield index, item
