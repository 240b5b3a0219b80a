"""The page of the clients that were run on the emulator: the text of `docs/emulator-clients.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from generate.run_record import SUITES, Run, read_runs

_INTRODUCTION: Final = """# Clients on the emulator

This page is generated from runs of programs with
[`gcpx-emulator run`](emulator.md#run-a-program-on-it), so no client is configured for the emulator. `make test-clients`
runs the programs in `tests/support/client_programs`, and installs the clients that the project does not use itself;
`CLIENTS="ansible gcloud"` runs these alone. Ray and SkyPilot are large, so they run only if they are named. A step that
needs what is not emulated fails with the status 501 and the name of the method.
"""
_SUITES: Final = """
## Google's sample suites

`make test-samples SAMPLES=CHECKOUT` runs the tests of Google's samples for Python in a checkout of
`GoogleCloudPlatform/python-docs-samples`, or of `googleapis/python-pubsub`, with the versions of clients that the
samples require.
"""


def text() -> str:
    """Return the text of the page."""
    clients, suites = read_runs(), read_runs(SUITES)
    return "\n".join(
        [
            _INTRODUCTION,
            *_table("client", "steps", clients),
            *_failures(clients),
            _SUITES,
            *_table("suite", "tests", suites),
            *_failures(suites),
            "",
        ]
    )


def _table(first: str, counted: str, runs: Mapping[str, Run]) -> Iterator[str]:
    yield f"| {first} | version | command | {counted} that pass |"
    yield "| --- | --- | --- | --- |"
    for name, run in runs.items():
        yield f"| {name} | {run.version} | `{run.command}` | {run.figures} |"


def _failures(runs: Mapping[str, Run]) -> Iterator[str]:
    yield "\nWhat fails, and why:\n"
    for name, run in runs.items():
        failed = {step: error for step, error in run.steps.items() if error is not None}
        reasons = Counter(failed.values())
        for reason in reasons:
            steps = [f"`{step}`" if "::" in step else step for step, error in failed.items() if error == reason]
            yield f"- **{name}**: {', '.join(steps)}: `{reason.replace('`', '')}`"
