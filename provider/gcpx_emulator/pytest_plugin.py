"""Fixtures for tests of programs that use Google Cloud, with pytest.

The plugin is found when `gcpx-emulator` is installed. It loads the emulator when a test first uses a fixture.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
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
    port = "the emulator's port, for a look at its page from a browser; by default a free one"
    group.addoption("--gcpx-emulator-port", type=int, default=_NO_PORT, metavar="PORT", help=port)


@pytest.fixture(scope="session")
def _gcpx_emulator_server(request: pytest.FixtureRequest) -> Iterator[RunningEmulator]:
    """One emulator for all tests of this process; every worker of pytest-xdist has its own."""
    from gcpx_emulator.testing import EmulatorError, running  # noqa: PLC0415 - most test runs do not need it

    port = request.config.getoption("--gcpx-emulator-port")
    if port != _NO_PORT and hasattr(request.config, "workerinput"):  # a worker of pytest-xdist
        pytest.fail("gcpx_emulator: a fixed port needs one process: omit -n", pytrace=False)
    with ExitStack() as running_here:
        try:
            emulator = running_here.enter_context(running(port))
        except EmulatorError as error:
            pytest.fail(f"gcpx_emulator: {error}", pytrace=False)
        yield emulator


@pytest.fixture
def gcpx_emulator(_gcpx_emulator_server: RunningEmulator, monkeypatch: pytest.MonkeyPatch) -> RunningEmulator:
    """Give a running emulator without resources, faults and requests.

    During the test, the environment variables are set with which gcpx and Google's clients call it.
    """
    from gcpx_emulator.testing import EmulatorError  # noqa: PLC0415 - see above

    try:
        _gcpx_emulator_server.reset()
    except EmulatorError as error:
        pytest.fail(f"gcpx_emulator: {error}", pytrace=False)
    for name, value in _gcpx_emulator_server.environment.items():
        monkeypatch.setenv(name, value)
    return _gcpx_emulator_server


@pytest.fixture
def gcpx_workspace(
    gcpx_emulator: RunningEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> LocalWorkspaceOptions:
    """Give options for stacks of `pulumi.automation` against the emulator.

    The state and temporary files are in the test's own folder; no account, credentials or network are needed. Pass them
    as `opts`: `create_or_select_stack("test", project_name="web", program=program, opts=gcpx_workspace)`.
    """
    from gcpx_emulator.testing import EmulatorError, workspace  # noqa: PLC0415 - see above

    # Pulumi does not remove the temporary folders of its workspaces.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        return workspace.options(gcpx_emulator, tmp_path)
    except EmulatorError as error:
        pytest.fail(f"gcpx_workspace: {error}", pytrace=False)
