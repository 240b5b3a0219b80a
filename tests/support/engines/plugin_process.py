"""A plugin in a process of its own, as the engine runs it, and how much memory it uses."""

from __future__ import annotations

import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import grpc
from engines import driver
from engines.driver import Engine, EngineLog

_STACK = 1 << 20
"""Kilobytes of the address space that the stack of each thread may take."""


@attrs.define
class PluginProcess:
    """A process, which stays the same over many runs.

    Attributes:
        samples: its resident memory in MiB, as sampled.
    """

    process: subprocess.Popen[str]
    engine: Engine
    samples: list[float] = attrs.Factory(list)

    @contextmanager
    def connected(self) -> Iterator[Engine]:
        """Use the engine that is connected to the process; it stays connected afterwards."""
        yield self.engine

    def sample(self) -> None:
        """Record how much resident memory the process uses (Linux)."""
        self.samples.append(self._kilobytes("VmRSS") / 1024)

    def peak(self) -> float:
        """Return the most resident memory in MiB that the process has used so far (Linux)."""
        return self._kilobytes("VmHWM") / 1024

    @contextmanager
    def without_new_threads(self) -> Iterator[None]:
        """Let the operating system refuse the process every further thread during the block, for its stack (Linux)."""
        limits = resource.prlimit(self.process.pid, resource.RLIMIT_AS)
        most = (self._kilobytes("VmSize") + _STACK // 2) << 10
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (most, limits[1]))
        try:
            yield
        finally:
            resource.prlimit(self.process.pid, resource.RLIMIT_AS, limits)

    def _kilobytes(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        assert found is not None, status
        return int(found[1])


@contextmanager
def plugin_process(**config: str) -> Iterator[PluginProcess]:
    """Start the plugin as a process, configure it, and end it after the block."""
    command = ["sh", "-c", f"ulimit -Ss {_STACK}; exec {shlex.quote(sys.executable)} -m gcpx"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=driver.ENGINE_LIMITS) as channel:
                engine = Engine(driver.proto.provider_grpc.ResourceProviderStub(channel), EngineLog())
                engine.configure(**config)
                yield PluginProcess(process, engine)
        finally:
            process.kill()
