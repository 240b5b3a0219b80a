"""The wire: HTTP requests with who is calling, answers as JSON, broken connections as errors.

Loaded with the first call, since a preview that calls nothing should not pay for an HTTP client.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import httpx

from gcpx import __version__
from gcpx.errors import UserError
from gcpx.gcp.credentials import Credentials
from gcpx.gcp.errors import Unreachable
from gcpx.gcp.settings import Settings
from gcpx.gcp.unreachable import BROKEN, is_loopback, unreachable

logging.getLogger("httpx").setLevel(logging.WARNING)  # what it tells otherwise are whole URLs, tokens included
_HEADER: Final = re.compile(r"[ -~]*")
_SOURCES: Final = {
    "authorization": "gcpx:accessToken, or the token that gcpx:credentials give,",
    "x-goog-user-project": "gcpx:billingProject, or gcpx:project without it,",
    "x-goog-request-reason": "gcpx:requestReason",
}
"""Where the values of headers come from."""
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@attrs.frozen
class Answer:
    """What came back.

    Attributes:
        body: parsed JSON, or the text where it is none.
        retry_after: seconds that Google asks us to wait.
    """

    status: int
    body: Any
    retry_after: float | None


class NoAnswerError(Exception):
    """Nothing came back; `unsent` when the request certainly never left."""

    def __init__(self, error: Unreachable, *, unsent: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.unsent = unsent


class Transport:
    """One connection pool for every API."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        anonymous = settings.emulator_host is not None
        limits = httpx.Limits(max_connections=256, max_keepalive_connections=32)
        # An emulator over plain http has no certificate to check, and loading the trusted ones takes its time.
        secured = not anonymous or str(settings.emulator_host).startswith("https://")
        self._client = httpx.Client(limits=limits, trust_env=not anonymous, verify=secured)
        self._credentials = None if anonymous else Credentials(settings, self._client)

    def send(
        self,
        method: str,
        url: str,
        query: Mapping[str, Any],
        body: Any,
        scope: str,
        *,
        read_timeout: float | None,
        renew: bool,
    ) -> Answer:
        """Send one request once; `renew` asks for a fresh token first."""
        timeout = self._settings.request_timeout
        try:
            httpx.URL(url)  # refuses what nothing below could read
            headers = _checked(self._headers(url, scope, renew=renew))
            response = self._client.request(
                method,
                url,
                params={key: _text(value) for key, value in query.items() if value is not None},
                json=body,
                headers=headers,
                timeout=httpx.Timeout(timeout, read=read_timeout or timeout),
            )
        except BROKEN as error:
            failure = unreachable(error, method, url, emulated=self._settings.emulator_host is not None)
            raise NoAnswerError(failure, unsent=isinstance(error, _UNSENT)) from error
        except (ValueError, TypeError, OverflowError) as error:
            # Their texts show what could not be written, headers and bodies included.
            raise UserError(
                f"{method} {urlsplit(url).path} cannot be encoded as an HTTP request ({type(error).__name__}); "
                "look for numbers that are not finite"
            ) from error
        return Answer(response.status_code, _json(response), _retry_after(response))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _headers(self, url: str, scope: str, *, renew: bool) -> dict[str, str]:
        settings = self._settings
        headers = {"User-Agent": f"pulumi-gcpx/{__version__}"}
        if settings.quota_project:
            headers["X-Goog-User-Project"] = settings.quota_project
        if settings.request_reason:
            headers["X-Goog-Request-Reason"] = settings.request_reason
        if self._credentials is None or not scope:
            return headers
        parts = urlsplit(url)
        if parts.scheme != "https" and not is_loopback(parts.hostname):
            raise UserError(
                f"gcpx does not send credentials over plain http to {parts.hostname}; "
                "use https, or set emulatorHost to call an emulator"
            )
        return headers | self._credentials.header(scope, renew=renew)


def _checked(headers: dict[str, str]) -> dict[str, str]:
    """Refuse what no header can hold, by the name of its setting; HTTP libraries would show the value."""
    for name, value in headers.items():
        if not _HEADER.fullmatch(value):
            source = _SOURCES.get(name.lower(), f"the header {name}")
            raise UserError(f"{source} must be one line of ASCII characters, because it is sent in an HTTP header")
    return headers


def _json(response: httpx.Response) -> Any:
    if not response.content:
        return {}
    try:
        return response.json()
    except (ValueError, RecursionError):
        return response.text


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
