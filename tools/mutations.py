"""Makes each mistake of tests/mutations.toml in a copy of the sources, and lists those that their tests miss.

`make mutations` tries all of them. Arguments of the script select those that contain one of these texts.

- `file`, `old`, `new`: a text that the file has exactly once, and its replacement.
- `test`: the test that then fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import attrs
import pytest
from workspace import ROOT

_LIST: Final = ROOT / "tests" / "mutations.toml"
_SOURCES: Final = "provider"
_AT_A_TIME: Final = 2


@attrs.frozen
class Mutation:
    """A mistake, and the test that finds it."""

    file: str
    old: str
    new: str
    test: str

    def __str__(self) -> str:
        return f"{self.file}: {self.old!r} -> {self.new!r} ({self.test})"

    def problem(self) -> str:
        """Return the reason why the mistake cannot be made; empty if it can."""
        found = (ROOT / self.file).read_text().count(self.old)
        return "" if found == 1 and self.old != self.new else f"the old text is {found} times in the file"

    def apply(self, root: Path) -> None:
        """Make the mistake in a copy of the sources."""
        path = root / self.file
        path.write_text(path.read_text().replace(self.old, self.new))


def mutations() -> list[Mutation]:
    """Read the list."""
    return [Mutation(**entry) for entry in tomllib.loads(_LIST.read_text())["mutation"]]


def result(tests: list[str], mutation: Mutation | None = None) -> int:
    """Run tests with a copy of the sources that has a mistake; return the exit code of pytest."""
    with tempfile.TemporaryDirectory(prefix="gcpx-mutation-") as folder:
        shutil.copytree(ROOT / _SOURCES, Path(folder) / _SOURCES, ignore=shutil.ignore_patterns("*.egg-info"))
        if mutation is not None:
            mutation.apply(Path(folder))
        variables = {**os.environ, "PYTHONPATH": str(Path(folder) / _SOURCES)}
        variables.pop("COVERAGE_PROCESS_CONFIG", None)  # the copy is gone when the report is written
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False).returncode


def outcome(mutation: Mutation) -> str:
    """Return the problem of a mutation; empty if its test finds it."""
    if problem := mutation.problem():
        return problem
    code = result([mutation.test], mutation)
    if code == pytest.ExitCode.OK:
        return "survives"
    return "" if code == pytest.ExitCode.TESTS_FAILED else f"pytest ends with {code}"


def main(words: list[str]) -> None:
    """Try the mutations."""
    chosen = [one for one in mutations() if not words or any(word in str(one) for word in words)]
    if result(sorted({one.test for one in chosen})) != pytest.ExitCode.OK:
        sys.exit("mutations: the tests do not pass without a mistake")
    failed = 0
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for mutation, wrong in zip(chosen, pool.map(outcome, chosen), strict=True):
            failed += bool(wrong)
            print(f"{wrong or 'killed':<10} {mutation}", flush=True)
    print(f"{len(chosen)} mutations, {failed} not killed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main(sys.argv[1:])
