"""The values in the state: outputs, and inputs after a refresh or an import, derived from Google's values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gcpx.model.compare import ANYWHERE, Comparison, is_absent
from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Property, Type, empty_value, has_outputs
from gcpx.model.naming import KEPT
from gcpx.model.values import UNKNOWN, Path, Secret, reveal


def absent_output(prop: Property) -> Any:
    """Return the empty value that the state has for a missing output; None if there is none, or it is never missing.

    SDKs treat a missing or null output as unknown in every preview, so it is empty or false instead. Numbers and
    objects have no such value: every number has a meaning, and an object may have required properties.
    """
    if prop.traits.always or prop.traits.required or prop.traits.hidden:
        return None
    return False if prop.type == SCALARS[bool] and prop.default is False else empty_value(prop.type)


def with_absent(kind: ObjectType, outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs for the state, with an empty value for each output that the resource or the result lacks."""
    lacking = {name: prop for name, prop in kind.properties.items() if outputs.get(name) is None}
    absent = {name: absent_output(prop) for name, prop in lacking.items()}
    return outputs | {name: value for name, value in absent.items() if value is not None}


def without_absent(kind: ObjectType, outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs of the state, which may hold secrets, without the values of `with_absent`."""
    return {
        name: value
        for name, value in outputs.items()
        if name not in kind.properties or value is None or reveal(value) != absent_output(kind.properties[name])
    }


def legible(kind: ObjectType, outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs of the state without those that are unknown or have another form than declared.

    An interrupted or edited state may have some: they count as absent, so that a refresh replaces them.
    """
    properties = kind.properties
    return {
        name: value
        for name, value in outputs.items()
        if (_has_form(properties[name].type, value) if name in properties else value is not UNKNOWN)
    }


def _has_form(kind: Type, value: Any) -> bool:
    if isinstance(value, Secret):
        return _has_form(kind, value.value)
    if value is None or value is UNKNOWN:
        return value is None
    if isinstance(kind, ListOf):
        return isinstance(value, list) and all(item is not None and _has_form(kind.item, item) for item in value)
    if isinstance(kind, MapOf):
        return isinstance(value, dict) and all(_has_form(kind.item, item) for item in value.values())
    if isinstance(kind, ObjectType):
        known = kind.properties
        return isinstance(value, dict) and all(
            _has_form(known[name].type, item) for name, item in value.items() if name in known
        )
    if kind == SCALARS[str] or kind == SCALARS[bool]:
        return isinstance(value, str if kind == SCALARS[str] else bool)
    return kind == SCALARS[Any] or isinstance(value, int | float | str)  # an integer may be too large for a number


def pack_hidden(kind: ObjectType, outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs for the engine, with the hidden ones below the key `KEPT`."""
    hidden = [name for name in outputs if name in kind.properties and kind.properties[name].traits.hidden]
    kept = {name: outputs[name] for name in hidden if outputs[name] is not None}
    shown = {name: value for name, value in outputs.items() if name not in hidden} if hidden else outputs
    return {**shown, KEPT: kept} if kept else shown


def unpack_hidden(outputs: dict[str, Any]) -> dict[str, Any]:
    """Return outputs of the state with the hidden ones at the top level, as before `pack_hidden`."""
    kept = outputs.get(KEPT)
    if not isinstance(kept, dict):
        return outputs
    return {key: value for key, value in outputs.items() if key != KEPT} | kept


def merged_outputs(
    kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any], how: Comparison = ANYWHERE
) -> dict[str, Any]:
    """Return the outputs: Google's values, in the user's spelling where that means the same.

    `inputs` are without secrets and unknowns; `live` are properties from `from_body`.
    """
    result = dict(live)
    for name, prop in kind.inputs.items():
        if inputs.get(name) is not None:
            merged = _merge(prop, prop.type, inputs[name], live.get(name), how)
            if merged is not None:
                result[name] = merged
    return result


def _merge(prop: Property, kind: Type, user: Any, live: Any, how: Comparison) -> Any:
    if user is None:
        return live
    if live is None:
        return user if _is_unseen(prop, user) or prop.traits.in_url or is_absent(prop, user) else None
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
        return merged_outputs(kind, user, live, how)
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
    """Return whether Google may omit a value.

    It omits properties that it never gets or returns, and some links to something that was deleted. It also omits an
    object that has only such properties.
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

    SDKs treat an object with an unknown as unknown, so a more exact prediction would only be slower.
    An omitted input stays absent, unless the server may choose its value.
    """
    chosen, predicted = kind.implied(inputs).keys(), {}
    for name, prop in kind.inputs.items():
        if inputs.get(name) is not None:
            predicted[name] = UNKNOWN if has_outputs(prop.type) else inputs[name]
        elif not (prop.traits.computed or prop.traits.default is not None or name in chosen):
            absent = absent_output(prop)
            if absent is not None:
                predicted[name] = absent
    return predicted


def refreshed_inputs(
    kind: ObjectType,
    inputs: dict[str, Any],
    live: dict[str, Any],
    prior: Any,
    how: Comparison = ANYWHERE,
    in_place: Collection[Path] = (),
) -> dict[str, Any]:
    """Return the inputs after a refresh: the user's properties with Google's values, and drifted ones.

    `prior` are the last outputs, or UNKNOWN if they were not read back after the creation. `in_place` are the paths of
    properties that can change at Google.

    A property with a value that other properties imply stays as it is in the program. A property that the user left out
    is added only if its value differs from the last outputs, so that the server's defaults never look like drift;
    without known outputs, none is added. If the outputs lack it, it is added only if it can change at Google; otherwise
    Google, or this version of gcpx, now shows something that existed before. Keys of a map, except `merge_keys`, and
    elements of a list that the user did not write are always added.
    """
    result = {key: value for key, value in inputs.items() if key.startswith("__")}
    implied = kind.implied(live)
    for name, prop in kind.inputs.items():
        value, found = inputs.get(name), live.get(name)
        if name not in inputs and found is None:  # the case of most properties
            continue
        if is_absent(prop, found) or not how.same(prop, found, implied.get(name)):
            below = [path[1:] for path in in_place if path[:1] in {(), (name,)}]  # () stands for the whole property
            last = _part(prior, name)
            value = _refreshed_property(prop, value, found, UNKNOWN if last is None and not below else last, how, below)
        # The user's null removes a template's value, so Google does not show it.
        is_removed = name in inputs and inputs[name] is None and is_absent(prop, found)
        if value is not None or is_removed:
            result[name] = value
    return result


def _refreshed_property(
    prop: Property, user: Any, live: Any, prior: Any, how: Comparison, in_place: Collection[Path]
) -> Any:
    kept = prop.traits.in_url or prop.traits.measured or prop.traits.write_only
    if kept or (live is None and _is_unseen(prop, user)):
        return user
    if user is None:
        known = live if in_place else _known(prop, prop.type, live, prior, how)
        # If the last outputs mean the same, Google has not changed the value, but may have forgotten it.
        if (
            prior is UNKNOWN
            or is_absent(prop, known)
            or how.same(prop, _merge(prop, prop.type, prior, known, how), prior)
        ):
            return None
        return minimal_value(prop, prop.type, known, None, how)
    if live is None:
        return user if is_absent(prop, user) else None
    return _refreshed_value(prop, prop.type, user, live, prior, how, in_place)


def _refreshed_value(
    prop: Property, kind: Type, user: Any, live: Any, prior: Any, how: Comparison, in_place: Collection[Path] = ()
) -> Any:
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
        return refreshed_inputs(kind, user, live, prior, how, in_place)
    if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(live, list):
        return [
            minimal_value(prop, kind.item, live[right], None, how)
            if left is None
            else _refreshed_value(prop, kind.item, user[left], live[right], _part(prior, left), how)
            for left, right in how.match(prop, user, live)
            if right is not None
        ]
    if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(live, dict):
        # The user's nulls stay: Google may omit them.
        return {key: None for key, item in user.items() if item is None} | {
            key: _refreshed_value(prop, kind.item, user[key], item, _part(prior, key), how) if key in user else item
            for key, item in live.items()
            if key in user or key not in prop.traits.merge_keys
        }
    return user if how.equal(prop, kind, user, live) else live


def _known(prop: Property, kind: Type, live: Any, prior: Any, how: Comparison) -> Any:
    """Return Google's value without the properties that the last outputs lack."""
    if isinstance(kind, ObjectType) and isinstance(live, dict) and isinstance(prior, dict):
        return {
            name: _known(kind.properties[name], kind.properties[name].type, item, prior[name], how)
            for name, item in live.items()
            if prior.get(name) is not None
        }
    if isinstance(kind, ListOf) and isinstance(live, list) and isinstance(prior, list):
        return [
            live[right] if left is None else _known(prop, kind.item, live[right], prior[left], how)
            for left, right in how.match(prop, prior, live)
            if right is not None
        ]
    return live


def _part(prior: Any, key: str | int) -> Any:
    """Return a property or an element of the last outputs; unknown if the last outputs are unknown."""
    if prior is UNKNOWN:
        return UNKNOWN
    if isinstance(key, int):
        return prior[key] if isinstance(prior, list) and key < len(prior) else None
    return prior.get(key) if isinstance(prior, dict) else None


def minimal_inputs(
    kind: ObjectType, live: dict[str, Any], implied: Any = None, how: Comparison = ANYWHERE
) -> dict[str, Any]:
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
    """Return the shortest value that a user can write for a value of Google."""
    if isinstance(kind, ObjectType) and isinstance(live, dict):
        return minimal_inputs(kind, live, implied, how)
    if isinstance(kind, ListOf) and isinstance(live, list):
        return [minimal_value(prop, kind.item, item, None, how) for item in live]
    if isinstance(kind, MapOf) and isinstance(live, dict):
        return {key: minimal_value(prop, kind.item, item, None, how) for key, item in live.items()}
    return live
