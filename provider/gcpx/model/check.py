"""Inputs against their declaration: every failure at once, each with its path."""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import attrs

from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Property, Scalar, Traits, Type, object_of
from gcpx.model.numbers import BITS, as_integer, as_number, fits, is_json
from gcpx.model.patterns import Pattern, wrong_part
from gcpx.model.values import UNKNOWN, Path, Secret, conceal, has_secret, leaves, reveal

_ENUM_FORM = re.compile(r"[A-Z][A-Z0-9_]*")
_UNDERSCORE = re.compile(r"_([a-z])")
_SHOWN = 60
"""Characters of a value that a message shows."""
_ANY = SCALARS[Any]


@attrs.frozen
class Finding:
    """A failure or a warning at a path.

    Attributes:
        reason: what is required; it never holds the value, which the engine may show beside it.
        told: the same with the value, for where nothing else shows it; None where the value is secret.
    """

    path: Path
    reason: str
    told: str | None = None


@attrs.frozen
class _Reason:
    """What is required, and what was given instead: as a kind of thing, and as the value itself."""

    required: str
    kind: str = ""
    value: str = ""

    @property
    def reason(self) -> str:
        return f"{self.required}, not {self.kind}" if self.kind else self.required

    @property
    def told(self) -> str:
        return f"{self.required}, not {self.value}" if self.value else self.reason


@attrs.define
class Report:
    """Everything a check found."""

    failures: list[Finding] = attrs.Factory(list)
    warnings: list[Finding] = attrs.Factory(list)


def check(kind: ObjectType, inputs: dict[str, Any]) -> Report:
    """Check inputs, which may hold unknowns and secrets, against their declaration."""
    report = Report()
    known = {key: value for key, value in inputs.items() if not key.startswith("__")}
    _Checker(kind, report, plain=not has_secret(known)).object(kind, known)
    return report


@attrs.define
class _Checker:
    """One walk through inputs.

    Attributes:
        plain: nothing is secret, so rules see the values as they are.
        path: where the walk is; a finding takes a copy.
    """

    root: ObjectType
    report: Report
    plain: bool
    path: list[str | int] = attrs.Factory(list)

    def object(self, kind: ObjectType, value: dict[str, Any], secret: bool = False) -> None:
        properties = kind.properties
        for key, item in value.items():
            self.path.append(key)
            prop = properties.get(key)
            if prop is None:
                self._fail(self._unknown_key(kind, key))
            elif item is not None:
                if prop.traits.output:
                    self._fail("must be left out: Google Cloud sets it")
                else:
                    self._property(prop, item, secret)
            self.path.pop()
        for name, prop in kind.required.items():
            if reveal(value.get(name)) is None:
                self._fail(f"is required: {_first_sentence(prop.traits.description)}", name)
        if kind.rules:
            self._rules(kind, value, secret)

    def _rules(self, kind: ObjectType, value: dict[str, Any], secret: bool) -> None:
        plain = value if self.plain else reveal(value)
        for rule in kind.rules:
            found = rule.find(plain)
            # A reason may tell of a value. One that is found without the secrets does not; for others the rule's words
            # stand in.
            open_ = [] if secret else found if self.plain or not found else rule.find(conceal(value))
            for name, reason in found:
                finding = Finding((*self.path, *place(name)), reason if (name, reason) in open_ else rule.words)
                (self.report.warnings if rule.warns else self.report.failures).append(finding)

    def _property(self, prop: Property, value: Any, secret: bool) -> None:
        if prop.traits.deprecated:
            self._warn(f"is deprecated: {prop.traits.deprecated}")
        self._value(prop, prop.type, value, secret or prop.traits.secret)

    def _value(self, prop: Property, kind: Type, value: Any, secret: bool) -> None:
        if isinstance(value, Secret):
            self._value(prop, kind, value.value, True)
        elif value is None or value is UNKNOWN:
            return
        elif isinstance(kind, Scalar):
            self._scalar(prop.traits, kind, value, secret)
        elif isinstance(kind, ListOf) and isinstance(value, list):
            self._list(prop, kind, value, secret)
        elif isinstance(kind, MapOf) and isinstance(value, dict):
            for key, item in value.items():
                self.path.append(key)
                self._value(prop, kind.item, item, secret)
                self.path.pop()
        elif isinstance(kind, ObjectType) and isinstance(value, dict):
            self.object(kind, value, secret)
        else:
            self._refuse(_type_reason(kind, value), secret)

    def _list(self, prop: Property, kind: ListOf, value: list[Any], secret: bool) -> None:
        least, most = prop.traits.min_items, prop.traits.max_items
        if len(value) < least or (most is not None and len(value) > most):
            self._fail(f"must have {_elements(least, most)}, not {len(value)}")
        for index, item in enumerate(value):
            self.path.append(index)
            if item is None:
                self._fail(f"must be {describe(kind.item)}, not null")
            self._value(prop, kind.item, item, secret)
            self.path.pop()

    def _scalar(self, traits: Traits, kind: Scalar, value: Any, secret: bool) -> None:
        if kind is _ANY:
            reasons = [] if all(map(is_json, leaves(value))) else [_Reason("must be JSON, without NaN or infinity")]
        elif kind.name == "boolean":
            reasons = [] if isinstance(value, bool) else [_type_reason(kind, value)]
        elif kind.name == "string":
            reasons = _text_reasons(traits, value)
        else:
            reasons = _number_reasons(traits, kind, value)
        for reason in reasons:
            self._refuse(reason, secret)
        if not reasons and traits.enum and value not in traits.enum:
            self._warn(
                f"is not one of the values that this version knows ({', '.join(traits.enum)}); it is sent unchanged"
            )

    def _warn(self, reason: str) -> None:
        self.report.warnings.append(Finding(tuple(self.path), reason))

    def _fail(self, reason: str, *below: str) -> None:
        self.report.failures.append(Finding((*self.path, *below), reason))

    def _refuse(self, reason: _Reason, secret: bool) -> None:
        told = None if secret else reason.told
        self.report.failures.append(Finding(tuple(self.path), reason.reason, told))

    def _unknown_key(self, kind: ObjectType, key: str) -> str:
        # What SDKs do not know they send as it was written, which in Python is source_image.
        name = _UNDERSCORE.sub(lambda found: found[1].upper(), key)
        close = difflib.get_close_matches(name, kind.inputs, n=1, cutoff=0.6)
        below, anywhere = self._places(kind, name)
        if name in kind.hints:
            return kind.hints[name]
        if close and not below:
            return f"is not a property here; did you mean {close[0]}?"
        if "*" in kind.hints:
            return kind.hints["*"]
        if anywhere:
            return f"does not belong here; it is a property of {' and of '.join(below or anywhere)}"
        return f"is not a property here; the allowed properties are {', '.join(sorted(kind.inputs))}"

    def _places(self, kind: ObjectType, name: str) -> tuple[list[str], list[str]]:
        """Say where a property belongs: below this object, and anywhere."""
        here = "".join("[]" if isinstance(part, int) else f".{part}" for part in self.path[:-1]).lstrip(".")
        places = [place for place, owner in _homes(self.root).get(name, ()) if owner is not kind]
        return [place for place in places if place.startswith(here)], places


@functools.cache
def _homes(root: ObjectType) -> dict[str, list[tuple[str, ObjectType]]]:
    """Say where each property belongs."""
    homes: dict[str, list[tuple[str, ObjectType]]] = {}
    for where, owner in _owners(root):
        for name in owner.inputs:
            homes.setdefault(name, []).append((where, owner))
    return homes


def _owners(kind: ObjectType, path: str = "") -> Iterator[tuple[str, ObjectType]]:
    yield path or "the resource itself", kind
    for name, prop in kind.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            suffix = "[]" if isinstance(prop.type, ListOf) else ""
            yield from _owners(inner, f"{path}.{name}{suffix}" if path else f"{name}{suffix}")


def _type_reason(kind: Type, value: Any) -> _Reason:
    """Say what type is required, and the form of what many write instead."""
    given = describe_value(value)
    hint = kind.hints.get("") if isinstance(kind, ObjectType) else None
    if hint is not None:
        return _Reason(hint, given)
    return _Reason(f"must be {describe(kind)}", given, _given(value) if isinstance(kind, Scalar) else "")


def _given(value: Any) -> str:
    """Name a value with its type, if it is short."""
    if isinstance(value, str):
        return f"the string {shown(value)}"
    return f"the number {value}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _elements(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least} element{'' if least == 1 else 's'}"
    return f"{'exactly' if least == most else 'at most'} {most} element{'' if most == 1 else 's'}"


def _number_reasons(traits: Traits, kind: Scalar, value: Any) -> list[_Reason]:
    number = as_integer(value) if kind.name == "integer" else as_number(value)
    if number is None:
        return [_type_reason(kind, value)]
    if isinstance(number, int) and not fits(number):
        return [_Reason(f"must be an integer of at most {BITS} bits")]
    low, high, step = traits.minimum, traits.maximum, traits.multiple_of
    given = f"{number:g}" if isinstance(number, float) else str(number)
    reasons = []
    if (low is not None and number < low) or (high is not None and number > high):
        reasons.append(_Reason(f"must be {_bounds(low, high)}", value=given))
    if step is not None and number % step:
        reasons.append(_Reason(f"must be a multiple of {step}", value=given))
    return reasons


def _bounds(low: int | None, high: int | None) -> str:
    if high is None:
        return f"at least {low:,}"
    return f"{low:,} to {high:,}" if low is not None else f"at most {high:,}"


def _text_reasons(traits: Traits, value: Any) -> list[_Reason]:
    if not isinstance(value, str):
        return [_type_reason(SCALARS[str], value)]
    reasons = []
    if traits.max_length is not None and len(value) > traits.max_length:
        reasons.append(_Reason(f"must have at most {traits.max_length:,} characters, not {len(value):,}"))
    if traits.pattern is not None and not traits.pattern[0].fullmatch(value):
        reasons.append(_pattern_reason(traits.pattern, value))
    if traits.enum and value not in traits.enum:
        close = difflib.get_close_matches(value.upper().replace("-", "_"), traits.enum, n=1, cutoff=0.75)
        if close or traits.closed or not _ENUM_FORM.fullmatch(value):
            hint = f"{shown(value)}; did you mean {close[0]}?" if close else shown(value)
            reasons.append(_Reason(f"must be one of {', '.join(traits.enum)}", value=hint))
    return reasons


def _pattern_reason(form: Pattern, value: str) -> _Reason:
    """Say which part of a value is wrong, where the rest shows what it was to be."""
    part = wrong_part(form, value)
    return _Reason(f"must be {part or form[1]}", value=shown(value))


def place(name: str | Path) -> Path:
    """Read where a rule found something."""
    return tuple(name.split(".")) if isinstance(name, str) and name else tuple(name)


def shown(value: Any) -> str:
    """Quote a value for a message, shortened."""
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
    return "an integer" if kind.name == "integer" else f"a {kind.name}"


def describe_value(value: Any) -> str:
    """Name the type of a value in words, without showing it."""
    words = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a map"}
    return words.get(type(value), "an asset or another special value")


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")
