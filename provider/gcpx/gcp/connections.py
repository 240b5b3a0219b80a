"""The HTTP connections of the plugin, and explanations of requests without a response."""

from __future__ import annotations

import logging
import re
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from gcpx.errors import UserError
from gcpx.gcp.errors import CannotSendRequest, ConnectionRefused, HostNotFound, NoResponse, TimedOut
from gcpx.gcp.request import MOST_AT_ONCE
from gcpx_http import connections
from gcpx_http.connections import Received, UnusableEnvironmentError
from gcpx_http.hosts import is_loopback, is_nearby

CONNECTION_EXCEPTIONS: Final = (httpx.HTTPError, httpx.InvalidURL, UnicodeError)
"""The exceptions of requests without a response."""


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
    kind: type[NoResponse] = TimedOut if isinstance(error, httpx.ReadTimeout) else NoResponse
    if _find_cause(error, socket.gaierror):
        kind = HostNotFound
    return kind(f"{host} did not answer {method} {urlsplit(url).path} ({_cause_in_words(error, host)})")


def _host(url: str) -> str:
    """Return host and port as they were configured, without a user name or password."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _obstacle(error: Exception) -> str:
    """Say what prevents every attempt to send the request; empty if nothing does."""
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
"""httpx's words for a response that is not valid HTTP; other protocol errors are lost connections."""
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
    return f"{name}, or the proxy's name in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY," if proxied else name


def _is_refused(error: Exception) -> bool:
    return _find_cause(error, ConnectionRefusedError) is not None


E = TypeVar("E", bound=BaseException)


def _find_cause(error: BaseException, kind: type[E]) -> E | None:
    """Find the first exception of a kind among an error and its causes."""
    current: BaseException | None = error
    while current is not None and not isinstance(current, kind):
        current = current.__cause__ or current.__context__
    return current


logging.getLogger("httpx").setLevel(logging.WARNING)  # at lower levels, it logs whole URLs, including tokens


class Connections(connections.Connections):
    """The connections of the plugin: to Google, to its emulator, and to the servers that issue tokens.

    Args:
        clock: gives the time in seconds, from any starting point.
        nearby: the transport of plain http requests to nearby hosts; httpx's own by default.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, nearby: httpx.BaseTransport | None = None) -> None:
        super().__init__(clock, nearby, at_once=MOST_AT_ONCE)

    def exchange(self, *given: Any, **more: Any) -> Received:
        """Send a request, and read its response; raises UserError for an unusable environment."""
        try:
            return super().exchange(*given, **more)
        except UnusableEnvironmentError as error:
            raise UserError(str(error)) from error
