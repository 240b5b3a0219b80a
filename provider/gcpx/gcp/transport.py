"""HTTP: requests with credentials and headers, responses as JSON, lost connections as errors.

Nobody has to wait for a request: a cancellation, or the end of its time, leaves it behind.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import attrs
import httpx

from gcpx import __version__
from gcpx.errors import CancelledError, UserError
from gcpx.gcp.connections import (
    CONNECTION_EXCEPTIONS,
    Connections,
    Received,
    UnreadableBodyError,
    connection_error,
    is_loopback,
)
from gcpx.gcp.credentials import Credentials
from gcpx.gcp.errors import CannotSendRequest, Redirected, TimedOut, Unfinished, UnreadableResponse
from gcpx.gcp.request import Request, Timeouts
from gcpx.gcp.retries import RetryableError, retry_after
from gcpx.gcp.settings import Settings, base_url
from gcpx.model.resource import NOTICED_WITHIN, Context

T = TypeVar("T")
GRACE: Final = 1.0
"""Seconds that a request which changes something gets for its response after a cancellation."""
_ALLOWANCE: Final = 0.2
"""Seconds beyond the limit, because the time-outs of the HTTP client say more about what they waited for."""
_Results = queue.SimpleQueue[tuple[Any, BaseException | None]]


@attrs.define
class Attempt:
    """One attempt to send a request, in a thread of its own.

    Attributes:
        limit: the most seconds from the beginning of the attempt to the end of the response, if the call has more time.
        grace: what is usually `GRACE`.
    """

    request: Request
    context: Context
    limit: float
    grace: float = GRACE
    _sent: bool = attrs.field(default=False, init=False)
    _abandoned: bool = attrs.field(default=False, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Note that the request is sent now; raises CancelledError if nobody waits for the attempt any more."""
        with self._lock:
            if self._abandoned:
                raise CancelledError.before(self.request.description)
            self._sent = True

    def result(self, work: Callable[[], T]) -> T:
        """Do the work of sending, which calls `begin` before anything is sent, and return its result.

        Raises:
            CancelledError: the user cancelled before the request was sent, or it only reads.
            Unfinished: the user cancelled while the request was under way; it may have been carried out.
            RetryableError: the limit is over.
            Exception: whatever the work raises.
        """
        results: _Results = queue.SimpleQueue()
        threading.Thread(target=_reported, args=(work, results), daemon=True).start()
        try:
            result, error = self._first(results)
        except queue.Empty:
            raise self._abandon() from None
        if error is not None:
            raise error
        found: T = result
        return found

    def _first(self, results: _Results) -> tuple[Any, BaseException | None]:
        """Wait for the result; raises `queue.Empty` if there is none in time."""
        end = time.monotonic() + self.limit + _ALLOWANCE
        while not self.context.cancelled.is_set() and time.monotonic() < end and self._seconds_left > -_ALLOWANCE:
            with contextlib.suppress(queue.Empty):
                return results.get(timeout=NOTICED_WITHIN)
        waits_on = self._sent and not self.request.only_reads and self.context.cancelled.is_set()
        return results.get(timeout=self.grace if waits_on else 0.0)

    @property
    def _seconds_left(self) -> float:
        return self.context.seconds_left(reading=self.request.only_reads)

    def _abandon(self) -> Exception:
        """Leave the work to itself, and return what the attempt raises."""
        with self._lock:
            self._abandoned = True
        what = self.request.description
        if not self.context.cancelled.is_set():
            late = TimedOut(f"{what}: the response was not complete in time")
            return RetryableError(late, unsent=not self._sent)
        if not self._sent:
            return CancelledError.before(what)
        if self.request.only_reads:
            return CancelledError(f"{what}: cancelled while waiting for the response")
        return Unfinished(
            f"{what}: cancelled while waiting for the response; Google may still carry the request out. "
            "Run the command again to go on"
        )


def _reported(work: Callable[[], Any], results: _Results) -> None:
    try:
        results.put((work(), None))
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
        results.put((None, error))


_HEADER: Final = re.compile(r"[ -~]*")
_HEADER_SOURCES: Final = {
    "authorization": "gcpx:accessToken, or the token that gcpx:credentials give,",
    "x-goog-user-project": "gcpx:billingProject, or gcpx:project without it,",
    "x-goog-request-reason": "gcpx:requestReason",
}
"""The settings that the values of headers come from."""
_REDIRECTS: Final = range(300, 400)
_DEEPEST: Final = 64
"""The deepest nesting of JSON that is read. Google's responses have about ten levels; each level of a walk through a
value takes a part of Python's stack."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@attrs.frozen
class Response:
    """A response.

    Attributes:
        body: parsed JSON; `{}` without a body, and the text of a body that is not JSON.
        retry_after: the seconds that Google asks to wait; None if it does not.
    """

    status: int
    body: Any
    retry_after: float | None


class Transport:
    """One pool of connections for all APIs."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._connections = Connections(clock)
        anonymous = settings.emulator_host is not None
        self._credentials = None if anonymous else Credentials(settings, self._connections)

    def send(self, request: Request, timeouts: Timeouts, begin: Callable[[], None], *, renew_token: bool) -> Response:
        """Send a request once, with a new access token if `renew_token`; give the response, whatever its status.

        `begin` is called when there is a token, and the request is about to be sent; it may raise instead.
        Raises RetryableError without a response, Redirected and UnreadableResponse for one that cannot be used, and
        UserError if HTTP cannot express the request.
        """
        url = f"{base_url(self._settings, request.api)}{request.api.path}/{request.path}"
        try:
            httpx.URL(url)  # raises InvalidURL before any other code reads the URL
            headers = _checked(self._headers(url, request.api.scope, renew_token=renew_token))
            begin()
            received = self._exchange(request, url, timeouts, headers)
        except CONNECTION_EXCEPTIONS as error:
            emulated = self._settings.emulator_host is not None
            failure = connection_error(error, request.method, url, emulated=emulated)
            unsent = isinstance(error, _NOT_SENT) or isinstance(failure, CannotSendRequest)
            raise RetryableError(failure, unsent=unsent) from error
        except UnreadableBodyError as error:
            raise UnreadableResponse(f"{request.description}: {error}") from error
        except (ValueError, TypeError, OverflowError) as error:
            # The messages of these exceptions quote what could not be encoded, including headers and bodies.
            raise UserError(
                f"{request.method} {urlsplit(url).path} cannot be encoded as an HTTP request ({type(error).__name__}); "
                "remove numbers that are not finite from the inputs"
            ) from error
        if received.status in _REDIRECTS:
            raise Redirected(_redirection(request, url, received))
        return Response(received.status, _json(request, received.body), retry_after(received.headers))

    @property
    def principal(self) -> str | None:
        """The e-mail address of the account that calls are made as; None if not known, empty without credentials."""
        return self._credentials.principal if self._credentials else ""

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _exchange(self, request: Request, url: str, timeouts: Timeouts, headers: Mapping[str, str]) -> Received:
        return self._connections.exchange(
            request.method,
            url,
            params={key: _parameter(value) for key, value in request.query.items() if value is not None},
            json=request.body,
            headers=headers,
            timeout=httpx.Timeout(timeouts.step, read=timeouts.read),
        )

    def _headers(self, url: str, scope: str, *, renew_token: bool) -> dict[str, str]:
        settings = self._settings
        # Google compresses responses only for user agents that contain `gzip`.
        headers = {"User-Agent": f"pulumi-gcpx/{__version__} (gzip)"}
        if settings.quota_project:
            headers["X-Goog-User-Project"] = settings.quota_project
        if settings.request_reason:
            headers["X-Goog-Request-Reason"] = settings.request_reason
        if self._credentials is None or not scope:
            return headers
        _refuse_plain_http(url)
        return headers | self._credentials.header(scope, renew=renew_token)


def _refuse_plain_http(url: str) -> None:
    """Refuse to send credentials without encryption, other than to this machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not is_loopback(parts.hostname):
        raise UserError(
            f"gcpx does not send credentials over plain http to {parts.hostname}; "
            "use https, or set emulatorHost to call an emulator"
        )


def _checked(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Refuse values that no header can contain, by their setting; HTTP libraries would show the value."""
    for name, value in headers.items():
        if not _HEADER.fullmatch(value):
            source = _HEADER_SOURCES.get(name.lower(), f"the header {name}")
            raise UserError(f"{source} must be one line of ASCII characters, because it is sent in an HTTP header")
    return headers


def _redirection(request: Request, url: str, received: Received) -> str:
    """Say where a redirect leads. It is not followed, because that would give the credentials to another address."""
    target = urlsplit(received.headers.get("Location", ""))
    place = f"{target.scheme}://{target.netloc.rpartition('@')[2]}" if target.netloc else "another path"
    return (
        f"{urlsplit(url).hostname} answered {request.description} with a redirect to {place} "
        f"(HTTP {received.status}), which gcpx does not follow"
    )


def _json(request: Request, body: bytes) -> Any:
    """Parse a body; a body that is not JSON is returned as text."""
    if not body:
        return {}
    try:
        found = json.loads(_valid_unicode(body), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
    if _is_deeper(found, _DEEPEST):
        raise UnreadableResponse(f"{request.description}: the response is nested more than {_DEEPEST} levels deep")
    return found


def _valid_unicode(body: bytes) -> bytes:
    """Replace escaped halves of surrogate pairs in JSON by question marks; no other program could read them."""
    if not _SURROGATE.search(body):
        return body
    return json.dumps(json.loads(body), ensure_ascii=False).encode(errors="replace")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _is_deeper(value: Any, levels: int) -> bool:
    """Return whether objects and lists are nested deeper than a number of levels."""
    level = [value]
    for _ in range(levels):
        level = [item for found in level for item in _children(found)]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _parameter(value: Any) -> Any:
    """Write a query parameter; Google spells booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else value
