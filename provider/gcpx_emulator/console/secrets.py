"""Masks what no page may show."""

from __future__ import annotations

from typing import Any

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.request_log import MASK, shown_body


def masked(body: Any) -> Any:
    """Return the JSON of a resource or a request without keys, values of metadata, and fields of the emulator's own."""
    return _without_metadata(shown_body(body))


def _without_metadata(body: Any) -> Any:
    if isinstance(body, dict):
        if _is_metadata(body):  # also without a name, as in a request that sets it
            return _metadata(body)
        return {
            name: _metadata(value) if name.endswith(("metadata", "Metadata")) else _without_metadata(value)
            for name, value in body.items()
            if not name.startswith("_")
        }
    return [_without_metadata(item) for item in body] if isinstance(body, list) else body


def _is_metadata(value: dict[str, Any]) -> bool:
    """Return whether an object is the metadata of an instance: a list of keys with their values."""
    items = value.get("items")
    return isinstance(items, list) and any(isinstance(item, dict) and "key" in item for item in items)


def _metadata(value: Any) -> Any:
    """Mask the values of an instance's metadata, and those of an object's."""
    if not isinstance(value, dict):
        return value
    plain = {"fingerprint", "kind"} if _is_metadata(value) or value.get("kind") == "compute#metadata" else ()
    shown = {name: content if name in plain else MASK for name, content in value.items()}
    items = value.get("items")
    return shown | {"items": list(map(_item, items))} if isinstance(items, list) else shown


def _item(item: Any) -> Json:
    return {name: value if name == "key" else MASK for name, value in item.items()} if isinstance(item, dict) else {}
