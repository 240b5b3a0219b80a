"""How filters compare values: numbers as numbers, times as times, and everything else as strings."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
"""An int64 as Google writes it in JSON: a string without a plus sign or leading zeros. Other digits are just text."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Comparable = Decimal | datetime | str


def pair(value: Any, wanted: str) -> tuple[Comparable, Comparable]:
    """Convert a stored value and a filter's value into what is compared."""
    for left, right in ((_stored_number(value), _number(wanted)), (_time(value), _time(wanted) or _date(wanted))):
        if left is not None and right is not None:
            return left, right
    return text(value), wanted.lower() if isinstance(value, bool) else wanted


def text(value: Any) -> str:
    """Write a value as a string."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _stored_number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        return None
    return _number(str(value))


def _number(value: str) -> Decimal | None:
    """Read a number exactly; IDs have 64 bits, which a float cannot hold."""
    return Decimal(value) if _NUMBER.fullmatch(value) else None


def _time(value: Any) -> datetime | None:
    return _parsed(value.upper()) if isinstance(value, str) and _TIME.fullmatch(value) else None


def _date(value: str) -> datetime | None:
    """Read a date, which stands for its first moment in UTC."""
    return _parsed(f"{value}T00:00:00Z") if _DATE.fullmatch(value) else None


def _parsed(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
