"""Find the programs of PostgreSQL's server, or install Debian's package; `make test-backends` runs this first."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import debian

_DEBIAN: Final = Path("/usr/lib/postgresql")


def programs(folder: Path = _DEBIAN) -> Path | None:
    """Find the folder with `initdb` and `pg_ctl`: the newest release of Debian's, or the one on PATH."""
    releases = [path for path in folder.glob("*/bin/pg_ctl") if re.fullmatch(r"\d+(\.\d+)?", path.parents[1].name)]
    newest = max(releases, key=lambda path: float(path.parents[1].name), default=None)
    found = newest or shutil.which("pg_ctl")
    return Path(found).resolve().parent if found else None


if __name__ == "__main__":
    debian.require("PostgreSQL's server", ["postgresql"], lambda: programs() is not None)
