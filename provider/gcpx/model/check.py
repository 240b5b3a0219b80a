"""Checks of inputs against their declaration: all failures at once, each with its path."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Scalar, Traits, Type
from gcpx.model.scalars import Requirement, describe, unmet_by_scalar, wrong_type
from gcpx.model.unknown_properties import unknown_property
from gcpx.model.values import UNKNOWN, Path, Secret, conceal, has_secret, reveal


@attrs.frozen
class Finding:
    """A failure or a warning at a path.

    Attributes:
        reason: what is required. It never contains the value, which the engine may show beside it.
        with_value: the same with the value, for messages in which nothing else shows it; None if the value is secret.
    """

    path: Path
    reason: str
    with_value: str | None = None


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
        plain: nothing is secret, so rules get the values as they are.
        path: where the walk is; findings get a copy.
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
                self._fail(unknown_property(self.root, kind, tuple(self.path)))
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
            # A reason may reveal a value. If it is also found without the secrets it does not; otherwise the rule's
            # words replace it.
            open_ = [] if secret else found if self.plain or not found else rule.find(conceal(value))
            for name, reason in found:
                finding = Finding((*self.path, *as_path(name)), reason if (name, reason) in open_ else rule.words)
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
            self._refuse(wrong_type(kind, value), secret)

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
        unmet = unmet_by_scalar(traits, kind, value)
        for requirement in unmet:
            self._refuse(requirement, secret)
        if not unmet and traits.enum and value not in traits.enum:
            self._warn(
                f"is not a value that this version of gcpx knows ({', '.join(traits.enum)}); it is sent unchanged"
            )

    def _warn(self, reason: str) -> None:
        self.report.warnings.append(Finding(tuple(self.path), reason))

    def _fail(self, reason: str, *below: str) -> None:
        self.report.failures.append(Finding((*self.path, *below), reason))

    def _refuse(self, requirement: Requirement, secret: bool) -> None:
        with_value = None if secret else requirement.with_value
        self.report.failures.append(Finding(tuple(self.path), requirement.without_value, with_value))


def _elements(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least} element{'' if least == 1 else 's'}"
    return f"{'exactly' if least == most else 'at most'} {most} element{'' if most == 1 else 's'}"


def as_path(name: str | Path) -> Path:
    """Read the place that a rule names: a dotted path, or its parts."""
    return tuple(name.split(".")) if isinstance(name, str) and name else tuple(name)


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")
