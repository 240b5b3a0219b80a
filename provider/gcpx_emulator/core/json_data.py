"""JSON: the type of its objects, and how it is read."""

from __future__ import annotations

import json
from typing import Any

from gcpx_emulator.core.errors import ApiError

Json = dict[str, Any]
"""A JSON object."""


def parse_json(raw: bytes, what: str = "the body") -> Any:
    """Read JSON; without any bytes, the result is None.

    Invalid Unicode and numbers that are not finite are refused, because they cannot be written again.

    Raises:
        ApiError: 400 with the reason `parseError`; `what` names the input in the message.
    """
    try:
        value = json.loads(raw) if raw else None
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"Parse Error: {what} must be JSON: {error}", "parseError") from None
    return value
