from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from emulated import Emulated
from programs import PROJECT
from workspace import ROOT, Workspace
from yaml_program import Stack


@pytest.fixture(autouse=True)
def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the coverage of the CLI's own processes out.

    Measuring would cost each of several hundred programs and plugins its start, and show nothing that other tests do
    not: they run the same code in their own process, and the plugin's start in `tests/test_plugin.py`.
    """
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.fixture(scope="session")
def pulumi_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PULUMI_HOME with the plugin in it, made once."""
    folder = tmp_path_factory.mktemp("home")
    made = Workspace.make(ROOT / "examples" / "quickstart", folder, "127.0.0.1:1")
    return Path(made.variables["PULUMI_HOME"])


@pytest.fixture
def stack(tmp_path: Path, cloud: Emulated, pulumi_home: Path) -> Iterator[Any]:
    """A stack whose program is resources as data; what a test leaves is taken down with it."""
    made = Stack.make(tmp_path, cloud.host, pulumi_home, PROJECT)
    yield made
    for call in cloud.emulator.faults.queue:
        pytest.fail(f"a fault was ordered and never happened: {call}")
