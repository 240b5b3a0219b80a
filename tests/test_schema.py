"""The package's schema."""

from __future__ import annotations

import json
import re

from generate.package_schema import example_of, package, text
from workspace import ROOT

from gcpx import __version__
from gcpx.provider import FUNCTIONS, RESOURCES, resource_class

SCHEMA = package()


def test_the_committed_schema_is_current():
    assert (ROOT / "schema.json").read_text() == text()
    assert json.loads(text())["version"] == __version__


def _undescribed(token, properties):
    """Name the properties whose description is missing or is no sentence."""
    return [f"{token}.{name}" for name, spec in properties.items() if not spec.get("description", "").endswith(".")]


def test_everything_is_described():
    for token, spec in (*SCHEMA["resources"].items(), *SCHEMA["types"].items()):
        assert spec["description"], token
        assert _undescribed(token, {**spec["properties"], **spec.get("inputProperties", {})}) == []
    assert _undescribed("config", SCHEMA["config"]["variables"]) == []


def test_every_resource_shows_an_example_and_how_to_import():
    for token, spec in SCHEMA["resources"].items():
        resource = resource_class(token)
        assert "```python\nimport pulumi" in spec["description"]
        assert all(form in spec["description"] for form in resource.id_forms)
        assert f"pulumi import {token} NAME {resource.id_forms[0]}" in spec["description"]


def test_what_replaces_is_marked_and_never_forced():
    template = SCHEMA["resources"]["gcpx:compute:InstanceTemplate"]["inputProperties"]
    key = SCHEMA["resources"]["gcpx:oslogin:SshKey"]["inputProperties"]

    assert all(spec["willReplaceOnChanges"] for spec in template.values())
    assert [name for name, spec in key.items() if spec.get("willReplaceOnChanges")] == ["key", "user"]
    assert "replaceOnChanges" not in text()


def test_outputs_are_no_inputs():
    types = SCHEMA["types"]

    assert "index" in types["gcpx:compute:AttachedDiskResponse"]["properties"]
    assert "index" not in types["gcpx:compute:AttachedDisk"]["properties"]


def test_secrets_are_marked_and_never_filled_from_the_environment():
    variables = SCHEMA["config"]["variables"]

    assert [name for name, spec in variables.items() if spec.get("secret")] == ["credentials", "accessToken"]
    assert [name for name, spec in variables.items() if "defaultInfo" in spec] == ["project", "region", "zone"]
    assert SCHEMA["types"]["gcpx:compute:CustomerEncryptionKey"]["properties"]["rawKey"]["secret"]


def test_every_function_is_described_and_shows_an_example():
    assert set(SCHEMA["functions"]) == set(FUNCTIONS)
    for token, spec in SCHEMA["functions"].items():
        assert "```python\nimport pulumi" in spec["description"]
        assert token.rpartition(":")[2] in re.sub(r"_(\w)", lambda found: found[1].upper(), spec["description"])
        assert _undescribed(token, {**spec["inputs"]["properties"], **spec["outputs"]["properties"]}) == []


def test_every_resource_can_be_listed():
    for token, spec in SCHEMA["resources"].items():
        assert spec["listInputs"]["properties"], token
        assert _undescribed(token, spec["listInputs"]["properties"]) == []


def test_every_resource_has_an_example():
    for token in RESOURCES:
        assert (ROOT / "examples" / example_of(resource_class(token)) / "Pulumi.yaml").exists()


def test_every_module_has_a_namespace_in_csharp():
    modules = {token.split(":")[1] for token in (*SCHEMA["resources"], *SCHEMA["functions"], *SCHEMA["types"])}

    assert SCHEMA["language"]["csharp"]["namespaces"].keys() == modules | {"gcpx"}
