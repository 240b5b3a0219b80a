"""The checksums of a release, in the form of `sha256sum`: `python -m release.checksums FOLDER` writes them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAME: Final = "SHA256SUMS"


def write(folder: Path) -> Path:
    """Write the checksums of all files in a folder; return the path of the file with the checksums."""
    sums = folder / NAME
    sums.write_text("".join(f"{total}  {name}\n" for name, total in _sums(folder).items()))
    return sums


def problems(folder: Path) -> Iterator[str]:
    """Name the files in a folder that have a wrong checksum, lack one, or are missing."""
    if not (folder / NAME).exists():
        yield f"{NAME} is missing"
        return
    lines = (folder / NAME).read_text().splitlines()
    written = {name: total for total, _, name in (line.partition("  ") for line in lines)}
    found = _sums(folder)
    for name in sorted(written.keys() | found.keys()):
        if name not in found:
            yield f"{name} is in {NAME}, but not in the folder"
        elif name not in written:
            yield f"{name} is not in {NAME}"
        elif found[name] != written[name]:
            yield f"{name} is not the file whose checksum is in {NAME}"


def _sums(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name != NAME)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
