from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.forked_plugin import HURRIED
from cli.key_server import key_server
from cli.yaml_program import Stack
from servers.emulated import Emulated


@pytest.fixture(autouse=True)
def _no_coverage_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off coverage in the processes that the CLI starts.

    Coverage would slow down the start of several hundred programs and plugins without a gain: other tests run the same
    code in their own process, and `tests/test_plugin.py` covers the start of the plugin.
    """
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.fixture(autouse=True)
def _no_garbage_collection_in_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the garbage collector of Go, which takes a tenth of a command; the CLI ends before it needs one."""
    monkeypatch.setenv("GOGC", "off")
    monkeypatch.setenv("GOMEMLIMIT", "1GiB")


@pytest.fixture(autouse=True, scope="package")
def _keys_without_passphrases() -> Iterator[None]:
    """Give new stacks a key that takes no time to derive."""
    with key_server() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="package")
def _new_stack(tmp_path_factory: pytest.TempPathFactory, pulumi_home: Path) -> Stack:
    return Stack.make(tmp_path_factory.mktemp("stack"), "127.0.0.1:1", pulumi_home)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pauses of the plugins that the CLI starts end at once."""
    monkeypatch.setenv(HURRIED, "1")


@pytest.fixture
def stack(tmp_path: Path, cloud: Emulated, _new_stack: Stack) -> Iterator[Any]:
    """A stack whose program is data. A test fails if it leaves an injected fault unused."""
    made = _new_stack.copied(tmp_path, cloud.host)
    yield made
    for call in cloud.emulator.faults.queue:
        pytest.fail(f"an injected fault was never used: {call}")
