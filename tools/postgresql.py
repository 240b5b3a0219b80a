"""Find the programs of PostgreSQL's server, or install Debian's package; `make test-backends` runs this first."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

_DEBIAN: Final = Path("/usr/lib/postgresql")
_INSTALL: Final = ("apt-get", "install", "--yes", "--no-install-recommends", "postgresql")


def programs(debian: Path = _DEBIAN) -> Path | None:
    """Find the folder with `initdb` and `pg_ctl`: the newest release of Debian's, or the one on PATH."""
    releases = [path for path in debian.glob("*/bin/pg_ctl") if re.fullmatch(r"\d+(\.\d+)?", path.parents[1].name)]
    newest = max(releases, key=lambda path: float(path.parents[1].name), default=None)
    found = newest or shutil.which("pg_ctl")
    return Path(found).resolve().parent if found else None


def main() -> None:
    """Install PostgreSQL if it is missing; if that fails, exit with an error that says what to install."""
    if programs() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("PostgreSQL is missing; installing Debian's package", file=sys.stderr, flush=True)
        subprocess.run(["apt-get", "update", "--quiet"], check=False)
        subprocess.run(_INSTALL, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if programs() is None:
        sys.exit(f"PostgreSQL is missing. Install its server, on Debian with `sudo {' '.join(_INSTALL)}`, and repeat.")


if __name__ == "__main__":
    main()
