"""Run the tests that are new or changed several times in random order, to see which pass by luck.

Changed is what differs from the base: `GCPX_BASE` where it is set, else where this branch left origin's, else the
commit that is 20 before this one. Where no history tells, as in a download of the sources, every test file is taken.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from workspace import ROOT

_ROUNDS: Final = 3
_SECONDS: Final = 480
"""No round begins after this time; one that has begun ends."""
_BACK: Final = 20
_OPTIONS: Final = "-q -n 2 --maxschedchunk 4 -p randomly -p no:cacheprovider"


def git(*arguments: str) -> str:
    """Ask git; gives nothing where it does not know, or is not there."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def base() -> str:
    """Find the commit that this one is compared with."""
    head = git("rev-parse", "HEAD")
    left = git("merge-base", "HEAD", "origin/HEAD") or git("merge-base", "HEAD", "origin/main")
    earlier = git("rev-parse", "--verify", "--quiet", f"HEAD~{_BACK}")
    return os.environ.get("GCPX_BASE") or (left if left != head else "") or earlier


def test_files() -> list[str]:
    """Give the test files that are new or changed, or all if git cannot tell."""
    compared = base()
    if compared:
        changed = git("diff", "--name-only", "--diff-filter=d", compared, "--", "tests").splitlines()
        new = git("ls-files", "--others", "--exclude-standard", "--", "tests").splitlines()
    else:
        changed, new = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")), []
    return [name for name in [*changed, *new] if Path(name).name.startswith("test_") and name.endswith(".py")]


def main() -> None:
    """Repeat them, each time in another order, which the seed gives again."""
    names, ends = test_files(), time.monotonic() + _SECONDS
    print(f"{len(names)} test files are new or changed", flush=True)
    for number in range(1, _ROUNDS + 1 if names else 1):
        if time.monotonic() > ends:
            print(f"time is up before round {number}", flush=True)
            return
        seed = str(secrets.randbelow(2**32))
        command = [sys.executable, "-m", "pytest", *_OPTIONS.split()]
        print(f"round {number}: -p randomly -p no:cacheprovider --randomly-seed={seed}", flush=True)
        if done := subprocess.run([*command, f"--randomly-seed={seed}", *names], cwd=ROOT, check=False).returncode:
            sys.exit(done)


if __name__ == "__main__":
    main()
