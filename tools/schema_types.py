"""Declarations as a Pulumi package schema."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.model.fields import ListOf, MapOf, ObjectType, Property, Type, object_type
from gcpx.model.function import Function
from gcpx.model.lifecycle import replaces
from gcpx.model.resource import Resource

Json = dict[str, Any]


@attrs.define
class Types:
    """The object types that properties refer to, collected while they are written."""

    package: str
    found: dict[str, Json] = attrs.Factory(dict)

    def properties(
        self, properties: dict[str, Property], module: str, *, output: bool, owner: type[Resource] | None = None
    ) -> Json:
        """Write a set of properties."""
        return {name: self._property(prop, module, output=output, owner=owner) for name, prop in properties.items()}

    def _property(self, prop: Property, module: str, *, output: bool, owner: type[Resource] | None) -> Json:
        written = {**self._type(prop.type, module, output=output), "description": describe(prop)}
        if prop.traits.secret:
            written["secret"] = True
        if prop.traits.deprecated:
            written["deprecationMessage"] = prop.traits.deprecated
        if not output and owner is not None and replaces(owner, (prop.name,)):
            written["willReplaceOnChanges"] = True
        return written

    def _type(self, kind: Type, module: str, *, output: bool) -> Json:
        if isinstance(kind, ListOf):
            return {"type": "array", "items": self._type(kind.item, module, output=output)}
        if isinstance(kind, MapOf):
            return {"type": "object", "additionalProperties": self._type(kind.item, module, output=output)}
        if isinstance(kind, ObjectType):
            return {"$ref": f"#/types/{self._object(kind, module, output=output)}"}
        return {"$ref": "pulumi.json#/Any"} if kind.name == "any" else {"type": kind.name}

    def _object(self, kind: ObjectType, module: str, *, output: bool) -> str:
        apart = output and kind.has_outputs
        token = f"{self.package}:{module}:{kind.name}{'Response' if apart and kind.inputs else ''}"
        if token not in self.found:
            self.found[token] = {}
            properties = kind.properties if apart else kind.inputs
            self.found[token] = {
                "type": "object",
                "description": kind.description,
                "properties": self.properties(properties, module, output=apart),
                "required": _always(kind) if apart else _required(kind),
            }
        return token


def describe(prop: Property) -> str:
    """Write a property's description with what its declaration adds: values, beta."""
    values = ", ".join(f"`{value}`" for value in prop.traits.enum)
    named = all(f"`{value}`" in prop.traits.description for value in prop.traits.enum)
    parts = [prop.traits.description]
    if values and not named:
        parts.append(f"One of {values}.")
    if prop.traits.beta:
        parts.append("Beta: using it sends the call to Google's beta API.")
    return " ".join(parts)


def _required(kind: ObjectType) -> list[str]:
    return sorted(name for name, prop in kind.inputs.items() if prop.traits.required)


def _always(kind: ObjectType) -> list[str]:
    """Name what every output has, so that SDKs need not call it optional."""
    always = {name for name, prop in kind.properties.items() if prop.traits.always}
    return sorted(always | set(kind.required))


def resource_spec(resource: type[Resource], kind: ObjectType, types: Types, example: str) -> Json:
    """Write one resource."""
    module = resource.token.split(":")[1]
    return {
        "description": _documentation(resource, kind, example),
        "properties": types.properties(kind.properties, module, output=True),
        "required": _always(kind),
        "inputProperties": types.properties(kind.inputs, module, output=False, owner=resource),
        "requiredInputs": _required(kind),
        "listInputs": _arguments(object_type(resource.query), module, types),
    }


def function_spec(function: type[Function], types: Types, example: str) -> Json:
    """Write one function."""
    module = function.token.split(":")[1]
    arguments, result = object_type(function.arguments), object_type(function.result)
    return {
        "description": f"{function.description}\n\n{_shown(example)}",
        "inputs": _arguments(arguments, module, types),
        "outputs": {
            "type": "object",
            "description": result.description,
            "properties": types.properties(result.properties, module, output=True),
            "required": _always(result),
        },
    }


def _arguments(kind: ObjectType, module: str, types: Types) -> Json:
    properties = types.properties(kind.inputs, module, output=False)
    return {"type": "object", "description": kind.description, "properties": properties, "required": _required(kind)}


def _shown(example: str) -> str:
    return (
        f"{{{{% examples %}}}}\n## Example Usage\n{{{{% example %}}}}\n\n```python\n{example}\n```\n\n"
        f"{{{{% /example %}}}}\n{{{{% /examples %}}}}\n"
    )


def _documentation(resource: type[Resource], kind: ObjectType, example: str) -> str:
    forms = "\n".join(f"* `{form}`" if " " not in form else f"* {form}" for form in resource.id_forms)
    return (
        f"{kind.description}\n\n"
        f"{_shown(example)}\n"
        f"## Import\n\nAn ID takes one of these forms:\n\n{forms}\n\n"
        f"```sh\npulumi import {resource.token} NAME {resource.id_forms[0]}\n```\n"
    )
