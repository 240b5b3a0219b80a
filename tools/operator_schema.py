"""Write the structure of the operator's custom resources, for the tests of the manifests in examples/operator.

Usage: `operator_schema.py deploy/crds/pulumi.com_programs.yaml deploy/crds/pulumi.com_stacks.yaml`, with the files of a
checkout of pulumi/pulumi-kubernetes-operator. Descriptions and Kubernetes' own parts are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml
from workspace import ROOT

TARGET: Final = ROOT / "tests" / "backends" / "operator_schema.json"
_ANY: Final = "x-kubernetes-preserve-unknown-fields"
_KEPT: Final = ("type", "required", "enum", "minLength", _ANY)
_OPEN: Final = frozenset({"metadata", "podTemplate", "serviceTemplate", "status", "updateTemplate"})
"""Properties whose content is not checked."""


def structure(schema: dict[str, Any]) -> dict[str, Any]:
    """Reduce a schema to the parts that decide whether a value is accepted."""
    kept = {name: schema[name] for name in _KEPT if name in schema}
    if "properties" in schema:
        properties = schema["properties"].items()
        kept["properties"] = {name: {_ANY: True} if name in _OPEN else structure(inner) for name, inner in properties}
    nested = {name: schema[name] for name in ("additionalProperties", "items") if isinstance(schema.get(name), dict)}
    return kept | {name: structure(inner) for name, inner in nested.items()}


def main() -> None:
    """Write the structures by kind."""
    definitions = [yaml.safe_load(Path(name).read_text())["spec"] for name in sys.argv[1:]]
    found = {
        f"{spec['group']}/{version['name']} {spec['names']['kind']}": structure(version["schema"]["openAPIV3Schema"])
        for spec in definitions
        for version in spec["versions"]
        if version["storage"]
    }
    TARGET.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
