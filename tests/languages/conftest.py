"""Programs in several languages, with the SDKs that Pulumi's generators write."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run() -> Callable[..., None]:
    """Run a command of a language's own tools in a folder; the test fails with its output if it fails."""

    def call(*command: str, folder: Path) -> None:
        for tool in ("go", "java", "mvn", "npm"):
            assert shutil.which(tool), f"{tool} is missing: install Node.js with npm, Go, a JDK and Maven"
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"

    return call
