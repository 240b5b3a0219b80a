"""The schema of the Pulumi package, from the declarations: the text of `schema.json`."""

from __future__ import annotations

import json
from typing import Any, Final

from gcpx import __version__
from gcpx.config import KIND
from gcpx.model.fields import ObjectType, Property, object_type
from gcpx.model.function import Function
from gcpx.model.resource import Resource
from gcpx.model.values import is_below
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class
from generate import examples, registry
from generate.languages import LANGUAGES
from generate.schema_types import Json, Side, Types, never_missing, required_inputs

_FROM_ENVIRONMENT: Final = ("project", "region", "zone")
"""Settings that an SDK may fill from the environment. A credential filled in this way would be stored in the state."""
_PACKAGE: Final[Json] = {
    **registry.PACKAGE,
    "version": __version__,
    # SDKs are complete packages in their languages: Go's, for example, has a go.mod.
    "meta": {"supportPack": True},
}
_PYTHON: Final[Json] = {
    "inputTypes": "classes-and-dicts",  # the default, but other packages use our dicts only if it is explicit
    "packageName": "pulumi_gcpx",
    "pyproject": {"enabled": True},
    "pythonRequires": ">=3.11",
    "requires": {"pulumi": ">=3.200.0,<4.0.0"},
    "respectSchemaVersion": True,
}
_PROVIDER: Final = (
    "How gcpx calls Google Cloud. Each setting can also be set as `gcpx:NAME` in the stack configuration, and most "
    "with an environment variable. Credentials in environment variables are never stored in the state."
)


def text(download_url: str = "") -> str:
    """Return the text of `schema.json`, with sorted keys, so that equal declarations give equal files."""
    return json.dumps(package(download_url), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def package(download_url: str = "") -> Json:
    """Describe the whole package in the form of Pulumi's package schema.

    `download_url` is the URL of the plugin's download, if it is not the repository's.
    """
    described = declared()
    for token, spec in described["resources"].items():
        spec["description"] = _documentation(resource_class(token), str(spec["description"]))
    for token, spec in described["functions"].items():
        spec["description"] = f"{spec['description']}\n\n{examples.markdown(token)}"
    return {**described, **registry.addresses(__version__, download_url)}


def declared() -> Json:
    """Describe the package by its declarations alone: without examples and instructions to import."""
    types = Types(str(_PACKAGE["name"]))
    settings = _settings(types)
    resources = {token: _resource(resource_class(token), types) for token in RESOURCES}
    functions = {token: _function(function_class(token), types) for token in FUNCTIONS}
    return {
        **_PACKAGE,
        "language": {**LANGUAGES, "python": _PYTHON},
        "config": {"variables": settings},
        "provider": {
            "description": _PROVIDER,
            "properties": types.properties(_places(), Side(module="index", output=True)),
            "inputProperties": settings,
        },
        "resources": resources,
        "functions": functions,
        "types": types.found,
    }


def _places() -> dict[str, Property]:
    """Return the settings that a program may refer to as outputs of an explicit provider."""
    return {name: KIND.inputs[name] for name in ("project", "region", "zone")}


def _settings(types: Types) -> Json:
    settings = types.properties(KIND.inputs, Side(module="index"))
    for name in _FROM_ENVIRONMENT:
        settings[name]["defaultInfo"] = {"environment": list(KIND.inputs[name].traits.environment)}
    return settings


def _resource(resource: type[Resource[Any]], types: Types) -> Json:
    kind, module = object_type(resource.model), resource.token.split(":")[1]
    inputs = Side(module=module, replaces=lambda prop: not is_below((prop.name,), resource.in_place))
    return {
        "description": kind.description,
        "properties": types.properties(kind.properties, Side(module=module, output=True)),
        "required": never_missing(kind),
        "inputProperties": types.properties(kind.inputs, inputs),
        "requiredInputs": required_inputs(kind),
        "listInputs": _arguments(object_type(resource.query), module, types),
    }


def _function(function: type[Function], types: Types) -> Json:
    result, module = object_type(function.result), function.token.split(":")[1]
    return {
        "description": function.description,
        "inputs": _arguments(object_type(function.arguments), module, types),
        "outputs": {
            "type": "object",
            "description": result.description,
            "properties": types.properties(result.properties, Side(module=module, output=True)),
            "required": never_missing(result),
        },
    }


def _arguments(kind: ObjectType, module: str, types: Types) -> Json:
    properties = types.properties(kind.inputs, Side(module=module))
    return {
        "type": "object",
        "description": kind.description,
        "properties": properties,
        "required": required_inputs(kind),
    }


def _documentation(resource: type[Resource[Any]], description: str) -> str:
    forms = "\n".join(f"* `{form}`" if " " not in form else f"* {form}" for form in resource.id_forms)
    return (
        f"{description}\n\n"
        f"{examples.markdown(resource.token)}\n"
        f"## Import\n\nThe ID has one of these forms:\n\n{forms}\n\n"
        f"```sh\npulumi import {resource.token} NAME {resource.id_forms[0]}\n```\n"
    )
