"""Build the wheel of every distribution: `build.py FOLDER`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from generate import sdk
from workspace import ROOT


def build(folder: Path, schema: dict[str, Any] | None = None) -> None:
    """Replace the wheels in a folder by newly built ones, with the build backends that are installed here.

    With a schema, the SDK is generated from it; otherwise it is the committed one.

    Raises:
        subprocess.CalledProcessError: if a wheel cannot be built; pip has printed why.
    """
    for wheel in folder.glob("*.whl"):
        wheel.unlink()
    libraries = [path.parent for path in sorted(ROOT.glob("provider/*/pyproject.toml"))]
    with tempfile.TemporaryDirectory() as scratch:
        source = _generate_sdk(Path(scratch), schema) if schema else sdk.FOLDER
        copy = _copy_sdk(source, Path(scratch) / "sdk")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        options = ["--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
        subprocess.run([*command, *options, *map(str, (ROOT, *libraries, copy))], check=True)


def _generate_sdk(scratch: Path, schema: dict[str, Any]) -> Path:
    (scratch / "schema.json").write_text(json.dumps(schema))
    sdk.write(scratch / "generated", scratch / "schema.json")
    return scratch / "generated"


def _copy_sdk(source: Path, folder: Path) -> Path:
    """Copy the SDK, because setuptools writes into the folder that it builds, and builds what it left there before."""
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
