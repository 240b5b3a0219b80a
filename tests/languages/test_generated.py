"""The SDK of .NET, whose programs cannot be compiled or run here, and the choice of languages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from documented import program
from generate import sdk
from generate.languages import LANGUAGES
from workspace import ROOT

from gcpx import __version__
from gcpx.provider import FUNCTIONS, RESOURCES

pytestmark = pytest.mark.languages
DOCUMENT = "docs/languages.md"


@pytest.fixture(scope="module")
def dotnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dotnet")
    sdk.write(folder, language="dotnet")
    return folder


def test_the_project_file_of_the_dotnet_sdk_names_package_version_and_existing_files(dotnet):
    project = ET.parse(dotnet / "Gcpx.Sdk.csproj").getroot()
    files = [item.get("Include") for item in project.iter() if item.tag in {"EmbeddedResource", "None"}]

    assert project.findtext("PropertyGroup/Version") == __version__
    assert all((dotnet / name).exists() for name in files)
    assert (dotnet / "logo.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((dotnet / "pulumi-plugin.json").read_text())["name"] == "gcpx"


def test_the_dotnet_sdk_has_a_class_for_every_resource_and_function(dotnet):
    namespaces = LANGUAGES["csharp"]["namespaces"]
    for token in (*RESOURCES, *FUNCTIONS):
        _, module, name = token.split(":")
        name = name[0].upper() + name[1:]
        text = (dotnet / namespaces[module] / f"{name}.cs").read_text()

        assert f"namespace Gcpx.Sdk.{namespaces[module]}\n" in text
        assert re.search(rf"\bclass {name}\b", text)


def test_no_member_of_the_dotnet_sdk_has_the_name_of_its_class(dotnet):
    # The compiler refuses such a member, and no compiler is available here.
    for path in dotnet.rglob("*.cs"):
        for name, body in re.findall(r"\bclass (\w+)[^{]*\{(.*?)^    \}", path.read_text(), re.DOTALL | re.MULTILINE):
            assert not re.search(rf"public [\w<>?.:, ]+ {name}( \{{|;)", body), f"{path.name}: {name}"


def test_the_documented_csharp_program_uses_what_the_dotnet_sdk_has(dotnet):
    text = program(DOCUMENT, "csharp")
    sources = "\n".join(path.read_text() for path in dotnet.rglob("*.cs"))

    assert all(f"namespace {name}\n" in sources for name in re.findall(r"using (Gcpx[\w.]+);", text))
    assert all(re.search(rf"\bclass {name}\b", sources) for name in re.findall(r"new (\w+Args|BulkInstances)\b", text))
    assert all(
        f" {name}\n" in sources or f" {name} {{" in sources for name in re.findall(r"^ +(\w+) =", text, re.MULTILINE)
    )


def test_an_unknown_language_is_refused_with_the_known_ones():
    command = [sys.executable, "-m", "generate", "sdk", "cobol"]
    done = subprocess.run(command, cwd=ROOT / "tools", capture_output=True, text=True, check=False)

    assert done.returncode
    assert done.stderr == "no SDK can be written in cobol; the languages are dotnet, go, java, nodejs, python\n"
