"""HTTP: requests with credentials and headers, responses as JSON, lost connections as errors.

Loaded with the first call, so that a preview that calls nothing does not wait for an HTTP client.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import httpx

from gcpx import __version__
from gcpx.errors import UserError
from gcpx.gcp.connection_errors import CONNECTION_EXCEPTIONS, connection_error, is_loopback
from gcpx.gcp.credentials import Credentials
from gcpx.gcp.endpoints import base_url
from gcpx.gcp.request import Request, Timeouts
from gcpx.gcp.retries import RetryableError
from gcpx.gcp.settings import Settings

logging.getLogger("httpx").setLevel(logging.WARNING)  # at lower levels it logs whole URLs, including tokens
_HEADER: Final = re.compile(r"[ -~]*")
_HEADER_SOURCES: Final = {
    "authorization": "gcpx:accessToken, or the token that gcpx:credentials give,",
    "x-goog-user-project": "gcpx:billingProject, or gcpx:project without it,",
    "x-goog-request-reason": "gcpx:requestReason",
}
"""The settings that the values of headers come from."""
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

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        anonymous = settings.emulator_host is not None
        limits = httpx.Limits(max_connections=256, max_keepalive_connections=32)
        # An emulator over plain http has no certificate, and loading the trusted ones takes time.
        verify = not anonymous or str(settings.emulator_host).startswith("https://")
        self._client = httpx.Client(limits=limits, trust_env=not anonymous, verify=verify)
        self._credentials = None if anonymous else Credentials(settings, self._client)

    def send(self, request: Request, timeouts: Timeouts, begin: Callable[[], None], *, renew_token: bool) -> Response:
        """Send a request once, with a new access token if `renew_token`; give the response, whatever its status.

        `begin` is called when there is a token, and the request is about to be sent; it may raise instead.
        Raises RetryableError without a response, and UserError if HTTP cannot express the request.
        """
        url = f"{base_url(self._settings, request.api)}{request.api.path}/{request.path}"
        try:
            prepared = self._prepared(request, url, timeouts, renew_token=renew_token)
            begin()
            response = self._client.send(prepared)
        except CONNECTION_EXCEPTIONS as error:
            emulated = self._settings.emulator_host is not None
            failure = connection_error(error, request.method, url, emulated=emulated)
            raise RetryableError(failure, unsent=isinstance(error, _NOT_SENT)) from error
        except (ValueError, TypeError, OverflowError) as error:
            # The messages of these exceptions quote what could not be encoded, including headers and bodies.
            raise UserError(
                f"{request.method} {urlsplit(url).path} cannot be encoded as an HTTP request ({type(error).__name__}); "
                "remove numbers that are not finite from the inputs"
            ) from error
        return Response(response.status_code, _json(response), retry_after(response.headers))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _prepared(self, request: Request, url: str, timeouts: Timeouts, *, renew_token: bool) -> httpx.Request:
        httpx.URL(url)  # raises InvalidURL before any other code reads the URL
        return self._client.build_request(
            request.method,
            url,
            params={key: _parameter(value) for key, value in request.query.items() if value is not None},
            json=request.body,
            headers=_checked(self._headers(url, request.api.scope, renew_token=renew_token)),
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


def _json(response: httpx.Response) -> Any:
    if not response.content:
        return {}
    try:
        return response.json()
    except (ValueError, RecursionError):
        return response.text


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the header Retry-After of a response, which gives seconds or a date, in seconds; None without one."""
    text = headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text)
    until, now = _date(text), _date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until else None


def _date(text: str) -> datetime | None:
    """Read the date in a header; None if it is not a date."""
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parameter(value: Any) -> Any:
    """Write a query parameter; Google spells booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else value
