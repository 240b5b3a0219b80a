"""Build all files of a release: `python -m release.dist FOLDER [DOWNLOAD_URL]`.

These are the wheels, the plugin's archive for this machine, and their checksums. SDKs and the CLI download the plugin
from the URL, if there is one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from generate import package_schema

from release import build, checksums, plugin_archive
from release.archive_licenses import MissingLicenseError
from release.download_url import InvalidDownloadUrlError, checked


def dist(folder: Path, download_url: str = "") -> list[Path]:
    """Write all files of a release into a folder, replace those of an earlier one, and return their paths.

    Raises:
        InvalidDownloadUrlError: nothing was built.
        MissingLicenseError: the archive would contain something without its licence.
        subprocess.CalledProcessError: a build failed; the tool has printed why.
    """
    url = checked(download_url)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (f"{plugin_archive.NAME}-*.tar.gz", checksums.NAME):  # `build` replaces the wheels
        for path in folder.glob(name):
            path.unlink()
    schema = package_schema.text(url)
    _announce("Building the wheels ...")
    build.build(folder, schema if url else None)
    _announce("Packing the plugin and Python into an archive, which takes a few minutes ...")
    archive = plugin_archive.write(folder, schema)
    return [*sorted(folder.glob("*.whl")), archive, checksums.write(folder)]


def _announce(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:7.3f} MB  {path}"


def main(arguments: list[str]) -> None:
    """Build a release and print its files, or exit with the reason why that failed."""
    try:
        written = dist(Path(arguments[0]), "".join(arguments[1:2]))
    except (InvalidDownloadUrlError, MissingLicenseError) as error:
        sys.exit(f"make dist: {error}")
    except subprocess.CalledProcessError:
        sys.exit("make dist: a build failed; the tool's message is above")
    print(*map(_size, written), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
