"""Between Pulumi's property maps and Google's JSON, by declaration alone."""

from __future__ import annotations

from typing import Any

from gcpx.model.compare import equal, is_absent, match, same
from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Scalar, Type, has_outputs
from gcpx.model.values import UNKNOWN


def to_body(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Write the REST body of inputs that hold neither secrets nor unknowns."""
    return {
        prop.wire: _to_wire(prop, prop.type, inputs[name])
        for name, prop in kind.inputs.items()
        if inputs.get(name) is not None and not prop.rules.param
    }


def _to_wire(prop: Property, kind: Type, value: Any) -> Any:
    if isinstance(kind, ObjectType):
        return to_body(kind, value)
    if isinstance(kind, ListOf):
        return [_to_wire(prop, kind.item, item) for item in value]
    if isinstance(kind, MapOf):
        return {key: _to_wire(prop, kind.item, item) for key, item in value.items() if item is not None}
    if kind == Scalar("integer"):
        return str(int(float(value))) if prop.rules.int64 else int(float(value))
    return value


def from_body(kind: ObjectType, body: dict[str, Any]) -> dict[str, Any]:
    """Read a REST answer into properties; fields that are not declared are left out."""
    return {
        name: _from_wire(prop.type, body[prop.wire])
        for name, prop in kind.properties.items()
        if body.get(prop.wire) is not None
    }


def _from_wire(kind: Type, value: Any) -> Any:
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return from_body(kind, value)
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_from_wire(kind.item, item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: _from_wire(kind.item, item) for key, item in value.items()}
    if kind == Scalar("integer") and isinstance(value, str):
        return int(value)
    return value


def uses_beta(kind: ObjectType, inputs: dict[str, Any]) -> bool:
    """Tell whether inputs set a property that only the beta path takes."""
    return any(
        prop.rules.beta or _uses_beta(prop.type, inputs[name])
        for name, prop in kind.inputs.items()
        if not is_absent(prop, inputs.get(name))
    )


def _uses_beta(kind: Type, value: Any) -> bool:
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return uses_beta(kind, value)
    if isinstance(kind, ListOf) and isinstance(value, list):
        return any(_uses_beta(kind.item, item) for item in value)
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return any(_uses_beta(kind.item, item) for item in value.values())
    return False


def outputs(kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    """Merge the live object with the inputs: the user's spelling where it means the same, else what is live."""
    result = dict(live)
    for name, prop in kind.inputs.items():
        merged = _merge(prop, prop.type, inputs.get(name), live.get(name))
        if merged is not None:
            result[name] = merged
    return result


def _merge(prop: Property, kind: Type, user: Any, live: Any) -> Any:
    if user is None:
        return live
    if live is None:
        return user if _is_unseen(prop, user) or prop.rules.param or is_absent(prop, user) else None
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
        return outputs(kind, user, live)
    if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(live, list):
        return [
            _merge(prop, kind.item, None if left is None else user[left], live[right])
            for left, right in match(prop, user, live)
            if right is not None
        ]
    if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(live, dict):
        return {key: _merge(prop, kind.item, user.get(key), item) for key, item in live.items()}
    return user if equal(prop, kind, user, live) else live


def _is_unseen(prop: Property, user: Any) -> bool:
    """Tell whether Google shows nothing of a value: it is written only, or an object of nothing else."""
    if prop.rules.write_only or not isinstance(prop.type, ObjectType) or not isinstance(user, dict):
        return prop.rules.write_only
    known = prop.type.properties
    given = {key: item for key, item in user.items() if item is not None}
    return bool(given) and all(key in known and _is_unseen(known[key], item) for key, item in given.items())


def preview(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Predict outputs: what the user set stays, but an object that the server adds to is unknown as a whole.

    SDKs treat an object with anything unknown in it as unknown, so naming each part would only make it slow.
    """
    return {
        name: UNKNOWN if has_outputs(prop.type) else inputs[name]
        for name, prop in kind.inputs.items()
        if inputs.get(name) is not None
    }


def refreshed(kind: ObjectType, inputs: dict[str, Any], live: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """Bring inputs up to what is live: the user's keys with live values, and what drifted since `last`.

    A key that the user left out joins only when the server's value is not the one it had in the last outputs, so
    that server defaults never look like drift.
    """
    result = {key: value for key, value in inputs.items() if key.startswith("__")}
    for name, prop in kind.inputs.items():
        value = _refresh(prop, inputs.get(name), live.get(name), last.get(name))
        if value is not None:
            result[name] = value
    return result


def _refresh(prop: Property, user: Any, live: Any, last: Any) -> Any:
    if prop.rules.param or (live is None and _is_unseen(prop, user)):
        return user
    if user is None:
        drifted = not is_absent(prop, live) and not same(prop, live, last)
        return minimal_value(prop, prop.type, live) if drifted else None
    if live is None:
        return user if is_absent(prop, user) else None
    return _refresh_value(prop, prop.type, user, live, last)


def _refresh_value(prop: Property, kind: Type, user: Any, live: Any, last: Any) -> Any:
    if isinstance(kind, ObjectType) and isinstance(user, dict) and isinstance(live, dict):
        return refreshed(kind, user, live, last if isinstance(last, dict) else {})
    if isinstance(kind, ListOf) and isinstance(user, list) and isinstance(live, list):
        return _refresh_list(prop, kind, user, live, last)
    if isinstance(kind, MapOf) and isinstance(user, dict) and isinstance(live, dict):
        known = last if isinstance(last, dict) else {}
        return {
            key: _refresh_value(prop, kind.item, user[key], item, known.get(key)) if key in user else item
            for key, item in live.items()
            if key in user or key not in prop.rules.merge_keys
        }
    return user if equal(prop, kind, user, live) else live


def _refresh_list(prop: Property, kind: ListOf, user: list[Any], live: list[Any], last: Any) -> list[Any]:
    known = last if isinstance(last, list) else []
    result = []
    for left, right in match(prop, user, live):
        if right is None:
            continue
        if left is None:
            result.append(minimal_value(prop, kind.item, live[right]))
        else:
            before = known[left] if left < len(known) else None
            result.append(_refresh_value(prop, kind.item, user[left], live[right], before))
    return result


def minimal(kind: ObjectType, live: dict[str, Any], implied: Any = None) -> dict[str, Any]:
    """Find the smallest inputs that describe a live object: no output, no default, nothing empty or implied."""
    known = kind.implied(live) | (implied if isinstance(implied, dict) else {})
    result = {}
    for name, prop in kind.inputs.items():
        value = live.get(name)
        if not is_absent(prop, value) and (isinstance(value, dict) or not same(prop, value, known.get(name))):
            reduced = minimal_value(prop, prop.type, value, known.get(name))
            if not is_absent(prop, reduced):
                result[name] = reduced
    return result


def minimal_value(prop: Property, kind: Type, live: Any, implied: Any = None) -> Any:
    """Reduce one live value to what a user would write."""
    if isinstance(kind, ObjectType) and isinstance(live, dict):
        return minimal(kind, live, implied)
    if isinstance(kind, ListOf) and isinstance(live, list):
        return [minimal_value(prop, kind.item, item) for item in live]
    if isinstance(kind, MapOf) and isinstance(live, dict):
        return {key: minimal_value(prop, kind.item, item) for key, item in live.items()}
    return live
