"""What goes into the state: outputs, and inputs after a refresh or an import, from Google's values by declaration."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model.compare import ANYWHERE, Comparison, is_absent
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type, has_outputs
from gcpx.model.naming import UNREAD
from gcpx.model.values import UNKNOWN


def merged_outputs(
    kind: ObjectType, inputs: dict[str, Any], state: dict[str, Any], how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return the outputs: Google's values, in the user's spelling where that means the same.

    `inputs` are without secrets and unknowns; `state` are properties as `from_body` gives them.
    """
    result = dict(state)
    for name, prop in kind.inputs.items():
        if inputs.get(name) is not None:
            merged = _merge(prop, prop.type, inputs[name], state.get(name), how)
            if merged is not None:
                result[name] = merged
    return result


def _merge(prop: Property, kind: Type, user: Any, state: Any, how: Comparison) -> Any:
    if user is None:
        return state
    if state is None:
        return user if _is_unseen(prop, user) or prop.traits.in_url or is_absent(prop, user) else None
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(state, dict):
        return merged_outputs(kind, user, state, how)
    if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(state, list):
        return [
            _merge(prop, kind.item, None if left is None else user[left], state[right], how)
            for left, right in how.match(prop, user, state)
            if right is not None
        ]
    if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(state, dict):
        return {key: _merge(prop, kind.item, user.get(key), item, how) for key, item in state.items()}
    return user if how.equal(prop, kind, user, state) else state


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


def predicted_outputs(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Predict the outputs that inputs determine; an object to which the server adds values is unknown as a whole.

    SDKs treat an object that contains an unknown as unknown, so a more exact prediction would only be slower.
    """
    return {
        name: UNKNOWN if has_outputs(prop.type) else inputs[name]
        for name, prop in kind.inputs.items()
        if inputs.get(name) is not None
    }


def refreshed_inputs(
    kind: ObjectType, inputs: dict[str, Any], state: dict[str, Any], prior: dict[str, Any], how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return what a refresh writes into the inputs: the user's properties with Google's values, and what drifted.

    A property whose value others imply stays as it is in the program. A property that the user left out joins only if
    its value is not the one in the last outputs, so that the server's defaults never look like drift. After a creation
    that was not read back there is nothing to compare with, so none joins. Keys of a map, except `merge_keys`, and
    elements of a list that the user did not write always join.
    """
    return _Refresh(how).object(kind, inputs, state, UNKNOWN if prior.get(UNREAD) else prior)


def _part(prior: Any, name: str) -> Any:
    """Return a property of the last outputs; if these are unknown, so is the property."""
    if prior is UNKNOWN:
        return UNKNOWN
    return prior.get(name) if isinstance(prior, dict) else None


def _element(prior: Any, index: int) -> Any:
    """Return an element of a list in the last outputs; if these are unknown, so is the element."""
    if prior is UNKNOWN:
        return UNKNOWN
    return prior[index] if isinstance(prior, list) and index < len(prior) else None


@attrs.frozen
class _Refresh:
    """A walk through inputs, Google's values, and the last outputs, which are UNKNOWN if they were never read."""

    how: Comparison

    def object(self, kind: ObjectType, inputs: dict[str, Any], state: dict[str, Any], prior: Any) -> dict[str, Any]:
        result = {key: value for key, value in inputs.items() if key.startswith("__")}
        implied = kind.implied(state)
        for name, prop in kind.inputs.items():
            value = inputs.get(name)
            if is_absent(prop, state.get(name)) or not self.how.same(prop, state.get(name), implied.get(name)):
                value = self._property(prop, value, state.get(name), _part(prior, name))
            if value is not None:
                result[name] = value
        return result

    def _property(self, prop: Property, user: Any, state: Any, prior: Any) -> Any:
        if prop.traits.in_url or (state is None and _is_unseen(prop, user)):
            return user
        if user is None:
            return (
                minimal_value(prop, prop.type, state, None, self.how) if self._has_drifted(prop, state, prior) else None
            )
        if state is None:
            return user if is_absent(prop, user) else None
        return self._value(prop, prop.type, user, state, prior)

    def _has_drifted(self, prop: Property, state: Any, prior: Any) -> bool:
        """Return whether Google has changed, and not only forgotten, a value that the user left out."""
        if prior is UNKNOWN or is_absent(prop, state):
            return False
        return not self.how.same(prop, _merge(prop, prop.type, prior, state, self.how), prior)

    def _value(self, prop: Property, kind: Type, user: Any, state: Any, prior: Any) -> Any:
        if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(state, dict):
            return self.object(kind, user, state, prior)
        if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(state, list):
            return self._list(prop, kind, user, state, prior)
        if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(state, dict):
            return {
                key: self._value(prop, kind.item, user[key], item, _part(prior, key)) if key in user else item
                for key, item in state.items()
                if key in user or key not in prop.traits.merge_keys
            }
        return user if self.how.equal(prop, kind, user, state) else state

    def _list(self, prop: Property, kind: ListOf, user: list[Any], state: list[Any], prior: Any) -> list[Any]:
        result = []
        for left, right in self.how.match(prop, user, state):
            if right is None:
                continue
            if left is None:
                result.append(minimal_value(prop, kind.item, state[right], None, self.how))
            else:
                result.append(self._value(prop, kind.item, user[left], state[right], _element(prior, left)))
        return result


def minimal_inputs(
    kind: ObjectType, state: dict[str, Any], implied: Any = None, how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return the smallest inputs that describe Google's values: without outputs, defaults, empty and implied values."""
    known = kind.implied(state) | (implied if isinstance(implied, dict) else {})
    result = {}
    for name, prop in kind.inputs.items():
        value = state.get(name)
        if not is_absent(prop, value) and (isinstance(value, dict) or not how.same(prop, value, known.get(name))):
            reduced = minimal_value(prop, prop.type, value, known.get(name), how)
            if not is_absent(prop, reduced):
                result[name] = reduced
    return result


def minimal_value(prop: Property, kind: Type, state: Any, implied: Any = None, how: Comparison = ANYWHERE) -> Any:
    """Return the smallest value that a user would write for one of Google's."""
    if isinstance(kind, ObjectType) and isinstance(state, dict):
        return minimal_inputs(kind, state, implied, how)
    if isinstance(kind, ListOf) and isinstance(state, list):
        return [minimal_value(prop, kind.item, item, None, how) for item in state]
    if isinstance(kind, MapOf) and isinstance(state, dict):
        return {key: minimal_value(prop, kind.item, item, None, how) for key, item in state.items()}
    return state
