"""The rules of a preview, read from the declarations: one row for each limit of a property and each rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Rule, Traits, object_of, object_type
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

Path = tuple[str, ...]
_FIRST: Final = "gcpx:compute:InstanceTemplate"
"""The resource whose places name an object that several resources share."""
_OF_THE_FIELD: Final = attrs.fields(Traits).source.default
"""The source of a limit or rule without its own source."""


@attrs.frozen(kw_only=True)
class Place:
    """An object at one path within the inputs of a resource or the arguments of a function.

    Attributes:
        token: the resource or function.
        path: the path in its inputs, with `[]` for an element of a list and `*` for a key of a map.
        type: the object's declaration.
    """

    token: str
    path: Path
    type: ObjectType

    @property
    def object(self) -> str:
        """The object's name."""
        return object_name(self.type)


@attrs.frozen(kw_only=True)
class Row:
    """One limit of a property, or one rule across the properties of an object.

    Attributes:
        key: its unique name, which identifies its case in the tests.
        token, path: a place where it applies, as in `Place`.
        object: the object that it belongs to.
        property: the property that is limited; empty for a rule across properties.
        kind: the kind of limit, such as `length`; the rule's name for a rule across properties.
        words: the requirement.
        warns: whether a violation only causes a warning, and is sent.
        source: a link to its documentation; empty if it follows from the description of its property.
    """

    key: str
    token: str
    path: Path
    object: str
    property: str
    kind: str
    words: str
    warns: bool
    source: str


@attrs.frozen
class _Limit:
    kind: str
    words: str
    warns: bool = False


def rows() -> Iterator[Row]:
    """Yield every rule once, at the shortest path of its object."""
    shortest: dict[str, Place] = {}
    for place in _places():
        known = shortest.get(place.object)
        if known is None or len(place.path) < len(known.path):
            shortest[place.object] = place
    for place in shortest.values():
        yield from _rows_at(place)


def _places() -> Iterator[Place]:
    """Yield every place of every object in inputs: of resources first, then of functions."""
    kinds = {token: object_type(resource_class(token).model) for token in RESOURCES}
    kinds |= {token: object_type(function_class(token).arguments) for token in FUNCTIONS}
    for token in sorted(kinds, key=lambda token: token != _FIRST):
        yield from _nested_places(Place(token=token, path=(), type=kinds[token]))


def _nested_places(place: Place) -> Iterator[Place]:
    yield place
    for name, prop in place.type.inputs.items():
        inner = object_of(prop.type)
        if inner is not None:
            path = (*place.path, name, *_element_marks(prop))
            yield from _nested_places(Place(token=place.token, path=path, type=inner))


def _element_marks(prop: Property) -> Iterator[str]:
    kind = prop.type
    while isinstance(kind, ListOf | MapOf):
        yield "[]" if isinstance(kind, ListOf) else "*"
        kind = kind.item


def object_name(kind: ObjectType) -> str:
    """Return the name of an object for users: a resource's own name."""
    return kind.name.removesuffix("Model")


def _rows_at(place: Place) -> Iterator[Row]:
    for prop in place.type.inputs.values():
        for limit in _limits(prop.traits):
            yield _limit_row(place, prop, limit)
    for rule in place.type.rules:
        yield _rule_row(place, rule)


def _limit_row(place: Place, prop: Property, limit: _Limit) -> Row:
    return Row(
        key=f"{place.object}.{prop.name} {limit.kind}",
        token=place.token,
        path=place.path,
        object=place.object,
        property=prop.name,
        kind=limit.kind,
        words=limit.words,
        warns=limit.warns,
        source=_link(prop.traits.source),
    )


def _rule_row(place: Place, rule: Rule) -> Row:
    return Row(
        key=f"{place.object}: {rule.name}",
        token=place.token,
        path=place.path,
        object=place.object,
        property="",
        kind=rule.name,
        words=rule.sentence,
        warns=rule.warns,
        source=_link(rule.source),
    )


def _link(source: str) -> str:
    return "" if source == _OF_THE_FIELD else source


def _limits(traits: Traits) -> Iterator[_Limit]:
    if traits.required:
        yield _Limit("required", "is required")
    if traits.deprecated:
        yield _Limit("deprecated", f"is deprecated: {traits.deprecated}", warns=True)
    if traits.enum:
        yield _Limit("values", f"one of {', '.join(f'`{value}`' for value in traits.enum)}")
    if traits.enum and not traits.closed:
        yield _Limit("new values", "another value of the same form", warns=True)
    if traits.pattern:
        yield _Limit("form", traits.pattern.words)
    yield from _number_limits(traits)
    yield from _length_limits(traits)


def _number_limits(traits: Traits) -> Iterator[_Limit]:
    if traits.minimum is not None:
        yield _Limit("least", f"at least {traits.minimum:,}")
    if traits.maximum is not None:
        yield _Limit("most", f"at most {traits.maximum:,}")
    if traits.multiple_of:
        yield _Limit("step", f"a multiple of {traits.multiple_of}")


def _length_limits(traits: Traits) -> Iterator[_Limit]:
    if traits.max_length is not None:
        yield _Limit("length", f"at most {traits.max_length:,} characters")
    if traits.max_items is not None:
        bound = "exactly" if traits.min_items == traits.max_items else "at most"
        yield _Limit("elements", f"{bound} {traits.max_items} element{'s' if traits.max_items > 1 else ''}")
