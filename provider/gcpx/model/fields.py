"""Declarations: one `field()` per property, for all code that handles properties, and rules across properties."""

from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, TypeVar, cast, dataclass_transform

import attrs

from gcpx.model.numbers import as_number
from gcpx.model.patterns import Form
from gcpx.model.values import Path


def as_path(place: str | Path) -> Path:
    """Read a place: a dotted path, or its parts; empty for the object itself."""
    return tuple(place.split(".")) if isinstance(place, str) and place else tuple(place)


@attrs.frozen
class Failure:
    """A validation failure of a value, or a warning.

    Attributes:
        path: the value's place; a rule returns it relative to its object, as a dotted path or as its parts.
        reason: the requirement. It never contains the value, which the engine may show beside it.
        with_value: the same with the value, for messages in which nothing else shows it; None if the value is secret.
    """

    path: Path = attrs.field(converter=as_path)
    reason: str
    with_value: str | None = None

    def below(self, *place: str | int) -> Failure:
        """Return the failure with its path below a place."""
        return attrs.evolve(self, path=(*place, *self.path))


Finder = Callable[[Any], list[Failure]]
"""Returns the failures across an object's values, which have no secrets; unknown values count as valid."""


@attrs.frozen
class Rule:
    """A rule that the properties of one object must meet together.

    Attributes:
        name: unique within the object.
        place: the path of the property that is at fault; empty if `words` is a whole sentence.
        words: the requirement, and the default reason of a failure. If no value is secret, a rule may give another one.
        source: the rule's documentation, as a Markdown link from a page of `docs/reference`.
        about: the property that every violation involves; empty if there is no such property.
        warns: Google may accept violations, so they cause a warning, not a failure.
    """

    name: str
    place: str
    words: str
    source: str
    find: Finder
    about: str = ""
    warns: bool = False

    @property
    def sentence(self) -> str:
        """The rule in the reference."""
        return f"{self.place} {self.words}".strip()

    def __call__(self, values: Mapping[str, Any]) -> list[Failure]:
        """Return the violations of the rule; none if the property `about` is missing."""
        return self.find(values) if not self.about or values.get(self.about) is not None else []


F = TypeVar("F", bound=Callable[[Any], Any])


def rule(place: str, words: str, source: str, *, about: str = "", warns: bool = False) -> Callable[[Finder], Rule]:
    """Make a rule of a function that returns failures, which may show values; the function's name is the rule's."""
    return _made(lambda find: find, place, words, source, about, warns)


def requirement(
    place: str, words: str, source: str, *, about: str = "", warns: bool = False
) -> Callable[[Callable[[Any], bool]], Rule]:
    """Make a rule of a function that returns whether values meet it; the arguments are the attributes of `Rule`."""

    def finder(keeps: Callable[[Any], bool]) -> Finder:
        return lambda values: [] if keeps(values) else [Failure(place, words)]

    return _made(finder, place, words, source, about, warns)


def requirement_of_each(
    places: str, words: str, source: str, *, about: str = "", warns: bool = False
) -> Callable[[Callable[[Any], Iterable[str | Path]]], Rule]:
    """Make a rule of a function that returns the places at fault; `places` names them all, such as `disks[].boot`."""

    def finder(broken: Callable[[Any], Iterable[str | Path]]) -> Finder:
        return lambda values: [Failure(place, words) for place in broken(values)]

    return _made(finder, places, words, source, about, warns)


def _made(
    finder: Callable[[F], Finder], place: str, words: str, source: str, about: str, warns: bool
) -> Callable[[F], Rule]:
    def made(function: F) -> Rule:
        name = getattr(function, "__name__", "rule").strip("_")
        return Rule(name, place, words, source, finder(function), about, warns)

    return made


def exclusive(*names: str, source: str = "the API's description") -> Rule:
    """Allow at most one of these properties."""

    def find(values: dict[str, Any]) -> list[Failure]:
        found = [name for name in names if values.get(name) is not None]
        return (
            [Failure(found[1], f"conflicts with {found[0]}: set only one of {', '.join(names)}")] if found[1:] else []
        )

    words = f"only one of {', '.join(names)}"
    return Rule(words, "", f"{words} may be set", source, find)


def one_required(*names: str, source: str = "the API's description") -> Rule:
    """Require at least one of these properties."""
    words = f"one of {' or '.join(names)}"
    rule = requirement("", f"needs {words}", source)(lambda values: any(values.get(name) is not None for name in names))
    return attrs.evolve(rule, name=words)


def text(values: Mapping[str, Any], name: str) -> str:
    """Read a string; empty if the value is missing, unknown or of another type."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def number(values: Mapping[str, Any], name: str) -> float | None:
    """Read a number, which may be written as a string; None if it is missing, unknown or of another type."""
    return as_number(values.get(name))


def nested(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Read an object; empty if the value is missing, unknown or of another type."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def elements(values: Mapping[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a list, with their indexes; other elements are skipped."""
    value = values.get(name)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield index, item


V = TypeVar("V", bound=Mapping[str, Any])


def chosen(values: V, names: Collection[str]) -> V:
    """Return the named properties that are set."""
    return cast("V", {name: values[name] for name in names if values.get(name) is not None})


def without(values: V, names: Collection[str]) -> V:
    """Return the properties without the named ones."""
    return cast("V", {name: value for name, value in values.items() if name not in names})


Identity = Literal["ordered", "set"] | tuple[str, ...]


@attrs.frozen(kw_only=True)
class Traits:
    """The traits of one property.

    Attributes:
        description: Markdown for the documentation: what it does, its form with an example, default, limits, units.
        name: Pulumi's property name, if it is not the attribute's name in camelCase.
        wire: Google's field name, if it is not the property's name.
        required: the user must set it.
        output: only the server sets it.
        computed: if the user leaves it out, the server chooses a value that depends on more than this property.
        volatile: an output that an update in place may change.
        hidden: an output that only later updates need, so neither the schema nor the CLI shows it.
        always: present in every output, whatever the user sets and whatever fields a call asks for.
        in_url: part of the request's URL, not of its body.
        unsent: only gcpx itself acts on the property; no request contains it.
        secret: never shown.
        quotes: a message in which Google may quote the request; secrets are masked in it, in any spelling.
        write_only: the API accepts it and never returns it.
        patches: the sibling property that this one changes by JSON Merge Patch (RFC 7396). If that property is set,
            null in this one removes a value, and differs from leaving a property out.
        beta: only the API's beta version accepts it.
        deprecated: what to use instead.
        int64: an integer that is a string in JSON.
        url: a link to a resource, equal in all its forms; the trait is the collection of a bare name.
        resolve: turns a user's short form into the form to send and show.
        forgotten: Google no longer returns it after the resource that it names has been deleted.
        enum: the values that are known today.
        closed: Google will not add values to `enum`.
        pattern: the form of the whole value.
        minimum, maximum, multiple_of: bounds of a number.
        max_length: the maximum number of characters of a string.
        min_items, max_items: the minimum and maximum number of elements of a list.
        identity: the matching of a list's elements: by position, as a set, or by the first of these properties that two
            elements share.
        keeps_empty: an empty string or list differs from no input.
        default: the server's default; the same as leaving the property out. A pattern stands for every string that
            matches it. See `Property.default` for a property without this trait.
        normalize: converts values of the same meaning into one form, for comparisons.
        merge_keys: keys of a map that the server or other tools add; they are never a change.
        measured: the output says what exists, which may differ from what the program wants. A refresh leaves the input
            alone, and a difference between the output and the program is a change. When a creation or an update has
            succeeded, the output is what the program wants.
        environment: environment variables for a provider setting that the configuration leaves out.
        source: the documentation of the property's limits, as a Markdown link from a page of `docs/reference`.
    """

    description: str
    name: str | None = None
    wire: str | None = None
    required: bool = False
    output: bool = False
    computed: bool = False
    volatile: bool = False
    hidden: bool = False
    always: bool = False
    in_url: bool = False
    unsent: bool = False
    secret: bool = False
    quotes: bool = False
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
    pattern: Form | None = None
    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int | None = None
    max_length: int | None = None
    min_items: int = 0
    max_items: int | None = None
    identity: Identity = "ordered"
    keeps_empty: bool = False
    default: Any = None
    normalize: Callable[[Any], Any] | None = None
    merge_keys: frozenset[str] = frozenset()
    measured: bool = False
    environment: tuple[str, ...] = ()
    source: str = "the API's description"


def field(description: str, **traits: Any) -> Any:
    """Declare a property; the keywords are the attributes of `Traits`."""
    return Traits(description=description, **traits)


def output_field(description: str, **traits: Any) -> Any:
    """Declare a property that only the server sets."""
    return field(description, output=True, **traits)


C = TypeVar("C", bound=type)


@dataclass_transform(kw_only_default=True, field_specifiers=(field, output_field))
def record(cls: C) -> C:
    """Make a class a declaration of properties, which `object_type` reads and nothing instantiates."""
    return cls


@attrs.frozen
class Scalar:
    """A single value: string, integer, number, boolean, integer or percentage, or any."""

    name: str


@attrs.frozen
class ListOf:
    """A list of one type."""

    item: Type


@attrs.frozen
class MapOf:
    """A map from strings to values of one type."""

    item: Type


@attrs.frozen(eq=False)
class ObjectType:
    """A record as data: its name, description, properties by name, and rules across them.

    Attributes:
        implied: returns the values that the server derives from others or from other resources, as nested maps of
            properties. An import omits them, and a change of them is no drift.
        module: the Python module of the declaration.
        hints: what to write instead of an unknown property or an output, by its name, by `*` for any other unknown one,
            and by an empty name for a value that is not an object.
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
    def measured(self) -> dict[str, Property]:
        """The properties with the trait `measured`."""
        return {name: item for name, item in self.inputs.items() if item.traits.measured}

    @functools.cached_property
    def required(self) -> dict[str, Property]:
        """The properties a user must set."""
        return {name: item for name, item in self.inputs.items() if item.traits.required}

    @functools.cached_property
    def with_objects(self) -> dict[str, Property]:
        """The properties that a user may set and that contain objects, at any depth."""
        return {name: item for name, item in self.inputs.items() if object_of(item.type) is not None}

    @functools.cached_property
    def resolved(self) -> dict[str, Property]:
        """The properties that contain, at any depth, a short form that is resolved before it is sent."""
        return {
            name: item
            for name, item in self.inputs.items()
            if item.traits.resolve or getattr(object_of(item.type), "resolved", None)
        }

    @functools.cached_property
    def secret(self) -> dict[str, Property]:
        """The properties that are secret or contain, at any depth, a secret one."""
        return {
            name: item
            for name, item in self.properties.items()
            if item.traits.secret or getattr(object_of(item.type), "secret", None)
        }

    @functools.cached_property
    def has_outputs(self) -> bool:
        """Whether any property, at any depth, is set only by the server."""
        return any(item.traits.output or has_outputs(item.type) for item in self.properties.values())


Type = Scalar | ListOf | MapOf | ObjectType


@attrs.frozen
class Property:
    """One property of an object."""

    name: str
    wire: str
    type: Type
    traits: Traits

    @property
    def default(self) -> Any:
        """The server's default; None if it is not known.

        An undeclared default of a boolean is false, unless the server computes the value.
        """
        is_false = self.traits.default is None and self.type == SCALARS[bool] and not self.traits.computed
        return False if is_false else self.traits.default


def empty_value(kind: Type) -> Any:
    """Return the empty string, list or map; None for a value of another type."""
    if isinstance(kind, ListOf):
        return []
    if isinstance(kind, MapOf):
        return {}
    return "" if kind == SCALARS[str] else None


def object_of(kind: Type) -> ObjectType | None:
    """Return the object type of the elements of lists and maps, at any depth; None for other elements."""
    while isinstance(kind, ListOf | MapOf):
        kind = kind.item
    return kind if isinstance(kind, ObjectType) else None


def has_outputs(kind: Type) -> bool:
    """Return whether a value of this type can contain something that only the server sets."""
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
    int | str: Scalar("integer or percentage"),
    Any: Scalar("any"),
}


@functools.cache
def object_type(cls: type) -> ObjectType:
    """Read the declaration of a record."""
    hints = {
        name: _evaluated(hint, base.__module__) if isinstance(hint, str) else hint
        for base in reversed(cls.__mro__)
        for name, hint in vars(base).get("__annotations__", {}).items()
    }
    properties = {}
    for attribute, declared in traits_of(cls).items():
        traits, name = declared, declared.name or camel_case(attribute)
        if name in getattr(cls, "OMIT", ()):
            continue
        if name in getattr(cls, "ALWAYS", ()):
            traits = attrs.evolve(traits, always=True)
        properties[name] = Property(name, traits.wire or name, _type(hints[attribute]), traits)
    description = " ".join((cls.__doc__ or "").split())
    return ObjectType(
        cls.__name__,
        description,
        properties,
        getattr(cls, "RULES", ()),
        getattr(cls, "implied", Record.implied),
        cls.__module__,
        getattr(cls, "HINTS", {}),
    )


def traits_of(cls: type) -> dict[str, Traits]:
    """Return the traits of a record's fields, by attribute; inherited ones come first."""
    if attrs.has(cls):  # a record that has instances
        return {attribute.name: attribute.metadata["traits"] for attribute in attrs.fields(cls)}
    found: dict[str, Traits] = {}
    for base in reversed(cls.__mro__):
        own = {name: value for name, value in vars(base).items() if isinstance(value, Traits)}
        found = without(found, own) | own
    return found


@functools.cache
def _evaluated(hint: str, module: str) -> Any:
    """Evaluate a type of a module once. `typing.get_type_hints` would do so again for each attribute of the type."""
    return eval(hint, vars(sys.modules[module]))  # noqa: S307 - it is our own code


def _type(hint: Any) -> Type:
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, types.UnionType):  # `str | None`, in a record that has instances
        return _type(typing.get_args(hint)[0])
    if isinstance(hint, types.GenericAlias):
        arguments = typing.get_args(hint)
        return ListOf(_type(arguments[0])) if typing.get_origin(hint) is list else MapOf(_type(arguments[1]))
    return object_type(hint)


class Record:
    """The base of declarations: the attributes that they may have in addition to fields."""

    RULES: ClassVar[tuple[Rule, ...]] = ()
    OMIT: ClassVar[frozenset[str]] = frozenset()
    """Properties of the extended record that this record does not inherit.

    The tests that compare records with the API's objects also read here which fields a record leaves out on purpose.
    """
    HINTS: ClassVar[dict[str, str]] = {}
    """Hints for users of other providers, as in `ObjectType.hints`."""
    ALWAYS: ClassVar[frozenset[str]] = frozenset()
    """Properties of the extended record that every output of this record has."""

    @staticmethod
    def implied(_: Any) -> dict[str, Any]:
        """Return the values that the server derives from others; see `ObjectType.implied`."""
        return {}
