"""The Python SDK, written by Pulumi's own generator from schema.json."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workspace import ROOT, pulumi_folder

from generate.class_docs import add_docstrings

FOLDER: Final = ROOT / "sdk" / "python"


def write(folder: Path, schema: Path = ROOT / "schema.json") -> None:
    """Write the SDK of a schema into a folder, which is emptied first.

    Raises:
        subprocess.CalledProcessError: if the generator fails; it has printed why.
    """
    shutil.rmtree(folder, ignore_errors=True)
    _generate(folder, schema)
    add_docstrings(folder)


def outdated() -> Iterator[str]:
    """Name the files of the committed SDK that differ from what the generator writes."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "sdk"
        write(fresh)
        for path in sorted(_files(fresh) | _files(FOLDER)):
            if not _is_same(fresh / path, FOLDER / path):
                yield f"{FOLDER.relative_to(ROOT)}/{path}"


def _generate(folder: Path, schema: Path) -> None:
    tools = pulumi_folder()
    if (tools / "sdkgen").exists():
        subprocess.run([str(tools / "sdkgen"), str(schema), str(folder)], check=True)
        return
    # An official installation has the complete language host, which generates by itself.
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(tools / "pulumi"), "package", "gen-sdk", str(schema), "--language", "python", "--out", scratch]
        subprocess.run(command, check=True, env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"})
        shutil.copytree(Path(scratch) / "python", folder)


def _files(folder: Path) -> set[Path]:
    """Return the files below a folder, relative to it, without what Python and an installation write there."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in files if "__pycache__" not in path.parts and "egg-info" not in str(path)}


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and filecmp.cmp(one, other, shallow=False)
