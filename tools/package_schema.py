"""The package's schema, from the declarations: `make schema` writes `schema.json`."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from schema_types import Types, function_spec, resource_spec

from gcpx import __version__
from gcpx.config import KIND
from gcpx.model.fields import object_type
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

_ROOT = Path(__file__).parents[1]
_FROM_ENVIRONMENT = ("project", "region", "zone")
"""Settings that an SDK may fill from the environment; a credential filled so would land in the state."""


def package() -> dict[str, Any]:
    """Write the whole package."""
    types = Types("gcpx")
    settings = types.properties(KIND.inputs, "index", output=False)
    for name in _FROM_ENVIRONMENT:
        settings[name]["defaultInfo"] = {"environment": list(KIND.inputs[name].traits.environment)}
    resources = {}
    for token in RESOURCES:
        resource = resource_class(token)
        resources[token] = resource_spec(resource, object_type(resource.model), types, _program(example_of(token)))
    functions = {}
    for token in FUNCTIONS:
        function = function_class(token)
        functions[token] = function_spec(function, types, _program(function.example))
    return {
        "name": "gcpx",
        "displayName": "Google Cloud Extras",
        "version": __version__,
        "description": "The parts of Google Cloud that other providers leave out.",
        "keywords": ["pulumi", "gcp", "google cloud", "compute engine", "category/cloud", "kind/native"],
        "license": "Apache-2.0",
        "publisher": "gcpx",
        "language": {
            "python": {
                "packageName": "pulumi_gcpx",
                "pyproject": {"enabled": True},
                "pythonRequires": ">=3.11",
                "requires": {"pulumi": ">=3.200.0,<4.0.0"},
                "respectSchemaVersion": True,
            }
        },
        "config": {"variables": settings},
        "provider": {"description": _provider_description(), "inputProperties": settings},
        "resources": resources,
        "functions": functions,
        "types": types.found,
    }


def _provider_description() -> str:
    return (
        "How Google Cloud is reached. Each setting can also be given as `gcpx:NAME` in the stack's configuration, and "
        "most by an environment variable. Credentials never enter the state."
    )


def example_of(token: str) -> str:
    """Name the folder in `examples` that shows a resource: `gcpx:oslogin:SshKey` is shown by `ssh-key`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", token.rpartition(":")[2]).lower()


def _program(name: str) -> str:
    """Read an example, without its docstring: what the docs show is what the tests run."""
    program = (_ROOT / "examples" / name / "__main__.py").read_text()
    docstring = ast.parse(program).body[0]
    return "\n".join(program.splitlines()[docstring.end_lineno :]).strip()


def text() -> str:
    """Write it as it is kept: sorted, so that the same declarations give the same file."""
    return json.dumps(package(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the file."""
    (_ROOT / "schema.json").write_text(text())


if __name__ == "__main__":
    main()
