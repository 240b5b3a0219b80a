"""The first calls of every start of the plugin; the first other call loads the rest of the plugin."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import empty_pb2

from gcpx.protocol import proto
from gcpx.protocol.engine import EngineLog

if TYPE_CHECKING:
    from gcpx.protocol.plugin import Plugin
    from gcpx.protocol.servicer import Servicer


class LazyServicer:
    """Answers the first calls itself, and passes every other one on to a `Servicer`.

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
            return getattr(self._servicer(), name)(request, rpc_context)

        return rpc

    def _servicer(self) -> Servicer:
        with self._lock:
            if self._loaded is None:
                from gcpx.protocol.servicer import Servicer  # noqa: PLC0415 - loads all that decides about values

                self._loaded = Servicer(self._plugin, self._log)
            return self._loaded
