"""`make release-check` finds everything that the files of a checkout lack for a release, and says what to do."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from workspace import ROOT

from gcpx import __version__
from release import files, notes

FILES = [
    notes.SOURCE, "schema.json", "sdk/python/pyproject.toml", "sdk/python/pulumi_gcpx/pulumi-plugin.json", "CHANGELOG.md", "README.md",
    *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")),
]  # fmt: skip


def _edit(path, before, after):
    text = path.read_text()
    assert re.search(before, text, re.MULTILINE | re.DOTALL), (path, before)
    path.write_text(re.sub(before, after, text, count=1, flags=re.MULTILINE | re.DOTALL))


@pytest.fixture
def checkout(tmp_path):
    """The files of a checkout that is ready to be released."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {__version__} - 2026-01-31\n\n### Added\n\n- Fleets.\n")
    return tmp_path


def _problems(checkout, tag=f"v{__version__}"):
    return list(map(str, files.problems(checkout, tag)))


def test_a_checkout_that_is_ready_has_no_problem(checkout):
    assert _problems(checkout) == []
    assert _problems(checkout, tag="") == []


def _other_version(name):
    return lambda root: _edit(root / name, rf'(version"?:? ?=? ")({re.escape(__version__)})"', r'\g<1>99.0.0"')


def _other_command(name):
    def change(root):
        with (root / name).open("a") as file:
            file.write("\nRun `pulumi plugin install resource gcpx 99.0.0`.\n")

    return change


def _earlier_version(version):
    def change(root):
        with (root / "CHANGELOG.md").open("a") as file:
            file.write(f"\n## {version}\n\n- Templates.\n")

    return change


@pytest.mark.parametrize(
    ("change", "what", "step"),
    [
        (_other_version("schema.json"), "schema.json has the version 99.0.0", "run `make sdk`"),
        (_other_version("sdk/python/pyproject.toml"), "sdk/python/pyproject.toml has the version 99.0.0", "run `make sdk`"),
        (_other_version("sdk/python/pulumi_gcpx/pulumi-plugin.json"), "pulumi-plugin.json has the version 99.0.0", "run `make sdk`"),
        (_other_command("README.md"), f"README.md names gcpx 99.0.0, not {__version__}", "update the commands"),
        (_other_command("docs/other.md"), f"docs/other.md names gcpx 99.0.0, not {__version__}", "update the commands"),
        (lambda root: _edit(root / "CHANGELOG.md", r"^## \S+", "## Unreleased"), f"CHANGELOG.md has no section {__version__}", "rename its section"),
        (lambda root: _edit(root / "CHANGELOG.md", "^### Added.*", ""), f"CHANGELOG.md has no section {__version__}", "rename its section"),
        (lambda root: _edit(root / "CHANGELOG.md", "^# Changelog", "# Changelog\n\n## Unreleased\n\n- More."), "entries in the section Unreleased", "to the next version"),
        (_earlier_version("0.0.9"), "tests/recorded/0.0.9/state.json is missing", "the states of earlier versions"),
    ],
)  # fmt: skip
def test_each_thing_that_is_missing_is_named_with_the_next_step(checkout, change, what, step):
    change(checkout)
    (problem,) = _problems(checkout)
    found, _, next_step = problem.partition("; ")

    assert what in found
    assert step in next_step


def test_a_recorded_state_of_each_earlier_version_is_enough(checkout):
    _earlier_version("0.0.9")(checkout)
    recorded = checkout / "tests" / "recorded" / "0.0.9" / "state.json"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("{}")

    assert _problems(checkout) == []


def test_a_tag_of_another_version_is_refused(checkout):
    (problem,) = _problems(checkout, tag="v99.0.0")

    assert problem.startswith(f"the tag v99.0.0 is not v{__version__}")
    assert f"tag the commit as v{__version__}" in problem


def test_everything_that_is_missing_is_named_at_once(checkout):
    _edit(checkout / notes.SOURCE, re.escape(__version__), "99.0.0")
    _earlier_version("0.0.9")(checkout)
    found = "\n".join(_problems(checkout))

    for name in (
        "the tag",
        "schema.json",
        "pyproject.toml",
        "pulumi-plugin.json",
        "CHANGELOG.md",
        "tests/recorded/0.0.9",
        "README",
    ):
        assert name in found


def test_the_notes_of_a_release_are_its_section_of_the_changelog(checkout):
    assert notes.sections(checkout)[__version__] == "### Added\n\n- Fleets."
    assert notes.declared_version(checkout) == json.loads((ROOT / "schema.json").read_text())["version"]
