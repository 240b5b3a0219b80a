"""The plugin's process: serves on loopback, prints its port for the engine, and stops on a signal."""

from __future__ import annotations

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc

from gcpx.protocol import proto
from gcpx.protocol.log import MESSAGE_LIMIT, EngineLog
from gcpx.protocol.plugin import Plugin
from gcpx.protocol.servicer import Servicer

_WORKERS: Final = 256
"""Far more than `--parallel` usually allows, so that long waits never delay a Diff or a Cancel; started on use."""
_GRACE: Final = 2.0
_WAIT: Final = 1.0
"""Seconds. Python misses a signal that arrives just as a wait begins, so every wait has an end."""


def start(plugin: Plugin, engine_address: str | None, log: EngineLog | None = None) -> tuple[grpc.Server, int]:
    """Serve on a free port of loopback; return the server and its port."""
    log = log or EngineLog()
    if engine_address:
        log.connect(engine_address)
    server = grpc.server(ThreadPoolExecutor(_WORKERS), options=MESSAGE_LIMIT)
    proto.provider_grpc.add_ResourceProviderServicer_to_server(Servicer(plugin, log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def serve(plugin: Plugin, engine_address: str | None) -> None:
    """Serve until SIGINT or SIGTERM."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    server, port = start(plugin, engine_address)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not stopped.wait(_WAIT):
        pass
    plugin.cancel()
    server.stop(_GRACE).wait()
    plugin.close()
