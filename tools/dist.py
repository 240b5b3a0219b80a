"""Build what a release consists of: `dist.py FOLDER [DOWNLOAD_URL]`.

These are the wheels, the plugin's archive for this machine, and their checksums. With a URL, SDKs and `pulumi package
add` download the plugin from there.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import build
import plugin_archive
from generate import package_schema


def dist(folder: Path, download_url: str) -> list[Path]:
    """Write all files of a release into a folder, and return their paths.

    Raises:
        subprocess.CalledProcessError: a build failed; the tool has printed why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schema = package_schema.package(download_url)
    build.build(folder, schema if download_url else None)
    files = [*folder.glob("*.whl"), plugin_archive.write(folder, schema)]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(f"{_sum(path)}  {path.name}\n" for path in sorted(files)))
    return [*sorted(files), sums]


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        written = dist(Path(sys.argv[1]), "".join(sys.argv[2:3]))
    except subprocess.CalledProcessError:
        sys.exit(1)
    print(*written, sep="\n")
