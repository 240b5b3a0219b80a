"""The shapes of responses: their fields and the forms of these."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from verify_google.place import Exchange

_FORMS: Final = (
    (re.compile(r"https?://.*"), "URL"),
    (re.compile(r"//.*"), "full resource name"),
    (re.compile(r"(?:projects|zones|regions|global|b|users)/.*"), "partial URL"),
    (re.compile(r"\d{4}-\d\d-\d\dT.*"), "time"),
    (re.compile(r"\d+"), "digits"),
)
_MAPS: Final = re.compile(r"(?:^|[.])(?:labels|perLocationStatus|custom_attributes|sshPublicKeys|locations)$")
"""The paths of objects with arbitrary keys instead of fields."""
Shape = dict[str, set[str]]
"""The forms of each field, by its path."""


def form_of(value: Any) -> str:
    """Return the form of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "list"
    if value is None:
        return "null"
    return next((form for pattern, form in _FORMS if pattern.fullmatch(str(value))), "text")


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if path:
        yield path, form_of(value)
    if isinstance(value, list):
        for item in value:
            yield from _fields(item, f"{path}[]")
    if isinstance(value, dict):
        for key, item in value.items():
            name = "*" if _MAPS.search(path) or "/" in key or key == "global" else key
            yield from _fields(item, f"{path}.{name}" if path else name)


def shapes_of(exchanges: Iterable[Exchange]) -> dict[tuple[str, int], Shape]:
    """Return the shape of the responses of each method, by its ID and the status."""
    found: dict[tuple[str, int], Shape] = defaultdict(lambda: defaultdict(set))
    for exchange in exchanges:
        shape = found[exchange.method, exchange.status]
        for path, form in _fields(exchange.response):
            shape[path].add(form)
    return found


def differences(google: Iterable[Exchange], emulator: Iterable[Exchange]) -> list[str]:
    """Compare responses with the same method and status; return a line for each difference."""
    theirs, ours = shapes_of(google), shapes_of(emulator)
    lines = [
        f"{method} {status}: only {who} answered with this status"
        for one, other, who in ((theirs, ours, "Google"), (ours, theirs, "the emulator"))
        for method, status in sorted(one.keys() - other.keys())
    ]
    for method, status in sorted(theirs.keys() & ours.keys()):
        one, other = theirs[method, status], ours[method, status]
        where = f"{method} {status}"
        lines += [
            f"{where}: only Google has {path} ({_forms(one[path])})" for path in sorted(one.keys() - other.keys())
        ]
        lines += [
            f"{where}: only the emulator has {path} ({_forms(other[path])})"
            for path in sorted(other.keys() - one.keys())
        ]
        lines += [
            f"{where}: {path} is {_forms(one[path])} at Google, and {_forms(other[path])} in the emulator"
            for path in sorted(one.keys() & other.keys())
            if one[path].isdisjoint(other[path])
        ]
    return lines


def _forms(forms: set[str]) -> str:
    return " or ".join(sorted(forms))
