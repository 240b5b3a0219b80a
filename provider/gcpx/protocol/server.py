"""The plugin's process: serves on loopback, prints its port for the engine, and stops on a signal."""

from __future__ import annotations

import signal
import socket
import sys
from typing import Final

import grpc

from gcpx.protocol import proto
from gcpx.protocol.call_threads import CallThreads, serve_beside_calls
from gcpx.protocol.engine import MESSAGE_LIMIT, EngineLog, when_ended
from gcpx.protocol.plugin import Plugin
from gcpx.protocol.servicer import Servicer

_GRACE: Final = 2.0
"""Seconds in which calls may end after a signal; a cancelled call takes less."""


def start(plugin: Plugin, engine_address: str | None, log: EngineLog | None = None) -> tuple[grpc.Server, int]:
    """Serve on a free port of loopback; return the server and its port."""
    log = log or EngineLog()
    log.connect(engine_address or "")
    serve_beside_calls(Servicer.Cancel)
    server = grpc.server(CallThreads(), options=MESSAGE_LIMIT)
    proto.provider_grpc.add_ResourceProviderServicer_to_server(Servicer(plugin, log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def serve(plugin: Plugin, engine_address: str | None) -> None:
    """Serve until SIGINT, SIGTERM or the end of the engine."""
    stops, stop = _receive_signals()
    server, port = start(plugin, engine_address)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    if engine_address:
        when_ended(engine_address, lambda: stop.sendall(b"\0"))
    stops.recv(1)
    plugin.cancel()
    server.stop(_GRACE).wait()
    plugin.close()


def _receive_signals() -> tuple[socket.socket, socket.socket]:
    """Return a socket on which a byte arrives for SIGINT or SIGTERM, and its other end.

    Python runs the handler of a signal only between two instructions, and so could miss one just before a wait begins.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return receiver, sender
