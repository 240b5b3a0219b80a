"""Messages for requests without a response; exception texts are not used, as they may contain headers with tokens."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx

from gcpx.gcp.errors import Refused, TimedOut, Uncallable, Unreachable

E = TypeVar("E", bound=BaseException)
BROKEN: Final = (httpx.HTTPError, httpx.InvalidURL, UnicodeError)
"""Exceptions of requests that got no response."""
_TIMES: Final[dict[type[Exception], str]] = {
    httpx.ConnectTimeout: "connecting timed out",
    httpx.ReadTimeout: "waiting for the response timed out",
    httpx.WriteTimeout: "sending the request timed out",
    httpx.PoolTimeout: "waiting for a free connection timed out",
}


def is_loopback(host: str | None) -> bool:
    """Tell whether a host is this machine."""
    if host is None or host == "localhost":
        return host is not None
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def unreachable(error: Exception, method: str, url: str, *, emulated: bool) -> Unreachable:
    """Describe why a request got no response; `emulated` says that it was sent to an emulator."""
    place = _place(url)
    wrong = _wrong(error)
    if wrong:
        return Uncallable(f"{method} {place} cannot be sent: {wrong}")
    if _is_refused(error) and is_loopback(urlsplit(url).hostname):
        return Refused(_missing(url, emulated=emulated))
    kind = TimedOut if isinstance(error, httpx.ReadTimeout) else Unreachable
    return kind(f"{place} did not answer {method} {urlsplit(url).path} ({_why(error, place)})")


def _place(url: str) -> str:
    """Give host and port as they were configured, without a user's name or password."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _wrong(error: Exception) -> str:
    """Say what makes a request impossible, if it is that."""
    if isinstance(error, httpx.UnsupportedProtocol):
        return "its address must begin with https:// or http://"
    if isinstance(error, httpx.InvalidURL):
        return "its address is not a valid URL"
    if isinstance(error, httpx.LocalProtocolError | UnicodeError):
        return "it contains characters that HTTP does not allow; check requestReason, accessToken and billingProject"
    untrusted = _cause(error, ssl.SSLCertVerificationError)
    return (
        f"the certificate is not trusted ({untrusted.verify_message}); to trust other certificates, set SSL_CERT_FILE"
        if untrusted
        else ""
    )


def _missing(url: str, *, emulated: bool) -> str:
    port = urlsplit(url).port or (443 if url.startswith("https:") else 80)
    if emulated:
        return (
            f"no emulator at {_place(url)}; start it with `gcpx-emulator --port {port}`, or remove emulatorHost "
            "(GCPX_EMULATOR_HOST) to call Google"
        )
    return (
        f"nothing listens at {_place(url)} (connection refused); start the server there, or correct the "
        "...CustomEndpoint setting that names it"
    )


def _why(error: Exception, place: str) -> str:
    if _cause(error, socket.gaierror):
        return f"the name {place.partition(':')[0]} cannot be resolved; check its spelling and the DNS"
    if _is_refused(error):
        return "connection refused"
    insecure, system = _cause(error, ssl.SSLError), _cause(error, OSError)
    if insecure:
        reason = getattr(insecure, "reason", None) or "the handshake failed"
        return f"a secure connection could not be established: {reason}"
    if type(error) in _TIMES:
        return _TIMES[type(error)]
    return (system.strerror if system else None) or f"the connection was lost: {type(error).__name__}"


def _is_refused(error: Exception) -> bool:
    return _cause(error, ConnectionRefusedError) is not None


def _cause(error: BaseException, kind: type[E]) -> E | None:
    return next((found for found in _causes(error) if isinstance(found, kind)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
