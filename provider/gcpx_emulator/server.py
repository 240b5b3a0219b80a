"""Serving an emulator until it is interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gcpx_emulator.core.store import Store

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
    listener: socket.socket, store: Store, latency: float, hosts: Collection[str] = (), *, strict: bool = False
) -> None:
    """Print the address, in one line on stdout, and serve.

    `latency` is the duration of operations in seconds; `hosts` are more names, in lower case, by which clients may call
    the emulator; `strict` refuses unknown names in all bodies.
    """
    # Not before: the command also prints its help and its errors, for which it needs none of this.
    import uvicorn  # noqa: PLC0415

    from gcpx_emulator.app import application  # noqa: PLC0415
    from gcpx_emulator.emulator import Emulator  # noqa: PLC0415

    emulator = Emulator(store, strict=strict)
    emulator.operations.latency = latency
    host, port = listener.getsockname()
    print(f"listening on http://{host}:{port}", flush=True)  # noqa: T201 - programs read it
    config = uvicorn.Config(
        application(emulator, frozenset(hosts).__contains__),
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )

    async def run() -> None:
        emulator.pusher.wake()  # messages that were still waiting when the emulator last stopped
        await uvicorn.Server(config).serve(sockets=[listener])

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
