"""Numbers as inputs write them: as numbers or as texts, read exactly."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any, Final

BITS: Final = 64
"""The widest integer that Google's APIs take, signed or not."""
_MOST_DIGITS: Final = 30
"""Integers with this many digits or more are not written out, because no field can hold them."""


def as_number(value: Any) -> float | None:
    """Take a value for a number, also one that is written as a text; None where it is not a finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_integer(value: Any) -> int | None:
    """Take a value for an integer, exactly: 3, 3.0, "3.0", "3e0", and texts beyond what a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(value)
        if found.is_finite() and found.adjusted() < _MOST_DIGITS and found == found.to_integral_value():
            return int(found)
    except InvalidOperation:
        return None
    return 1 << BITS if found.is_finite() and found.adjusted() >= _MOST_DIGITS else None


def fits(number: int) -> bool:
    """Tell whether an integer is one that Google's APIs have a type for."""
    return -(1 << (BITS - 1)) <= number < 1 << BITS


def is_exact(number: int) -> bool:
    """Tell whether a float, as which numbers travel to the engine, holds an integer unchanged."""
    return abs(number) <= 1 << 53 or (fits(number) and int(float(number)) == number)


def is_json(leaf: Any) -> bool:
    """Tell whether JSON can hold a value: NaN and infinity are not in it."""
    return not isinstance(leaf, float) or math.isfinite(leaf)
