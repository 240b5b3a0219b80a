"""Unknown and secret values, and walks through values that may contain them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import attrs

Path = tuple[str | int, ...]
_WORD: Final = re.compile(r"[\w-]+")
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class Unknown:
    """A value that is not known before the resource that it comes from has been created."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final[Any] = Unknown()
"""It stands in the place of a value of any type."""


@attrs.frozen(repr=False)
class Secret:
    """A value that must never be shown, wrapped at its place in the tree."""

    value: Any

    def __repr__(self) -> str:
        return "<secret>"


def is_below(path: Path, paths: Collection[Path]) -> bool:
    """Return whether a path is one of these paths, or is below one of them."""
    return any(path[: len(other)] == other for other in paths)


def reveal(value: Any) -> Any:
    """Copy a tree with every secret replaced by its value."""
    if isinstance(value, Secret):
        return reveal(value.value)
    if isinstance(value, dict):
        return {key: item if type(item) in _PLAIN else reveal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else reveal(item) for item in value]
    return value


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


def has_unknown(value: Any) -> bool:
    """Return whether anything in a tree is unknown, also within secrets."""
    return _holds(value, Unknown)


def has_secret(value: Any) -> bool:
    """Return whether anything in a tree is secret."""
    return _holds(value, Secret)


def _holds(value: Any, wanted: type) -> bool:
    if isinstance(value, wanted):
        return True
    if isinstance(value, Secret):
        return _holds(value.value, wanted)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:  # noqa: SIM110 - most are plain scalars, which need no call, and this is asked for every resource
        if type(item) not in _PLAIN and _holds(item, wanted):
            return True
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
