"""A server that answers every request with bytes that a test chooses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import attrs


@attrs.define
class RawServer:
    """A running server.

    Attributes:
        host: its address.
        requests: the first lines of the requests, in order.
    """

    host: str
    requests: list[str] = attrs.Factory(list)


def response(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Return the bytes of a response."""
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


@contextmanager
def answering(answer: Callable[[str], Iterable[bytes]]) -> Iterator[RawServer]:
    """Run a server; `answer` gives the pieces of a response for the first line of a request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found, ended = RawServer(f"127.0.0.1:{listening.getsockname()[1]}"), threading.Event()

        def serve() -> None:
            while not ended.is_set():
                connection, _ = listening.accept()
                with connection:
                    if not ended.is_set():
                        _answer_once(connection, found, answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield found
        finally:
            ended.set()
            socket.create_connection(listening.getsockname()).close()  # wakes the server
            thread.join()


def _answer_once(connection: socket.socket, found: RawServer, answer: Callable[[str], Iterable[bytes]]) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            return
        received += more
    line = received.partition(b"\r\n")[0].decode()
    found.requests.append(line)
    try:
        for piece in answer(line):
            connection.sendall(piece)
    except OSError:
        return  # the client has heard enough
