"""The plugin as an archive that needs no Python: `python -m release.plugin_archive FOLDER [DOWNLOAD_URL]` writes it.

It contains CPython, the plugin, its imports, and the licences of all of them.
"""

from __future__ import annotations

import gzip
import platform
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from generate import package_schema

from gcpx import __version__
from release import archive_licenses, frozen_plugin
from release.download_url import checked

NAME: Final = frozen_plugin.NAME
_SYSTEMS: Final = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}
_MACHINES: Final = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def target() -> str:
    """Name the operating system and the processor of this machine as Pulumi does, such as `linux-amd64`."""
    return f"{_SYSTEMS[platform.system()]}-{_MACHINES[platform.machine()]}"


def path_in(folder: Path) -> Path:
    """Return the path of this version's archive for this machine in a folder."""
    return folder / f"{NAME}-v{__version__}-{target()}.tar.gz"


def write(folder: Path, schema: str) -> Path:
    """Write the archive for this machine into a folder, and return its path.

    Raises:
        MissingLicenseError: the archive would contain something without its licence.
        subprocess.CalledProcessError: PyInstaller failed; it has printed why.
    """
    with tempfile.TemporaryDirectory() as scratch:
        frozen = frozen_plugin.freeze(Path(scratch), schema)
        archive_licenses.write(frozen, frozen.folder / "licenses")
        pack(frozen.folder, path_in(folder))
    return path_in(folder)


def pack(folder: Path, archive: Path) -> None:
    """Pack a folder so that equal files always give the same archive.

    Links become files, because earlier versions of the CLI do not unpack links.
    """
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as tar,
    ):
        for path in sorted(path for path in folder.rglob("*") if not path.is_dir()):
            tar.add(path, path.relative_to(folder).as_posix(), recursive=False, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out the time and the user of the build."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member


if __name__ == "__main__":
    target_folder = Path(sys.argv[1])
    target_folder.mkdir(parents=True, exist_ok=True)
    print(write(target_folder, package_schema.text(checked("".join(sys.argv[2:3])))))
