"""Type checkers accept right programs that use the SDK, and report each mistake of a wrong one at its line."""

from __future__ import annotations

from pathlib import Path

import program_types
import pytest

import pulumi_gcpx

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def _marked(checker):
    """Return the lines that say that a type checker has to report them."""
    return [
        (path.name, number, line.strip())
        for path in PROGRAMS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "# wrong:" in line or f"# wrong ({checker}):" in line
    ]


def _reported(findings):
    lines = {(finding.path, finding.line): finding.message for finding in findings}
    return [(path.name, line, path.read_text().splitlines()[line - 1].strip()) for path, line in sorted(lines)]


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_mistakes_of_programs_and_nothing_else_are_reported(checker):
    findings = getattr(program_types, checker)(PROGRAMS)

    assert _reported(findings) == _marked(checker), "\n".join(map(str, findings))


def test_the_sdk_says_that_it_has_types():
    assert (Path(pulumi_gcpx.__file__).parent / "py.typed").exists()
