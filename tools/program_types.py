"""Check the types of Python programs that use the SDK with mypy and pyright, each as strict as it can be.

The programs in `examples` are right. In `tests/sdk/programs`, each line with a mistake has to be reported, no other.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import attrs
from workspace import ROOT, SCRIPTS

_SOURCES: Final = (ROOT / "sdk" / "python", ROOT / "provider")
"""The paths of the SDK and gcpx-push for mypy, which ignores editable installations; pyright has its own setting."""
_MYPY: Final = (
    "--strict",
    "--config-file=",
    f"--cache-dir={ROOT / '.mypy_cache' / 'programs'}",
    "--follow-imports=silent",  # the SDK's own errors do not count
    "--untyped-calls-exclude=google.auth",  # it claims to have types, but parts of it have none
    "--explicit-package-bases",
    "--output=json",
    "--no-error-summary",
)


@attrs.frozen(order=True)
class Finding:
    """An error of a type checker in a line of a program."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        """Write the finding as compilers do."""
        return f"{os.path.relpath(self.path)}:{self.line}: {self.message}"


def mypy(programs: list[Path], *packages: Path) -> list[Finding]:
    """Check programs with mypy; `packages` are folders of packages that the virtual environment does not have.

    Raises:
        RuntimeError: if mypy itself fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copies = {str(_module(path)): path for path in programs}
        for copy, path in copies.items():
            (Path(scratch) / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, Path(scratch) / copy)  # with its time, which decides whether the cache is valid
        folders = (*_folders_of_scripts(Path(scratch)), *_SOURCES, *packages)
        variables = {"MYPYPATH": os.pathsep.join(map(str, folders))}
        said = _run([sys.executable, "-m", "mypy", *_MYPY, *copies], Path(scratch), variables)
    reports = map(json.loads, said.splitlines())
    return sorted(
        Finding(copies[report["file"]], report["line"], f"{report['message']} [{report['code']}]")
        for report in reports
        if report["severity"] == "error"
    )


def _module(program: Path) -> Path:
    """Return a relative path that mypy can import: many programs have the same name, in folders with hyphens."""
    folder = next(parent for parent in program.parents if not (parent / "__init__.py").exists())
    return Path(f"{folder.name.replace('-', '_')}_example") / program.relative_to(folder)


def _folders_of_scripts(scratch: Path) -> list[Path]:
    """Return the folders whose files import each other by name: those without a main program, or with packages."""
    folders = sorted(scratch.iterdir())
    return [folder for folder in folders if not (folder / "__main__.py").exists() or any(folder.glob("*/__init__.py"))]


def pyright(programs: list[Path], *packages: Path) -> list[Finding]:
    """Check programs with pyright, in the distribution that can be installed with pip alone; `packages` as in `mypy`.

    Raises:
        RuntimeError: if pyright itself fails.
    """
    command = [str(SCRIPTS / "basedpyright"), "--outputjson", f"--pythonpath={sys.executable}", *map(str, programs)]
    variables = {"PYTHONPATH": os.pathsep.join(map(str, (*packages, os.environ.get("PYTHONPATH", ""))))}
    report: dict[str, Any] = json.loads(_run(command, ROOT, variables))
    return sorted(
        Finding(Path(found["file"]), found["range"]["start"]["line"] + 1, f"{found['message']} [{found.get('rule')}]")
        for found in report["generalDiagnostics"]
        if found["severity"] == "error"
    )


def _run(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    """Run a type checker, which exits with 1 if it finds errors; return its output."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, 1} or done.stderr:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


_BESIDE: Final = "import pulumi_gcp "
"""The beginning of programs that also use pulumi-gcp, a package too large for the set-up; tests/beside checks them."""


def examples() -> Iterator[Path]:
    """Yield the Python programs of all examples, except those that also use pulumi-gcp."""
    found = sorted((ROOT / "examples").rglob("*.py"))
    yield from (path for path in found if _BESIDE not in path.read_text())


def surprises(checker: str, programs: list[Path], findings: list[Finding]) -> list[str]:
    """Compare what a checker finds in programs with their lines `# wrong: ...` and `# wrong (CHECKER): ...`."""
    marked = {
        (path, number)
        for path in programs
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "# wrong:" in line or f"# wrong ({checker}):" in line
    }
    missed = sorted(marked - {(finding.path, finding.line) for finding in findings})
    return [
        *(f"{Finding(path, line, 'nothing is reported')}" for path, line in missed),
        *(str(finding) for finding in findings if (finding.path, finding.line) not in marked),
    ]


def main() -> None:
    """Check all programs and print what surprises; exit with 1 if anything does."""
    programs, checks = [*examples(), *sorted((ROOT / "tests" / "sdk" / "programs").glob("*.py"))], (mypy, pyright)
    with ThreadPoolExecutor() as pool:  # each runs a process of its own
        found = pool.map(lambda check: surprises(check.__name__, programs, check(programs)), checks)
        results = {check.__name__: lines for check, lines in zip(checks, found, strict=True)}
    for name, lines in results.items():
        print(f"surprises of {name} in {len(programs)} files of programs: {len(lines)}", *lines, sep="\n")
    sys.exit(any(results.values()))


if __name__ == "__main__":
    main()
