"""The manifests for the Pulumi Kubernetes Operator fit its custom resources (2.9.0), and their program works."""

from __future__ import annotations

import copy
import json
import re

import pytest
import yaml
from values.programs import PROJECT
from workspace import ROOT

from gcpx import __version__

pytestmark = [pytest.mark.backends, pytest.mark.pulumi]
FOLDER = ROOT / "examples" / "operator"
VERSION = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (ROOT / "tools" / "pulumi" / "cli" / "go.mod").read_text())[0]
SCHEMAS = json.loads((ROOT / "tests" / "backends" / "operator_schema.json").read_text())
TYPES = {"array": list, "boolean": bool, "integer": int, "object": dict, "string": str}
MANIFESTS = [
    document for path in sorted(FOLDER.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text()) if document
]
CHECKED = {one["kind"]: one for one in MANIFESTS if one["apiVersion"] == "pulumi.com/v1"}


def _mistakes(schema, value, path):
    """Yield where a value is not what a structural schema of Kubernetes accepts."""
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        yield f"{path} is no {schema['type']}"
    elif isinstance(value, dict):
        yield from _mistakes_in_object(schema, value, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _mistakes(schema.get("items", {}), inner, f"{path}[{index}]")
    elif value not in schema.get("enum", [value]) or len(str(value)) < schema.get("minLength", 0):
        yield f"{path} may not be {value!r}"


def _mistakes_in_object(schema, value, path):
    """Yield the mistakes in an object; Kubernetes would drop unknown fields without a word."""
    yield from (f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value)
    for name, inner in value.items():
        known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if known is not None:
            yield from _mistakes(known, inner, f"{path}.{name}")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}.{name} is unknown"


def _all_mistakes(manifest):
    return list(_mistakes(SCHEMAS[f"{manifest['apiVersion']} {manifest['kind']}"], manifest, manifest["kind"]))


@pytest.mark.parametrize("kind", ["Program", "Stack"])
def test_a_manifest_fits_the_operators_schema(kind):
    assert _all_mistakes(CHECKED[kind]) == []


@pytest.mark.parametrize(
    ("path", "value", "mistake"),
    [
        (("spec", "programref"), {"name": "a"}, "Stack.spec.programref is unknown"),
        (("spec", "refresh"), "yes", "Stack.spec.refresh is no boolean"),
        (("spec", "programRef"), {}, "Stack.spec.programRef.name is missing"),
        (("spec", "workspaceTemplate", "spec", "images"), "a", "Stack.spec.workspaceTemplate.spec.images is unknown"),
    ],
)
def test_a_mistake_in_a_manifest_is_found(path, value, mistake):
    manifest = copy.deepcopy(CHECKED["Stack"])
    *outer, last = path
    place = manifest
    for name in outer:
        place = place[name]
    place[last] = value

    assert _all_mistakes(manifest) == [mistake]


def test_the_manifests_name_each_other():
    program, stack = CHECKED["Program"], CHECKED["Stack"]
    account, binding = (
        next(one for one in MANIFESTS if one["kind"] == kind) for kind in ("ServiceAccount", "ClusterRoleBinding")
    )

    assert stack["spec"]["programRef"]["name"] == program["metadata"]["name"]
    assert stack["spec"]["serviceAccountName"] == account["metadata"]["name"] == binding["subjects"][0]["name"]
    assert (
        len({one["metadata"]["namespace"] for one in (program, stack, account)} | {binding["subjects"][0]["namespace"]})
        == 1
    )


def test_the_image_has_this_plugin_and_the_cli_of_the_tests():
    text = (FOLDER / "Containerfile").read_text()
    image = CHECKED["Stack"]["spec"]["workspaceTemplate"]["spec"]["image"]

    assert f"pulumi/pulumi:{VERSION}-nonroot" in text
    assert f"ARG VERSION={__version__}\n" in text
    assert image.endswith(f":{__version__}")
    assert image in text


def test_the_program_is_deployed_with_the_stacks_configuration(stacks, bucket, cloud):
    stack = stacks.make(bucket, "prod")
    project = {"name": CHECKED["Program"]["metadata"]["name"], "runtime": "yaml", **CHECKED["Program"]["program"]}
    folder = stack.workspace.program
    (folder / "Pulumi.yaml").write_text(json.dumps(project | {"name": "test"}))
    config = CHECKED["Stack"]["spec"]["config"]
    for name, value in (config | {"gcpx:project": PROJECT}).items():
        stack.workspace.run("config", "set", name, value)
    stack.up()

    assert cloud.emulator.store.counts()["instances"] == int(config["count"])
    assert stack.workspace.run("stack", "output", "created").stdout.strip() == config["count"]
    stack.destroy()
