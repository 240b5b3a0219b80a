"""Inputs against their declaration: every failure at once, each with its path."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator
from typing import Any

import attrs

from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Property, Rules, Scalar, Type, object_of
from gcpx.model.rules import as_number
from gcpx.model.values import UNKNOWN, Path, Secret, format_path, has_secret, reveal

_ENUM_FORM = re.compile(r"[A-Z][A-Z0-9_]*")
_ANY = SCALARS[Any]


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
                self._fail(self._unknown_key(kind, key), secret)
            elif item is not None:
                if prop.rules.output:
                    self._fail("is set by Google Cloud and cannot be an input; remove it", secret)
                else:
                    self._property(prop, item, secret)
            self.path.pop()
        for name, prop in kind.required.items():
            if value.get(name) is None:
                self._fail(f"is required: {_first_sentence(prop.rules.description)}", secret, name)
        if kind.rules:
            self._rules(kind, value, secret)

    def _rules(self, kind: ObjectType, value: dict[str, Any], secret: bool) -> None:
        plain = value if self.plain else reveal(value)
        hidden = secret or (not self.plain and any(isinstance(leaf, Secret) for leaf in value.values()))
        for rule in kind.rules:
            for name, reason in rule.find(plain):
                # A reason may tell of a value; where one is secret, only the rule is told.
                found = Finding((*self.path, *place(name)), rule.words if hidden else reason, secret)
                (self.report.warnings if rule.warns else self.report.failures).append(found)

    def _property(self, prop: Property, value: Any, secret: bool) -> None:
        if prop.rules.deprecated:
            self._warn(f"is deprecated: {prop.rules.deprecated}")
        self._value(prop, prop.type, value, secret or prop.rules.secret)

    def _value(self, prop: Property, kind: Type, value: Any, secret: bool) -> None:
        if isinstance(value, Secret):
            self._value(prop, kind, value.value, True)
        elif value is None or value is UNKNOWN or kind is _ANY:
            return
        elif isinstance(kind, Scalar):
            self._scalar(prop.rules, kind, value, secret)
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
            self._fail(f"must be {describe(kind)}, not {describe_value(value)}", secret)

    def _list(self, prop: Property, kind: ListOf, value: list[Any], secret: bool) -> None:
        least, most = prop.rules.min_items, prop.rules.max_items
        if len(value) < least or (most is not None and len(value) > most):
            allowed = f"exactly {least}" if least == most else f"at most {most}" if least == 0 else f"{least} and more"
            self._fail(f"has {len(value)} elements; {allowed} allowed", secret)
        for index, item in enumerate(value):
            self.path.append(index)
            if item is None:
                self._fail(f"must be {describe(kind.item)}, not null", secret)
            self._value(prop, kind.item, item, secret)
            self.path.pop()

    def _scalar(self, rules: Rules, kind: Scalar, value: Any, secret: bool) -> None:
        if kind.name == "boolean":
            reasons = [] if isinstance(value, bool) else [f"must be a boolean, not {describe_value(value)}"]
        elif kind.name == "string":
            reasons = _text_reasons(rules, value, secret)
        else:
            reasons = _number_reasons(rules, kind, value, secret)
        for reason in reasons:
            self._fail(reason, secret)
        if not reasons and rules.enum and value not in rules.enum:
            self._warn(f"is not a value this version knows ({', '.join(rules.enum)}); it is sent as it is")

    def _warn(self, reason: str) -> None:
        self.report.warnings.append(Finding(tuple(self.path), reason))

    def _fail(self, reason: str, secret: bool, *below: str) -> None:
        self.report.failures.append(Finding((*self.path, *below), reason, secret))

    def _unknown_key(self, kind: ObjectType, key: str) -> str:
        close = difflib.get_close_matches(key, kind.inputs, n=1, cutoff=0.6)
        places = [place for place, owner in _homes(self.root).get(key, ()) if owner is not kind]
        if close:
            return f"is not a property here; did you mean {close[0]}?"
        if places:
            return f"does not belong here; it is a property of {' and of '.join(places)}"
        return f"is not a property here; allowed are {', '.join(sorted(kind.inputs))}"


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


def _number_reasons(rules: Rules, kind: Scalar, value: Any, secret: bool) -> list[str]:
    number = as_number(value)
    if number is None or (kind.name == "integer" and not number.is_integer()):
        return [f"must be {describe(kind)}, not {describe_value(value)}"]
    low, high, step = rules.minimum, rules.maximum, rules.multiple_of
    given = "" if secret else f"is {number:g}; "
    reasons = []
    if (low is not None and number < low) or (high is not None and number > high):
        reasons.append(f"{given}allowed are {'' if low is None else f'{low:,} '}{_upper(low, high)}")
    if step is not None and number % step:
        reasons.append(f"{given}it must be a multiple of {step}")
    return reasons


def _upper(low: int | None, high: int | None) -> str:
    if high is None:
        return "and more"
    return f"to {high:,}" if low is not None else f"at most {high:,}"


def _text_reasons(rules: Rules, value: Any, secret: bool) -> list[str]:
    if not isinstance(value, str):
        return [f"must be a string, not {describe_value(value)}"]
    reasons = []
    if rules.max_length is not None and len(value) > rules.max_length:
        reasons.append(f"is {len(value):,} characters long; at most {rules.max_length:,} allowed")
    if rules.pattern is not None and not rules.pattern[0].fullmatch(value):
        reasons.append(f"{_given(value, secret)}it must be {rules.pattern[1]}")
    if rules.enum and value not in rules.enum:
        close = difflib.get_close_matches(value.upper().replace("-", "_"), rules.enum, n=1, cutoff=0.75)
        if close or rules.closed or not _ENUM_FORM.fullmatch(value):
            hint = f"; did you mean {close[0]}?" if close and not secret else ""
            reasons.append(f"{_given(value, secret)}it must be one of {', '.join(rules.enum)}{hint}")
    return reasons


def _given(value: str, secret: bool) -> str:
    return "" if secret else f"is {shown(value)}; "


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
