"""What goes into the state: outputs, and inputs after a refresh or an import, from Google's values by declaration."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model.compare import ANYWHERE, Comparison, is_absent
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type, has_outputs
from gcpx.model.naming import UNREAD
from gcpx.model.values import UNKNOWN


def outputs(
    kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any], how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return the outputs: Google's values, in the user's spelling where that means the same.

    `inputs` are without secrets and unknowns; `live` are properties as `from_body` gives them.
    """
    result = dict(live)
    for name, prop in kind.inputs.items():
        merged = _merge(prop, prop.type, inputs.get(name), live.get(name), how)
        if merged is not None:
            result[name] = merged
    return result


def _merge(prop: Property, kind: Type, user: Any, live: Any, how: Comparison) -> Any:
    if user is None:
        return live
    if live is None:
        return user if _is_unseen(prop, user) or prop.traits.in_url or is_absent(prop, user) else None
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
        return outputs(kind, user, live, how)
    if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(live, list):
        return [
            _merge(prop, kind.item, None if left is None else user[left], live[right], how)
            for left, right in how.match(prop, user, live)
            if right is not None
        ]
    if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(live, dict):
        return {key: _merge(prop, kind.item, user.get(key), item, how) for key, item in live.items()}
    return user if how.equal(prop, kind, user, live) else live


def _is_unseen(prop: Property, user: Any) -> bool:
    """Return whether Google may leave a value out.

    That is so if Google never gets or returns the property, or no longer does after what it names was deleted. It is
    also so for an object that has only such properties.
    """
    if prop.traits.unsent or prop.traits.write_only or prop.traits.forgotten:
        return True
    if not isinstance(prop.type, ObjectType) or not isinstance(user, dict):
        return False
    known = prop.type.properties
    given = {key: item for key, item in user.items() if item is not None}
    return bool(given) and all(key in known and _is_unseen(known[key], item) for key, item in given.items())


def predicted(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Predict the outputs that inputs determine; an object to which the server adds values is unknown as a whole.

    SDKs treat an object that contains an unknown as unknown, so a more exact prediction would only be slower.
    """
    return {
        name: UNKNOWN if has_outputs(prop.type) else inputs[name]
        for name, prop in kind.inputs.items()
        if inputs.get(name) is not None
    }


def refreshed(
    kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any], last: dict[str, Any], how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return what a refresh writes into the inputs: the user's properties with Google's values, and what drifted.

    A property whose value others imply stays as it is in the program. A property that the user left out joins only if
    its value is not the one in the last outputs, so that the server's defaults never look like drift. After a creation
    that was not read back there is nothing to compare with, so none joins. Keys of a map, except `merge_keys`, and
    elements of a list that the user did not write always join.
    """
    return _Refresh(how).object(kind, inputs, live, UNKNOWN if last.get(UNREAD) else last)


def _part(last: Any, name: str) -> Any:
    """Return a property of the last outputs; if these are unknown, so is the property."""
    if last is UNKNOWN:
        return UNKNOWN
    return last.get(name) if isinstance(last, dict) else None


def _element(last: Any, index: int) -> Any:
    """Return an element of a list in the last outputs; if these are unknown, so is the element."""
    if last is UNKNOWN:
        return UNKNOWN
    return last[index] if isinstance(last, list) and index < len(last) else None


@attrs.frozen
class _Refresh:
    """A walk through inputs, Google's values, and the last outputs, which are UNKNOWN if they were never read."""

    how: Comparison

    def object(self, kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any], last: Any) -> dict[str, Any]:
        result = {key: value for key, value in inputs.items() if key.startswith("__")}
        implied = kind.implied(live)
        for name, prop in kind.inputs.items():
            value = inputs.get(name)
            if is_absent(prop, live.get(name)) or not self.how.same(prop, live.get(name), implied.get(name)):
                value = self._property(prop, value, live.get(name), _part(last, name))
            if value is not None:
                result[name] = value
        return result

    def _property(self, prop: Property, user: Any, live: Any, last: Any) -> Any:
        if prop.traits.in_url or (live is None and _is_unseen(prop, user)):
            return user
        if user is None:
            return minimal_value(prop, prop.type, live, None, self.how) if self._has_drifted(prop, live, last) else None
        if live is None:
            return user if is_absent(prop, user) else None
        return self._value(prop, prop.type, user, live, last)

    def _has_drifted(self, prop: Property, live: Any, last: Any) -> bool:
        """Return whether Google has changed, and not only forgotten, a value that the user left out."""
        if last is UNKNOWN or is_absent(prop, live):
            return False
        return not self.how.same(prop, _merge(prop, prop.type, last, live, self.how), last)

    def _value(self, prop: Property, kind: Type, user: Any, live: Any, last: Any) -> Any:
        if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
            return self.object(kind, user, live, last)
        if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(live, list):
            return self._list(prop, kind, user, live, last)
        if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(live, dict):
            return {
                key: self._value(prop, kind.item, user[key], item, _part(last, key)) if key in user else item
                for key, item in live.items()
                if key in user or key not in prop.traits.merge_keys
            }
        return user if self.how.equal(prop, kind, user, live) else live

    def _list(self, prop: Property, kind: ListOf, user: list[Any], live: list[Any], last: Any) -> list[Any]:
        result = []
        for left, right in self.how.match(prop, user, live):
            if right is None:
                continue
            if left is None:
                result.append(minimal_value(prop, kind.item, live[right], None, self.how))
            else:
                result.append(self._value(prop, kind.item, user[left], live[right], _element(last, left)))
        return result


def minimal(kind: ObjectType, live: dict[str, Any], implied: Any = None, how: Comparison = ANYWHERE) -> dict[str, Any]:
    """Return the smallest inputs that describe Google's values: without outputs, defaults, empty and implied values."""
    known = kind.implied(live) | (implied if isinstance(implied, dict) else {})
    result = {}
    for name, prop in kind.inputs.items():
        value = live.get(name)
        if not is_absent(prop, value) and (isinstance(value, dict) or not how.same(prop, value, known.get(name))):
            reduced = minimal_value(prop, prop.type, value, known.get(name), how)
            if not is_absent(prop, reduced):
                result[name] = reduced
    return result


def minimal_value(prop: Property, kind: Type, live: Any, implied: Any = None, how: Comparison = ANYWHERE) -> Any:
    """Return the smallest value that a user would write for one of Google's."""
    if isinstance(kind, ObjectType) and isinstance(live, dict):
        return minimal(kind, live, implied, how)
    if isinstance(kind, ListOf) and isinstance(live, list):
        return [minimal_value(prop, kind.item, item, None, how) for item in live]
    if isinstance(kind, MapOf) and isinstance(live, dict):
        return {key: minimal_value(prop, kind.item, item, None, how) for key, item in live.items()}
    return live
