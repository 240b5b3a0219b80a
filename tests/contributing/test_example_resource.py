"""The example resource of CONTRIBUTING.md passes every suite that covers all resources.

Another process runs the suites, in which `contributed` has added the resource and its sample from the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from workspace import ROOT

COVERS_ALL = re.compile(
    r"^from \w[\w.]* import .*\b(SAMPLES|INPUTS|BY_TOKEN|RESOURCES|UNTOLD|(FAULT|CRASH|CANCEL)_SCENARIOS|StacksMachine)\b",
    re.MULTILINE,
)
OTHERS = {
    "tests/provider/test_verb_permissions.py": "it covers what is declared in step 6, for which the page has no block",
    "tests/reliability/fault_matrix/test_chosen_cases.py": "its cases are chosen",
}
"""Files that import what covers all resources, but do not run all of them."""
SUITES = ["tests/ownership", "tests/provider", "tests/reliability"]


def _covering():
    """Return the files that cover all resources."""
    files = (path for suite in SUITES for path in (ROOT / suite).rglob("test_*.py"))
    covering = {str(path.relative_to(ROOT)) for path in files if COVERS_ALL.search(path.read_text())}
    return sorted(covering - OTHERS.keys())


def _run(files):
    """Run the tests in some files that concern the resource; return the exit status, and what is printed."""
    command = [sys.executable, "-m", "pytest", "-p", "records.contributed", "-p", "no:xdist", "-p", "no:cacheprovider"]
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("tests/support", "tools"))
    done = subprocess.run(
        [*command, "-rA", "-q", "--show-capture=no", "-k", "topic or test_two_stacks_keep_what_is_theirs", *files],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_example_passes_all_suites_that_cover_every_resource():
    status, printed = _run(_covering())

    assert status == 0, printed
    passed = set(re.findall(r"^PASSED (tests/[\w/]+\.py)", printed, re.MULTILINE))
    assert [path for path in _covering() if path not in passed] == [], "these files have no test with the example"
