"""Responses of the emulator with one wrong value, generated from the responses that it really gives."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
from faults.interception import Interceptor

MISSING = object()
"""Stands for a value that is left out."""
WRONG = (None, 7, "x", [], {}, True, MISSING)
"""What replaces each value of a response."""
TRICKS = ("\x1b[31m\u202e\x00 rlo", "\ud800", "SOMETHING_NEW", "long" * 50_000)
"""What also replaces each text: terminal codes, marks that reverse the direction, half a character, unknown values."""
Path = tuple[str | int, ...]
_OPERATION = re.compile(r"operation-[\w-]+")
_RANDOM = re.compile(
    rf"{_OPERATION.pattern}|[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}|\d{{4}}-\d\d-\d\dT[\d:.]+"
)
"""Names of operations, IDs of requests and times: they differ in each run, and decide the order of lists."""


@attrs.frozen
class Wrong:
    """One wrong value in one response.

    Attributes:
        response: which response, as `ResponseBodies.bodies` names it.
        path: where the value is in the body; empty for the body itself. A number counts the items of a list in the order
            of what they contain, without what is random in them.
        value: what stands there instead.
    """

    response: str
    path: Path
    value: Any

    def apply(self, body: Any) -> Any:
        """Return a body with the wrong value."""
        if not self.path:
            return "" if self.value is MISSING else self.value
        changed = copy.deepcopy(body)
        owner = changed
        *parents, last = self.path
        for part in parents:
            owner = owner[_key(owner, part)]
        if self.value is MISSING:
            del owner[_key(owner, last)]
        else:
            owner[_key(owner, last)] = self.value
        return changed

    def __str__(self) -> str:
        value = "missing" if self.value is MISSING else ascii(self.value)[:30]
        return f"{self.response}: {'.'.join(map(str, self.path)) or 'body'} = {value}"


def wrongs(bodies: dict[str, Any]) -> Iterator[Wrong]:
    """Yield every wrong value of every response."""
    for response, body in bodies.items():
        for path, value in _nodes(body):
            for wrong in (*WRONG, *(TRICKS if isinstance(value, str) else ())):
                if wrong is MISSING or type(wrong) is not type(value) or wrong != value:
                    yield Wrong(response, path, wrong)


def _shape(value: Any) -> str:
    """Write a value without what is random in it."""
    return _RANDOM.sub("RANDOM", json.dumps(value, sort_keys=True))


def _ordered(items: list[Any]) -> list[int]:
    """Return the indexes of a list's items in the order of what these contain."""
    return sorted(range(len(items)), key=lambda index: _shape(items[index]))


def _key(owner: Any, part: str | int) -> Any:
    """Return the key or index of a part of a path."""
    return _ordered(owner)[part] if isinstance(owner, list) and isinstance(part, int) else part


def _nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value with its path; of values alike but for keys and random parts, the parts of the first.

    An aggregated list has the same warning for each of its many empty zones, and a list has many operations.
    """
    yield path, value
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        items = [(number, value[index]) for number, index in enumerate(_ordered(value))]
    shapes: set[str] = set()
    for key, item in items:
        shape = _shape(item).replace(str(key), "KEY") if isinstance(key, str) else _shape(item)
        is_repeated = isinstance(item, dict) and shape in shapes
        shapes.add(shape)
        yield from [((*path, key), item)] if is_repeated else _nodes(item, (*path, key))


@attrs.define
class ResponseBodies:
    """The bodies of an emulator's responses: they are recorded, and one has a wrong value.

    Attributes:
        bodies: the bodies of the responses since `begin`, as the emulator gave them, by the request and how often it
            was sent before. Requests are sent side by side, so the order of the responses names none of them.
        replaced: whether the wrong value was in a response.
    """

    interceptor: Interceptor
    wrong: Wrong | None = None
    bodies: dict[str, Any] = attrs.Factory(dict)
    replaced: bool = False

    def begin(self, wrong: Wrong | None = None) -> None:
        """Begin to record responses, and to replace a value in one of them."""
        self.wrong, self.bodies, self.replaced = wrong, {}, False
        self.interceptor.rewrite = self._rewrite

    def _rewrite(self, request: str, body: bytes) -> bytes:
        name = self._name(request)
        self.bodies[name] = json.loads(body) if body else {}
        if self.wrong is None or self.wrong.response != name:
            return body
        changed, self.replaced = self.wrong.apply(self.bodies[name]), True
        return b"" if changed == "" else json.dumps(changed).encode()

    def _name(self, request: str) -> str:
        """Name the response to a request; names of operations are random."""
        sent = _OPERATION.sub("OPERATION", request)
        return next(name for number in itertools.count() if (name := f"{sent} #{number}") not in self.bodies)
