"""The plugin's process: serves on loopback, prints its port for the engine, and stops on a signal."""

from __future__ import annotations

import functools
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf import empty_pb2

from gcpx.protocol import proto
from gcpx.protocol.engine import CHANNEL_OPTIONS, EngineLog, when_ended
from gcpx.threads import Threads

if TYPE_CHECKING:
    from gcpx.protocol.plugin import Plugin
    from gcpx.protocol.servicer import Servicer

_GRACE: Final = 2.0
"""The longest time for running calls after a signal, in seconds; a cancelled call takes less."""


class LazyServicer:
    """Answers the first calls itself; the first other call loads a `Servicer`, which answers it and all later ones.

    The engine starts the plugin several times for one command, and makes no other calls to some of these processes.
    """

    def __init__(self, plugin: Plugin, log: EngineLog) -> None:
        self._plugin = plugin
        self._log = log
        self._loaded: Servicer | None = None
        self._lock = threading.Lock()

    def Handshake(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Agree on the form of values: secrets marked, resource references as IDs, autonaming supported."""
        self._log.connect(request.engine_address)
        return proto.provider.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    def GetPluginInfo(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Return the version."""
        return proto.plugin.PluginInfo(version=self._plugin.version)

    def Cancel(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Wake every wait. The engine calls this at the end of every run, not only when a user aborts one."""
        self._plugin.cancel()
        return empty_pb2.Empty()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method of another call."""

        def rpc(request: Any, rpc_context: grpc.ServicerContext) -> Any:
            with self._lock:
                if self._loaded is None:
                    from gcpx.protocol.servicer import Servicer  # noqa: PLC0415 - loads all that decides about values

                    self._loaded = Servicer(self._plugin, self._log)
            return getattr(self._loaded, name)(request, rpc_context)

        return rpc


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
