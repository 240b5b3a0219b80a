"""Hints for properties that do not exist: the one that was probably meant, or the place where it belongs."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator
from typing import Final

from gcpx.model.fields import ListOf, ObjectType, object_of
from gcpx.model.values import Path

_UNDERSCORE: Final = re.compile(r"_([a-z])")


def unknown_property(root: ObjectType, kind: ObjectType, path: Path) -> str:
    """Say that the last part of `path` is not a property of `kind`, and what to write instead.

    `root` is the declaration of all inputs, in which the property may belong somewhere else.
    """
    # SDKs send a property that they do not know as it was written, which in Python is `source_image`.
    name = _UNDERSCORE.sub(lambda found: found[1].upper(), str(path[-1]))
    close = difflib.get_close_matches(name, kind.inputs, n=1, cutoff=0.6)
    below, anywhere = _places(root, kind, name, path)
    if name in kind.hints:
        return kind.hints[name]
    if close and not below:
        return f"is not a property here; did you mean {close[0]}?"
    if "*" in kind.hints:
        return kind.hints["*"]
    if anywhere:
        return f"does not belong here; it is a property of {' and of '.join(below or anywhere)}"
    return f"is not a property here; the allowed properties are {', '.join(sorted(kind.inputs))}"


def _places(root: ObjectType, kind: ObjectType, name: str, path: Path) -> tuple[list[str], list[str]]:
    """Return the places of objects that have a property: those below this object, and all."""
    here = "".join("[]" if isinstance(part, int) else f".{part}" for part in path[:-1]).lstrip(".")
    places = [place for place, owner in _owners_by_property(root).get(name, ()) if owner is not kind]
    return [place for place in places if place.startswith(here)], places


@functools.cache
def _owners_by_property(root: ObjectType) -> dict[str, list[tuple[str, ObjectType]]]:
    """Return for each property the objects that have it, with their places."""
    owners: dict[str, list[tuple[str, ObjectType]]] = {}
    for where, owner in _owners(root):
        for name in owner.inputs:
            owners.setdefault(name, []).append((where, owner))
    return owners


def _owners(kind: ObjectType, path: str = "") -> Iterator[tuple[str, ObjectType]]:
    yield path or "the resource itself", kind
    for name, prop in kind.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            suffix = "[]" if isinstance(prop.type, ListOf) else ""
            yield from _owners(inner, f"{path}.{name}{suffix}" if path else f"{name}{suffix}")
