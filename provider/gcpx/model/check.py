"""Checks inputs against their declaration; returns all failures at once, each with its path."""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx.model.fields import SCALARS, Failure, ListOf, MapOf, ObjectType, Property, Scalar, Traits, Type, object_of
from gcpx.model.numbers import BITS, as_integer, as_integer_or_percentage, as_number, fits, is_json
from gcpx.model.patterns import Known, wrong_part
from gcpx.model.values import UNKNOWN, Path, Secret, Special, conceal, has_secret, leaves, reveal
from gcpx.model.words import counted

_ENUM_FORM: Final = re.compile(r"[A-Z][A-Z0-9_]*")
PERCENTAGE: Final = SCALARS[int | str]
_SHOWN: Final = 60
"""The number of characters of a value that a message shows."""


@attrs.frozen
class Requirement:
    """A requirement that a value does not meet.

    Attributes:
        required: the requirement, such as `must be an integer`.
        kind: the type of the given value, in words.
        value: the given value.
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
        """The requirement and the given value."""
        return f"{self.required}, not {self.value}" if self.value else self.without_value


def unmet_by_scalar(traits: Traits, kind: Scalar, value: Any) -> list[Requirement]:
    """Return the requirements that a known value does not meet; `value` is neither null nor a secret."""
    if kind.name == "string":
        return _unmet_by_text(traits, value)
    if kind.name == "boolean":
        return [] if isinstance(value, bool) else [wrong_type(kind, value)]
    if kind.name == "any":
        return _unmet_by_json(value)
    if kind == PERCENTAGE:
        return [] if as_integer_or_percentage(value) is not None else [wrong_type(kind, value)]
    return _unmet_by_number(traits, kind, value)


def _unmet_by_json(value: Any) -> list[Requirement]:
    special = next((leaf for leaf in leaves(value) if isinstance(leaf, Special)), None)
    if special is not None:
        return [Requirement("must be JSON", special.name)]
    return [] if all(map(is_json, leaves(value))) else [Requirement("must be JSON, without NaN or infinity")]


def wrong_type(kind: Type, value: Any) -> Requirement:
    """Return the failure of a value with another type, with a hint for what users of other providers often write."""
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
        unmet_type = wrong_type(SCALARS[str], value)
        # In YAML, an unquoted value such as TRUE is not a string, and the CLI's import writes no quotes.
        bare = isinstance(value, bool | int | float)
        return [attrs.evolve(unmet_type, required=f"{unmet_type.required} in quotes") if bare else unmet_type]
    unmet = []
    if value == "" and isinstance(traits.default, re.Pattern):
        unmet.append(Requirement("must not be empty; leave it out, and Google chooses"))
    if traits.max_length is not None and len(value) > traits.max_length:
        unmet.append(Requirement(f"must have at most {traits.max_length:,} characters, not {len(value):,}"))
    if traits.pattern is not None and not traits.pattern.pattern.fullmatch(value):
        unmet.append(
            Requirement(f"must be {wrong_part(traits.pattern, value) or traits.pattern.words}", value=shown(value))
        )
    if traits.enum and value not in traits.enum:
        close = difflib.get_close_matches(value.upper().replace("-", "_"), traits.enum, n=1, cutoff=0.75)
        if close or traits.closed or not _ENUM_FORM.fullmatch(value):
            hint = f"{shown(value)}; did you mean {close[0]}?" if close else shown(value)
            unmet.append(Requirement(f"must be one of {', '.join(traits.enum)}", value=hint))
    return unmet


def shown(value: Any) -> str:
    """Quote a value for a message; cut a long one."""
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
    return {"integer": "an integer", "boolean": "true or false"}.get(kind.name, f"a {kind.name}")


def describe_value(value: Any) -> str:
    """Name the type of a value in words, without showing it."""
    words = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a map"}
    return value.name if isinstance(value, Special) else words[type(value)]


_UNDERSCORE: Final = re.compile(r"_([a-z])")


def unknown_property(root: ObjectType, kind: ObjectType, path: Path) -> str:
    """Return the failure that the last part of `path` is not a property of `kind`, with a suggestion.

    `root` is the declaration of all inputs; the property may belong to another place in it.
    """
    # SDKs send an unknown property as the user wrote it, in Python as `source_image`.
    name = _UNDERSCORE.sub(lambda found: found[1].upper(), str(path[-1]))
    close = difflib.get_close_matches(name, kind.inputs, n=1, cutoff=0.6)
    below, anywhere = _places(root, kind, name, path)
    if name in kind.hints:
        return kind.hints[name]
    if close and not below:
        return f"is not a property here; did you mean {close[0]}?"
    if "*" in kind.hints:
        return kind.hints["*"]
    if anywhere:
        return f"does not belong here, but in {' or in '.join(below or anywhere)}"
    return f"is not a property here; the allowed properties are {', '.join(sorted(kind.inputs))}"


def _places(root: ObjectType, kind: ObjectType, name: str, path: Path) -> tuple[list[str], list[str]]:
    """Return the places of objects that have a property: those below this object, and all."""
    here = "".join("[]" if isinstance(part, int) else f".{part}" for part in path[:-1]).lstrip(".")
    places = [place for place, owner in _owners_by_property(root).get(name, ()) if owner is not kind]
    return [place for place in places if place.startswith(here)], places


@functools.cache
def _owners_by_property(root: ObjectType) -> dict[str, list[tuple[str, ObjectType]]]:
    """Return for each property the objects that have it, with their places."""
    owners: dict[str, list[tuple[str, ObjectType]]] = {}
    for where, owner in _owners(root):
        for name in owner.inputs:
            owners.setdefault(name, []).append((where, owner))
    return owners


def _owners(kind: ObjectType, path: str = "") -> Iterator[tuple[str, ObjectType]]:
    yield path or "the resource itself", kind
    for name, prop in kind.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            suffix = "[]" if isinstance(prop.type, ListOf) else ""
            yield from _owners(inner, f"{path}.{name}{suffix}" if path else f"{name}{suffix}")


@attrs.define
class CheckResult:
    """The result of a check."""

    failures: list[Failure] = attrs.Factory(list)
    warnings: list[Failure] = attrs.Factory(list)


def check(kind: ObjectType, inputs: Mapping[str, Any], others: Iterable[Failure] = ()) -> CheckResult:
    """Check inputs, which may hold unknowns and secrets, against their declaration.

    `others` are further failures, which are added at the end.
    """
    result = CheckResult()
    known = {key: value for key, value in inputs.items() if not key.startswith("__")}
    _Checker(kind, result, plain=not has_secret(known)).object(kind, known)
    result.failures.extend(others)
    return result


@attrs.define
class _Checker:
    """One walk through inputs.

    Attributes:
        plain: nothing is secret, so rules get the values themselves.
        path: the current place; failures get a copy.
    """

    root: ObjectType
    result: CheckResult
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
                traits = prop.traits
                if traits.output:
                    self._fail(kind.hints.get(key, "must be left out: Google Cloud sets it"))
                else:
                    if traits.deprecated:
                        self._warn(f"is deprecated: {traits.deprecated}")
                    self._value(prop, prop.type, item, secret or traits.secret)
            self.path.pop()
        for name, prop in kind.required.items():
            if reveal(value.get(name)) is None:
                self._fail(f"is required: {prop.traits.description.partition('. ')[0].rstrip('.')}", name)
        if kind.rules:
            self._rules(kind, value, secret)

    def _rules(self, kind: ObjectType, value: dict[str, Any], secret: bool) -> None:
        plain = value if self.plain else reveal(value)
        for rule in kind.rules:
            found = rule(plain)
            # A reason may reveal a value. It does not if it is also found without the secrets; otherwise the rule's
            # words replace it.
            open_ = [] if secret else found if self.plain or not found else rule(conceal(value))
            for failure in found:
                reason = failure.reason if failure in open_ else rule.words
                failures = self.result.warnings if rule.warns else self.result.failures
                failures.append(Failure((*self.path, *failure.path), reason))

    def _value(self, prop: Property, kind: Type, value: Any, secret: bool) -> None:
        if isinstance(value, Secret):
            self._value(prop, kind, value.value, True)
        elif value is None or value is UNKNOWN:
            return
        elif isinstance(kind, Scalar):
            unmet, enum, pattern = unmet_by_scalar(prop.traits, kind, value), prop.traits.enum, prop.traits.pattern
            for requirement in unmet:
                self._refuse(requirement, secret)
            if not unmet and enum and value not in enum:
                self._warn(f"is not a value that this version of gcpx knows ({', '.join(enum)}); it is sent unchanged")
            if not unmet and pattern is not None and pattern.known is not None:
                self._doubt(pattern.known, value, secret)
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

    def _doubt(self, known: Known, value: str, secret: bool) -> None:
        name, close = known.mistaken(value)
        if close:
            words = f"names the {known.what} {name}, which this version of gcpx does not know"
            self._warn(
                f"names a {known.what} that this version of gcpx does not know; it is sent unchanged",
                None if secret else f"{words}; did you mean {' or '.join(close)}?",
            )

    def _warn(self, reason: str, with_value: str | None = None) -> None:
        self.result.warnings.append(Failure(tuple(self.path), reason, with_value))

    def _fail(self, reason: str, *below: str) -> None:
        self.result.failures.append(Failure((*self.path, *below), reason))

    def _refuse(self, requirement: Requirement, secret: bool) -> None:
        with_value = None if secret else requirement.with_value
        self.result.failures.append(Failure(tuple(self.path), requirement.without_value, with_value))


def _elements(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {counted(least, 'element')}"
    return f"{'exactly' if least == most else 'at most'} {counted(most, 'element')}"
