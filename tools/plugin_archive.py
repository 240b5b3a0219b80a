"""The plugin as an archive that needs no Python: a folder with CPython, the plugin and what it imports.

The folder is made by PyInstaller, in its form with one file for each module: a single executable would unpack itself at
every start, and modules in a compressed archive take a fifth longer to load.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from workspace import ROOT

from gcpx import __version__

NAME: Final = "pulumi-resource-gcpx"
_START: Final = "from gcpx.__main__ import main\n\nmain()\n"
_MESSAGES: Final = ("engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc")
"""The modules of Pulumi's protocol, which `gcpx.protocol.proto` loads by name."""
_COLLECTED: Final = ("gcpx", "gcpx_filter", "gcpx_push", "lark")
"""Packages that load modules or data files by name."""
_LEFT_OUT: Final = (
    *("opentelemetry", "wrapt", "yaml", "dill", "debugpy", "semver", "pip", "setuptools", "pkg_resources"),
    *("pulumi.automation", "pulumi.dynamic", "pulumi.policy", "pulumi.provider", "pulumi.output", "pulumi.resource"),
    *("curses", "doctest", "pdb", "pydoc", "readline", "sqlite3", "tkinter", "unittest"),
)
"""What imports of Pulumi's SDK and of the standard library would bring, and the plugin never loads."""
_SYSTEMS: Final = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}
_MACHINES: Final = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def target() -> str:
    """Name the operating system and the processor of this machine as Pulumi does, such as `linux-amd64`."""
    return f"{_SYSTEMS[platform.system()]}-{_MACHINES[platform.machine()]}"


def write(folder: Path, schema: dict[str, object]) -> Path:
    """Write the archive for this machine into a folder, and return its path.

    Raises:
        subprocess.CalledProcessError: PyInstaller failed; it has printed why.
    """
    archive = folder / f"{NAME}-v{__version__}-{target()}.tar.gz"
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(archive, "w:gz") as tar:
        for path in sorted(_frozen(Path(scratch), schema).rglob("*")):
            if not path.is_dir():
                tar.add(path, str(path.relative_to(Path(scratch) / NAME)), recursive=False, filter=_without_owner)
    return archive


def _frozen(scratch: Path, schema: dict[str, object]) -> Path:
    """Let PyInstaller make the folder."""
    (scratch / "start.py").write_text(_START)
    (scratch / "schema.json").write_text(json.dumps(schema))
    options = [
        *("--noconfirm", "--log-level", "ERROR", "--onedir", "--debug", "noarchive", "--optimize", "1"),
        *("--name", NAME, "--distpath", str(scratch), "--workpath", str(scratch / "work"), "--specpath", str(scratch)),
        *(["--strip"] if platform.system() == "Linux" else []),
        *("--paths", str(ROOT / "provider"), "--add-data", f"{scratch / 'schema.json'}:gcpx"),
        *(f"--hidden-import=pulumi.runtime.proto.{name}" for name in _MESSAGES),
        "--hidden-import=google.rpc.status_pb2",
        *(option for name in _COLLECTED for option in ("--collect-submodules", name, "--collect-data", name)),
        *(f"--exclude-module={name}" for name in _LEFT_OUT),
    ]
    subprocess.run([sys.executable, "-m", "PyInstaller", *options, str(scratch / "start.py")], check=True)
    return scratch / NAME


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who built the archive and when, so that equal contents give equal archives."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
