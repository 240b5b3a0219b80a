"""The plugin as a folder with its own CPython, created by PyInstaller.

The folder has one file for each module: a single executable would unpack itself at every start, and modules in a
compressed archive take a fifth longer to load.
"""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs
from workspace import ROOT

from release.build import REPRODUCIBLE

NAME: Final = "pulumi-resource-gcpx"
PACKAGES: Final = ("gcpx", "gcpx_filter", "gcpx_http", "gcpx_push")
"""The plugin's own packages."""
_START: Final = """
import os

# PyInstaller's loader lets this process find the libraries in the folder. Programs that the plugin runs, such as
# those that print tokens, have to find those of the system.
original = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
os.environ.pop("LD_LIBRARY_PATH", None)
if original is not None:
    os.environ["LD_LIBRARY_PATH"] = original

from gcpx.__main__ import main

main()
"""
_MESSAGES: Final = ("engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc")
"""The modules of Pulumi's protocol, which `gcpx.protocol.proto` loads by name."""
_LEFT_OUT: Final = (
    *("opentelemetry", "wrapt", "yaml", "dill", "debugpy", "semver", "pip", "setuptools", "pkg_resources"),
    *("pulumi.automation", "pulumi.dynamic", "pulumi.policy", "pulumi.provider", "pulumi.output", "pulumi.resource"),
    *("httpx._main", "click", "rich", "pygments", "anyio.pytest_plugin", "pytest", "_pytest"),
    *("curses", "doctest", "grpc_tools", "pdb", "pydoc", "readline", "sqlite3", "tkinter", "unittest"),
)
"""Modules that the standard library or other packages import, but the plugin never loads."""


@attrs.frozen
class FrozenPlugin:
    """The plugin's folder.

    Attributes:
        folder: the folder, with the executable in it.
        origins: the source of each copied or compiled file below it, by its path with slashes.
    """

    folder: Path
    origins: Mapping[str, Path]


def freeze(scratch: Path, schema: str) -> FrozenPlugin:
    """Create the folder below a scratch folder, with the text of the plugin's schema.

    Raises:
        subprocess.CalledProcessError: PyInstaller failed; it has printed why.
    """
    (scratch / "start.py").write_text(_START)
    (scratch / "schema.json").write_text(schema)
    command = [sys.executable, "-m", "PyInstaller", *_options(scratch), str(scratch / "start.py")]
    # Its option --log-level does not silence the module that `python -m` runs.
    subprocess.run(command, check=True, env={**os.environ, **REPRODUCIBLE, "PYI_LOG_LEVEL": "ERROR"})
    listed = ast.literal_eval((scratch / "work" / NAME / "COLLECT-00.toc").read_text())[0]
    origins = {Path(name).as_posix(): Path(origin) for name, origin, _ in listed}
    return FrozenPlugin(scratch / NAME, origins)


def _options(scratch: Path) -> list[str]:
    return [
        *("--noconfirm", "--onedir", "--debug", "noarchive", "--optimize", "1"),
        *("--name", NAME, "--distpath", str(scratch), "--workpath", str(scratch / "work"), "--specpath", str(scratch)),
        *(["--strip"] if platform.system() == "Linux" else []),
        *("--paths", str(ROOT / "provider"), "--add-data", f"{scratch / 'schema.json'}:gcpx"),
        *(f"--hidden-import=pulumi.runtime.proto.{name}" for name in _MESSAGES),
        "--hidden-import=google.rpc.status_pb2",
        *(option for name in PACKAGES for option in ("--collect-submodules", name, "--collect-data", name)),
        *("--collect-data", "lark"),
        *(f"--exclude-module={name}" for name in _LEFT_OUT),
    ]
