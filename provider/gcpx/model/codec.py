"""Conversion between Pulumi's property maps and Google's JSON, by declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gcpx.model.compare import ANY, is_patch, without_nulls
from gcpx.model.fields import SCALARS, ListOf, MapOf, ObjectType, Property, Type, empty_value
from gcpx.model.links import in_version
from gcpx.model.numbers import as_integer
from gcpx.model.response_types import require_types
from gcpx.model.values import Secret, reveal

_INTEGER: Final = SCALARS[int]
_EXACT: Final = 1 << 53
"""Below this, the protocol's numbers are exact."""


def to_body(kind: ObjectType, inputs: Mapping[str, Any], *, nulls: bool = False) -> dict[str, Any]:
    """Return the REST body of inputs without secrets and unknowns; nulls are kept only within a JSON Merge Patch."""
    return {
        prop.wire: _to_wire(prop, prop.type, inputs[name], nulls=nulls or is_patch(prop, inputs))
        for name, prop in kind.inputs.items()
        if not (prop.traits.in_url or prop.traits.unsent)
        and (inputs.get(name) is not None or (nulls and name in inputs))
    }


def _to_wire(prop: Property, kind: Type, value: Any, *, nulls: bool = False) -> Any:
    if value is None:
        return None
    if isinstance(kind, ObjectType):
        return to_body(kind, value, nulls=nulls)
    if isinstance(kind, ListOf):
        return [_to_wire(prop, kind.item, item) for item in value]
    if isinstance(kind, MapOf):
        kept = value if nulls or kind.item == ANY else without_nulls(value)
        return {key: _to_wire(prop, kind.item, item, nulls=nulls) for key, item in kept.items()}
    if kind == _INTEGER:
        number = as_integer(value)
        return value if number is None else str(number) if prop.traits.int64 else number
    return value


def resolved(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Replace short forms by the forms to send; inputs may contain secrets and unknowns."""
    found = {
        name: _resolved(prop, prop.type, inputs[name])
        for name, prop in kind.resolved.items()
        if inputs.get(name) is not None
    }
    return inputs | found if found else inputs


def _resolved(prop: Property, kind: Type, value: Any) -> Any:
    if isinstance(value, Secret):
        return Secret(_resolved(prop, kind, value.value))
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return resolved(kind, value)
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_resolved(prop, kind.item, item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: _resolved(prop, kind.item, item) for key, item in value.items()}
    return prop.traits.resolve(value) if prop.traits.resolve and isinstance(value, str) else value


def without_empty(kind: ObjectType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty strings, lists and maps, also in nested objects; absent outputs have such values.

    A whole number becomes its digits where a string of digits is valid, such as a project's number: in YAML,
    configuration values are numbers even within quotes. Inputs may contain secrets and unknowns. Items of lists and
    maps stay, and so does a JSON Merge Patch.
    """
    kept = {}
    for name, value in inputs.items():
        prop = kind.inputs.get(name)
        if prop is None:
            kept[name] = value
        elif not _is_empty(prop, value):
            stays = name not in kind.with_objects or (
                is_patch(prop, inputs) and reveal(inputs[prop.traits.patches]) != ""
            )
            found = value if stays else _without_empty(prop.type, value)
            kept[name] = _in_digits(prop, found) if isinstance(found, int | float | Secret) else found
    return kept


def _in_digits(prop: Property, value: Any) -> Any:
    """Return the digits of a whole number where the form of a string allows them; anything else as it is."""
    if isinstance(value, Secret):
        return Secret(_in_digits(prop, value.value))
    if not isinstance(value, int | float) or prop.type != SCALARS[str] or prop.traits.pattern is None:
        return value
    number = as_integer(value)
    is_exact = number is not None and 0 <= number < _EXACT
    return str(number) if is_exact and prop.traits.pattern.pattern.fullmatch(str(number)) else value


def _is_empty(prop: Property, value: Any) -> bool:
    if isinstance(value, Secret):
        return _is_empty(prop, value.value)
    return not value and value is not None and value == empty_value(prop.type) and not prop.traits.keeps_empty


def _without_empty(kind: Type, value: Any) -> Any:
    if isinstance(value, Secret):
        return Secret(_without_empty(kind, value.value))
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return without_empty(kind, value)
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_without_empty(kind.item, item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: _without_empty(kind.item, item) for key, item in value.items()}
    return value


def from_body(kind: ObjectType, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a REST resource; fields that are not declared are left out.

    Raises MalformedResponse for a value of another type than the declared one.
    """
    properties: dict[str, Any] = _from_wire(kind, body)
    return require_types(kind, properties)


def _from_wire(kind: Type, value: Any) -> Any:
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return {
            name: _from_wire(prop.type, value[prop.wire])
            for name, prop in kind.properties.items()
            if value.get(prop.wire) is not None
        }
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_from_wire(kind.item, item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: _from_wire(kind.item, item) for key, item in value.items() if kind.item == ANY or item is not None}
    if isinstance(value, str) and kind == _INTEGER:
        number = as_integer(value)
        return value if number is None else number
    return value


def uses_beta(kind: Type, value: Any) -> bool:
    """Return whether inputs have a property, even with its default, that only the API's beta version accepts."""
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        return any(
            prop.traits.beta or uses_beta(prop.type, value[name])
            for name, prop in kind.inputs.items()
            if value.get(name) is not None
        )
    if isinstance(kind, ListOf) and isinstance(value, list):
        return any(uses_beta(kind.item, item) for item in value)
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return any(uses_beta(kind.item, item) for item in value.values())
    return False


def with_links_of(version: str, kind: Type, value: Any, *, is_link: bool = False) -> Any:
    """Return properties with their links in one API version; links without a version stay."""
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        properties = kind.properties
        return {
            name: with_links_of(version, properties[name].type, item, is_link=bool(properties[name].traits.url))
            for name, item in value.items()
        }
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [with_links_of(version, kind.item, item, is_link=is_link) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {key: with_links_of(version, kind.item, item, is_link=is_link) for key, item in value.items()}
    return in_version(version, value) if is_link and isinstance(value, str) else value
