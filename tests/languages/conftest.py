"""Programs in several languages, with the SDKs that Pulumi's generators write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from generate import sdk

Run = Callable[..., str]


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write the SDK of a language, once for all tests of this process; gives its folder, which tests copy or read."""
    root, written = tmp_path_factory.mktemp("sdk"), {}

    def write(language: str) -> Path:
        if language not in written:
            written[language] = root / language
            sdk.write(written[language], language=language)
        return written[language]

    return write


@pytest.fixture
def run() -> Run:
    """Run a command of a language's own tools in a folder; its output is the message if it fails."""

    def call(*command: str, folder: Path) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "GOFLAGS"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return call
