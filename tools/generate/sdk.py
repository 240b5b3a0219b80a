"""The SDKs, written by Pulumi's own generators from schema.json. Only Python's is committed."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workspace import ROOT, pulumi_setup

from generate.class_docs import add_docstrings
from generate.input_types import correct_input_types, require_forms

LANGUAGES: Final = ("dotnet", "go", "java", "nodejs", "python")
FOLDERS: Final = ROOT / "sdk"
FOLDER: Final = FOLDERS / "python"


def write(folder: Path, schema: Path = ROOT / "schema.json", language: str = "python") -> None:
    """Write the SDK of a schema in a language into a folder, and delete all other files there.

    The SDK has the form for use from a folder, without a package registry. Unchanged files are not touched: `make` sets
    everything up anew if the SDK's pyproject.toml is newer.

    Raises:
        subprocess.CalledProcessError: if the generator fails; it has printed why.
    """
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "sdk"
        _generate(fresh, schema, language)
        if language == "python":
            correct_input_types(fresh, json.loads(schema.read_text()))
            require_forms(fresh, json.loads(schema.read_text()))
            add_docstrings(fresh)
        for path in _files(folder) - _files(fresh):
            (folder / path).unlink()
        for path in _files(fresh):
            if not _is_same(fresh / path, folder / path):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(fresh / path, folder / path)


def outdated() -> Iterator[str]:
    """Return the outdated files of the committed SDK."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "sdk"
        write(fresh)
        for path in sorted(_files(fresh) | _files(FOLDER)):
            if not _is_same(fresh / path, FOLDER / path):
                yield f"{FOLDER.relative_to(ROOT)}/{path}"


def _generate(folder: Path, schema: Path, language: str) -> None:
    program = Path(pulumi_setup("--generator"))
    if program.name != "pulumi":
        subprocess.run([str(program), language, str(schema), str(folder)], check=True)
        return
    # An official installation has the complete language hosts, which generate by themselves.
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(program), "package", "gen-sdk", str(schema), "--local", "--language", language, "--out", scratch]
        subprocess.run(command, check=True, env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"})
        shutil.copytree(Path(scratch) / language, folder)


def _files(folder: Path) -> set[Path]:
    """Return the files below a folder, relative to it, except those of Python and of an installation."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in files if "__pycache__" not in path.parts and "egg-info" not in str(path)}


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and filecmp.cmp(one, other, shallow=False)
