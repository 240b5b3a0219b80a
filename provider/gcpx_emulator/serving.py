"""Serving an emulator until it is interrupted: REST, and gRPC in the same port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Collection

import uvicorn
from starlette.types import ASGIApp

from gcpx_emulator.app import application
from gcpx_emulator.core.store import Store
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis.connections import Grpc


class Server(uvicorn.Server):
    """Serves an application, with `grpc` also calls by gRPC, and with a `context` over TLS."""

    def __init__(self, app: ASGIApp, grpc: Grpc | None = None, context: ssl.SSLContext | None = None) -> None:
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
        )
        config.load()
        if context is not None:
            config.ssl = context
        if grpc is not None:
            config.http_protocol_class = grpc.beside(config.http_protocol_class)  # type: ignore[assignment]
        super().__init__(config)
        self._grpc = grpc

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the calls by gRPC, then all others."""
        if self._grpc is not None:
            await self._grpc.stop()
        await super().shutdown(sockets)


def serve(
    listener: socket.socket, store: Store, latency: float, hosts: Collection[str] = (), *, strict: bool = False
) -> None:
    """Print the address, in one line on stdout, and serve.

    `latency` is the duration of operations in seconds; `hosts` are more names by which clients may call the emulator;
    `strict` refuses unknown names in all bodies.
    """
    emulator = Emulator(store, strict=strict)
    emulator.operations.latency = latency
    host, port = listener.getsockname()
    print(f"listening on http://{host}:{port}", flush=True)  # noqa: T201 - programs read it

    async def run() -> None:
        emulator.pusher.wake()  # messages that were still waiting when the emulator last stopped
        await Server(application(emulator, hosts), Grpc(emulator)).serve(sockets=[listener])

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
