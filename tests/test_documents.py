"""What the documents say is so."""

from __future__ import annotations

import re

import pytest
from workspace import ROOT

from gcpx import __version__
from gcpx.config import KIND

LIBRARIES = ["provider/gcpx_emulator", "provider/gcpx_filter", "provider/gcpx_push"]
DOCUMENTS = [
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"{name}/README.md" for name in LIBRARIES),
]  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_named_exists(name):
    text = (ROOT / name).read_text()
    for path in re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(
        r"`((?:provider|tests|tools|examples|sdk|benchmarks)/[\w/.-]+)`", text
    ):
        assert (ROOT / path.partition("::")[0]).exists(), path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_test_named_exists(name):
    for path, test in re.findall(r"`(tests/[\w/.]+\.py)::(\w+)`", (ROOT / name).read_text()):
        assert f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"


def test_each_row_of_the_documents_endpoints_has_code_and_a_test():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| (compute|push) (\d) \|.*`provider/[\w/.]+`.*`tests/[\w/.]+::\w+`", text, re.MULTILINE)

    assert rows == [("compute", str(number)) for number in range(1, 9)] + [
        ("push", str(number)) for number in range(1, 5)
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_make_target_named_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = re.findall(r"```sh\n.*?```|`[^`\n]+`", (ROOT / name).read_text(), re.DOTALL)
    named = {target for text in code for target in re.findall(r"\bmake (?:-s )?([a-z][a-z-]+)", text)}

    assert named - targets == set()


def test_the_readme_lists_every_setting_with_its_variables():
    text = (ROOT / "README.md").read_text()
    for setting, prop in KIND.properties.items():
        assert f"`{setting}`" in text, setting
        assert all(f"`{variable}`" in text for variable in prop.traits.environment), setting


def test_the_changelog_begins_with_what_is_unreleased_or_with_this_version():
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert next(name for name in sections if name != "Unreleased") == __version__
    assert "Unreleased" not in sections[1:]


def test_no_address_of_a_registry_is_written_down():
    for path in [
        *ROOT.glob("*.toml"),
        *ROOT.glob("provider/*/pyproject.toml"),
        ROOT / "constraints.txt",
        ROOT / "Makefile",
    ]:
        assert "://" not in re.sub(r"https?://(127|\{)", "", path.read_text()), path
