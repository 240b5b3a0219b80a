"""Inputs against their declaration: every failure at once, each with its path."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from typing import Any

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Rules, Scalar, Type, object_of
from gcpx.model.values import UNKNOWN, Path, Secret, format_path, reveal

_ENUM_FORM = re.compile(r"[A-Z][A-Z0-9_]*")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
}


@attrs.frozen
class Finding:
    """Something wrong, or worth a warning, at a path."""

    path: Path
    reason: str
    secret: bool = False


@attrs.define
class Report:
    """Everything a check found."""

    failures: list[Finding] = attrs.Factory(list)
    warnings: list[Finding] = attrs.Factory(list)


def check(kind: ObjectType, inputs: dict[str, Any]) -> Report:
    """Check inputs, which may hold unknowns and secrets, against their declaration."""
    report = Report()
    known = {key: value for key, value in inputs.items() if not key.startswith("__")}
    _Checker(kind, report).object(kind, known, ())
    return report


@attrs.frozen
class _Checker:
    root: ObjectType
    report: Report

    def object(self, kind: ObjectType, value: dict[str, Any], path: Path, secret: bool = False) -> None:
        for key, item in value.items():
            prop = kind.properties.get(key)
            if prop is None:
                self._fail((*path, key), self._unknown_key(kind, key), secret)
            elif prop.rules.output and item is not None:
                self._fail((*path, key), "is set by Google Cloud and cannot be an input; remove it", secret)
            elif item is not None:
                self._property(prop, item, (*path, key), secret)
        for name, prop in kind.inputs.items():
            if prop.rules.required and value.get(name) is None:
                self._fail((*path, name), f"is required: {_first_sentence(prop.rules.description)}", secret)
        self._rules(kind, value, path, secret)

    def _rules(self, kind: ObjectType, value: dict[str, Any], path: Path, secret: bool) -> None:
        if not kind.rules:
            return
        plain = reveal(value)
        hidden = secret or any(isinstance(leaf, Secret) for leaf in value.values())
        for rule in kind.rules:
            for name, reason in rule(plain):
                # A reason may tell of a value; where one is secret, only the rule is told.
                found = Finding((*path, *place(name)), rule.words if hidden else reason, secret)
                (self.report.warnings if rule.warns else self.report.failures).append(found)

    def _property(self, prop: Property, value: Any, path: Path, secret: bool) -> None:
        if prop.rules.deprecated:
            self.report.warnings.append(Finding(path, f"is deprecated: {prop.rules.deprecated}"))
        self._value(prop, prop.type, value, path, secret or prop.rules.secret)

    def _value(self, prop: Property, kind: Type, value: Any, path: Path, secret: bool) -> None:
        if isinstance(value, Secret):
            self._value(prop, kind, value.value, path, True)
        elif value is None or value is UNKNOWN or kind == Scalar("any"):
            return
        elif isinstance(kind, Scalar):
            self._scalar(prop.rules, kind, value, path, secret)
        elif isinstance(kind, ListOf) and isinstance(value, list):
            self._list(prop, kind, value, path, secret)
        elif isinstance(kind, MapOf) and isinstance(value, dict):
            for key, item in value.items():
                self._value(prop, kind.item, item, (*path, key), secret)
        elif isinstance(kind, ObjectType) and isinstance(value, dict):
            self.object(kind, value, path, secret)
        else:
            self._fail(path, f"must be {describe(kind)}, not {describe_value(value)}", secret)

    def _list(self, prop: Property, kind: ListOf, value: list[Any], path: Path, secret: bool) -> None:
        least, most = prop.rules.min_items, prop.rules.max_items
        if len(value) < least or (most is not None and len(value) > most):
            allowed = f"exactly {least}" if least == most else f"at most {most}" if least == 0 else f"{least} and more"
            self._fail(path, f"has {len(value)} elements; {allowed} allowed", secret)
        for index, item in enumerate(value):
            if item is None:
                self._fail((*path, index), f"must be {describe(kind.item)}, not null", secret)
            self._value(prop, kind.item, item, (*path, index), secret)

    def _scalar(self, rules: Rules, kind: Scalar, value: Any, path: Path, secret: bool) -> None:
        number = _as_number(kind, value)
        whole = number is None or kind.name == "number" or number.is_integer()
        if number is not None and whole:
            reasons = list(_number_reasons(rules, number))
        elif (
            not whole
            or not isinstance(value, _TYPES[kind.name])
            or (isinstance(value, bool) and kind.name != "boolean")
        ):
            reasons = [f"must be {describe(kind)}, not {describe_value(value)}"]
        else:
            reasons = list(_text_reasons(rules, value, secret)) if isinstance(value, str) else []
        for reason in reasons:
            self._fail(path, reason, secret)
        if not reasons and rules.enum and value not in rules.enum:
            self._warn_new_enum(rules, path)

    def _warn_new_enum(self, rules: Rules, path: Path) -> None:
        self.report.warnings.append(
            Finding(path, f"is not a value this version knows ({', '.join(rules.enum)}); it is sent as it is")
        )

    def _fail(self, path: Path, reason: str, secret: bool) -> None:
        self.report.failures.append(Finding(path, reason, secret))

    def _unknown_key(self, kind: ObjectType, key: str) -> str:
        close = difflib.get_close_matches(key, kind.inputs, n=1, cutoff=0.6)
        places = [place for place, owner in _owners(self.root) if owner is not kind and key in owner.inputs]
        if close:
            return f"is not a property here; did you mean {close[0]}?"
        if places:
            return f"does not belong here; it is a property of {' and of '.join(places)}"
        return f"is not a property here; allowed are {', '.join(sorted(kind.inputs))}"


def _owners(kind: ObjectType, path: str = "") -> Iterator[tuple[str, ObjectType]]:
    yield path or "the resource itself", kind
    for name, prop in kind.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            suffix = "[]" if isinstance(prop.type, ListOf) else ""
            yield from _owners(inner, f"{path}.{name}{suffix}" if path else f"{name}{suffix}")


def _as_number(kind: Scalar, value: Any) -> float | None:
    if kind.name not in {"integer", "number"} or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _number_reasons(rules: Rules, number: float) -> Iterator[str]:
    low, high, step = rules.minimum, rules.maximum, rules.multiple_of
    if (low is not None and number < low) or (high is not None and number > high):
        yield f"is {number:g}; allowed are {'' if low is None else f'{low:,} '}{_upper(low, high)}"
    if step is not None and number % step:
        yield f"is {number:g}; it must be a multiple of {step}"


def _upper(low: int | None, high: int | None) -> str:
    if high is None:
        return "and more"
    return f"to {high:,}" if low is not None else f"at most {high:,}"


def _text_reasons(rules: Rules, value: str, secret: bool) -> Iterator[str]:
    if rules.max_length is not None and len(value) > rules.max_length:
        yield f"is {len(value):,} characters long; at most {rules.max_length:,} allowed"
    if rules.pattern is not None and not rules.pattern[0].fullmatch(value):
        yield f"{'' if secret else f'is {shown(value)}; '}it must be {rules.pattern[1]}"
    if rules.enum and value not in rules.enum:
        close = difflib.get_close_matches(value.upper().replace("-", "_"), rules.enum, n=1, cutoff=0.75)
        if close or rules.closed or not _ENUM_FORM.fullmatch(value):
            hint = f"; did you mean {close[0]}?" if close else ""
            yield f"{'' if secret else f'is {shown(value)}; '}it must be one of {', '.join(rules.enum)}{hint}"


def place(name: str | Path) -> Path:
    """Read where a rule found something."""
    return tuple(name.split(".")) if isinstance(name, str) and name else tuple(name)


def shown(value: Any) -> str:
    """Quote a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"  # noqa: PLR2004


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


def failure_property(finding: Finding) -> tuple[str, str]:
    """Give a finding the form of a check failure: the property the engine prints, and the reason.

    The engine prints the value of the property it is given, secrets in clear, so a secret's path goes into the reason.
    """
    path = format_path(finding.path)
    return ("", f"{path} {finding.reason}") if finding.secret else (path, finding.reason)
