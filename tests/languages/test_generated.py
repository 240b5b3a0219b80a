"""The SDK of .NET, whose programs cannot be compiled or run here, and the choice of languages."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from cli import run_wide
from cli.documented import program
from generate import examples, sdk
from generate.languages import LANGUAGES
from workspace import ROOT

from gcpx import __version__
from gcpx.provider import FUNCTIONS, RESOURCES

pytestmark = pytest.mark.languages
DOCUMENT = "docs/languages.md"
BEGINNINGS = {
    "dotnet": "Deployment.RunAsync(",
    "go": "pulumi.Run(func",
    "java": "Pulumi.run(App::stack)",
    "nodejs": "import * as gcpx",
    "python": "import pulumi_gcpx as gcpx",
}
"""What an example in a language contains, and no example in another."""
_BLOCK = re.DOTALL | re.MULTILINE


@pytest.fixture(scope="module")
def dotnet(tmp_path_factory):
    def written():
        folder = tmp_path_factory.mktemp("dotnet")
        sdk.write(folder, language="dotnet")
        return folder

    return run_wide.once_in_a_run(tmp_path_factory, "dotnet", written)


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


@pytest.mark.parametrize("name", examples.names())
def test_the_examples_in_csharp_use_what_the_dotnet_sdk_has(dotnet, name):
    text = (examples.FOLDER / name / examples.FILES["csharp"]).read_text()
    sources = "\n".join(path.read_text() for path in dotnet.rglob("*.cs"))
    classes = re.findall(r"\bSdk\.([\w.]+)\.(\w+)(?=\(|\n)", text.replace(".Invoke(", "("))
    members = re.findall(r"^ +(\w+) =|\w\.([A-Z]\w+)[,)]", text, re.MULTILINE)

    assert classes
    for namespace, found in classes:
        assert re.search(rf"^namespace Gcpx\.Sdk\.{re.escape(namespace)}$.*?\bclass {found}\b", sources, _BLOCK), found
    for member in filter(None, itertools.chain(*members)):
        assert re.search(rf"\b{member}( \{{|\n|;)", sources), member


@pytest.mark.parametrize("language", BEGINNINGS)
def test_an_sdk_has_the_examples_in_its_own_language_and_no_other(tmp_path, language):
    sdk.write(tmp_path, language=language)
    texts = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    counts = {name: sum(text.count(words) for text in texts) for name, words in BEGINNINGS.items()}

    assert counts[language] >= len(RESOURCES) + len(FUNCTIONS)
    assert {name for name, count in counts.items() if count} == {language}


def test_an_unknown_language_is_refused_with_the_known_ones():
    command = [sys.executable, "-m", "generate", "sdk", "cobol"]
    done = subprocess.run(command, cwd=ROOT / "tools", capture_output=True, text=True, check=False)

    assert done.returncode
    assert done.stderr == "no SDK can be written in cobol; the languages are dotnet, go, java, nodejs, python\n"
