"""Rules across the properties of one object, and functions that read values which may be wrong or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from gcpx.model.numbers import as_number
from gcpx.model.values import Path

Violation = tuple[str | Path, str]
"""A place within the object (a dotted path, or its parts; empty for the object itself), and what is required there."""
Finder = Callable[[dict[str, Any]], list[Violation]]
"""Finds what is wrong across an object's values, without secrets; an unknown is never wrong."""


@attrs.frozen
class Rule:
    """A rule that the properties of one object must meet together.

    Attributes:
        name: unique within the object.
        words: what the rule requires; they are also the reason that is shown if values are secret.
        source: where the rule is documented: something that a reader can open.
        warns: values that break the rule may still be accepted by Google, so they cause a warning, not a failure.
    """

    name: str
    words: str
    source: str
    find: Finder
    warns: bool = False

    def __call__(self, values: dict[str, Any]) -> list[Violation]:
        """Find what breaks the rule."""
        return self.find(values)


def rule(words: str, source: str, *, warns: bool = False) -> Callable[[Finder], Rule]:
    """Make a function a rule; its name is the rule's."""

    def made(find: Finder) -> Rule:
        return Rule(getattr(find, "__name__", "rule").strip("_"), words, source, find, warns)

    return made


def exclusive(*names: str, source: str = "the API's description") -> Rule:
    """Allow at most one of these properties."""

    def find(values: dict[str, Any]) -> list[Violation]:
        found = [name for name in names if values.get(name) is not None]
        return [(found[1], f"conflicts with {found[0]}: set only one of {', '.join(names)}")] if found[1:] else []

    return Rule(f"only one of {', '.join(names)}", f"only one of {', '.join(names)} may be set", source, find)


def one_required(*names: str, source: str = "the API's description") -> Rule:
    """Require at least one of these properties."""

    def find(values: dict[str, Any]) -> list[Violation]:
        missing = all(values.get(name) is None for name in names)
        return [("", f"needs one of {' or '.join(names)}")] if missing else []

    return Rule(f"one of {' or '.join(names)}", f"needs one of {' or '.join(names)}", source, find)


def text(values: dict[str, Any], name: str) -> str:
    """Read a string; empty if the value is missing, unknown or of another type."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def number(values: dict[str, Any], name: str) -> float | None:
    """Read a number, which may be written as a string; None if it is missing, unknown or of another type."""
    return as_number(values.get(name))


def nested(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Read an object; empty if the value is missing, unknown or of another type."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def elements(values: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a list, with their indexes; other elements are skipped."""
    value = values.get(name)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield index, item
