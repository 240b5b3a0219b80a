"""Fixtures for tests of programs that use Google Cloud, with pytest.

The plugin is found when `gcpx-emulator` is installed. It loads the emulator when a test first uses a fixture.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pulumi.automation import LocalWorkspaceOptions

    from gcpx_emulator.testing import RunningEmulator

_NO_PORT = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("gcpx-emulator", "tests against the emulator of Google Cloud")
    port = "the emulator's port, so that you can open its console in a browser; 0, the default, picks a free one"
    group.addoption("--gcpx-emulator-port", type=int, default=_NO_PORT, metavar="PORT", help=port)
    strict = "refuse unknown names in bodies of Compute Engine and Cloud Storage, too, which Google ignores"
    group.addoption("--gcpx-emulator-strict", action="store_true", help=strict)


@pytest.fixture(scope="session")
def _gcpx_emulator_server(request: pytest.FixtureRequest) -> Iterator[RunningEmulator]:
    """One emulator for all tests of this process; every worker of pytest-xdist has its own."""
    from gcpx_emulator.testing.background import intercepting  # noqa: PLC0415 - most test runs do not need it

    port = request.config.getoption("--gcpx-emulator-port")
    if port != _NO_PORT and hasattr(request.config, "workerinput"):  # a worker of pytest-xdist
        pytest.fail("gcpx_emulator: a fixed port needs one process: omit -n", pytrace=False)
    with ExitStack() as running_here:
        with _failing("gcpx_emulator"):
            emulator = running_here.enter_context(
                intercepting(port, strict=request.config.getoption("--gcpx-emulator-strict"))
            )
        yield emulator


@contextmanager
def _failing(fixture: str) -> Iterator[None]:
    """Fail the test with one line, not a traceback, if the emulator cannot be used."""
    from gcpx_emulator.testing import EmulatorError  # noqa: PLC0415 - see above

    try:
        yield
    except EmulatorError as error:
        pytest.fail(f"{fixture}: {error}", pytrace=False)


@pytest.fixture
def gcpx_emulator(_gcpx_emulator_server: RunningEmulator, monkeypatch: pytest.MonkeyPatch) -> RunningEmulator:
    """Give a running emulator without resources, faults and requests.

    During the test, environment variables make gcpx and Google's clients call it.
    """
    with _failing("gcpx_emulator"):
        _gcpx_emulator_server.reset()
    emulator = _gcpx_emulator_server.without_interception
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    return emulator


@pytest.fixture
def gcpx_cloud(
    gcpx_emulator: RunningEmulator,  # noqa: ARG001 - it is reset first
    _gcpx_emulator_server: RunningEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> RunningEmulator:
    """Give the emulator of `gcpx_emulator`, and lead Google's clients to it from Google's own addresses.

    During the test, clients that this process or its children create need no change: they reach the emulator, find its
    credentials, and are refused at all other hosts of Google.
    """
    from gcpx_emulator.interception.environment import ELSEWHERE  # noqa: PLC0415 - see above
    from gcpx_emulator.interception.redirection import replacements  # noqa: PLC0415 - see above

    variables = _gcpx_emulator_server.environment
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for owner, name, function in replacements(variables):
        monkeypatch.setattr(owner, name, function)
    return _gcpx_emulator_server


@pytest.fixture
def gcpx_workspace(
    gcpx_emulator: RunningEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> LocalWorkspaceOptions:
    """Give options for stacks of `pulumi.automation` against the emulator.

    The state and temporary files are in the test's own folder; no account, credentials or network are needed. Pass them
    as `opts`: `create_or_select_stack("test", project_name="web", program=program, opts=gcpx_workspace)`.
    """
    from gcpx_emulator.testing import workspace  # noqa: PLC0415 - see above

    # Pulumi does not remove the temporary folders of its workspaces.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with _failing("gcpx_workspace"):
        return workspace.options(gcpx_emulator, tmp_path)
