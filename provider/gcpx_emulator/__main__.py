"""`gcpx-emulator`: serve until interrupted."""

from __future__ import annotations

import argparse
import socket
import sys

from gcpx_emulator.server import serve


def main() -> None:
    """Read the options and serve. The first line on stdout is the address."""
    parser = argparse.ArgumentParser("gcpx-emulator", description="Google Cloud's REST APIs on loopback.")
    parser.add_argument("--port", type=int, default=0, help="the port; 0 picks a free one (default)")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="the duration of each operation")
    parser.add_argument("--data", default=":memory:", metavar="FILE", help="keep all state in this file")
    options = parser.parse_args()
    try:
        listener = listen(options.port)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a port is 0 to 65535"
        sys.exit(f"gcpx-emulator: port {options.port} cannot be opened: {reason}; choose another with --port")
    serve(listener, options.data, options.latency)


def listen(port: int = 0) -> socket.socket:
    """Open a port on loopback.

    With the protocol named, asyncio turns Nagle's algorithm off; otherwise each answer would wait 40 ms for the client.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    return listener


if __name__ == "__main__":
    main()
