"""Ports of this machine, on which emulators listen."""

from __future__ import annotations

import socket
from typing import Final

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
