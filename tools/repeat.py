"""Run the new and changed tests several times, in several orders, to find tests that pass only by luck.

pytest-repeat repeats tests in one process. This also chooses the tests, and each round is a process with an order.

Usage: `repeat.py SEED`. The seed determines the orders of tests and of sets.

A test file is changed if it differs from the base: `GCPX_BASE` if it is set, or else the commit where this branch left
origin's main branch, or else the 20th commit before this one. Without a history, as in a download of the sources, no
test counts as new.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from workspace import ROOT

_ROUNDS: Final = 3
_SECONDS: Final = 120
"""No round starts after this time, but a running one is not interrupted."""
_BACK: Final = 20
_SELECTED: Final = "not languages and not backends"
"""Tests that are left out because they take minutes."""
_OPTIONS: Final = "-q -n 2 --maxschedchunk 4 -p randomly -p no:cacheprovider"


def git(*arguments: str) -> str:
    """Run git; returns its output, or nothing if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def base() -> str:
    """Find the base; empty if there is none."""
    head = git("rev-parse", "HEAD")
    left = git("merge-base", "HEAD", "origin/HEAD") or git("merge-base", "HEAD", "origin/main")
    earlier = git("rev-parse", "--verify", "--quiet", f"HEAD~{_BACK}")
    return os.environ.get("GCPX_BASE") or (left if left != head else "") or earlier


def test_files() -> list[str]:
    """Return the paths of the new and changed test files; none without a base."""
    compared = base()
    if not compared:
        return []
    changed = git("diff", "--name-only", "--diff-filter=d", compared, "--", "tests").splitlines()
    new = git("ls-files", "--others", "--exclude-standard", "--", "tests").splitlines()
    return [name for name in [*changed, *new] if Path(name).name.startswith("test_") and name.endswith(".py")]


def main() -> None:
    """Run the rounds; each prints the command that repeats it."""
    seed, names, ends = int(sys.argv[1]), test_files(), time.monotonic() + _SECONDS
    print(f"{len(names)} test files are new or changed", flush=True)
    for number in range(1, _ROUNDS + 1 if names else 1):
        if time.monotonic() > ends:
            print(f"no time is left for round {number}", flush=True)
            return
        order = str((seed + number) % 2**32)
        options = [*_OPTIONS.split(), f"--randomly-seed={order}", "-m", _SELECTED]
        command = [sys.executable, "-m", "pytest", *options, *names]
        print(f"round {number}: PYTHONHASHSEED={order} {shlex.join(command)}", flush=True)
        variables = {**os.environ, "PYTHONHASHSEED": order}
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
        if done not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            sys.exit(done)


if __name__ == "__main__":
    main()
