"""A strict JSON reader: UTF-8 without a byte order mark, no duplicate names, no NaN or Infinity."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")

_MOST_VALUES: Final = 200_000
"""The maximum number of values, estimated by separators: a push has at most 100 attributes of 1 KiB each."""


def parse(text: bytes) -> Any:
    """Parse a JSON document.

    Raises:
        ValueError: if it is invalid; the message does not quote it.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError("not JSON of a push, which has fewer values")
    try:
        decoded = text.decode("utf-8")
        document = json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse_constant)
        if _SURROGATE.search(decoded):
            json.dumps(document, ensure_ascii=False).encode("utf-8")  # fails for a lone surrogate
    except (ValueError, RecursionError):
        raise ValueError("not JSON in UTF-8") from None
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate names, because readers may disagree on which value counts."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a name appears twice")
    return document


def _refuse_constant(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")
