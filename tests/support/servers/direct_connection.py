"""Requests that reach an emulator of this process without sockets and HTTP, which take most of a request's time.

The emulator's application gets the request in its own thread, as from the server, and the response is httpx's. Real
connections are what tests with the CLI and with another server use, and those that make a `Provider` themselves.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
import httpx

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.connections import Connections
from gcpx.gcp.settings import Settings
from gcpx.provider import Provider

_Application = Callable[[Any, Any, Any], Awaitable[None]]
_SERVED: Final[dict[str, Served]] = {}
"""What this process serves, by host and port."""


@attrs.frozen
class Served:
    """An application, and the loop of the thread that serves it."""

    application: _Application
    loop: asyncio.AbstractEventLoop


def serve_directly(host: str, served: Served) -> None:
    """Let `DirectConnection` hand requests for a host and port over to an application."""
    _SERVED[host] = served


def serve_no_longer(host: str) -> None:
    """Let `DirectConnection` open connections to a host and port."""
    del _SERVED[host]


class DirectConnection(httpx.BaseTransport):
    """Hands requests over to the applications of this process; others are sent as usual."""

    def __init__(self) -> None:
        self._others: httpx.HTTPTransport | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        served = _SERVED.get(request.url.netloc.decode())
        if served is not None:
            return _exchange(served, request)
        if self._others is None:
            self._others = httpx.HTTPTransport(verify=False, trust_env=False)
        return self._others.handle_request(request)

    def close(self) -> None:
        if self._others is not None:
            self._others.close()


def _exchange(served: Served, request: httpx.Request) -> httpx.Response:
    """Let an application answer a request, as long as the client is willing to wait."""
    body, messages = request.read(), list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    async def answer() -> None:
        await served.application(_scope(request), receive, send)

    try:
        asyncio.run_coroutine_threadsafe(answer(), served.loop).result(request.extensions["timeout"]["read"])
    except concurrent.futures.TimeoutError as error:
        raise httpx.ReadTimeout("timed out", request=request) from error
    start, *parts = messages
    if parts[-1].get("more_body"):
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message body", request=request)
    content = httpx.ByteStream(b"".join(part.get("body", b"") for part in parts))
    return httpx.Response(start["status"], headers=start["headers"], stream=content, request=request)


def _scope(request: httpx.Request) -> dict[str, Any]:
    url, (path, _, query) = request.url, request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": None,
        "server": (url.host, url.port),
    }


class DirectProvider(Provider):
    """A provider that hands its requests over to an emulator of this process, and sends those to others as usual."""

    def new_client(self, settings: Settings) -> GoogleClient:
        if settings.emulator_host not in _SERVED:
            return super().new_client(settings)
        return GoogleClient(settings, clock=self.clock, connections=Connections(self.clock, DirectConnection()))
