"""Finds secrets by declaration, by place and by content, and marks them in everything that leaves the plugin.

`gcpx.model.redaction` masks secrets in messages.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type
from gcpx.model.redaction import SHORTEST, holds_private_key, redact
from gcpx.model.values import Path, Secret, conceal, has_secret, leaves

_HASHES: Final = ("fingerprint", "labelFingerprint")
"""Properties of Google's objects with hashes of the objects, by which short secrets in them can be guessed."""


def mark_secrets(
    kind: ObjectType, values: dict[str, Any], *inputs: dict[str, Any], former: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    """Mark values that are secret by declaration, in the inputs that they come from, or in earlier values.

    `former` are earlier inputs and outputs. Google may still show their secrets, after an update that failed or could
    not change them. Values that the present inputs show plainly are no longer secret.
    Returns the values themselves, and not a copy, if nothing in them has to be marked.
    """
    texts, earlier = secret_texts(kind, *inputs), secret_texts(kind, *former)
    if earlier:
        texts |= earlier - frozenset(map(str, leaves(conceal(list(inputs)))))
    return _marked_items(kind, values, [source for source in inputs if has_secret(source)], texts)


def _marked_items(
    kind: Type | None, values: dict[str, Any], sources: Sequence[Any], texts: frozenset[str]
) -> dict[str, Any]:
    """Mark the secret items of an object or a map; `sources` are the inputs at the same place."""
    properties = kind.properties if isinstance(kind, ObjectType) else {}
    other = kind.item if isinstance(kind, MapOf) else None
    marked, beside = {}, sources
    for key, item in values.items():
        prop = properties.get(key)
        if sources:
            beside = [source[key] for source in sources if isinstance(source, dict) and key in source]
        if prop is not None and prop.traits.quotes and isinstance(item, str):
            found: Any = redact(item, texts)
        else:
            found = _marked(other if prop is None else prop.type, item, beside, texts)
        if prop is not None and prop.traits.secret and found is not None and not isinstance(found, Secret):
            found = Secret(item)
        if found is not item:
            marked[key] = found
    hashes = [name for name in _HASHES if isinstance(values.get(name), str)]
    if hashes and has_secret(values | marked):
        marked |= {name: Secret(values[name]) for name in hashes}
    return values | marked if marked else values


def _marked(kind: Type | None, value: Any, sources: Sequence[Any], texts: frozenset[str]) -> Any:
    """Mark a value that is secret in a source or shows a secret text, even in a map's key; or else mark its parts."""
    if value is None or isinstance(value, Secret):
        return value
    if sources and any(isinstance(source, Secret) for source in sources):
        return Secret(value)
    if isinstance(value, dict):
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        for key in value:
            if key not in properties and not key.startswith("__") and _shows(key, texts):
                return Secret(value)
        return _marked_items(kind, value, sources, texts)
    if isinstance(value, list):
        lists = [source for source in sources if isinstance(source, list)]
        if any(len(source) != len(value) and has_secret(source) for source in lists):
            return Secret(value)  # the place of the secret element is not known
        item_kind = kind.item if isinstance(kind, ListOf) else None
        beside = [source for source in lists if len(source) == len(value)]
        marked = [_marked(item_kind, item, [source[at] for source in beside], texts) for at, item in enumerate(value)]
        return value if all(map(operator.is_, marked, value)) else marked
    return Secret(value) if _shows(value, texts) else value


def _shows(value: Any, texts: frozenset[str]) -> bool:
    """Return whether a scalar is one of these texts, or contains one that is long enough, or a private key."""
    if isinstance(value, str):
        for secret in texts:
            if value == secret or (len(secret) >= SHORTEST and secret in value):
                return True
        return holds_private_key(value)
    return bool(texts) and type(value) is int and len(str(value)) >= SHORTEST and str(value) in texts


def secret_texts(kind: Type | None, *values: Any) -> frozenset[str]:
    """Return the texts that no message may contain: the strings, numbers and keys in the secrets of values.

    Names of properties are not secret, so `kind` distinguishes them from keys of maps; without it, all keys are secret.
    """
    secrets = (found for value in values for found in _secrets(kind, value, is_marked=has_secret(value)))
    return frozenset(text for of, secret in secrets for text in _texts(of, secret))


def _secrets(kind: Type | None, value: Any, *, is_marked: bool) -> Iterator[tuple[Type | None, Any]]:
    """Yield the secrets in a value, with their types; without `is_marked`, only the declared ones."""
    if isinstance(value, Secret):
        yield kind, value.value
    elif isinstance(value, dict):
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        other = kind.item if isinstance(kind, MapOf) else None
        for key in value if is_marked or not isinstance(kind, ObjectType) else kind.secret.keys() & value.keys():
            prop, item = properties.get(key), value[key]
            if prop is not None and prop.traits.secret:
                yield prop.type, item
            else:
                yield from _secrets(other if prop is None else prop.type, item, is_marked=is_marked)
    elif isinstance(value, list):
        item_kind = kind.item if isinstance(kind, ListOf) else None
        for item in value:
            yield from _secrets(item_kind, item, is_marked=is_marked)


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
    """Return the value at one part of a path; None if there is none."""
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def _texts(kind: Type | None, value: Any) -> Iterator[str]:
    """Yield the texts in a secret."""
    if isinstance(value, Secret):
        yield from _texts(kind, value.value)
    elif isinstance(value, dict):
        properties = kind.properties if isinstance(kind, ObjectType) else {}
        other = kind.item if isinstance(kind, MapOf) else None
        for key, item in value.items():
            if key in properties:
                yield from _texts(properties[key].type, item)
            else:
                if key:
                    yield key
                yield from _texts(other, item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(kind.item if isinstance(kind, ListOf) else None, item)
    elif isinstance(value, str) and value:
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
        if isinstance(value, int):
            yield f"{value:,}"
