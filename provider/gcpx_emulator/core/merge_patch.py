"""JSON Merge Patch (RFC 7396)."""

from __future__ import annotations

from typing import Any


def merge(target: Any, patch: Any) -> Any:
    """Apply a patch to a value, which stays unchanged; a null removes a key."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged
