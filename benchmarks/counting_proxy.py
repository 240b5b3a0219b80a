"""A proxy in front of the emulator that counts calls and bytes by API method."""

from __future__ import annotations

import http.client
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import attrs
import httpx

_MARK: Final = "X-Goog-Request-Reason"
"""The header by which a request is found in the emulator's log, which knows its API method."""


@attrs.define
class Traffic:
    """The calls of one API method: how many, and the bytes of their bodies, as sent without compression."""

    calls: int = 0
    sent: int = 0
    received: int = 0


@attrs.define
class CountingProxy:
    """Forwards requests to an emulator.

    Attributes:
        target: the emulator's host and port.
        host: the proxy's own.
    """

    target: str
    host: str
    _numbers: itertools.count[int] = attrs.Factory(itertools.count)
    _bytes: dict[str, tuple[int, int]] = attrs.Factory(dict)

    def forward(self, handler: BaseHTTPRequestHandler, connection: http.client.HTTPConnection) -> None:
        """Forward one request, and count its bytes."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        mark = str(next(self._numbers))
        connection.request(handler.command, handler.path, body or None, {**dict(handler.headers), _MARK: mark})
        response = connection.getresponse()
        answer = response.read()
        self._bytes[mark] = (len(body), len(answer))
        handler.send_response(response.status)
        handler.send_header("Content-Type", response.headers.get("Content-Type", "application/json"))
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    def take(self) -> dict[str, Traffic]:
        """Return the traffic since the last call, by API method such as `instances.delete`."""
        traffic: dict[str, Traffic] = {}
        with httpx.Client(base_url=f"http://{self.target}/_emulator", trust_env=False, timeout=60) as client:
            entries = client.get("/requests").json()
            client.delete("/requests")
        for entry in entries:
            sent, received = self._bytes.pop(entry["headers"].get(_MARK.lower(), ""), (0, 0))
            kind = traffic.setdefault(entry["method"].removeprefix("compute."), Traffic())
            kind.calls, kind.sent, kind.received = kind.calls + 1, kind.sent + sent, kind.received + received
        return traffic


@contextmanager
def counting_proxy(target: str) -> Iterator[CountingProxy]:
    """Run a proxy in front of the emulator at `target`."""
    proxy = CountingProxy(target, "")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, so that no acknowledgement is waited for

        def setup(self) -> None:
            super().setup()
            self.connection_to_target = http.client.HTTPConnection(target)

        def do_GET(self) -> None:
            proxy.forward(self, self.connection_to_target)

        def do_POST(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        proxy.host = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
