"""gRPC in the same port as REST: connections whose client begins with HTTP/2 are led to a server of gRPC."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis.refusal import PREFACE, Refusing
from gcpx_emulator.relay import copy
from gcpx_emulator.server import LOOPBACK

if TYPE_CHECKING:
    from gcpx_emulator.grpc_apis.services import Services

_LOG: Final = logging.getLogger("gcpx_emulator")
Http = Callable[..., asyncio.Protocol]
"""Makes the protocol of a connection that speaks HTTP/1.1."""


@attrs.define
class Grpc:
    """The calls by gRPC of one emulator. Their server starts with the first connection, as its packages load slowly."""

    emulator: Emulator
    _starting: asyncio.Task[Services | None] | None = None

    def beside(self, http: Http) -> Http:
        """Return what makes the protocol of a connection that may speak either HTTP/1.1 or gRPC."""
        return functools.partial(_Chosen, http, self)

    async def port(self) -> int | None:
        """Return the port of the server, None without its packages."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        services = await asyncio.shield(self._starting)
        return services.port if services else None

    async def _start(self) -> Services | None:
        try:
            kind = await asyncio.to_thread(_load)
        except ModuleNotFoundError as error:
            _LOG.warning("calls by gRPC are refused: %s; pip install 'gcpx-emulator[grpc]'", error)
            return None
        return await kind.started(self.emulator)

    async def stop(self) -> None:
        """Stop the server, if it was started."""
        starting, self._starting = self._starting, None
        services = await starting if starting else None
        if services is not None:
            await services.stop()


def _load() -> type[Services]:
    from gcpx_emulator.grpc_apis.services import Services  # noqa: PLC0415 - see Grpc

    return Services


class _Chosen(asyncio.Protocol):
    """Leaves a connection to HTTP/1.1 or to gRPC, by its first bytes."""

    def __init__(self, http: Http, grpc: Grpc, **options: Any) -> None:
        self._http, self._grpc, self._options = http, grpc, options
        self._received = b""
        self._task: asyncio.Task[None] | None = None

    @property
    def _open(self) -> set[Any]:
        """The connections that uvicorn closes when it stops."""
        connections: set[Any] = self._options["server_state"].connections
        return connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first bytes."""
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        """Forget the connection, which ended without a call."""
        self._open.discard(self)

    def shutdown(self) -> None:
        """Close the connection; uvicorn calls this when it stops."""
        if self._task is not None:
            self._task.cancel()
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Choose as soon as the bytes tell."""
        self._received += data
        if self._received.startswith(PREFACE):
            self._transport.pause_reading()
            self._task = asyncio.create_task(self._connect())
            self._task.add_done_callback(lambda _: self._open.discard(self))
        elif not PREFACE.startswith(self._received):
            self._open.discard(self)
            self._hand_over(self._http(**self._options))

    def _hand_over(self, protocol: asyncio.Protocol) -> None:
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(self._received)

    async def _connect(self) -> None:
        """Copy bytes between the client and the server of gRPC, until one of them ends the connection."""
        port = await self._grpc.port()
        self._transport.resume_reading()
        if port is None:
            self._hand_over(Refusing())
            return
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        self._hand_over(protocol)
        writer = asyncio.StreamWriter(self._transport, protocol, reader, asyncio.get_running_loop())
        there = await asyncio.open_connection(LOOPBACK, port)
        copies = [asyncio.create_task(copy(reader, there[1])), asyncio.create_task(copy(there[0], writer))]
        try:
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in copies:
                one.cancel()
            writer.close()
            there[1].close()
