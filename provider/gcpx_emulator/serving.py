"""Serving an emulator until it is interrupted: REST, and gRPC in the same port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import sys
from collections.abc import Collection

import uvicorn
from starlette.types import ASGIApp

from gcpx_emulator.app import application
from gcpx_emulator.core.store import Store
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis.connections import Grpc
from gcpx_emulator.seeding import Seed
from gcpx_emulator.server import LOOPBACK
from gcpx_emulator.terminal_log import TerminalLog


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
    listener: socket.socket,
    store: Store,
    latency: float,
    hosts: Collection[str] = (),
    seed: Seed | None = None,
    *,
    strict: bool = False,
    logs: bool = False,
) -> None:
    """Print the address, in one line on stdout, and serve.

    Args:
        listener: the open port.
        store: has the resources.
        latency: the duration of operations in seconds, after the seed.
        hosts: more names by which clients may call the emulator.
        seed: what an empty emulator begins with.
        strict: whether unknown names in all bodies are refused.
        logs: whether stderr gets a line for each request.

    Raises:
        SeedError: if the emulator refuses the seed.
    """
    emulator = Emulator(store, strict=strict)
    if logs:
        emulator.requests.listeners.append(TerminalLog(sys.stderr))
    app = application(emulator, frozenset(hosts).__contains__)

    async def run() -> None:
        if seed is not None:
            import httpx  # noqa: PLC0415 - most emulators begin with nothing

            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{LOOPBACK}") as client:
                await seed.plant(client)
        emulator.operations.latency = latency
        host, port = listener.getsockname()
        print(f"listening on http://{host}:{port}", flush=True)  # noqa: T201 - programs read it
        emulator.pusher.wake()  # messages that were still waiting when the emulator last stopped
        await Server(app, Grpc(emulator)).serve(sockets=[listener])

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
