"""The HTTP connections of one configuration, with the proxies and certificates that the environment names."""

from __future__ import annotations

import os
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import httpx

from gcpx_http.hosts import is_nearby


class UnreadableBodyError(Exception):
    """A body that is too large or is compressed in an unknown way; reading it again would not help."""


class UnusableEnvironmentError(Exception):
    """The environment names a proxy or certificates that cannot be used; the message says which variable is wrong."""


_PIECE: Final = 1 << 20
"""The number of bytes that are decompressed at once."""
_GZIP: Final = 31
"""What zlib calls the format of gzip with its header."""


def _decompressed(response: httpx.Response) -> Iterator[bytes]:
    """Decompress a body piece by piece; raises httpx.RemoteProtocolError if it ends too early, or is not valid gzip."""
    stream = zlib.decompressobj(_GZIP)
    try:
        for chunk in response.iter_raw():
            rest = chunk
            while rest and not stream.eof:
                yield stream.decompress(rest, _PIECE)
                rest = stream.unconsumed_tail
    except zlib.error as error:
        raise httpx.RemoteProtocolError("the response is not valid gzip") from error
    if not stream.eof:
        raise httpx.RemoteProtocolError("the response ended too early")


@attrs.frozen
class Received:
    """A response that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


MOST_BYTES: Final = 256 << 20
"""The largest body that is read: a page of 500 instances whose metadata have the maximum size of 512 KiB each."""
ACCEPTED_ENCODINGS: Final = "gzip"
"""The header Accept-Encoding of every request; a response in another encoding is refused."""


class Connections:
    """Two pools of connections: one to nearby hosts, and one to all others, possibly through proxies.

    The second is opened with the first request that needs it, because loading the trusted certificates takes time.

    Args:
        clock: gives the time in seconds, from any starting point.
        nearby: the transport of plain http requests to nearby hosts; httpx's own by default.
        at_once: the largest number of concurrent requests; others wait.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, nearby: httpx.BaseTransport | None = None, at_once: int = 1
    ) -> None:
        self._clock = clock
        self._nearby = nearby
        self._limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=32)
        self._pools: dict[tuple[bool, bool], httpx.Client] = {}
        self._lock = threading.Lock()
        self._end = threading.local()
        """When the response to the request of a thread must be complete: `time`, in seconds of the clock."""

    def exchange(
        self, method: str, url: httpx.URL | str, *, timeout: httpx.Timeout, most: int = MOST_BYTES, **content: Any
    ) -> Received:
        """Send a request, and read its response; redirects are not followed.

        Args:
            method: the HTTP method.
            url: the URL with its query.
            timeout: in seconds; the whole response must arrive within its `read`.
            most: the largest size of the decompressed body, in bytes.
            content: the arguments `headers`, `json` and `content` of httpx.

        Raises:
            UnusableEnvironmentError: the environment names a proxy or certificates that cannot be used.
            UnreadableBodyError: the body is too large, or compressed in an unknown way.
            httpx.HTTPError: no complete response came.
            httpx.InvalidURL: the URL is malformed.
            UnicodeError: no host has such a name.
        """
        url = httpx.URL(url)  # raises InvalidURL before any other code reads the URL
        content["headers"] = {"Accept-Encoding": ACCEPTED_ENCODINGS, **(content.get("headers") or {})}
        content["extensions"] = {"trace": self._trace}
        self._end.time = self._clock() + (timeout.read or 0.0)
        with self._pool(url).stream(method, url, timeout=timeout, **content) as response:
            return Received(response.status_code, response.headers, _body(response, most))

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Limit all reads from a new connection together; the timeout of httpx limits each of them.

        A server may send a response's head, and other heads before it, byte by byte.
        """
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        stream = info["return_value"]
        read = stream.read

        def read_in_time(size: int, timeout: float | None = None) -> bytes:
            del timeout
            left = self._end.time - self._clock()
            if left <= 0:
                raise httpx.ReadTimeout("the response took too long")
            received: bytes = read(size, left)
            return received

        stream.read = read_in_time

    def close(self) -> None:
        """Close the connections. A request that is under way in another thread ends with an error."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()

    def _pool(self, url: httpx.URL) -> httpx.Client:
        nearby = is_nearby(url.host)
        # A nearby server over plain http has no certificate.
        verified = not nearby or url.scheme == "https"
        key = (nearby, verified)
        with self._lock:
            if key not in self._pools:
                transport = None if verified else self._nearby
                self._pools[key] = self._client(proxied=not nearby, verified=verified, transport=transport)
            return self._pools[key]

    def _client(self, *, proxied: bool, verified: bool, transport: httpx.BaseTransport | None) -> httpx.Client:
        verify = _trusted() if verified else False
        try:
            return httpx.Client(limits=self._limits, trust_env=proxied, verify=verify, transport=transport)
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            # The text of the error quotes the URL, which may contain a password.
            raise UnusableEnvironmentError(
                "the proxies in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY must be URLs that begin with http:// or https://"
            ) from error


def _body(response: httpx.Response, most: int) -> bytes:
    """Read the body of a response that is being streamed, if it is not too large."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity", ACCEPTED_ENCODINGS}:
        raise UnreadableBodyError("the response is compressed in a way that gcpx did not ask for")
    body = bytearray()
    for piece in _decompressed(response) if encoding == ACCEPTED_ENCODINGS else response.iter_raw():
        body += piece
        if len(body) > most:
            raise UnreadableBodyError(f"the response is larger than {most:,} bytes")
    return bytes(body)


_BUNDLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Environment variables that name trusted certificates, as files or folders; the first that is set counts."""


def _trusted() -> ssl.SSLContext:
    """Trust the certificates that the environment names, or else those of httpx."""
    name = next((name for name in _BUNDLES if os.environ.get(name)), None)
    if name is None:
        return httpx.create_ssl_context(trust_env=False)
    path = Path(os.environ[name])
    try:
        is_folder = path.is_dir()
        return ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
    except (OSError, ValueError) as error:
        raise UnusableEnvironmentError(
            f"the environment variable {name} must be the path of a file with certificates (PEM), or of their folder"
        ) from error


def page(url: str, timeout: float, most: int) -> Received:
    """Read a public page of at most `most` bytes, which must be complete within `timeout` seconds.

    Raises:
        Exception: the same as `Connections.exchange`.
    """
    connections = Connections()
    try:
        return connections.exchange("GET", url, timeout=httpx.Timeout(timeout), most=most)
    finally:
        connections.close()
