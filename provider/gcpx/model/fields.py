"""How a property is declared: one `field()` per property, read by everything that handles properties."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import attrs

from gcpx.model.patterns import Pattern
from gcpx.model.rules import Rule

C = TypeVar("C", bound=type)
Identity = Literal["ordered", "set"] | tuple[str, ...]


@attrs.frozen(kw_only=True)
class Traits:
    """What holds for one property.

    Attributes:
        description: Markdown, with units, limits and default.
        name: Pulumi's property name where camelCase of the attribute is not it.
        wire: Google's field name where it differs from the property's.
        required: the user must set it.
        output: set by the server alone.
        computed: chosen by the server where the user leaves it out, in a way that no default can say.
        volatile: set by the server, and another after an update in place.
        always: present in every output: the server gives it whatever the user sets, and no field mask leaves it out.
        param: goes into the URL, not into the body.
        immutable: a change replaces the resource.
        secret: never shown.
        write_only: the API takes it and never returns it.
        patches: the property beside it that names what this one is laid over by JSON Merge Patch (RFC 7396). Where that
            is set, a null within removes, and is not the same as leaving a property out.
        beta: only the beta path takes it.
        deprecated: what to use instead.
        int64: a number that travels as a string.
        url: a link to a resource, the same in all its forms; the value is the collection that a bare name is of.
        resolve: gives the form that is sent and shown, from the short ones that users write.
        forgotten: Google leaves it out once what it names has been deleted.
        enum: the values known today.
        closed: no value can be added to them.
        pattern: the form that the whole value has.
        minimum, maximum, multiple_of: bounds of a number.
        max_length: bound of a text, in characters.
        min_items, max_items: bounds of a list.
        identity: how elements of a list are told apart.
        default: what the server assumes; the same as absent. A pattern stands for every text that matches it.
        normalize: brings equal values to one form.
        merge_keys: labels that the server or other tools add, which are never a change.
        environment: variables that give a provider setting when the configuration does not.
        source: where Google says what bounds the property.
    """

    description: str
    name: str | None = None
    wire: str | None = None
    required: bool = False
    output: bool = False
    computed: bool = False
    volatile: bool = False
    always: bool = False
    param: bool = False
    immutable: bool = False
    secret: bool = False
    write_only: bool = False
    patches: str = ""
    beta: bool = False
    deprecated: str | None = None
    int64: bool = False
    url: str = ""
    resolve: Callable[[Any], Any] | None = None
    forgotten: bool = False
    enum: tuple[str, ...] = ()
    closed: bool = False
    pattern: Pattern | None = None
    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int | None = None
    max_length: int | None = None
    min_items: int = 0
    max_items: int | None = None
    identity: Identity = "ordered"
    default: Any = None
    normalize: Callable[[Any], Any] | None = None
    merge_keys: frozenset[str] = frozenset()
    environment: tuple[str, ...] = ()
    source: str = "the API's description"


def field(description: str, **traits: Any) -> Any:
    """Declare a property; the keywords are those of `Traits`."""
    return attrs.field(metadata={"traits": Traits(description=description, **traits)})


def answer(description: str, **traits: Any) -> Any:
    """Declare a property that the server alone sets."""
    return field(description, output=True, **traits)


@dataclass_transform(kw_only_default=True, field_specifiers=(field, answer))
def record(cls: C) -> C:
    """Make a class a declaration of properties; it is read, never instantiated."""
    return attrs.define(init=False, repr=False, eq=False, slots=False)(cls)


@attrs.frozen
class Scalar:
    """A single value: string, integer, number, boolean or any."""

    name: str


@attrs.frozen
class ListOf:
    """A list of one type."""

    item: Type


@attrs.frozen
class MapOf:
    """A map from text to one type."""

    item: Type


@attrs.frozen(eq=False)
class ObjectType:
    """A record as data: its name, description, properties by name, and rules across them.

    Attributes:
        implied: values that the server sets because of others, by property; nested ones in nested maps.
        module: where it is declared.
        hints: what to write instead of names that are not here, by name and by `*` for any; by no name for the whole.
    """

    name: str
    description: str
    properties: dict[str, Property]
    rules: tuple[Rule, ...]
    implied: Callable[[dict[str, Any]], dict[str, Any]]
    module: str
    hints: dict[str, str]

    @functools.cached_property
    def inputs(self) -> dict[str, Property]:
        """The properties a user may set."""
        return {name: item for name, item in self.properties.items() if not item.traits.output}

    @functools.cached_property
    def required(self) -> dict[str, Property]:
        """The properties a user must set."""
        return {name: item for name, item in self.inputs.items() if item.traits.required}

    @functools.cached_property
    def resolved(self) -> dict[str, Property]:
        """The properties that hold, at any depth, something that is resolved before it is sent."""
        return {name: item for name, item in self.inputs.items() if item.traits.resolve or _resolves(item.type)}

    @functools.cached_property
    def has_outputs(self) -> bool:
        """Whether any property, at any depth, is set by the server alone."""
        return any(item.traits.output or has_outputs(item.type) for item in self.properties.values())


Type = Scalar | ListOf | MapOf | ObjectType


@attrs.frozen
class Property:
    """One property of an object."""

    name: str
    wire: str
    type: Type
    traits: Traits


def object_of(kind: Type) -> ObjectType | None:
    """Find the object type at the bottom of lists and maps, if there is one."""
    while isinstance(kind, ListOf | MapOf):
        kind = kind.item
    return kind if isinstance(kind, ObjectType) else None


def _resolves(kind: Type) -> bool:
    inner = object_of(kind)
    return inner is not None and bool(inner.resolved)


def has_outputs(kind: Type) -> bool:
    """Tell whether a value of this type can hold something only the server sets."""
    inner = object_of(kind)
    return inner is not None and inner.has_outputs


def camel_case(name: str) -> str:
    """Turn `disk_size_gb` into `diskSizeGb`."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


SCALARS: dict[Any, Scalar] = {
    str: Scalar("string"),
    int: Scalar("integer"),
    float: Scalar("number"),
    bool: Scalar("boolean"),
    Any: Scalar("any"),
}


@functools.cache
def object_type(cls: type) -> ObjectType:
    """Read a record's declaration."""
    hints = typing.get_type_hints(cls)
    properties = {}
    for attribute in attrs.fields(cls):
        traits = attribute.metadata["traits"]
        name = traits.name or camel_case(attribute.name)
        if name in getattr(cls, "OMIT", ()):
            continue
        if name in getattr(cls, "ALWAYS", ()):
            traits = attrs.evolve(traits, always=True)
        properties[name] = Property(name, traits.wire or name, _type(hints[attribute.name]), traits)
    description = " ".join((cls.__doc__ or "").split())
    return ObjectType(
        cls.__name__,
        description,
        properties,
        getattr(cls, "RULES", ()),
        getattr(cls, "implied", _nothing),
        cls.__module__,
        getattr(cls, "HINTS", {}),
    )


def _nothing(_: dict[str, Any]) -> dict[str, Any]:
    return {}


def _type(hint: Any) -> Type:
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, types.UnionType):  # `str | None`, in a record whose instances are read
        return _type(typing.get_args(hint)[0])
    if isinstance(hint, types.GenericAlias):
        arguments = typing.get_args(hint)
        return ListOf(_type(arguments[0])) if typing.get_origin(hint) is list else MapOf(_type(arguments[1]))
    return object_type(hint)


class Record:
    """What a declaration may carry beside its fields."""

    RULES: ClassVar[tuple[Rule, ...]] = ()
    OMIT: ClassVar[frozenset[str]] = frozenset()
    """Properties of the record that this one builds on, which it has not."""
    HINTS: ClassVar[dict[str, str]] = {}
    """Hints for users of other providers: by property name, by `*`, or by an empty name for the whole object."""
    ALWAYS: ClassVar[frozenset[str]] = frozenset()
    """Properties of that record that every output of this one has."""

    @staticmethod
    def implied(_: dict[str, Any]) -> dict[str, Any]:
        """Name the values that the server sets because of others."""
        return {}
