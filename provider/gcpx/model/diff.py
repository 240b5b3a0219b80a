"""What changed between two sets of inputs, as exact paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import attrs

from gcpx.model.compare import ANYWHERE, Comparison, is_absent, is_patch
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type
from gcpx.model.values import UNKNOWN, Path, has_unknown

Kind = Literal["add", "delete", "update"]
_MISSING = object()
"""Marks a missing value, where missing differs from null."""


@attrs.frozen
class Change:
    """One path whose value differs.

    Attributes:
        made_up: after an import it is no change: of what the server never shows, or the leaving out of what it chose.
    """

    path: Path
    kind: Kind
    replaces: bool
    made_up: bool = False


def diff(
    kind: ObjectType, old: dict[str, Any], new: dict[str, Any], live: dict[str, Any], how: Comparison = ANYWHERE
) -> list[Change]:
    """Compare old and new inputs; all without secrets.

    `live` holds the outputs: a property that the user newly sets to what the server already has is no change.
    """
    certain = not has_unknown(old) and not has_unknown(new)
    return list(_Differ(certain, how, attrs.evolve(how, sure=False)).objects(kind, old, new, live, (), False))


@attrs.frozen
class _Differ:
    """One comparison.

    Attributes:
        certain: nothing is unknown, so what is the same to Python is no change, and need not be walked through.
        how: old and new inputs are compared.
        shown: what Google shows and new inputs are compared.
        patch: this is within what is laid over something else: null, a default and nothing at all say different things.
    """

    certain: bool
    how: Comparison
    shown: Comparison
    patch: bool = False

    def objects(
        self, kind: ObjectType, old: dict[str, Any], new: dict[str, Any], live: Any, path: Path, replaces: bool
    ) -> Iterator[Change]:
        seen = live if isinstance(live, dict) else {}
        absent = _MISSING if self.patch else None
        for name, prop in kind.inputs.items():
            before, after = old.get(name, absent), new.get(name, absent)
            if self.certain and before == after:
                continue
            walk = attrs.evolve(self, patch=True) if is_patch(prop, new) else self
            changes = walk._property(  # noqa: SLF001 - another walk of this class
                prop, before, after, seen.get(name), (*path, name), replaces or prop.traits.immutable
            )
            for change in changes:
                yield attrs.evolve(change, made_up=True) if prop.traits.write_only else change

    def _property(self, prop: Property, old: Any, new: Any, live: Any, path: Path, replaces: bool) -> Iterator[Change]:
        if self._is_absent(prop, old):
            if not self._is_absent(prop, new) and (self.patch or not self.shown.same(prop, live, new)):
                yield Change(path, "add", replaces)
        elif self._is_absent(prop, new):
            yield Change(path, "delete", replaces, made_up=prop.traits.computed)
        else:
            yield from self._values(prop, prop.type, old, new, live, path, replaces)

    def _is_absent(self, prop: Property, value: Any) -> bool:
        if not self.patch:
            return is_absent(prop, value)
        return _says_nothing(value) or (value is None and bool(prop.traits.patches))

    def _values(
        self, prop: Property, kind: Type, old: Any, new: Any, live: Any, path: Path, replaces: bool
    ) -> Iterator[Change]:
        if old is UNKNOWN or new is UNKNOWN:
            yield Change(path, "update", replaces)
        elif isinstance(kind, ObjectType) and isinstance(old, dict) and isinstance(new, dict):
            yield from self.objects(kind, old, new, live, path, replaces)
        elif isinstance(kind, MapOf) and isinstance(old, dict) and isinstance(new, dict):
            yield from self._maps(prop, kind, old, new, path, replaces)
        elif isinstance(kind, ListOf) and isinstance(old, list) and isinstance(new, list):
            yield from self._lists(prop, kind, old, new, live, path, replaces)
        elif not self.how.equal(prop, kind, old, new):
            yield Change(path, "update", replaces)

    def _maps(self, prop: Property, kind: MapOf, old: Any, new: Any, path: Path, replaces: bool) -> Iterator[Change]:
        if not self.patch:
            old, new = _without_nulls(old), _without_nulls(new)
        for key in sorted((old.keys() | new.keys()) - prop.traits.merge_keys):
            if key not in new:
                yield Change((*path, key), "delete", replaces)
            elif key not in old:
                yield Change((*path, key), "add", replaces)
            else:
                yield from self._values(prop, kind.item, old[key], new[key], None, (*path, key), replaces)

    def _lists(
        self, prop: Property, kind: ListOf, old: list[Any], new: list[Any], live: Any, path: Path, replaces: bool
    ) -> Iterator[Change]:
        for left, right in self.how.match(prop, old, new):
            if left is None:
                yield Change((*path, right or 0), "add", replaces)
            elif right is None:
                yield Change((*path, left), "delete", replaces)
            elif not self.certain or old[left] != new[right]:
                element = live[left] if isinstance(live, list) and left < len(live) else None
                yield from self._values(prop, kind.item, old[left], new[right], element, (*path, right), replaces)


def _says_nothing(value: Any) -> bool:
    """Tell whether a part of a patch changes nothing: it is not there, or there is nothing in it."""
    return value is _MISSING or (isinstance(value, dict) and all(_says_nothing(item) for item in value.values()))


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
