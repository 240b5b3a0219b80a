"""The checksums of a release, in the form of `sha256sum`: `python -m release.checksums FOLDER` writes them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Final

NAME: Final = "SHA256SUMS"


def write(folder: Path) -> Path:
    """Write the checksums of all files in a folder; return the path of the file with the checksums."""
    sums = folder / NAME
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path != sums)
    sums.write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths))
    return sums


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
