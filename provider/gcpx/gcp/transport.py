"""Sends HTTP requests with credentials and headers, and turns responses into JSON and lost connections into errors."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from gcpx import __version__
from gcpx.errors import UserError
from gcpx.gcp.attempt import Attempt, Response
from gcpx.gcp.connections import CONNECTION_EXCEPTIONS, Connections, connection_error
from gcpx.gcp.credentials import Credentials
from gcpx.gcp.errors import CannotSendRequest, Redirected, UnreadableResponse
from gcpx.gcp.request import Request
from gcpx.gcp.retries import RetryableError
from gcpx.gcp.settings import Settings, base_url, refuse_plain_http
from gcpx_http.connections import Received, UnreadableBodyError

_HEADER: Final = re.compile(r"[ -~]*")
_HEADER_SOURCES: Final = {
    "authorization": "gcpx:accessToken, or the token that gcpx:credentials give,",
    "x-goog-user-project": "gcpx:billingProject, or gcpx:project without it,",
    "x-goog-request-reason": "gcpx:requestReason",
}
"""The settings that become values of headers."""
_REDIRECTS: Final = range(300, 400)
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Transport:
    """Sends requests to all APIs, with the headers and credentials of the settings.

    Attributes:
        connections: the connections for the requests.
    """

    def __init__(self, settings: Settings, connections: Connections) -> None:
        self._settings = settings
        self.connections = connections
        anonymous = settings.emulator_host is not None
        self._credentials = None if anonymous else Credentials(settings, self.connections)
        # Google compresses responses only for user agents that contain `gzip`.
        self._headers = {"User-Agent": f"pulumi-gcpx/{__version__} (gzip)"}
        if settings.quota_project:
            self._headers["X-Goog-User-Project"] = settings.quota_project
        if settings.request_reason:
            self._headers["X-Goog-Request-Reason"] = settings.request_reason

    def send(self, attempt: Attempt) -> Response:
        """Send the request of an attempt, which begins once there is a token; return the response, whatever its status.

        Raises RetryableError without a response, Redirected or UnreadableResponse for an unusable one, and UserError
        without sending the request if HTTP cannot express it.
        """
        request = attempt.request
        url = f"{base_url(self._settings, request.api)}{request.api.path}/{request.path}"
        try:
            whole, content = _encoded(request, url)
            refuse_plain_http(self._settings, request.api, url)
            headers = self._headers_of(attempt)
            if content is not None:
                headers["Content-Type"] = "application/json"
            attempt.begin()
            received = self.connections.exchange(
                request.method,
                whole,
                content=content,
                headers=headers,
                timeout=httpx.Timeout(attempt.step, read=attempt.read),
            )
        except CONNECTION_EXCEPTIONS as error:
            emulated = self._settings.emulator_host is not None
            failure = connection_error(error, request.method, url, emulated=emulated)
            unsent = isinstance(error, _NOT_SENT) or isinstance(failure, CannotSendRequest)
            raise RetryableError(failure, unsent=unsent) from error
        except UnreadableBodyError as error:
            raise UnreadableResponse(f"{request.description}: {error}") from error
        if request.room is not None:
            request.room.left -= len(received.body)
        if received.status in _REDIRECTS:
            raise Redirected(_redirection(request, url, received))
        return Response(received.status, received.headers, _json(request, received.body))

    @property
    def principal(self) -> str | None:
        """The e-mail address of the account that makes the calls; None if not known, empty without credentials."""
        return self._credentials.principal if self._credentials else ""

    def close(self) -> None:
        """Close the connections."""
        self.connections.close()

    def _headers_of(self, attempt: Attempt) -> dict[str, str]:
        """Return the headers of a request, with credentials if its API takes any.

        Raises UserError, which names the setting, for a value that no header can contain; HTTP libraries would show it.
        """
        headers, scope = dict(self._headers), attempt.request.api.scope
        if self._credentials is not None and scope:
            headers |= self._credentials.header(scope, renew=attempt.renew_token)
        for name, value in headers.items():
            if not _HEADER.fullmatch(value):
                source = _HEADER_SOURCES.get(name.lower(), f"the header {name}")
                raise UserError(f"{source} must be one line of ASCII characters, because it is sent in an HTTP header")
        return headers


def _encoded(request: Request, url: str) -> tuple[httpx.URL, bytes | None]:
    """Return the URL of a request with its query, and its body.

    Raises httpx.InvalidURL, before other code reads the URL, and UserError for values that JSON cannot express.
    """
    # Google spells booleans in lower case, as httpx does.
    query = httpx.QueryParams({key: value for key, value in request.query.items() if value is not None})
    whole = httpx.URL(f"{url}?{query}" if query else url)
    if request.body is None:
        return whole, None
    try:
        return whole, json.dumps(request.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        # The messages of these exceptions quote the value.
        raise UserError(
            f"{request.method} {urlsplit(url).path} cannot be encoded as an HTTP request ({type(error).__name__}); "
            "remove numbers that are not finite from the inputs"
        ) from error


def _redirection(request: Request, url: str, received: Received) -> str:
    """Return the error about a redirect, which is not followed: another address would get the credentials."""
    try:
        target = urlsplit(received.headers.get("Location", ""))
        place = f"{target.scheme}://{target.netloc.rpartition('@')[2]}" if target.netloc else "another path"
    except ValueError:
        place = "a malformed URL"
    return (
        f"{urlsplit(url).hostname} answered {request.description} with a redirect to {place} "
        f"(HTTP {received.status}), which gcpx does not follow"
    )


_DEEPEST: Final = 24
"""The deepest nesting of JSON that is read. Google's responses have about ten levels; protobuf for Python reads a
Struct with 33 at most, and the state adds some."""
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _json(request: Request, body: bytes) -> Any:
    """Parse a body; a body that is not JSON is returned as text.

    The result can always be encoded again: bytes that are not UTF-8 become replacement characters, halves of surrogate
    pairs become question marks. A number that no float can hold is not JSON.
    """
    text = body.decode("utf-8-sig", "replace")
    if not text:
        return {}
    try:
        if _SURROGATE.search(text):
            text = json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace").decode()
        found = json.loads(text, parse_constant=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return text
    if _is_too_deep(found):
        raise UnreadableResponse(f"{request.description}: the response is nested more than {_DEEPEST} levels deep")
    return found


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not JSON")
    return number


def _is_too_deep(value: Any) -> bool:
    """Return whether objects and lists are nested deeper than `_DEEPEST` levels."""
    level = [item for item in (value,) if isinstance(item, dict | list)]
    for _ in range(_DEEPEST):
        if not level:
            return False
        parts = (part for item in level for part in (item.values() if isinstance(item, dict) else item))
        level = [part for part in parts if isinstance(part, dict | list)]
    return bool(level)
