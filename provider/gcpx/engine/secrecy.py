"""Secrets of the inputs, kept secret in everything that goes out."""

from __future__ import annotations

from typing import Any

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type
from gcpx.model.values import Secret, secret_texts, transform

_SHORTEST = 4
"""Texts shorter than this are hidden only where they are a whole value: a secret `a` is no reason to hide all text."""
_MASK = "[secret]"


def protect(kind: ObjectType, values: dict[str, Any], *sources: dict[str, Any]) -> dict[str, Any]:
    """Wrap what the declaration or the sources hold as secret, wherever it stands in the values."""
    marked: dict[str, Any] = _declared(kind, values)
    for source in sources:
        marked = {name: _positional(source.get(name), item) for name, item in marked.items()}
    texts = frozenset[str]().union(*(secret_texts(source) for source in sources))
    return transform(marked, lambda leaf: _wrap(leaf, texts)) if texts else marked


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
    if prop.rules.secret and value is not None and not isinstance(value, Secret):
        return Secret(value)
    return _declared(prop.type, value)


def _positional(source: Any, value: Any) -> Any:
    """Wrap a value whose place was secret in the source."""
    if isinstance(value, Secret) or value is None:
        return value
    if isinstance(source, Secret):
        return Secret(value)
    if isinstance(source, dict) and isinstance(value, dict):
        return {key: _positional(source.get(key), item) for key, item in value.items()}
    if isinstance(source, list) and isinstance(value, list):
        if len(source) == len(value):
            return [_positional(before, item) for before, item in zip(source, value, strict=True)]
        return Secret(value) if secret_texts(source) else value
    return value


def _wrap(leaf: Any, texts: frozenset[str]) -> Any:
    if isinstance(leaf, Secret) or not isinstance(leaf, str):
        return leaf
    found = any(leaf == text or (len(text) >= _SHORTEST and text in leaf) for text in texts)
    return Secret(leaf) if found else leaf


def redact(text: str, texts: frozenset[str]) -> str:
    """Blank every secret in a message, longest first so that no part of one is left."""
    for secret in sorted(texts, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, _MASK)
    return text
