"""A proxy that leads calls to Google's hosts to an emulator, and passes on all other calls."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass_environment  # type: ignore[attr-defined]  # for any system

import attrs

from gcpx_emulator.interception.hosts import is_of_google
from gcpx_emulator.relay import copy
from gcpx_emulator.server import LOOPBACK, listen

_CONNECTED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
_PORTS: Final = {"http": 80, "https": 443}
_HOP_BY_HOP: Final = (b"connection:", b"proxy-connection:", b"proxy-authorization:", b"keep-alive:")
"""Headers that are for the proxy alone."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@attrs.frozen
class _Request:
    """The first request of a connection: all of it up to the body."""

    line: bytes
    headers: list[bytes]
    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    async def read(cls, reader: asyncio.StreamReader) -> _Request:
        """Read a request; raises ValueError if it is none of a proxy's."""
        line, *headers = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n").split(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ")
        parts = urlsplit(f"https://{target}" if method == "CONNECT" else target)
        path = parts._replace(scheme="", netloc="").geturl() or "/"
        if not parts.hostname or parts.scheme not in _PORTS:
            raise ValueError(target)
        port = parts.port or _PORTS[parts.scheme]
        scheme = "https" if method == "CONNECT" else "http"
        return cls(line, headers, scheme, parts.hostname, port, path)

    def passed_on(self, *, by_proxy: bool, extra: bytes = b"") -> bytes:
        """Write the request for the next server; the connection serves one request, as the next may be to another."""
        method, _, version = self.line.split(b" ")
        line = self.line if by_proxy else b"%b %b %b" % (method, self.path.encode("latin-1"), version)
        kept = [header for header in self.headers if not header.lower().startswith(_HOP_BY_HOP)]
        once = [] if self.scheme == "https" else [b"Connection: close"]
        return b"\r\n".join([line, *kept, *once, *filter(None, [extra]), b"", b""])


@attrs.frozen
class Proxy:
    """Knows where calls go.

    Attributes:
        plain: the emulator's port.
        secure: its port with TLS.
        proxies: the proxies that this process uses itself, by scheme; `no` lists the hosts that it calls without one.
    """

    plain: int
    secure: int
    proxies: dict[str, str] = attrs.Factory(getproxies)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client with the server that it names, until one of them ends the connection."""
        # The end of the proxy cancels this.
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(writer):
            try:
                request = await _Request.read(reader)
                there = await self._connected(request, writer)
            except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                return
            except OSError as error:
                words = f"gcpx-emulator run cannot reach the host: {error.strerror or error}\n".encode()
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: %d\r\n\r\n%b" % (len(words), words))
                return
            with contextlib.closing(there[1]):
                await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

    async def _connected(self, request: _Request, writer: asyncio.StreamWriter) -> Streams:
        """Connect to the emulator, to the next proxy or to the host, and send there what is for it."""
        is_tunnel, by_proxy, extra = request.scheme == "https", False, b""
        if is_of_google(request.host):
            there = await asyncio.open_connection(LOOPBACK, self.secure if is_tunnel else self.plain)
        elif (proxy := self.proxies.get(request.scheme)) and not proxy_bypass_environment(request.host, self.proxies):
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            there, by_proxy = await asyncio.open_connection(parts.hostname, parts.port or 80), True
            if parts.username:
                user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
                extra = b"Proxy-Authorization: Basic " + base64.b64encode(user.encode())
        else:
            there = await asyncio.open_connection(request.host, request.port)
        if by_proxy or not is_tunnel:
            there[1].write(request.passed_on(by_proxy=by_proxy, extra=extra))
        else:
            writer.write(_CONNECTED)
        return there


@contextmanager
def proxying(proxy: Proxy) -> Iterator[str]:
    """Run a proxy in a thread during the block; yields its URL."""
    loop, listener = asyncio.new_event_loop(), listen()
    thread = threading.Thread(target=_run, args=(loop, listener, proxy), daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        listener.close()


def _run(loop: asyncio.AbstractEventLoop, listener: socket.socket, proxy: Proxy) -> None:
    asyncio.set_event_loop(loop)
    kept = set[
        asyncio.Task[None]
    ]()  # a loop itself keeps no task: one whose client and server are both silent would end

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = loop.create_task(proxy.answer(reader, writer))
        kept.add(task)
        task.add_done_callback(kept.discard)

    server = loop.run_until_complete(asyncio.start_server(begin, sock=listener))
    loop.run_forever()
    server.close()
    for task in (waiting := asyncio.all_tasks(loop)):
        task.cancel()
    loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
