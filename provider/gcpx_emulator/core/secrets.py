"""Finds secrets in the JSON of requests and resources: keys, values of metadata, and tokens of endpoints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx_emulator.core.json_data import Json

MASK: Final = "[secret]"
_KEYS: Final = frozenset({"private_key", "rawKey", "rsaEncryptedKey"})
"""Fields with secret keys, at any depth of a body."""
_PRIVATE: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_ENDPOINTS: Final = frozenset({"aud", "audience", "pushEndpoint"})
"""Fields with the URL of an endpoint, which is the usual audience of its tokens, too."""
_PLAIN: Final = frozenset({"fingerprint", "kind"})
"""The fields of an instance's metadata that are no secrets."""


def without_keys(body: Any) -> Any:
    """Return the JSON of a body without customer-supplied and private keys."""
    return _Walk(lambda _: MASK, keys_only=True).shown(body)


def masked(body: Any) -> Any:
    """Return the JSON of a body without any secret."""
    return _Walk(lambda _: MASK).shown(body)


def secrets_of(body: Any) -> list[str]:
    """Return the texts that `masked` hides, longest first."""
    found: list[str] = []
    _Walk(lambda secret: found.extend(_texts(secret))).shown(body)
    return sorted(found, key=len, reverse=True)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts at any depth of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@attrs.frozen
class _Walk:
    """A walk through a body, which replaces each secret.

    Attributes:
        replaced: gets a secret, and returns what is shown instead.
        keys_only: whether the values of metadata and the tokens of endpoints stay.
    """

    replaced: Callable[[Any], Any]
    keys_only: bool = False

    def shown(self, value: Any) -> Any:
        """Return a part of the body, with its secrets replaced."""
        if isinstance(value, dict):
            if self._is_metadata(value):  # also without a name, as in a request that sets it
                return self._metadata(value)
            return {name: self._field(name, item, value) for name, item in value.items()}
        if isinstance(value, list):
            return [self.shown(item) for item in value]
        return self.replaced(value) if isinstance(value, str) and _PRIVATE.search(value) else value

    def _field(self, name: str, value: Any, owner: Json) -> Any:
        if name in _KEYS:
            return self.replaced(value)
        if self.keys_only:
            return self.shown(value)
        if name.endswith(("metadata", "Metadata")):
            return self._metadata(value)
        if name == "value" and "key" in owner:  # an item of metadata under a misspelled name
            return self.replaced(value)
        return self.endpoint(value) if name in _ENDPOINTS else self.shown(value)

    def endpoint(self, value: Any) -> Any:
        """Replace the query of an endpoint, in which receivers expect a token."""
        head, mark, query = value.partition("?") if isinstance(value, str) else (value, "", "")
        return f"{head}?{self.replaced(query)}" if mark else value

    def _is_metadata(self, value: Json) -> bool:
        """Return whether an object is the metadata of an instance or a project: a list of keys with their values."""
        items = value.get("items")
        if self.keys_only or not isinstance(items, list):
            return False
        return any(isinstance(item, dict) and "key" in item for item in items)

    def _metadata(self, value: Any) -> Any:
        """Replace the values of metadata: of an instance by its items, and of an object by its names."""
        if not isinstance(value, dict):
            return value if value is None else self.replaced(value)
        is_of_instance = self._is_metadata(value) or value.get("kind") == "compute#metadata"
        plain = _PLAIN if is_of_instance else frozenset[str]()
        items = value.get("items")
        shown = {"items": list(map(self._item, items))} if isinstance(items, list) else {}
        others = {name: item for name, item in value.items() if name not in shown}
        return shown | {name: item if name in plain else self.replaced(item) for name, item in others.items()}

    def _item(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return self.replaced(item)
        return {name: value if name == "key" else self.replaced(value) for name, value in item.items()}


def masked_endpoint(endpoint: str) -> str:
    """Return the URL of an endpoint without its query, in which receivers expect a token."""
    return str(_Walk(lambda _: MASK).endpoint(endpoint))
