"""JSON as Google writes it: UTF-8, each name once, only numbers that JSON has."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse(text: bytes) -> Any:
    """Read a document; raise ValueError without quoting it if it is invalid."""
    try:
        decoded = text.decode("utf-8")
        found = json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse)
        if _SURROGATE.search(decoded):
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise ValueError("not JSON in UTF-8") from None
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is there twice: two readers might not agree on which one counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice")
    return found


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")
