"""The HTTP connections of one configuration, with the proxies and certificates that the environment names."""

from __future__ import annotations

import functools
import ipaddress
import logging
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

import attrs
import httpx

from gcpx.errors import UserError
from gcpx.gcp.errors import CannotSendRequest, ConnectionRefused, HostNotFound, NoResponse, TimedOut
from gcpx.gcp.request import MOST_AT_ONCE

_METADATA_HOSTS: Final = frozenset({"metadata.google.internal", "fd00:ec2::254"})
"""The metadata servers of Google Cloud and AWS that do not have a link-local address."""


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine."""
    if host is None or host == "localhost":
        return host is not None
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


@functools.lru_cache(maxsize=64)  # every request asks, and few hosts are asked about
def is_nearby(host: str | None) -> bool:
    """Return whether a host is this machine, or the metadata server of the cloud that it runs in.

    No other machine sees what is sent to such a host, so it may be sent over plain http, and not through a proxy.
    """
    if is_loopback(host) or host in _METADATA_HOSTS:
        return True
    address = _address(host or "")
    return address is not None and address.is_link_local


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


CONNECTION_EXCEPTIONS: Final = (httpx.HTTPError, httpx.InvalidURL, UnicodeError)
"""What a request raises when it gets no response."""


def connection_error(error: Exception, method: str, url: str, *, emulated: bool) -> NoResponse:
    """Say why a request got no response.

    `error` is one of `CONNECTION_EXCEPTIONS`; `emulated` says that the request was sent to an emulator.
    """
    host = _host(url)
    obstacle = _obstacle(error)
    if obstacle:
        return CannotSendRequest(f"{method} {host} cannot be sent: {obstacle}")
    if _is_refused(error) and is_loopback(urlsplit(url).hostname):
        return ConnectionRefused(_missing_server(url, emulated=emulated))
    kind = _kind(error)
    return kind(f"{host} did not answer {method} {urlsplit(url).path} ({_cause_in_words(error, host)})")


def _kind(error: Exception) -> type[NoResponse]:
    if _find_cause(error, socket.gaierror):
        return HostNotFound
    return TimedOut if isinstance(error, httpx.ReadTimeout) else NoResponse


def _host(url: str) -> str:
    """Return host and port as they were configured, without a user name or password."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _obstacle(error: Exception) -> str:
    """Say what makes it impossible to send the request, however often it is tried; empty if nothing does."""
    if isinstance(error, httpx.UnsupportedProtocol):
        return "its address must begin with https:// or http://"
    if isinstance(error, httpx.InvalidURL):
        return "its address is not a valid URL"
    if isinstance(error, httpx.LocalProtocolError | UnicodeError):
        return "it contains characters that HTTP does not allow; check requestReason, accessToken and billingProject"
    refused = re.match("40[0-9]", str(error)) if isinstance(error, httpx.ProxyError) else None
    if refused:
        return f"the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY refused the connection (HTTP {refused[0]})"
    untrusted = _find_cause(error, ssl.SSLCertVerificationError)
    if untrusted:
        reason = untrusted.verify_message
        return f"the certificate is not trusted ({reason}); to trust other certificates, set SSL_CERT_FILE"
    return ""


def _missing_server(url: str, *, emulated: bool) -> str:
    port = urlsplit(url).port or (443 if url.startswith("https:") else 80)
    if emulated:
        return (
            f"no emulator at {_host(url)}; start it with `gcpx-emulator --port {port}`, or remove emulatorHost "
            "(GCPX_EMULATOR_HOST) to call Google"
        )
    return (
        f"nothing listens at {_host(url)} (connection refused); start the server there, or correct the "
        "...CustomEndpoint setting that names it"
    )


_MALFORMED: Final = re.compile("illegal|bad |too long|conflicting|multiple|invalid|not valid")
"""How httpx says that a response is not valid HTTP; other violations of the protocol are lost connections."""
_TIMEOUTS: Final[dict[type[Exception], str]] = {
    httpx.ConnectTimeout: "connecting timed out",
    httpx.ReadTimeout: "waiting for the response timed out",
    httpx.WriteTimeout: "sending the request timed out",
    httpx.PoolTimeout: "waiting for a free connection timed out",
}


def _cause_in_words(error: Exception, host: str) -> str:
    if _find_cause(error, socket.gaierror):
        return f"the name {_unresolved(host)} cannot be resolved; check its spelling and the DNS"
    if _is_refused(error):
        return "connection refused"
    if isinstance(error, httpx.RemoteProtocolError) and _MALFORMED.search(str(error)):
        return "its response is not valid HTTP"
    insecure, system = _find_cause(error, ssl.SSLError), _find_cause(error, OSError)
    if insecure:
        reason = getattr(insecure, "reason", None) or "the handshake failed"
        return f"a secure connection could not be established: {reason}"
    if type(error) in _TIMEOUTS:
        return _TIMEOUTS[type(error)]
    return (system.strerror if system else None) or f"the connection was lost: {type(error).__name__}"


def _unresolved(host: str) -> str:
    """Name the host; with a proxy, the name that cannot be resolved may be the proxy's."""
    name = host.partition(":")[0]
    proxied = bool(getproxies().keys() & {"https", "http", "all"}) and not is_nearby(name)
    return f"{name}, or that of the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY," if proxied else name


def _is_refused(error: Exception) -> bool:
    return _find_cause(error, ConnectionRefusedError) is not None


E = TypeVar("E", bound=BaseException)


def _find_cause(error: BaseException, kind: type[E]) -> E | None:
    """Find the first exception of a kind among an error and its causes."""
    return next((found for found in _causes(error) if isinstance(found, kind)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


class UnreadableBodyError(Exception):
    """A body that is too large or is compressed in an unknown way; reading it again would not help."""


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


logging.getLogger("httpx").setLevel(logging.WARNING)  # at lower levels it logs whole URLs, including tokens


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
    """Two pools of connections: one to nearby hosts, and one to all others, which proxies may lie before.

    The second is opened with the first request that needs it, because loading the trusted certificates takes time.

    Args:
        clock: gives the time in seconds, from any starting point.
        nearby: what carries requests to nearby hosts over plain http; httpx's own transport by default.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, nearby: httpx.BaseTransport | None = None) -> None:
        self._clock = clock
        self._nearby = nearby
        self._pools: dict[tuple[bool, bool], httpx.Client] = {}
        self._lock = threading.Lock()

    def exchange(
        self, method: str, url: httpx.URL | str, *, timeout: httpx.Timeout, most: int = MOST_BYTES, **content: Any
    ) -> Received:
        """Send a request, and read its response; redirects are not followed.

        Args:
            method: the HTTP method.
            url: the URL with its query.
            timeout: the longest waits; the response must be complete after its `read` seconds.
            most: the largest body in bytes, after it is decompressed.
            content: the arguments `headers`, `json` and `content` of httpx.

        Raises:
            UserError: the environment names a proxy or certificates that cannot be used.
            UnreadableBodyError: the body is too large, or compressed in an unknown way.
            Exception: one of `connection_errors.CONNECTION_EXCEPTIONS`, if no complete response came.
        """
        url = httpx.URL(url)  # raises InvalidURL before any other code reads the URL
        content["headers"] = {"Accept-Encoding": ACCEPTED_ENCODINGS, **(content.get("headers") or {})}
        until = self._clock() + (timeout.read or 0.0)
        with self._pool(url).stream(method, url, timeout=timeout, **content) as response:
            return Received(response.status_code, response.headers, self._body(response, until, most))

    def page(self, url: str, timeout: float, most: int) -> Received:
        """Read a public page of at most `most` bytes within some seconds; raises what `exchange` raises."""
        return self.exchange("GET", url, timeout=httpx.Timeout(timeout), most=most)

    def _body(self, response: httpx.Response, until: float, most: int) -> bytes:
        """Read the body of a response that is being streamed, if it is complete at a time and not too large."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in {"", "identity", ACCEPTED_ENCODINGS}:
            raise UnreadableBodyError("the response is compressed in a way that gcpx did not ask for")
        body = bytearray()
        for piece in _decompressed(response) if encoding == ACCEPTED_ENCODINGS else response.iter_raw():
            body += piece
            if len(body) > most:
                raise UnreadableBodyError(f"the response is larger than {most:,} bytes")
            if self._clock() > until:
                raise httpx.ReadTimeout("the response took too long")
        return bytes(body)

    def close(self) -> None:
        """Close the connections."""
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
                self._pools[key] = _client(proxied=not nearby, verified=verified, transport=transport)
            return self._pools[key]


_LIMITS: Final = httpx.Limits(max_connections=MOST_AT_ONCE, max_keepalive_connections=32)


def _client(*, proxied: bool, verified: bool, transport: httpx.BaseTransport | None) -> httpx.Client:
    verify = _trusted() if verified else False
    try:
        return httpx.Client(limits=_LIMITS, trust_env=proxied, verify=verify, transport=transport)
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        # The text of the error quotes the URL, which may contain a password.
        raise UserError(
            "the proxies in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY must be URLs that begin with http:// or https://"
        ) from error


_BUNDLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""Environment variables that name trusted certificates, as files or folders; the first that is set counts."""


def _trusted() -> ssl.SSLContext:
    """Trust the certificates that the environment names or, without any, those that httpx brings."""
    name = next((name for name in _BUNDLES if os.environ.get(name)), None)
    if name is None:
        return httpx.create_ssl_context(trust_env=False)
    path = Path(os.environ[name])
    try:
        is_folder = path.is_dir()
        return ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
    except (OSError, ValueError) as error:
        raise UserError(
            f"the environment variable {name} must be the path of a file with certificates (PEM), or of their folder"
        ) from error
