"""Checks that the files of a checkout are ready for the release of its version."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from release.notes import SOURCE, declared_version, sections

_NAMED: Final = re.compile(r"\bgcpx(?: |==|@|-)v?(\d+\.\d+\.\d+[\w.-]*?)(?=[`\s.,)'\"-]|$)", re.MULTILINE)
"""A version after the name of gcpx, as in commands and names of files."""


@attrs.frozen
class Problem:
    """A problem that prevents a release, and how to solve it."""

    what: str
    next_step: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.what}; {self.next_step}"


def problems(root: Path, tag: str) -> Iterator[Problem]:
    """Return the problems of a checkout; `tag` is empty if there is none yet."""
    version = declared_version(root)
    yield from _tag(version, tag)
    yield from _versions(root, version)
    yield from _changelog(root, version)
    yield from _recordings(root, version)
    yield from _documents(root, version)


def _tag(version: str, tag: str) -> Iterator[Problem]:
    if tag and tag != f"v{version}":
        yield Problem(
            f"the tag {tag} is not v{version}, which follows from {SOURCE}",
            f"tag the commit as v{version}, or set __version__",
        )


def _versions(root: Path, version: str) -> Iterator[Problem]:
    """Compare the version with those in generated files."""
    found = {
        "schema.json": json.loads((root / "schema.json").read_text()).get("version"),
        "sdk/python/pyproject.toml": tomllib.loads((root / "sdk/python/pyproject.toml").read_text())["project"][
            "version"
        ],
        "sdk/python/pulumi_gcpx/pulumi-plugin.json": json.loads(
            (root / "sdk/python/pulumi_gcpx/pulumi-plugin.json").read_text()
        ).get("version"),
    }
    for name, other in found.items():
        if other != version:
            yield Problem(f"{name} has the version {other}, not {version}", "run `make sdk` and commit the result")


def _changelog(root: Path, version: str) -> Iterator[Problem]:
    found = sections(root)
    if not found.get(version):
        yield Problem(
            f"CHANGELOG.md has no section {version}, or an empty one", f"rename its section Unreleased to {version}"
        )
    elif found.get("Unreleased"):
        yield Problem(
            "CHANGELOG.md has entries in the section Unreleased",
            f"set __version__ in {SOURCE} to the next version and rename the section to it, "
            f"or move the entries to the section {version}",
        )


def _recordings(root: Path, version: str) -> Iterator[Problem]:
    """Require a state of each earlier version in the changelog; the first release has none."""
    for earlier in sections(root).keys() - {version, "Unreleased"}:
        if not (root / "tests" / "recorded" / earlier / "state.json").is_file():
            yield Problem(
                f"tests/recorded/{earlier}/state.json is missing, so nothing tests the upgrade from {earlier}",
                "do what docs/releasing.md says about the states of earlier versions",
            )


def _documents(root: Path, version: str) -> Iterator[Problem]:
    """Compare the version with those in commands that users copy."""
    for path in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        for other in sorted(set(_NAMED.findall(path.read_text())) - {version}):
            yield Problem(
                f"{path.relative_to(root)} names gcpx {other}, not {version}", "update the commands in this file"
            )
