"""What the documents say is so."""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from urllib.parse import urlsplit

import pytest
from cli.documented import section
from documentation import navigation
from documentation.markdown import anchors, links
from generate import document_tables, examples, registry, registry_pages
from values.programs import FLEET, KEY, TEMPLATE
from workspace import ROOT

from gcpx import __version__
from gcpx.compute.bulk_instances.capacity import Placement
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel, Readiness, RollingAction, UpdatePolicy
from gcpx.compute.bulk_instances.member import RESERVED_LABELS, Level, level_of
from gcpx.compute.instance_properties.machines import Scheduling
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.config import KIND
from gcpx.model.fields import object_type
from gcpx.model.naming import AUTONAMED
from gcpx.protocol.engine import OLDEST_CLI
from gcpx.provider import FUNCTIONS, RESOURCES
from gcpx_emulator.compute.locations import REGIONS

LIBRARIES = ["provider/gcpx_emulator", "provider/gcpx_filter", "provider/gcpx_http", "provider/gcpx_push"]
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *(ROOT / name / "README.md" for name in LIBRARIES))
)
OF_THE_REGISTRY = {registry_pages.INDEX, registry_pages.INSTALLATION}
"""The pages that only Pulumi's registry shows; docs/releasing.md names them."""
BULK = "gcpx:compute:BulkInstances"
PLUGIN = ROOT / "provider" / "gcpx"
FOLDERS = "|".join(
    ["benchmarks", "docs", "examples", "provider", "sdk", "tests", "tools", *(path.name for path in PLUGIN.iterdir())]
)
PATH = re.compile(rf"`((?:{FOLDERS})/[\w/.-]*)(?:::([\w.]+))?`")
"""A path below the root or the plugin's folder, and a name that is defined in that file."""


def _file(name, path):
    """Return the file or folder that a document names."""
    found = [folder / path for folder in (ROOT, PLUGIN, (ROOT / name).parent) if (folder / path).exists()]
    assert found, f"{name}: {path} does not exist"
    return found[0]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_in_a_document_exists(name):
    text = (ROOT / name).read_text()
    linked = [link.partition("#")[0] for link in links(text) if ":" not in link]
    for path in [*filter(None, linked), *(path for path, _ in PATH.findall(text))]:
        _file(name, path)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_everything_in_a_file_that_a_document_names_is_defined_there(name):
    for path, definition in PATH.findall((ROOT / name).read_text()):
        for part in filter(None, definition.split(".")):
            defined = re.search(rf"^\s*(?:(?:def|class) {part}\b|{part}:)", _file(name, path).read_text(), re.MULTILINE)
            assert defined, f"{name}: {path}::{definition}"


@functools.cache
def _anchors(path):
    """Return the names by which links lead to places of a document."""
    return anchors(path.read_text())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_to_a_heading_has_a_target(name):
    for link in links((ROOT / name).read_text()):
        path, _, anchor = link.partition("#")
        if anchor and ":" not in link and (not path or path.endswith(".md")):
            target = (ROOT / name).parent / path if path else ROOT / name
            assert anchor in _anchors(target), f"{name}: {link}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_to_another_site_is_well_formed_and_encrypted(name):
    for link in links((ROOT / name).read_text()):
        if ":" in link or link.startswith("//"):
            parts = urlsplit(link)
            assert parts.scheme == "https", f"{name}: {link}"
            assert re.fullmatch(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", parts.netloc), f"{name}: {link}"
            assert re.fullmatch(r"[\w./~%@:+,=&?#!$'*;-]*", link, re.ASCII), f"{name}: {link}"


def test_every_page_is_in_a_group_of_the_navigation():
    assert navigation.problems() == []
    assert len(navigation.pages()) == len(set(navigation.pages()))


def test_the_readme_leads_to_every_guide():
    text = (ROOT / "README.md").read_text()
    guides = {name for name in DOCUMENTS if name.startswith("docs/")} - OF_THE_REGISTRY
    guides -= {page for pages in navigation.BELOW.values() for page in pages}

    assert [name for name in sorted(guides) if f"]({name})" not in text] == []


def test_the_readme_says_what_the_plugin_says_of_itself_and_who_maintains_it():
    text = _plain((ROOT / "README.md").read_text())
    things, _, place = registry.PACKAGE["description"].removesuffix(".").rpartition(" in ")
    name = registry.PACKAGE["displayName"]

    assert f"gcpx ({name}) is a Pulumi provider for a few things in {place}: {things[0].lower()}{things[1:]}." in text
    assert "its contributors maintain it" in text


def test_the_first_steps_set_a_project_and_online_checks_and_every_setting_of_a_command_exists():
    set_in = {
        name: re.findall(r"pulumi config set (?:--\S+ )*gcpx:([a-z]\w*)", (ROOT / name).read_text())
        for name in DOCUMENTS
    }

    assert set_in["README.md"] == ["project", "validateOnline"]
    assert {setting for settings in set_in.values() for setting in settings} <= KIND.inputs.keys()


@pytest.mark.parametrize("name", sorted(OF_THE_REGISTRY))
def test_a_page_of_the_registry_is_current_and_begins_as_the_registry_requires(name):
    text = (ROOT / name).read_text()
    header = re.match(r"---\ntitle: .+\nmeta_desc: .+\nlayout: package\n---\n\n", text)

    assert text == registry_pages.text(name)
    assert header
    assert [path for path in re.findall(r"\]\(([^)]*)\)", text) if not path.startswith("https://")] == []


def test_the_first_page_of_the_registry_shows_an_example_in_every_language():
    text = (ROOT / registry_pages.INDEX).read_text().partition("<!-- example -->")[2]
    shown = re.findall(
        r"\{\{% choosable language (\w+) %\}\}\n\n```(\w+)\n(.+?)\n```\n\n\{\{% /choosable", text, re.DOTALL
    )

    assert f'{{{{< chooser language "{",".join(examples.FILES)}" >}}}}' in text
    assert shown == [(language, language, examples.program(BULK, language)) for language in examples.FILES]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_make_target_named_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = re.findall(r"```sh\n.*?```|`[^`\n]+`", (ROOT / name).read_text(), re.DOTALL)
    named = {target for text in code for target in re.findall(r"\bmake (?:-s )?([a-z][a-z-]+)", text)}

    assert named - targets == set()


@pytest.mark.parametrize(("path", "tables"), document_tables.TABLES.items())
def test_the_tables_of_a_document_are_current(path, tables):
    text = (ROOT / path).read_text()

    assert text == document_tables.text(path)
    assert tuple(re.findall(r"<!-- table: ([\w-]+) -->", text)) == tables


def test_every_resource_function_and_setting_has_a_row():
    text = "".join((ROOT / path).read_text() for path in document_tables.TABLES)

    assert [
        name
        for name in (*RESOURCES, *FUNCTIONS, *KIND.inputs)
        if not re.search(rf"^\| \[?`{name}`", text, re.MULTILINE)
    ] == []


def test_the_page_of_versions_names_those_that_are_declared():
    text = (ROOT / "docs" / "versions.md").read_text()
    cli = re.findall(r"pulumi/pkg/v3 v([\d.]+)", (ROOT / "tools" / "pulumi" / "cli" / "go.mod").read_text())
    python = re.findall(r'^requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)

    assert f"the tests run with {cli[0]} |" in text
    assert f"| {python[0]} or later |" in text


def test_the_page_of_versions_names_every_hidden_mark_and_label():
    text = (ROOT / "docs" / "versions.md").read_text()
    code = "".join(path.read_text() for path in PLUGIN.rglob("*.py"))
    marks = set(re.findall(r'^\w+: Final = "(__\w+)"', code, re.MULTILINE))

    assert AUTONAMED in marks
    assert {name for name in marks | RESERVED_LABELS if f"`{name}`" not in text} == set()


def test_the_oldest_cli_is_the_same_everywhere():
    required = {
        "docs/installation.md": f"the Pulumi CLI, {OLDEST_CLI} or later",
        "docs/installation-configuration.md": f"The Pulumi CLI, {OLDEST_CLI} or later",
        "docs/versions.md": f"| Pulumi CLI | {OLDEST_CLI} or later",
        "PulumiPlugin.yaml": f'requiredPulumiVersion: ">={OLDEST_CLI}"',
    }

    for name, words in required.items():
        assert words in (ROOT / name).read_text(), name


def test_the_oldest_python_of_a_checkout_is_that_of_the_wheel():
    oldest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text())

    assert f"OLDEST = ({oldest[1]}, {oldest[2]})" in (ROOT / "__main__.py").read_text()


@pytest.mark.parametrize("name", ["docs/emulator.md", "provider/gcpx_emulator/README.md"])
def test_the_number_of_regions_of_the_emulator_is_right(name):
    assert f" {len(REGIONS)} of Google's regions" in (ROOT / name).read_text()


def test_the_changelog_begins_with_what_is_unreleased_or_with_this_version():
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert sections[0] in {"Unreleased", __version__}
    assert "Unreleased" not in sections[1:]
    assert [name for name in sections if name != "Unreleased"][:1] in ([], [__version__])


def test_the_guide_of_fleets_says_what_each_property_needs():
    table = section("docs/fleets.md", "What each property needs")
    rows = re.findall(r"^\| `([A-Z]+)` \| (.*?) \| .* \|$", table, re.MULTILINE)
    said = {name: level for level, listed in rows for name in re.findall(r"`([\w.]+)`", listed)}
    scheduling = [f"scheduling.{name}" for name in object_type(Scheduling).properties]
    names = [name for name in object_type(InstanceProperties).properties if name != "scheduling"] + scheduling
    levels = {name: level_of(*name.split(".")) for name in names}

    assert said == {name: level.name for name, level in levels.items() if level is not Level.REPLACE}
    assert "| `REPLACE` | every other property |" in table


@pytest.mark.parametrize("declared", [BulkInstancesModel, UpdatePolicy, Readiness, Placement, RollingAction])
def test_the_tables_of_the_guide_of_fleets_have_every_setting(declared):
    tables = "\n".join(re.findall(r"^\|.*\|$", section("docs/fleets.md", "Settings"), re.MULTILINE))

    assert [name for name in object_type(declared).inputs if not re.search(rf"`(\w+\.)?{name}(\.\w+)?`", tables)] == []


def _rows_about_groups():
    """Return the cells of the table that compares managed instance groups with fleets, row by row."""
    table = section("docs/comparison.md", "When to prefer a managed instance group")
    return [line.strip("| ").split(" | ") for line in re.findall(r"^\| .* \|$", table, re.MULTILINE)][2:]


def test_what_the_comparison_names_of_managed_groups_is_in_googles_api_description():
    documents = resources.files("googleapiclient") / "discovery_cache" / "documents"
    api = json.loads((documents / "compute.beta.json").read_text())
    known = {name for schema in api["schemas"].values() for name in schema.get("properties", ())}
    known |= {method for resource in api["resources"].values() for method in resource["methods"]}
    named = {code.partition(":")[0] for _, group, _ in _rows_about_groups() for code in re.findall(r"`(\w+)", group)}

    assert len(named) > 15
    assert named - known == {"wait_for_instances"}, "which is an input of pulumi-gcp"


def test_the_comparison_of_calls_has_the_numbers_of_the_benchmarks():
    (calls,) = [fleet for need, _, fleet in _rows_about_groups() if need.startswith("few calls")]
    measured = section("docs/benchmarks.md", "Calls for a fleet of 1,000 instances")

    for change, row in [
        ("create", "create 1,000"),
        ("relabel", "change a label of all"),
        ("replace", "replace 1,000, in 4 batches"),
        ("restart", "restart 1,000 with other properties, in 4 batches"),
    ]:
        (number,) = re.findall(rf"{change} ([\d,]*\d)", calls)
        assert re.search(rf"^\| {row} \| {number} ", measured, re.MULTILINE), change


MAPPED = {
    "Templates": "gcpx:compute:InstanceTemplate",
    "Properties of instances": "gcpx:compute:InstanceProperties",
    "Disks": "gcpx:compute:InstanceProperties",
    "Network interfaces": "gcpx:compute:InstanceProperties",
    "Scheduling": "gcpx:compute:InstanceProperties",
    "Machine images": "gcpx:compute:MachineImage",
    "Attachments of disks": "gcpx:compute:DiskAttachment",
    "Notifications of buckets": "gcpx:storage:NotificationConfig",
    "SSH keys of OS Login": "gcpx:oslogin:SshKey",
    "From a managed instance group to a fleet": "gcpx:compute:BulkInstances",
    "From single instances to a fleet": "gcpx:compute:BulkInstances",
}
"""The sections of docs/from-pulumi-gcp.md, and the resource or type with the properties of the second column."""


@pytest.mark.parametrize(("heading", "token"), MAPPED.items())
def test_every_property_that_corresponds_to_one_of_pulumi_gcp_exists(heading, token):
    schema = json.loads((ROOT / "schema.json").read_text())
    rows = section("docs/from-pulumi-gcp.md", heading).partition("\n#")[0].partition("| --- |")[2].splitlines()[1:]
    paths = re.findall(r"`([^`]+)`", " ".join(row.split("|")[2] for row in rows if row.startswith("| ")))

    assert paths
    assert [path for path in paths if not _is_property(schema, token, path)] == []


_NAMES = re.compile(r"\w+")
RENAMED = {
    "Templates": (TEMPLATE, ""),
    "Properties of instances": (TEMPLATE, "properties."),
    "Disks": (TEMPLATE, "properties."),
    "Network interfaces": (TEMPLATE, "properties."),
    "Scheduling": (TEMPLATE, "properties."),
    "SSH keys of OS Login": (KEY, ""),
    "From a managed instance group to a fleet": (FLEET, ""),
    "From single instances to a fleet": (FLEET, ""),
}
"""The sections of docs/from-pulumi-gcp.md with other names, and where a user would write the names of pulumi-gcp."""


@pytest.mark.parametrize(("heading", "token", "below"), [(heading, *where) for heading, where in RENAMED.items()])
def test_a_preview_names_the_property_that_corresponds_to_one_of_pulumi_gcp(engine, heading, token, below):
    rows = section("docs/from-pulumi-gcp.md", heading).partition("\n#")[0].partition("| --- |")[2].splitlines()[1:]
    columns = [
        [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:3]]
        for row in rows
        if row.startswith("|") and "(output" not in row
    ]
    pairs = [(old, new[min(number, len(new) - 1)]) for olds, new in columns if new for number, old in enumerate(olds)]
    schema = json.loads((ROOT / "schema.json").read_text())
    unknown = {old: new for old, new in pairs if not _is_property(schema, token, below + old)}
    said = {old: " ".join(engine.failures(token, _written(below + old)).values()) for old in unknown}

    assert said
    named = {old: set(_NAMES.findall(new)) - set(_NAMES.findall(old)) for old, new in unknown.items()}
    assert {old: text for old, text in said.items() if not any(name in text for name in named[old] or {""})} == {}


def _written(path):
    """Return inputs in which something is written at a path such as `disks[].boot`."""
    value = "x"
    for name in reversed(path.split(".")):
        value = {name.removesuffix("[]"): [value] if name.endswith("[]") else value}
    return value


def _is_property(schema, token, path):
    """Say whether a path such as `disks[].boot` leads to a property below a resource or a type."""
    found = {**schema["resources"], **schema["types"]}[token]
    for name in path.split("."):
        properties = {**found.get("properties", {}), **found.get("inputProperties", {})}
        if name.removesuffix("[]") not in properties:
            return False
        declared = properties[name.removesuffix("[]")]
        if name.endswith("[]") != (declared.get("type") == "array" and name != path.rpartition(".")[2]):
            return False
        kind = declared.get("items", declared).get("$ref", "").removeprefix("#/types/")
        found = schema["types"].get(kind, {})
    return True


def test_no_address_of_a_registry_is_written_down():
    for path in [
        *ROOT.glob("*.toml"),
        *ROOT.glob("provider/*/pyproject.toml"),
        ROOT / "tools" / "constraints.txt",
        ROOT / "Makefile",
    ]:
        assert "://" not in re.sub(r"https?://(127|\{)", "", path.read_text()), path


def test_what_tests_say_that_they_hold_is_in_the_documents():
    texts = {(ROOT / name).name: _plain((ROOT / name).read_text()) for name in DOCUMENTS if "README" not in name}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for held in re.findall(r"^Holds (.+?)\.$(?=\n\n|\nHolds|\n\"\"\")", path.read_text(), re.MULTILINE | re.DOTALL):
            document, _, sentences = held.partition(": ")
            for words in re.findall(r'"(.+?)"(?:; |$)', " ".join(sentences.split())):
                assert words in texts[document], f"{path.relative_to(ROOT)}: {words!r} is not in {document}"


def _plain(text):
    """Return the words of a document without its links, its emphasis and its lines."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "").split())
