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
        return {
            name: _metadata(value) if name.endswith(("metadata", "Metadata")) else _without_metadata(value)
            for name, value in body.items()
            if not name.startswith("_")
        }
    return [_without_metadata(item) for item in body] if isinstance(body, list) else body


def _metadata(value: Any) -> Any:
    """Mask the values of an instance's metadata, and those of an object's."""
    if not isinstance(value, dict):
        return value
    items = value.get("items")
    if isinstance(items, list):
        return _metadata({name: content for name, content in value.items() if name != "items"}) | {
            "items": [_item(item) for item in items]
        }
    is_plain = {"kind": value.get("kind") == "compute#metadata", "fingerprint": True}
    return {name: content if is_plain.get(name) else MASK for name, content in value.items()}


def _item(item: Any) -> Json:
    return {name: value if name == "key" else MASK for name, value in item.items()} if isinstance(item, dict) else {}
