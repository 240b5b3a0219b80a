"""Serving an emulator until it is interrupted."""

from __future__ import annotations

import asyncio
import socket

import uvicorn

from gcpx_emulator.app import Emulator
from gcpx_emulator.core.store import Store


def serve(listener: socket.socket, data: str, latency: float) -> None:
    """Say where the emulator listens, in one line on stdout, and serve."""
    store = Store(data)
    emulator = Emulator(store)
    emulator.operations.latency = latency
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201 - what a program reads
    config = uvicorn.Config(
        emulator.app(), log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    try:
        asyncio.run(_serve(uvicorn.Server(config), emulator, listener))
    except KeyboardInterrupt:
        return


async def _serve(server: uvicorn.Server, emulator: Emulator, listener: socket.socket) -> None:
    """Serve, and push what still waited when the emulator was last stopped."""
    emulator.pusher.wake()
    await server.serve(sockets=[listener])
