"""The package's schema."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from generate.examples import FILES, FOLDER, SOURCE, example_of, names
from generate.package_schema import package, text
from generate.registry import LOGO, addresses
from workspace import ROOT

from gcpx import __version__
from gcpx.provider import FUNCTIONS, RESOURCES, resource_class

SCHEMA = package()


def test_the_committed_schema_is_current():
    assert (ROOT / "schema.json").read_text() == text()
    assert json.loads(text())["version"] == __version__


def test_the_schema_has_what_the_registry_requires():
    assert {"name", "displayName", "version", "description", "publisher", "license"} <= {
        key for key in SCHEMA if SCHEMA[key]
    }
    assert {"category/cloud", "kind/native"} <= set(SCHEMA["keywords"])


def test_the_addresses_in_the_schema_follow_from_the_repository():
    home = "https://github.com/example/gcpx"
    expected = {
        "homepage": home,
        "repository": home,
        "logoUrl": f"https://raw.githubusercontent.com/example/gcpx/v1.2.3/{LOGO}",
        "pluginDownloadURL": "github://api.github.com/example/gcpx",
    }

    assert addresses("1.2.3", repository="example/gcpx") == expected
    assert addresses("1.2.3", "github://api.github.com/example/gcpx", repository="") == expected
    assert addresses("1.2.3", "https://a.example/b", repository="") == {"pluginDownloadURL": "https://a.example/b"}
    assert addresses("1.2.3", repository="") == {}
    assert package("github://api.github.com/example/gcpx").keys() >= expected.keys()


def test_the_logo_is_a_square_picture_without_anything_from_elsewhere():
    root = ET.parse(ROOT / LOGO).getroot()

    assert root.get("width") == root.get("height") == root.get("viewBox").split()[-1]
    assert {element.tag.partition("}")[2] for element in root} == {"title", "rect", "path"}


def _undescribed(token, properties):
    """Name the properties whose description is missing or is no sentence."""
    return [f"{token}.{name}" for name, spec in properties.items() if not spec.get("description", "").endswith(".")]


def test_everything_is_described():
    for token, spec in (*SCHEMA["resources"].items(), *SCHEMA["types"].items()):
        assert spec["description"], token
        assert _undescribed(token, {**spec["properties"], **spec.get("inputProperties", {})}) == []
    assert _undescribed("config", SCHEMA["config"]["variables"]) == []


def test_every_resource_shows_how_to_import():
    for token, spec in SCHEMA["resources"].items():
        resource = resource_class(token)
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


def test_every_function_is_described():
    assert set(SCHEMA["functions"]) == set(FUNCTIONS)
    for token, spec in SCHEMA["functions"].items():
        assert _undescribed(token, {**spec["inputs"]["properties"], **spec["outputs"]["properties"]}) == []


def test_every_resource_can_be_listed():
    for token, spec in SCHEMA["resources"].items():
        assert spec["listInputs"]["properties"], token
        assert _undescribed(token, spec["listInputs"]["properties"]) == []


@pytest.mark.parametrize("token", [*RESOURCES, *FUNCTIONS])
def test_every_resource_and_function_shows_one_example_in_every_language(token):
    [spec] = (SCHEMA[kind][token] for kind in ("resources", "functions") if token in SCHEMA[kind])
    _, _, shown = spec["description"].partition("{{% example %}}")
    blocks = dict(
        re.findall(r"^```(\w+)\n(.*?)^```$", shown.partition("{{% /example %}}")[0], re.DOTALL | re.MULTILINE)
    )

    assert list(blocks) == list(FILES)
    for language, program in blocks.items():
        assert program.strip() in (FOLDER / example_of(token) / FILES[language]).read_text()
    assert token in blocks["yaml"]
    assert all(token.rpartition(":")[2].lower() in program.lower().replace("_", "") for program in blocks.values())


def test_every_example_in_all_languages_is_that_of_a_resource_or_function():
    assert names() == sorted(map(example_of, (*RESOURCES, *FUNCTIONS)))
    for name in names():
        assert (FOLDER / name / SOURCE).read_text().startswith(f"name: {name}\ndescription: ")


def test_every_module_has_a_namespace_in_csharp():
    modules = {token.split(":")[1] for token in (*SCHEMA["resources"], *SCHEMA["functions"], *SCHEMA["types"])}

    assert SCHEMA["language"]["csharp"]["namespaces"].keys() == modules | {"gcpx"}
