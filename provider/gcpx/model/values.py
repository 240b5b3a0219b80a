"""Unknown and secret values, and walks through values that may contain them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import attrs

Path = tuple[str | int, ...]
_WORD: Final = re.compile(r"[\w-]+")


class Unknown:
    """A value that becomes known only when its resource has been created."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final[Any] = Unknown()
"""The only instance; it takes the place of a value of any type."""


@attrs.frozen(repr=False)
class Secret:
    """A value that must never be shown, wrapped at its place in the tree."""

    value: Any

    def __repr__(self) -> str:
        return "<secret>"


@attrs.frozen
class Special:
    """A Pulumi value that no property accepts, such as an asset; Check refuses it.

    Attributes:
        name: its kind in words, possibly with what to write instead.
    """

    name: str


def is_below(path: Path, paths: Collection[Path]) -> bool:
    """Return whether a path is one of these paths, or is below one of them."""
    return any(path[: len(other)] == other for other in paths)


def reveal(value: Any) -> Any:
    """Return a tree with every secret replaced by its value; parts without secrets are not copied."""
    if not has_secret(value):
        return value
    if isinstance(value, Secret):
        return reveal(value.value)
    if isinstance(value, dict):
        return {key: reveal(item) for key, item in value.items()}
    return [reveal(item) for item in value]


def conceal(value: Any) -> Any:
    """Copy a tree with every secret replaced by an unknown."""
    if isinstance(value, Secret):
        return UNKNOWN
    if isinstance(value, dict):
        return {key: conceal(item) for key, item in value.items()}
    return [conceal(item) for item in value] if isinstance(value, list) else value


def leaves(value: Any) -> Iterator[Any]:
    """Yield every scalar of a tree, also within secrets."""
    if isinstance(value, Secret):
        yield from leaves(value.value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values without secrets are the same JSON; `True == 1` in Python. An unknown equals nothing."""
    if one != other:
        return False
    pending = [(one, other)]
    for left, right in pending:  # grows; equal values differ at most in types of numbers, booleans, unknowns
        kind = type(left)
        if kind is dict:
            pending += [(item, right[key]) for key, item in left.items() if type(item) is not str]
        elif kind is list:
            pending += [(item, beside) for item, beside in zip(left, right, strict=True) if type(item) is not str]
        elif kind is Unknown or (type(right) is not kind and bool in (kind, type(right))):
            return False
    return True


def has_unknown(value: Any) -> bool:
    """Return whether anything in a tree is unknown, also within secrets."""
    return _holds(value, Unknown)


def has_secret(value: Any) -> bool:
    """Return whether anything in a tree is secret."""
    return _holds(value, Secret)


def _holds(value: Any, wanted: type) -> bool:
    pending = [value]
    for item in pending:  # the list grows: this runs for every value of every resource, and recursion would be slower
        kind = type(item)
        if kind is wanted:
            return True
        if kind is dict:
            pending += item.values()
        elif kind is list:
            pending += item
        elif kind is Secret:
            pending.append(item.value)
    return False


def format_path(path: Path) -> str:
    """Write a path as the engine parses it: `a.b[0]["x.y"]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _WORD.fullmatch(part):
            text += f".{part}" if text else part
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


_PART: Final = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[]+)')


def parse_path(text: str) -> Path:
    """Read a path as the engine writes it, such as that of an ignored change.

    >>> parse_path('a.b[0]["x.y"]')
    ('a', 'b', 0, 'x.y')
    """
    return tuple(
        int(found[2]) if found[2] else found[3] or re.sub(r"\\(.)", r"\1", found[1]) for found in _PART.finditer(text)
    )
