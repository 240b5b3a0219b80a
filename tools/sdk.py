"""Write the Python SDK with Pulumi's own generator: `sdk.py FOLDER`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from class_docs import describe
from workspace import ROOT, pulumi_folder


def generate(folder: Path) -> None:
    """Write the SDK of schema.json into a folder, which is emptied first."""
    _write(folder)
    describe(folder)


def _write(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    tools, schema = pulumi_folder(), ROOT / "schema.json"
    if (tools / "sdkgen").exists():
        subprocess.run([str(tools / "sdkgen"), str(schema), str(folder)], check=True)
        return
    # An official installation has the full language host, which generates by itself.
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(tools / "pulumi"), "package", "gen-sdk", str(schema), "--language", "python", "--out", scratch]
        subprocess.run(command, check=True, env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"})
        shutil.copytree(Path(scratch) / "python", folder)


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
