"""Every place in a resource's inputs where a secret can be planted, from the declarations."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import attrs
from engines.driver import secret

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type

Path = tuple[str | int, ...]
KEY = "planted-key"


@attrs.frozen
class Place:
    """A place in inputs.

    Attributes:
        form: `value` for the value alone, `around` for the property that contains it, `key` for the key of a map, and
            `unmarked` for a value that is secret by declaration only.
    """

    path: Path
    form: str

    def plant(self, inputs: dict[str, Any], marker: str) -> dict[str, Any]:
        """Return inputs with a secret at this place."""
        planted = copy.deepcopy(inputs)
        if self.form == "key":
            return _put(planted, self.path[:-1], secret({marker: "x"}))
        if self.form == "around":
            top = _put({}, self.path, marker)[self.path[0]]
            return planted | {self.path[0]: secret(top)}
        return _put(planted, self.path, marker if self.form == "unmarked" else secret(marker))


def places(kind: ObjectType) -> Iterator[Place]:
    """Yield every place in the inputs of a declaration."""
    for path, is_secret in _scalars(kind, ()):
        yield Place(path, "value")
        yield Place(path, "around")
        if is_secret:
            yield Place(path, "unmarked")
        if path[-1] == KEY:
            yield Place(path, "key")


def _scalars(kind: Type, path: Path, is_secret: bool = False) -> Iterator[tuple[Path, bool]]:
    if isinstance(kind, ObjectType):
        for name, prop in kind.inputs.items():
            yield from _scalars(prop.type, (*path, name), is_secret or prop.traits.secret)
    elif isinstance(kind, ListOf):
        yield from _scalars(kind.item, (*path, 0), is_secret)
    elif isinstance(kind, MapOf):
        yield from _scalars(kind.item, (*path, KEY), is_secret)
    else:
        yield path, is_secret


def _put(value: Any, path: Path, leaf: Any) -> Any:
    """Put a leaf at a path; what is missing on the way is made."""
    if not path:
        return leaf
    head, *rest = path
    if isinstance(head, int):
        items = value if isinstance(value, list) and value else [None]
        return [_put(items[0], tuple(rest), leaf), *items[1:]]
    before = value if isinstance(value, dict) else {}
    return before | {head: _put(before.get(head), tuple(rest), leaf)}
