"""The record of the clients and sample suites that were run on the emulator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

RUNS: Final = Path(__file__).parent / "client_runs.json"
SUITES: Final = Path(__file__).parent / "sample_suites.json"


@attrs.frozen
class Run:
    """The run of a program or of a suite of tests.

    Attributes:
        version: of the client, or of the suite.
        command: what was run, after `gcpx-emulator run --`.
        steps: the error of each step or test, or None.
    """

    version: str
    command: str
    steps: dict[str, str | None]

    @property
    def figures(self) -> str:
        """How many of the steps have no error."""
        return f"{sum(error is None for error in self.steps.values())} of {len(self.steps)}"


def read_runs(file: Path = RUNS) -> dict[str, Run]:
    """Read the runs of a record, by client or suite."""
    return {name: Run(**entry) for name, entry in json.loads(file.read_text()).items()} if file.exists() else {}


def write_runs(runs: Mapping[str, Run], file: Path = RUNS) -> None:
    """Write the runs of a record."""
    content: dict[str, Any] = {name: attrs.asdict(run) for name, run in runs.items()}
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
