"""Google's sample suites on the emulator; `make test-samples SAMPLES=...` writes their results into the record."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
from generate import run_record
from generate.run_record import SUITES, Run
from records.client_runs import reason
from workspace import ROOT

from gcpx_emulator.interception.environment import ELSEWHERE
from gcpx_emulator.testing.background import intercepting

INSTALLED: Final = ROOT / "build" / "samples"
"""Where the packages are installed that the suites require."""
_LONGEST: Final = 3600
"""The longest time of a suite in seconds."""


@attrs.frozen
class Suite:
    """Tests of samples.

    Attributes:
        folder: in the checkout, with the files of requirements.
        tests: paths in the folder.
        client: the package that the samples show.
        options: of pytest.
        needed: packages that the requirements lack.
        families: retired families of public images that the samples use, by project.
    """

    folder: str
    tests: tuple[str, ...]
    client: str
    options: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    families: Mapping[str, list[str]] = {}


_SUITES: Final = (
    Suite(
        "compute/client_library",
        ("snippets/tests",),
        "google-cloud-compute",
        options=("-n", "4"),  # in one process, a fixture keeps an instance whose name other tests use
        families={"debian-cloud": ["debian-11"], "ubuntu-os-cloud": ["ubuntu-2004-lts"]},
    ),
    Suite("storage/samples/snippets", ("notification_test.py", "notification_polling_test.py"), "google-cloud-storage"),
    Suite(
        "samples/snippets",
        ("publisher_test.py", "subscriber_test.py", "schema_test.py", "iam_test.py"),
        "google-cloud-pubsub",
    ),
)


def run(suite: Suite, folder: Path) -> Run:
    """Run the tests of a suite in a checkout on an emulator of its own."""
    python = _installed(suite, folder)
    command = ["python", "-m", "pytest", *suite.options, *suite.tests]
    with tempfile.TemporaryDirectory() as written:
        results = Path(written) / "results.xml"
        options = ["-p", "no:cacheprovider", "-q", "--tb=line", f"--junit-xml={results}"]
        called = [str(python), *command[1:], *options]
        with intercepting() as emulator:
            emulator.control("POST", "image-families", {"added": dict(suite.families)})
            own = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
            subprocess.run(called, cwd=folder, check=False, timeout=_LONGEST, env={**own, **emulator.environment})
        steps = dict(_outcomes(ET.parse(results)))
    code = f"from importlib.metadata import version; print('{suite.client}', version('{suite.client}'))"
    version = subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    return Run(f"{version}, commit {_commit(folder)}", " ".join(command), steps)


def _outcomes(results: ET.ElementTree) -> Iterator[tuple[str, str | None]]:
    """Yield the name of each test with its error; a test that is skipped is left out."""
    for test in results.iter("testcase"):
        problem = next((found for kind in ("failure", "error") for found in test.iter(kind)), None)
        if test.find("skipped") is None:
            name = f"{test.get('classname', '').rpartition('.')[2]}::{test.get('name')}"
            yield name, None if problem is None else reason(problem.get("message") or problem.text)


def _installed(suite: Suite, folder: Path) -> Path:
    """Return the Python of an environment with what the suite requires."""
    environment = INSTALLED / suite.folder.replace("/", "-")
    python = environment / "bin" / "python"
    if not environment.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        required = [word for file in sorted(folder.glob("requirements*.txt")) for word in ("-r", str(file))]
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *required, *suite.needed], check=True)
    return python


def _commit(folder: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--short=10", "HEAD"], check=False, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def main(checkouts: list[str]) -> None:
    """Run the suites that are in the checkouts, and write the record."""
    found = [(suite, Path(checkout).resolve() / suite.folder) for checkout in checkouts for suite in _SUITES]
    present = [(suite, folder) for suite, folder in found if all((folder / test).exists() for test in suite.tests)]
    if not present:
        names = ", ".join(suite.folder for suite in _SUITES)
        sys.exit(f"SAMPLES=... must name checkouts of Google's samples for Python, with one of these folders: {names}")
    runs = {**run_record.read_runs(SUITES), **{suite.folder: run(suite, folder) for suite, folder in present}}
    run_record.write_runs(runs, SUITES)
    for suite, _ in present:
        sys.stdout.write(f"{suite.folder}: {runs[suite.folder].figures}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
