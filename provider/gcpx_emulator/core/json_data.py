"""JSON: the type of its objects, how it is read, and JSON Merge Patch (RFC 7396)."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

from gcpx_emulator.core.errors import ApiError

MOST_VALUES: Final = 200_000
"""The maximum number of values, estimated by separators: a value takes far more memory than its bytes."""
_MOST_LEVELS: Final = 100
"""The maximum depth of objects and lists.

Source: `kDefaultMaxRecursionDepth` in protobuf's `json_stream_parser.cc`, whose message Google's APIs were reported to
send.
"""


def bytes_of(text: str) -> bytes:
    """Decode bytes in JSON: base64 of either alphabet, with or without padding."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


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


def field_names(mask: str) -> list[str]:
    """Return the JSON names of the fields in an update mask, such as `labels,ack_deadline_seconds`.

    A path such as `pushConfig.attributes` counts as its first part.
    """
    fields = [field.strip().partition(".")[0] for field in mask.split(",") if field.strip()]
    return [re.sub(r"_(\w)", lambda match: match[1].upper(), field) for field in fields]


Json = dict[str, Any]
"""A JSON object."""


def parse_json(raw: bytes, what: str = "the body") -> Any:
    """Read JSON; without any bytes, the result is None.

    Invalid Unicode and numbers that are not finite are refused, because they cannot be written again.

    Raises:
        ApiError: 400 with the reason `parseError`, or 413; `what` names the input in the message.
    """
    if sum(map(raw.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ApiError(413, f"The emulator reads at most {MOST_VALUES:,} values of JSON; {what} has more.", "invalid")
    try:
        value = json.loads(raw) if raw else None
        if raw.count(b"[") + raw.count(b"{") > _MOST_LEVELS:
            _check_levels(value)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"Parse Error: {what} must be JSON: {error}", "parseError") from None
    return value


def _check_levels(value: Any) -> None:
    """Raise ValueError for a value with too many levels, before a recursive function meets it."""
    containers = [value]
    for _ in range(_MOST_LEVELS):
        items = (one.values() if isinstance(one, dict) else one for one in containers)
        containers = [item for inner in items for item in inner if isinstance(item, dict | list)]
        if not containers:
            return
    raise ValueError(f"it has more than {_MOST_LEVELS} levels of objects and lists")
