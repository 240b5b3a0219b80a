"""Numbers in inputs, which may be numbers or strings, read exactly."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any, Final

BITS: Final = 64
"""The sizes of the largest integers in Google's APIs, signed and unsigned."""
_ALL: Final = 100
"""Percent."""
_MOST_DIGITS: Final = 30
"""Integers with more digits are not parsed, because no field can hold them."""


def as_number(value: Any) -> float | None:
    """Read a finite number, which may be written as a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_integer(value: Any) -> int | None:
    """Read an integer exactly: 3, 3.0, "3.0", "3e0", also one that no float can hold; None for anything else."""
    if type(value) is int and abs(value) <= 1 << BITS:
        return value  # the usual case
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(value)
        if found.is_finite() and found.adjusted() < _MOST_DIGITS and found == found.to_integral_value():
            return int(found)
    except InvalidOperation:
        return None
    return 1 << BITS if found.is_finite() and found.adjusted() >= _MOST_DIGITS else None


def as_integer_or_percentage(value: Any) -> int | str | None:
    """Read a whole number of at least 0, or a percentage from 0% to 100%, in its shortest form; None for anything else.

    >>> as_integer_or_percentage("3"), as_integer_or_percentage("020%"), as_integer_or_percentage("120%")
    (3, '20%', None)
    """
    if isinstance(value, str) and value.endswith("%"):
        share = value[:-1]
        is_number = share.isdecimal() and share.isascii() and len(share) <= _MOST_DIGITS
        return f"{int(share)}%" if is_number and int(share) <= _ALL else None
    number = as_integer(value)
    return number if number is not None and number >= 0 else None


def fits(number: int) -> bool:
    """Return whether an integer fits the largest types of Google's APIs."""
    return -(1 << (BITS - 1)) <= number < 1 << BITS


def is_exact(number: int) -> bool:
    """Return whether a float, the engine's type of numbers, can hold an integer exactly."""
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def is_json(leaf: Any) -> bool:
    """Return whether JSON can represent a scalar; it has no NaN and no infinity."""
    return not isinstance(leaf, float) or math.isfinite(leaf)
