"""Serving an emulator until it is interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gcpx_emulator.core.store import Store
    from gcpx_emulator.seeding import Seed

LOOPBACK: Final = "127.0.0.1"


def listen(port: int = 0, host: str = LOOPBACK) -> socket.socket:
    """Open a port on an address of this machine; 0 picks a free one."""
    # asyncio turns Nagle's algorithm off only if the protocol is named; otherwise each response would take 40 ms more.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener


def port_problem(error: OSError | OverflowError) -> str | None:
    """Say why `listen` could not open a port."""
    return error.strerror if isinstance(error, OSError) else "a port is 0 to 65535"


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
    # Not before: the command also prints its help and its errors, for which it needs none of this.
    import uvicorn  # noqa: PLC0415

    from gcpx_emulator.app import application  # noqa: PLC0415
    from gcpx_emulator.emulator import Emulator  # noqa: PLC0415
    from gcpx_emulator.terminal_log import TerminalLog  # noqa: PLC0415

    emulator = Emulator(store, strict=strict)
    if logs:
        emulator.requests.listeners.append(TerminalLog(sys.stderr))
    app = application(emulator, frozenset(hosts).__contains__)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1)

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
        await uvicorn.Server(config).serve(sockets=[listener])

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
