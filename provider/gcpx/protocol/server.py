"""The plugin's process: serves on loopback, prints its port for the engine, and stops on a signal."""

from __future__ import annotations

import functools
import gc
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import grpc

from gcpx.protocol import proto
from gcpx.protocol.engine import CHANNEL_OPTIONS, EngineLog, when_ended
from gcpx.protocol.lazy_servicer import LazyServicer
from gcpx.threads import Threads

if TYPE_CHECKING:
    from gcpx.protocol.plugin import Plugin

_GRACE: Final = 2.0
"""The longest time for running calls after a signal, in seconds; a cancelled call takes less."""


def start(plugin: Plugin, engine_address: str | None, log: EngineLog | None = None) -> tuple[grpc.Server, int]:
    """Serve on a free port of loopback; return the server and its port."""
    log = log or EngineLog()
    log.connect(engine_address or "")
    return listen(LazyServicer(plugin, log))


def listen(servicer: Any) -> tuple[grpc.Server, int]:
    """Let a servicer answer the engine's calls on a free port of loopback; return the server and its port."""
    server = grpc.server(_executor(), options=CHANNEL_OPTIONS)
    proto.provider_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def serve(plugin: Plugin, engine_address: str | None) -> None:
    """Serve until SIGINT, SIGTERM or the end of the engine."""
    stops, stop = _receive_signals()
    server, port = start(plugin, engine_address)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    gc.freeze()  # loaded modules stay, so garbage collection can skip them
    gc.enable()
    if engine_address:
        when_ended(engine_address, lambda: stop.sendall(b"\0"))
    stops.recv(1)
    plugin.cancel()
    server.stop(_GRACE).wait()
    plugin.close()


@functools.cache
def _executor() -> Threads:
    """Return the threads of calls. A process shares them among its servers, as in tests.

    `Cancel` has a thread of its own, so that it does not queue with other calls.
    """
    # gRPC takes the thread from this attribute. It starts now: the operating system may allow no more threads later.
    pool = LazyServicer.Cancel.__dict__["experimental_thread_pool"] = ThreadPoolExecutor(1)
    pool.submit(int)
    return Threads()


def _receive_signals() -> tuple[socket.socket, socket.socket]:
    """Return a socket on which a byte arrives for SIGINT or SIGTERM, and its other end.

    Python runs signal handlers only between two instructions, and so could miss a signal just before a wait.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return receiver, sender
