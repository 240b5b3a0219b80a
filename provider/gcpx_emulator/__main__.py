"""`gcpx-emulator`: serve until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys

import uvicorn

from gcpx_emulator.app import Emulator
from gcpx_emulator.operations import Operations
from gcpx_emulator.store import Store


def main() -> None:
    """Read the options and serve; the first line on stdout says where."""
    parser = argparse.ArgumentParser("gcpx-emulator", description="Google Cloud's REST APIs on loopback.")
    parser.add_argument("--port", type=int, default=0, help="the port; 0 takes a free one (default)")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="how long an operation takes")
    parser.add_argument("--data", default=":memory:", metavar="FILE", help="keep everything in this file")
    options = parser.parse_args()
    store = Store(options.data)
    serve(Emulator(store, Operations(store, options.latency)), options.port)


def listen(port: int = 0) -> socket.socket:
    """Open a port on loopback.

    With the protocol named, asyncio turns Nagle's algorithm off; otherwise each answer would wait 40 ms for the client.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    return listener


def serve(emulator: Emulator, port: int) -> None:
    """Serve on loopback until interrupted."""
    try:
        listener = listen(port)
    except OSError as error:
        sys.exit(f"gcpx-emulator: port {port} cannot be had: {error.strerror}; choose another with --port")
    sys.stdout.write(f"listening on http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        emulator.app(), log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    try:
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
