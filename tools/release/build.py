"""Build the wheel of every distribution: `python -m release.build FOLDER`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

from generate import sdk
from workspace import ROOT

REPRODUCIBLE: Final = {"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315532800"}
"""Environment variables for reproducible builds; the time is the earliest that zip files can have."""


def build(folder: Path, schema: str | None = None) -> None:
    """Replace the wheels in a folder by newly built ones, with the installed build backends.

    With the text of a schema, the plugin has that schema, and the SDK is generated from it; otherwise both are the
    committed ones.

    Raises:
        subprocess.CalledProcessError: if a wheel cannot be built; pip has printed why.
    """
    for wheel in folder.glob("*.whl"):
        wheel.unlink()
    libraries = [path.parent for path in sorted(ROOT.glob("provider/*/pyproject.toml"))]
    with tempfile.TemporaryDirectory() as scratch:
        plugin = _copy_plugin(Path(scratch) / "plugin", schema)
        generated = _copy_sdk(_sdk(Path(scratch), schema), Path(scratch) / "sdk")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        options = ["--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
        sources = map(str, (plugin, *libraries, generated))
        subprocess.run([*command, *options, *sources], check=True, env={**os.environ, **REPRODUCIBLE})


def _copy_plugin(folder: Path, schema: str | None) -> Path:
    """Copy the sources of the plugin's wheel, with its schema."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for package in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml", "schema.json"):
        shutil.copy(ROOT / name, folder)
    if schema is not None:
        (folder / "schema.json").write_text(schema)
    return folder


def _sdk(scratch: Path, schema: str | None) -> Path:
    """Return a folder with the SDK of a schema."""
    if schema is None:
        return sdk.FOLDER
    (scratch / "schema.json").write_text(schema)
    sdk.write(scratch / "generated", scratch / "schema.json")
    return scratch / "generated"


def _copy_sdk(source: Path, folder: Path) -> Path:
    """Copy the SDK, because setuptools writes into the folder that it builds, and keeps files of earlier builds."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    # Pulumi's generator puts the README into the package, but its pyproject.toml expects it in the root.
    shutil.copy(source / "pulumi_gcpx" / "README.md", folder)
    return folder


if __name__ == "__main__":
    target = Path(sys.argv[1])
    try:
        build(target)
    except subprocess.CalledProcessError:
        sys.exit(1)
    print(*sorted(map(str, target.glob("*.whl"))), sep="\n")
