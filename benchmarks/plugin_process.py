"""The plugins that are compared, and a process of one, started as the engine starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import grpc
from workspace import ROOT, SCRIPTS

from gcpx.protocol import proto

OURS: Final = SCRIPTS / "pulumi-resource-gcpx"
NOTHING: Final = ROOT / "benchmarks" / "noop.py"


def our_plugin(path: Path) -> None:
    """Write the plugin of this checkout to a path."""
    shutil.copy(OURS, path)


def nothing_plugin(path: Path) -> None:
    """Write a plugin that does nothing to a path."""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {NOTHING} "$@"\n')
    path.chmod(0o755)


class Process:
    """A plugin process.

    Attributes:
        stub: calls the plugin.
        start: the milliseconds until its Handshake was answered.
    """

    def __init__(self, *command: str) -> None:
        begun = time.perf_counter()
        self._process = subprocess.Popen([*command, "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        port = int(self._process.stdout.readline())
        limits = [("grpc.max_receive_message_length", 400 << 20)]  # the engine's own limit
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=limits)
        self.stub = proto.provider_grpc.ResourceProviderStub(self._channel)
        self.stub.Handshake(proto.provider.ProviderHandshakeRequest(engine_address="127.0.0.1:1"), wait_for_ready=True)
        self.start = (time.perf_counter() - begun) * 1000

    def memory(self) -> float:
        """Return the resident memory in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def highest_memory(self) -> float:
        """Return the highest resident memory until now in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def cpu(self) -> float:
        """Return the seconds of CPU until now."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Stop the process."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
