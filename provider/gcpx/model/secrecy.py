"""Secrets: found by declaration, by place and by content, and marked in everything that leaves the plugin.

Which parts of messages are masked is decided in `gcpx.model.redaction`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type
from gcpx.model.redaction import PRIVATE_KEY, SHORTEST, texts_of_number
from gcpx.model.values import Path, Secret, conceal, has_secret, leaves


def mark_secrets(
    kind: ObjectType, values: dict[str, Any], *inputs: dict[str, Any], former: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    """Mark what is secret by declaration, or anywhere in inputs that the values come from, or was secret earlier.

    `former` are earlier inputs and outputs. Google may still show what was secret in them: after an update that failed,
    or one that could not change it. What the present inputs show plainly is no longer secret.
    """
    texts, earlier = secret_texts(kind, *inputs), secret_texts(kind, *former)
    if earlier:
        texts |= earlier - frozenset(map(str, leaves(conceal(list(inputs)))))
    return _marked_items(kind, values, inputs, texts)


def _marked_items(
    kind: Type | None, values: dict[str, Any], sources: Sequence[Any], texts: frozenset[str]
) -> dict[str, Any]:
    """Mark what is secret in the items of an object or a map; `sources` are the inputs at the same place."""
    properties = kind.properties if isinstance(kind, ObjectType) else {}
    other = kind.item if isinstance(kind, MapOf) else None
    marked = {}
    for key, item in values.items():
        prop = properties.get(key)
        if prop is not None and prop.traits.secret and item is not None and not isinstance(item, Secret):
            marked[key] = Secret(item)
        else:
            beside = [source[key] for source in sources if isinstance(source, dict) and key in source]
            marked[key] = _marked(prop.type if prop is not None else other, item, beside, texts)
    return marked


def _marked(kind: Type | None, value: Any, sources: Sequence[Any], texts: frozenset[str]) -> Any:
    """Mark a value that is secret in a source or shows a secret text, also as the key of a map; or mark its parts."""
    if value is None or isinstance(value, Secret):
        return value
    if any(isinstance(source, Secret) for source in sources):
        return Secret(value)
    if isinstance(value, dict):
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        if any(key not in properties and not key.startswith("__") and _shows(key, texts) for key in value):
            return Secret(value)
        return _marked_items(kind, value, sources, texts)
    if isinstance(value, list):
        lists = [source for source in sources if isinstance(source, list)]
        if any(len(source) != len(value) and has_secret(source) for source in lists):
            return Secret(value)  # which of the elements is the secret one is not known
        item_kind = kind.item if isinstance(kind, ListOf) else None
        beside = [source for source in lists if len(source) == len(value)]
        return [_marked(item_kind, item, [source[at] for source in beside], texts) for at, item in enumerate(value)]
    return Secret(value) if _shows(value, texts) else value


def _shows(value: Any, texts: frozenset[str]) -> bool:
    """Return whether a scalar is one of these texts, or contains one that is long enough, or a private key."""
    if type(value) is int:
        return len(str(value)) >= SHORTEST and str(value) in texts
    if not isinstance(value, str):
        return False
    quotes = any(value == secret or (len(secret) >= SHORTEST and secret in value) for secret in texts)
    return quotes or PRIVATE_KEY.search(value) is not None


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
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        other = kind.item if isinstance(kind, MapOf) else None
        for key, item in value.items():
            prop = properties.get(key)
            if prop is not None:
                yield from _texts(prop.type, item, hidden=hidden or prop.traits.secret)
            else:
                if hidden and key:
                    yield key
                yield from _texts(other, item, hidden=hidden)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(kind.item if isinstance(kind, ListOf) else None, item, hidden=hidden)
    elif hidden and isinstance(value, str) and value:
        yield value
    elif hidden and isinstance(value, int | float) and not isinstance(value, bool):
        yield from texts_of_number(value)
