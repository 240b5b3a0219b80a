"""The pages of resources and functions."""

from __future__ import annotations

import re

import pytest
from documentation.sources import with_tabs
from generate.example_tabs import NAMES, tabs
from generate.reference_pages import pages, path_of
from generate.rule_rows import rows
from workspace import ROOT

from gcpx.model.fields import object_type
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

PAGES = {path: (ROOT / path).read_text() for path in pages()}
DESCRIPTION = "A thing.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n\n```yaml\na: 1\n```\n```python\na = 1\n```\n\n{{% /example %}}\n{{% /examples %}}\n\n```sh\nls\n```\n"


def section(path, heading):
    return PAGES[path].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def row(text, name):
    return re.search(rf"^\| \*\*`{name}`\*\*.*$", text, re.MULTILINE)[0]


@pytest.mark.parametrize("path", PAGES)
def test_the_page_is_current(path):
    assert PAGES[path] == pages()[path]()


@pytest.mark.parametrize("path", PAGES)
def test_the_example_is_a_program_that_the_tests_run(path):
    text = section(path, "Example")
    folder = ROOT / "docs" / re.search(r"\]\(\.\./(\.\./examples/[\w-]+)\)", text)[1]
    programs = [file.read_text() for file in folder.rglob("*.*") if file.is_file()]
    shown = re.findall(rf"^```(?:{'|'.join(NAMES)})\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)

    assert (folder / "Pulumi.yaml").exists(), f"{path}: no test runs {folder}"
    assert shown, f"{path} has no example"
    assert [program for program in shown if not any(program in written for written in programs)] == [], path


@pytest.mark.parametrize("token", RESOURCES)
def test_the_page_of_a_resource_has_every_property_and_how_to_import(token):
    resource, path = resource_class(token), path_of(token)
    kind = object_type(resource.model)

    for name, prop in kind.properties.items():
        if prop.traits.hidden:
            assert f"`{name}`" not in section(path, "Outputs")
            continue
        line = row(section(path, "Outputs" if prop.traits.output else "Inputs"), name)
        flags = re.search(r"\*([\w, ]+)\* \|", line)
        said = set(flags[1].split(", ")) if flags else set()
        assert ("required" in said, "secret" in said) == (prop.traits.required, prop.traits.secret), (path, name)
        assert ("replaces" in said) == (not prop.traits.output and (name,) not in resource.in_place), (path, name)
    assert all(form in section(path, "Import") for form in resource.id_forms)
    assert "`customTimeouts`" in section(path, "Timeouts")


@pytest.mark.parametrize("token", FUNCTIONS)
def test_the_page_of_a_function_has_every_argument_and_result(token):
    function, path = function_class(token), path_of(token)

    assert all(row(section(path, "Arguments"), name) for name in object_type(function.arguments).inputs)
    assert all(row(section(path, "Result"), name) for name in object_type(function.result).properties)


def test_limits_defaults_and_permissions_are_on_the_page():
    attachment = path_of("gcpx:compute:DiskAttachment")

    assert row(section(attachment, "Inputs"), "deviceName").endswith("Limits: at most 63 characters. |")
    assert "<br>Default: `READ_WRITE`." in row(section(attachment, "Inputs"), "mode")
    assert (
        "- `forceAttach` must be left out unless disk is a regional disk, written regions/REGION/disks/NAME ("
        in section(attachment, "Inputs")
    )
    assert "gcpx waits 5 minutes for each operation" in section(attachment, "Timeouts")
    assert "(../permissions.md#diskattachment)" in section(attachment, "Permissions")


@pytest.mark.parametrize("token", RESOURCES)
def test_the_page_of_a_resource_opens_with_two_sentences_and_a_table(token):
    opening, table = PAGES[path_of(token)].split("\n\n")[2:4]

    assert len(re.findall(r"\.(?: |$)", opening)) == 2
    assert table.startswith("| | |\n| --- | --- |\n")


def test_the_source_of_every_limit_and_rule_is_a_link_on_a_page():
    shown = "".join(PAGES.values())

    for found in rows():
        assert found.source == "" or re.fullmatch(r"\[.+\]\(\S+\)", found.source), found.key
        assert found.source in shown, found.key


def test_a_type_that_several_resources_share_is_described_once():
    shown = re.findall(r"^### (\w+)$", "".join(PAGES[path_of(token)] for token in RESOURCES), re.MULTILINE)

    assert len(shown) == len(set(shown))


def test_examples_in_several_languages_open_on_github_and_become_tabs_in_the_site():
    text = tabs(DESCRIPTION)
    python, yaml = "```python\na = 1\n```", "```yaml\na: 1\n```"

    assert text == (
        f"<!-- tabs -->\n<details open><summary>Python</summary>\n\n{python}\n\n</details>\n"
        f"<details><summary>YAML</summary>\n\n{yaml}\n\n</details>\n<!-- end of tabs -->\n"
    )
    assert with_tabs(text) == (
        f"`````{{tab-set}}\n````{{tab-item}} Python\n:sync: Python\n{python}\n````\n"
        f"````{{tab-item}} YAML\n:sync: YAML\n{yaml}\n````\n`````\n"
    )


def test_an_example_in_one_language_needs_no_tabs():
    assert tabs(re.sub(r"```yaml.*?```\n", "", DESCRIPTION, flags=re.DOTALL)) == "```python\na = 1\n```\n"
