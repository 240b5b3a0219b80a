"""Requirements for single values, in words that name what was given."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any, Final

import attrs

from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Scalar, Traits, Type
from gcpx.model.numbers import BITS, as_integer, as_integer_or_percentage, as_number, fits, is_json
from gcpx.model.patterns import Pattern, wrong_part
from gcpx.model.values import leaves

_ENUM_FORM: Final = re.compile(r"[A-Z][A-Z0-9_]*")
PERCENTAGE: Final = SCALARS[int | str]
_SHOWN: Final = 60
"""The number of characters of a value that a message shows."""


@attrs.frozen
class Requirement:
    """A requirement that a value does not meet.

    Attributes:
        required: what is required, such as `must be an integer`.
        kind: the type of what was given, in words.
        value: what was given.
    """

    required: str
    kind: str = ""
    value: str = ""

    @property
    def without_value(self) -> str:
        """The requirement in words that reveal no value."""
        return f"{self.required}, not {self.kind}" if self.kind else self.required

    @property
    def with_value(self) -> str:
        """The requirement and the value that was given."""
        return f"{self.required}, not {self.value}" if self.value else self.without_value


def unmet_by_scalar(traits: Traits, kind: Scalar, value: Any) -> list[Requirement]:
    """Return the requirements that a known value does not meet; `value` is neither null nor a secret."""
    if kind.name == "any":
        return [] if all(map(is_json, leaves(value))) else [Requirement("must be JSON, without NaN or infinity")]
    if kind.name == "boolean":
        return [] if isinstance(value, bool) else [wrong_type(kind, value)]
    if kind == PERCENTAGE:
        return [] if as_integer_or_percentage(value) is not None else [wrong_type(kind, value)]
    return _unmet_by_text(traits, value) if kind.name == "string" else _unmet_by_number(traits, kind, value)


def wrong_type(kind: Type, value: Any) -> Requirement:
    """Require the declared type, with a hint for what users of other providers often write."""
    given = describe_value(value)
    hint = kind.hints.get("") if isinstance(kind, ObjectType) else None
    if hint is not None:
        return Requirement(hint, given)
    return Requirement(f"must be {describe(kind)}", given, _given(value) if isinstance(kind, Scalar) else "")


def _given(value: Any) -> str:
    """Name a value with its type, if it is short."""
    if isinstance(value, str):
        return f"the string {shown(value)}"
    return f"the number {value}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _unmet_by_number(traits: Traits, kind: Scalar, value: Any) -> list[Requirement]:
    number = as_integer(value) if kind.name == "integer" else as_number(value)
    if number is None:
        return [wrong_type(kind, value)]
    if isinstance(number, int) and not fits(number):
        return [Requirement(f"must be an integer of at most {BITS} bits")]
    low, high, step = traits.minimum, traits.maximum, traits.multiple_of
    given = f"{number:g}" if isinstance(number, float) else str(number)
    unmet = []
    if (low is not None and number < low) or (high is not None and number > high):
        unmet.append(Requirement(f"must be {_bounds(low, high)}", value=given))
    if step is not None and number % step:
        unmet.append(Requirement(f"must be a multiple of {step}", value=given))
    return unmet


def _bounds(low: int | None, high: int | None) -> str:
    if high is None:
        return f"at least {low:,}"
    return f"{low:,} to {high:,}" if low is not None else f"at most {high:,}"


def _unmet_by_text(traits: Traits, value: Any) -> list[Requirement]:
    if not isinstance(value, str):
        return [wrong_type(SCALARS[str], value)]
    unmet = []
    if traits.max_length is not None and len(value) > traits.max_length:
        unmet.append(Requirement(f"must have at most {traits.max_length:,} characters, not {len(value):,}"))
    if traits.pattern is not None and not traits.pattern[0].fullmatch(value):
        unmet.append(_unmet_pattern(traits.pattern, value))
    if traits.enum and value not in traits.enum:
        close = difflib.get_close_matches(value.upper().replace("-", "_"), traits.enum, n=1, cutoff=0.75)
        if close or traits.closed or not _ENUM_FORM.fullmatch(value):
            hint = f"{shown(value)}; did you mean {close[0]}?" if close else shown(value)
            unmet.append(Requirement(f"must be one of {', '.join(traits.enum)}", value=hint))
    return unmet


def _unmet_pattern(form: Pattern, value: str) -> Requirement:
    """Require a form; if most of a value fits a form, name the part that is wrong."""
    part = wrong_part(form, value)
    return Requirement(f"must be {part or form[1]}", value=shown(value))


def shown(value: Any) -> str:
    """Quote a value for a message; a long one is cut."""
    text = json.dumps(value, ensure_ascii=not str(value).isprintable())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"


def describe(kind: Type) -> str:
    """Name a type in words."""
    if isinstance(kind, ListOf):
        return "a list"
    if isinstance(kind, MapOf):
        return "a map"
    if isinstance(kind, ObjectType):
        return f"an object with the properties of {kind.name}"
    if kind == PERCENTAGE:
        return "a number, such as 2, or a percentage of at most 100%, such as 20%"
    return "an integer" if kind.name == "integer" else f"a {kind.name}"


def describe_value(value: Any) -> str:
    """Name the type of a value in words, without showing it."""
    words = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a map"}
    return words.get(type(value), "an asset or another special value")
