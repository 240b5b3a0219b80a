"""Finds the differences between two sets of inputs, as exact paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from gcpx.model.compare import (
    ANY,
    ANYWHERE,
    Comparison,
    is_absent,
    is_another_choice,
    is_patch,
    or_implied,
    without_nulls,
)
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type
from gcpx.model.values import UNKNOWN, Path, has_unknown, same_json

Kind = Literal["add", "delete", "update"]
_MISSING = object()
"""Stands for a missing value, where missing differs from null."""


@attrs.frozen
class Change:
    """A difference between old and new inputs, at one path.

    Attributes:
        unseen: after an import, this may not be a change: Google never returns the value, or chose it, and the program
            leaves it out.
        replaces: the change replaces the resource; `lifecycle.plan` decides that.
        is_input: whether the inputs differ; otherwise the provider's place has changed.
    """

    path: Path
    kind: Kind
    unseen: bool = False
    replaces: bool = False
    is_input: bool = True


def diff(
    kind: ObjectType,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    state: Mapping[str, Any],
    how: Comparison = ANYWHERE,
) -> list[Change]:
    """Compare old and new inputs, both without secrets; unknowns are allowed.

    `state` holds the outputs: a property that the user newly sets to the value that it already has is not a change.
    """
    certain = not has_unknown(old) and not has_unknown(new)
    return list(_Walk(certain, how, attrs.evolve(how, sure=False)).object(kind, _Values((), old, new, state)))


@attrs.define
class _Values:
    """The values at one path: in the old inputs, in the new inputs, and at Google.

    Attributes:
        implied: the values that the rest of the old and of the new inputs implies here, as nested maps of properties.
    """

    path: Path
    old: Any
    new: Any
    state: Any = None
    implied: tuple[Any, Any] = (None, None)


@attrs.frozen
class _Walk:
    """A walk through two sets of inputs.

    Attributes:
        certain: nothing is unknown, so equal JSON is no change and can be skipped.
        how: compares old and new inputs.
        shown: compares Google's values and new inputs.
        patch: the values are a JSON Merge Patch, in which null, a default and a missing property differ.
    """

    certain: bool
    how: Comparison
    shown: Comparison
    patch: bool = False

    def object(self, kind: ObjectType, values: _Values) -> Iterator[Change]:
        seen = values.state if isinstance(values.state, dict) else {}
        absent = _MISSING if self.patch else None
        left, right = (
            kind.implied(side) | (implied if isinstance(implied, dict) else {})
            for side, implied in zip((values.old, values.new), values.implied, strict=True)
        )
        for name, prop in kind.inputs.items():
            before, after = values.old.get(name, absent), values.new.get(name, absent)
            if self.certain and (before is after or same_json(before, after)):
                continue
            walk = attrs.evolve(self, patch=True) if is_patch(prop, values.new) else self
            implied = (None, None) if walk.patch else (left.get(name), right.get(name))
            here = _Values((*values.path, name), before, after, seen.get(name), implied)
            for change in walk._property(prop, here):  # noqa: SLF001 - another walk of this class
                yield attrs.evolve(change, unseen=True) if _is_write_only(prop, after) else change

    def _property(self, prop: Property, values: _Values) -> Iterator[Change]:
        if not self.patch and self._is_implied(prop, values):
            return
        if self._is_absent(prop, values.old):
            absent = self._is_absent(prop, values.new) and not is_another_choice(prop, values.old, values.new)
            if not absent and (self.patch or not self.shown.same(prop, values.state, values.new)):
                yield Change(values.path, "update" if values.old else "add")
        elif self._is_absent(prop, values.new):
            yield Change(values.path, "delete", unseen=prop.traits.computed)
        else:
            yield from self._values(prop, prop.type, values)

    def _is_implied(self, prop: Property, values: _Values) -> bool:
        """Return whether one side omits a value of the other one because the rest of its object implies it."""
        old, new = values.old, values.new
        if is_absent(prop, old) == is_absent(prop, new):
            return False
        one, other = map(or_implied, (prop, prop), (old, new), values.implied)
        return self.how.same(prop, one, other)

    def _is_absent(self, prop: Property, value: Any) -> bool:
        if not self.patch:
            return is_absent(prop, value)
        return _is_empty_patch(value) or (value is None and bool(prop.traits.patches))

    def _values(self, prop: Property, kind: Type, values: _Values) -> Iterator[Change]:
        old, new = values.old, values.new
        if old is UNKNOWN or new is UNKNOWN:
            yield Change(values.path, "update")
        elif isinstance(kind, ObjectType) and isinstance(old, dict) and isinstance(new, dict):
            yield from self.object(kind, values)
        elif isinstance(kind, MapOf) and isinstance(old, dict) and isinstance(new, dict):
            yield from self._map(prop, kind, values)
        elif isinstance(kind, ListOf) and isinstance(old, list) and isinstance(new, list):
            yield from self._list(prop, kind, values)
        elif not self.how.equal(prop, kind, old, new):
            yield Change(values.path, "update")

    def _map(self, prop: Property, kind: MapOf, values: _Values) -> Iterator[Change]:
        old, new = values.old, values.new
        if not self.patch and kind.item != ANY:
            old, new = without_nulls(old), without_nulls(new)
        for key in sorted((old.keys() | new.keys()) - prop.traits.merge_keys):
            here = _Values((*values.path, key), old.get(key), new.get(key))
            if key not in new:
                yield Change(here.path, "delete")
            elif key not in old:
                yield Change(here.path, "add")
            else:
                yield from self._values(prop, kind.item, here)

    def _list(self, prop: Property, kind: ListOf, values: _Values) -> Iterator[Change]:
        """Compare lists by their matching elements.

        The engine shows the old and the new value at the path of a change. If a changed element has moved, or if two
        changes have one path, that would show another element, so the change is the list as a whole.
        """
        old, new, state = values.old, values.new, values.state
        changes: list[Change] = []
        has_moved = False
        for left, right in self.how.match(prop, old, new):
            if left is None:
                changes.append(Change((*values.path, right or 0), "add"))
            elif right is None:
                changes.append(Change((*values.path, left), "delete"))
            elif not self.certain or not same_json(old[left], new[right]):
                element = state[left] if isinstance(state, list) and left < len(state) else None
                here = _Values((*values.path, right), old[left], new[right], element)
                found = list(self._values(prop, kind.item, here))
                has_moved |= left != right and bool(found)
                changes += found
        if has_moved or len({change.path for change in changes}) < len(changes):
            yield Change(values.path, "update", unseen=all(change.unseen for change in changes))
        else:
            yield from changes


def _is_write_only(prop: Property, value: Any) -> bool:
    """Return whether Google never returns a value: its property says so, or it is an object of only such values."""
    if prop.traits.write_only or not isinstance(prop.type, ObjectType) or not isinstance(value, dict):
        return prop.traits.write_only
    known = prop.type.properties
    given = {name: item for name, item in value.items() if item is not None}
    return bool(given) and all(name in known and _is_write_only(known[name], item) for name, item in given.items())


def _is_empty_patch(value: Any) -> bool:
    """Return whether a part of a patch changes nothing: it is missing, or an object without any value."""
    return value is _MISSING or (isinstance(value, dict) and all(_is_empty_patch(item) for item in value.values()))
