"""Responses of the emulator with one wrong value, generated from the responses that it really gives."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
from interception import Interceptor

MISSING = object()
"""Stands for a value that is left out."""
WRONG = (None, 7, "x", [], {}, True, MISSING)
"""What replaces each value of a response."""
TRICKS = ("\x1b[31m\u202e\x00 rlo", "\ud800", "SOMETHING_NEW", "long" * 50_000)
"""What also replaces each text: terminal codes, marks that reverse the direction, half a character, unknown values."""
Path = tuple[str | int, ...]
_OPERATION = re.compile(r"operation-[\w-]+")


@attrs.frozen
class Wrong:
    """One wrong value in one response.

    Attributes:
        response: which response, as `ResponseBodies.bodies` names it.
        path: where the value is in the body; empty for the body itself.
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
        for part in self.path[:-1]:
            owner = owner[part]
        if self.value is MISSING:
            del owner[self.path[-1]]
        else:
            owner[self.path[-1]] = self.value
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


def _nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value with its path; of values that differ in their keys alone, the parts of the first one only.

    An aggregated list has the same warning for each of its many empty zones.
    """
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    shapes: set[str] = set()
    for key, item in items:
        shape = json.dumps(item).replace(str(key), "KEY")
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
