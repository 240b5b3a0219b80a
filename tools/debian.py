"""Packages of Debian that some tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence


def require(title: str, packages: Sequence[str], is_there: Callable[[], bool]) -> None:
    """Install packages if what they contain is missing; if that fails, exit with an error that says what to install."""
    install = ("apt-get", "install", "--yes", "--no-install-recommends", *packages)
    if not is_there() and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"{title} is missing; installing Debian's package", file=sys.stderr, flush=True)
        subprocess.run(["apt-get", "update", "--quiet"], check=False)
        subprocess.run(install, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if not is_there():
        sys.exit(f"{title} is missing. Install it, on Debian with `sudo {' '.join(install)}`, and repeat.")
