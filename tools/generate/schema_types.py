"""Declarations as properties and types of a Pulumi package schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type
from gcpx.model.state import absent_output

Json = dict[str, Any]


def _replaces_nothing(_: Property) -> bool:
    return False


@attrs.frozen(kw_only=True)
class Side:
    """One side of a resource or a function: its inputs or its outputs.

    Attributes:
        module: the module of the token, such as `compute`.
        output: whether this is the side of the outputs.
        replaces: returns whether a change of a top-level input replaces the resource.
    """

    module: str
    output: bool = False
    replaces: Callable[[Property], bool] = _replaces_nothing

    @property
    def nested(self) -> Side:
        """The same side within an object, where nothing is marked as replacing the resource."""
        return attrs.evolve(self, replaces=_replaces_nothing)


@attrs.define
class Types:
    """The object types of a package, collected while its properties are described.

    Attributes:
        package: the package's name, the first part of every token.
        found: the object types described so far, by token.
    """

    package: str
    found: dict[str, Json] = attrs.Factory(dict)

    def properties(self, properties: dict[str, Property], side: Side) -> Json:
        """Describe properties by name, as the schema's `properties` and `inputProperties` hold them."""
        return {name: self._property(prop, side) for name, prop in properties.items() if not prop.traits.hidden}

    def _property(self, prop: Property, side: Side) -> Json:
        described = {**self._type(prop.type, side.nested), "description": description_of(prop)}
        if prop.traits.secret:
            described["secret"] = True
        if prop.traits.deprecated:
            described["deprecationMessage"] = prop.traits.deprecated
        if side.replaces(prop):
            described["willReplaceOnChanges"] = True
        return described

    def _type(self, kind: Type, side: Side) -> Json:
        if isinstance(kind, ListOf):
            return {"type": "array", "items": self._type(kind.item, side)}
        if isinstance(kind, MapOf):
            return {"type": "object", "additionalProperties": self._type(kind.item, side)}
        if isinstance(kind, ObjectType):
            return {"$ref": f"#/types/{self._object(kind, side)}"}
        if kind.name == "integer or percentage":
            return {"oneOf": [{"type": "integer"}, {"type": "string"}]}
        return {"$ref": "pulumi.json#/Any"} if kind.name == "any" else {"type": kind.name}

    def _object(self, kind: ObjectType, side: Side) -> str:
        """Describe an object type once; return its token.

        An object with output-only properties has a second type for outputs, with a name that ends in `Response`.
        """
        response = side.output and kind.has_outputs
        token = f"{self.package}:{side.module}:{kind.name}{'Response' if response and kind.inputs else ''}"
        if token not in self.found:
            self.found[token] = {}  # already found while its own properties are described
            properties = kind.properties if response else kind.inputs
            self.found[token] = {
                "type": "object",
                "description": kind.description,
                "properties": self.properties(properties, attrs.evolve(side, output=response)),
                "required": always_present(kind) if response else required_inputs(kind),
            }
        return token


def description_of(prop: Property) -> str:
    """Return a property's description with additions from its declaration: the known values, and beta."""
    values = [f"`{value}`" for value in prop.traits.enum]
    parts = [prop.traits.description]
    if not all(value in prop.traits.description for value in values):
        parts.append(f"One of {', '.join(values)}.")
    if prop.traits.beta:
        parts.append("Beta: only Google's beta API has it.")
    return " ".join(parts)


def required_inputs(kind: ObjectType) -> list[str]:
    """Name the inputs that a user must set."""
    return sorted(kind.required)


def always_present(kind: ObjectType) -> list[str]:
    """Name the properties that every output has, so that SDKs need not call them optional."""
    always = {name for name, prop in kind.properties.items() if prop.traits.always}
    return sorted(always | set(kind.required))


def never_missing(kind: ObjectType) -> list[str]:
    """Return the outputs of a resource or a function that are present even if they are empty."""
    empty = {name for name, prop in kind.properties.items() if absent_output(prop) is not None}
    return sorted(empty | set(always_present(kind)))
