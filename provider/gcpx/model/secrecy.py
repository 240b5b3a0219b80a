"""Secrets: found by declaration, by place and by content, and hidden in everything that leaves the plugin."""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import quote, quote_plus

from gcpx.model.fields import ListOf, MapOf, ObjectType, Type
from gcpx.model.values import Path, Secret, has_secret, secret_texts, transform

_SHORTEST = 4
"""A secret with fewer characters is hidden only as a whole value, because too many other strings contain it."""
_MASK = "[secret]"
_PRIVATE: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)"
    r"|PuTTY-User-Key-File-.*|b3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/=\s\\]*",
    re.DOTALL,
)
"""Private keys, recognized by how they begin: every kind of PEM, PuTTY's format, and OpenSSH's without its header."""


def mark_secrets(kind: ObjectType, values: dict[str, Any], *sources: dict[str, Any]) -> dict[str, Any]:
    """Mark what is secret by declaration, or anywhere in `sources`, which are the inputs that values come from."""
    marked: dict[str, Any] = _declared(kind, values)
    for source in sources:
        marked = {name: _positional(source.get(name), item) for name, item in marked.items()}
    texts = frozenset[str]().union(*(secret_texts(source) for source in sources))
    protected: dict[str, Any] = transform(marked, lambda leaf: _wrap(leaf, texts))
    return protected


def is_secret_at(marked: Any, path: Path) -> bool:
    """Return whether the value at a path is secret, is part of a secret, or contains one."""
    for part in path:
        if isinstance(marked, Secret):
            return True
        if isinstance(marked, dict):
            marked = marked.get(part)
        elif isinstance(marked, list) and isinstance(part, int) and part < len(marked):
            marked = marked[part]
        else:
            return False
    return has_secret(marked)


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
        return Secret(value) if secret_texts(source) else value
    return value


def _wrap(leaf: Any, texts: frozenset[str]) -> Any:
    if isinstance(leaf, Secret) or not isinstance(leaf, str):
        return leaf
    found = any(leaf == text or (len(text) >= _SHORTEST and text in leaf) for text in texts)
    return Secret(leaf) if found or _PRIVATE.search(leaf) else leaf


def redact(text: str, texts: frozenset[str]) -> str:
    """Mask every secret and every private key in a message; longer ones first, so that no part of one remains."""
    text = _PRIVATE.sub(_MASK, text)
    for secret in sorted(frozenset[str]().union(*map(_spellings, texts)), key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text.encode("utf-8", "replace").decode()


def _spellings(secret: str) -> frozenset[str]:
    """Return the spellings of a secret in messages: plain, quoted, encoded for a URL, and the last part of a URL."""
    bare = secret.strip()
    quoted = (repr(bare)[1:-1], json.dumps(bare)[1:-1], json.dumps(bare, ensure_ascii=False)[1:-1])
    url = bare.encode("utf-8", "replace")
    found = (secret, bare, *quoted, quote(url), quote(url, safe=""), quote_plus(url), bare.rpartition("/")[2])
    return frozenset(text for text in found if len(text) >= _SHORTEST)
