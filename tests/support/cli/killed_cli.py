"""A CLI that is killed, as by a crash of the machine."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cli.yaml_program import Stack
from engines.clock import HANGS


@contextlib.contextmanager
def killed_up(stack: Stack, *arguments: str) -> Iterator[None]:
    """Run `up` in the background; kill the CLI at the end, and wait until its plugins have ended by themselves."""
    workspace = stack.workspace
    command = ["pulumi", "up", "--yes", *arguments, "--non-interactive", "--color", "never"]
    environment = {**os.environ, **workspace.variables}
    with subprocess.Popen(command, cwd=workspace.program, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            kill_cli(process)


def kill_cli(process: subprocess.Popen[bytes]) -> None:
    """Kill the CLI and its language hosts; wait until its plugins have ended by themselves."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    pids = [int(pid) for path in children for pid in path.read_text().split()]
    plugins = [pid for pid in pids if b"pulumi-resource-gcpx" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    with contextlib.ExitStack() as opened:
        ends = [opened.enter_context(os.fdopen(os.pidfd_open(pid), "rb", buffering=0)) for pid in plugins]
        for pid in {process.pid, *pids} - {*plugins}:
            os.kill(pid, signal.SIGKILL)
        assert ends
        assert all(select.select([end], [], [], HANGS)[0] for end in ends), "a plugin has outlived its engine"
