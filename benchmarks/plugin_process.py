"""A plugin process, started as the engine starts it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import grpc

from gcpx.protocol import proto


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

    def close(self) -> None:
        """Stop the process."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
