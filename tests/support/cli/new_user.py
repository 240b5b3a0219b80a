"""A user who has the Pulumi CLI and Python, but no plugin and nothing of this checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import yaml
from values.programs import PROJECT
from workspace import ROOT, Workspace, pulumi_folder

SYSTEM: Final = "/usr/bin:/bin"
"""What the CLI itself may need; there is no `pulumi-resource-gcpx`."""


def copy_checkout(folder: Path) -> Path:
    """Copy the files that git tracks or would track; return the folder."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def make_user(root: Path, host: str, program: Mapping[str, Any]) -> Workspace:
    """Make an empty home, and a project with a program; resources are created at the emulator at `host`."""
    for name in ("bin", "home", "state", "project"):
        (root / name).mkdir(parents=True)
    (root / "project" / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "test", "runtime": "yaml", **program}))
    folder = pulumi_folder()
    (root / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    if any(folder.glob("sdkgen*")):  # built from Go modules: see the module `python_host`
        _write_host(root / "bin" / "pulumi-language-python")
    variables = {
        "PATH": f"{root / 'bin'}:{folder}:{SYSTEM}",
        "HOME": str(root / "home"),
        "PULUMI_HOME": str(root / "home" / ".pulumi"),
        "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "demo",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
        "PYTHONPATH": "",
        "GCPX_EMULATOR_HOST": host,
        "GOOGLE_PROJECT": PROJECT,
    }
    return Workspace(root / "project", variables)


def with_variables(user: Workspace, **more: str) -> Workspace:
    """Return the same user with more environment variables."""
    return attrs.evolve(user, variables={**user.variables, **more})


def _write_host(path: Path) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent / "python_host.py"}" "$@"\n')
    path.chmod(0o755)
