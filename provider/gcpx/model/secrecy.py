"""Secrets: found by declaration, by place and by content, and marked in everything that leaves the plugin.

Which parts of messages are masked is decided in `gcpx.model.redaction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type
from gcpx.model.redaction import SHORTEST, is_private_key, texts_of_number
from gcpx.model.values import Path, Secret, conceal, has_secret, leaves


def mark_secrets(kind: ObjectType, values: dict[str, Any], *sources: dict[str, Any]) -> dict[str, Any]:
    """Mark what is secret by declaration, or anywhere in `sources`, which are the inputs that values come from."""
    marked: dict[str, Any] = _declared(kind, values)
    for source in sources:
        marked = {name: _positional(source.get(name), item) for name, item in marked.items()}
    return _mark_texts_in(kind, marked, secret_texts(kind, *sources))


def mark_former_secrets(
    kind: ObjectType, values: dict[str, Any], inputs: dict[str, Any], *former: dict[str, Any]
) -> dict[str, Any]:
    """Mark what was secret in earlier inputs and outputs, and is not a plain value of the present inputs.

    Google may still show such a value: after an update that failed, or one that could not change it.
    """
    shown = frozenset(map(str, leaves(conceal(inputs))))
    return _mark_texts_in(kind, values, secret_texts(kind, *former) - shown)


def secret_texts(kind: Type | None, *values: Any) -> frozenset[str]:
    """Return what no message may contain: the strings, numbers and keys in the secrets of values.

    Names of properties are not secret, so `kind` tells them from the keys of maps; without it, every key is secret.
    """
    return frozenset(text for value in values for text in _texts(kind, value, hidden=False))


def is_secret_at(marked: Any, path: Path) -> bool:
    """Return whether the value at a path is secret, is part of a secret, or contains one."""
    for part in path:
        if isinstance(marked, Secret):
            return True
        marked = _below(marked, part)
    return has_secret(marked)


def open_path(path: Path, *marked: Any) -> Path:
    """Return the part of a path that is outside the secrets of values, at most up to a secret itself."""
    for index, part in enumerate(path):
        if any(isinstance(value, Secret) for value in marked):
            return path[:index]
        marked = tuple(_below(value, part) for value in marked)
    return path


def _below(value: Any, part: str | int) -> Any:
    """Return what is at one part of a path; None if nothing is."""
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def _texts(kind: Type | None, value: Any, *, hidden: bool) -> Iterator[str]:
    """Yield the texts in the secrets of a value; `hidden` says that the value is within a secret."""
    if isinstance(value, Secret):
        yield from _texts(kind, value.value, hidden=True)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_of_item(kind, key, item, hidden)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(kind.item if isinstance(kind, ListOf) else None, item, hidden=hidden)
    elif hidden:
        yield from _texts_of_scalar(value)


def _texts_of_item(kind: Type | None, key: str, item: Any, hidden: bool) -> Iterator[str]:
    prop = kind.properties.get(key) if isinstance(kind, ObjectType) else None
    if prop is not None:
        yield from _texts(prop.type, item, hidden=hidden or prop.traits.secret)
        return
    if hidden and key:
        yield key
    yield from _texts(kind.item if isinstance(kind, MapOf) else None, item, hidden=hidden)


def _texts_of_scalar(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return texts_of_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else ()


def _declared(kind: Type, value: Any) -> Any:
    if isinstance(value, Secret):
        return value
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return {name: _mark(kind, name, item) if name in kind.properties else item for name, item in value.items()}
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_declared(kind.item, item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: _declared(kind.item, item) for key, item in value.items()}
    return value


def _mark(kind: ObjectType, name: str, value: Any) -> Any:
    prop = kind.properties[name]
    if prop.traits.secret and value is not None and not isinstance(value, Secret):
        return Secret(value)
    return _declared(prop.type, value)


def _positional(source: Any, value: Any) -> Any:
    """Mark a value as secret if the source has a secret at the same place."""
    if isinstance(value, Secret) or value is None:
        return value
    if isinstance(source, Secret):
        return Secret(value)
    if isinstance(source, dict) and isinstance(value, dict):
        return {key: _positional(source.get(key), item) for key, item in value.items()}
    if isinstance(source, list) and isinstance(value, list):
        if len(source) == len(value):
            return [_positional(before, item) for before, item in zip(source, value, strict=True)]
        return Secret(value) if has_secret(source) else value
    return value


def _mark_texts_in(kind: ObjectType, values: dict[str, Any], texts: frozenset[str]) -> dict[str, Any]:
    types = {name: prop.type for name, prop in kind.properties.items()}
    return {name: _mark_texts(types.get(name), item, texts) for name, item in values.items()}


def _mark_texts(kind: Type | None, value: Any, texts: frozenset[str]) -> Any:
    """Mark every string and number that shows one of these texts, and every map with a key that does."""
    if isinstance(value, dict):
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        if any(key not in properties and not key.startswith("__") and _shows(key, texts) for key in value):
            return Secret(value)
        other = kind.item if isinstance(kind, MapOf) else None
        return {
            key: _mark_texts(properties[key].type if key in properties else other, item, texts)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_mark_texts(kind.item if isinstance(kind, ListOf) else None, item, texts) for item in value]
    return Secret(value) if _is_hidden(value, texts) else value


def _is_hidden(value: Any, texts: frozenset[str]) -> bool:
    if isinstance(value, str):
        return _shows(value, texts)
    return type(value) is int and len(str(value)) >= SHORTEST and str(value) in texts


def _shows(text: str, texts: frozenset[str]) -> bool:
    shown = any(text == secret or (len(secret) >= SHORTEST and secret in text) for secret in texts)
    return shown or is_private_key(text)
