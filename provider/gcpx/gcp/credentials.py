"""Credentials: from the settings to an Authorization header, through google-auth."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import google.auth
import google.auth.environment_vars
import google.auth.exceptions
import google.auth.transport
import httpx

from gcpx.errors import UserError
from gcpx.gcp.connections import CONNECTION_EXCEPTIONS, Connections
from gcpx.gcp.errors import NoCredentials, Unauthenticated
from gcpx.gcp.retries import RetryableError, http_date, retry_after
from gcpx.gcp.settings import INCOMPLETE, Settings, named_file, parsed, plain_http_error, problem
from gcpx_http.connections import Received
from gcpx_http.hosts import is_protected

_OAUTH_CODE: Final = re.compile(r"[a-z_]{1,40}")
_CODE_IN_TEXT: Final = re.compile(r"Error code ([a-z_]+)(?=$|:| - )")
"""The beginning of google-auth's `OAuthError` texts."""
_OAUTH_CODES: Final = {
    "invalid_grant": "so the key or the refresh token has expired, was revoked, or belongs to another account",
    "invalid_client": "so the OAuth client of the credentials is unknown",
    "invalid_scope": "so gcpx:scopes contains a scope that does not exist",
    "unauthorized_client": "so the account is not allowed to request these scopes",
    "access_denied": "so the account is not allowed to do this",
}
"""The meaning of a token server's errors, by OAuth 2.0 code."""
_OK: Final = 200
_REFUSALS: Final = frozenset({403, 404})
_CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"
_MOST_SKEW: Final = 300.0
"""The tolerated error of a clock, in seconds; Google accepts signatures of the last five minutes."""
_TRANSIENT_STATUSES: Final = frozenset({408, 429, 500, 502, 503, 504})


class _Response(google.auth.transport.Response):  # type: ignore[misc]
    """A response as google-auth reads it."""

    def __init__(self, received: Received) -> None:
        self._received = received

    @property
    def status(self) -> int:
        return self._received.status

    @property
    def headers(self) -> Any:
        return self._received.headers

    @property
    def data(self) -> bytes:
        return self._received.body


class _Request(google.auth.transport.Request):  # type: ignore[misc]
    """google-auth's own requests, sent through gcpx's connections, with the same proxies and certificates.

    Attributes:
        received: the last response; None before the first one.
    """

    def __init__(self, connections: Connections, timeout: float) -> None:
        self._connections = connections
        self._timeout = timeout
        self.received: Received | None = None

    def __call__(
        self, url: str, method: str = "GET", body: Any = None, headers: Any = None, timeout: float = 60, **_: Any
    ) -> _Response:
        if not is_protected(url, metadata=True):
            raise plain_http_error(url, "the credentials", "the URLs in credentials must begin with https://")
        seconds = httpx.Timeout(min(timeout, self._timeout))
        try:
            received = self._connections.exchange(method, url, content=body, headers=headers, timeout=seconds)
        except CONNECTION_EXCEPTIONS as error:
            raise google.auth.exceptions.TransportError(error) from error
        self.received = received
        return _Response(received)


class _TokenRequest(_Request):
    """A request for a token, without google-auth's retries: the call itself retries, and can be cancelled."""

    def __call__(self, url: str, *given: Any, **more: Any) -> _Response:
        try:
            response = super().__call__(url, *given, **more)
        except google.auth.exceptions.TransportError as error:
            host = urlsplit(url).hostname
            raise RetryableError(_no_token(f"the token server {host} did not answer"), unsent=True) from error
        if response.status in _TRANSIENT_STATUSES:
            failure = _no_token(f"the token server {urlsplit(url).hostname} failed (HTTP {response.status})")
            raise RetryableError(failure, unsent=True, retry_after=retry_after(response.headers))
        return response


@attrs.define
class Credentials:
    """The access tokens of one configuration, one for each set of scopes, refreshed before they expire.

    Attributes:
        now: gives the time in seconds since 1970, for comparison with a token server's clock.
    """

    settings: Settings
    connections: Connections
    now: Callable[[], float] = time.time
    _by_scopes: dict[tuple[str, ...], Any] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    """Held while a token is fetched, so that calls which need the same one ask once; a call with a token needs none."""

    def header(self, scope: str, *, renew: bool = False) -> dict[str, str]:
        """Return the headers that authorize a call with a scope; `renew` asks for a new token.

        Raises:
            UserError: the configured credentials cannot be used.
            Unauthenticated: no token is issued for them.
            RetryableError: the token server does not answer, or failed.
        """
        if renew and self.settings.access_token is not None and self.settings.impersonate_service_account is None:
            raise Unauthenticated(
                "Google does not accept gcpx:accessToken, and gcpx cannot renew it: it has expired, was revoked, or is "
                "not an access token"
            )
        request = _TokenRequest(self.connections, self.settings.timeout_seconds)
        scopes = tuple(self.settings.scopes) or (scope,)
        found = None if renew else self._by_scopes.get(scopes)
        headers: dict[str, str] = {}
        try:
            if found is None or not found.valid:
                with self._lock:
                    found = self._renewed(request, scopes, renew=renew)
            found.apply(headers)
        except (UserError, RetryableError):
            raise
        except google.auth.exceptions.DefaultCredentialsError as error:
            raise _none_found() from error
        except Exception as error:
            raise _no_token(self._explain(error, request.received)) from error
        return headers

    @property
    def principal(self) -> str | None:
        """The e-mail address of the account that makes the calls; None if it is not known."""
        if self.settings.impersonate_service_account:
            return self.settings.impersonate_service_account
        emails = (getattr(found, "service_account_email", None) for found in list(self._by_scopes.values()))
        return next((email for email in emails if isinstance(email, str) and "@" in email), None)

    def _renewed(self, request: _Request, scopes: tuple[str, ...], *, renew: bool) -> Any:
        credentials = self._by_scopes.get(scopes) if not renew else None
        if credentials is None:
            loading = _Request(self.connections, self.settings.timeout_seconds)
            credentials = self._by_scopes[scopes] = _load(self.settings, scopes, loading)
        if not credentials.valid:
            credentials.refresh(request)
        return credentials

    def _explain(self, error: Exception, received: Received | None) -> str:
        """Explain an error without its text, which may quote keys and tokens."""
        code = _oauth_code(error)
        if code:
            skew = self._skew(received) if code == "invalid_grant" else ""
            return (
                f"the token server answered {code}, {skew or _OAUTH_CODES.get(code, 'see the OAuth 2.0 error codes')}"
            )
        if received is not None and received.status != _OK:
            return f"the token server refused the request (HTTP {received.status}){self._hint(received.status)}"
        if received is not None:
            return f"the answer of the token server contains no valid token ({type(error).__name__})"
        return f"the credentials cannot be used ({type(error).__name__})"

    def _hint(self, status: int) -> str:
        account = self.settings.impersonate_service_account
        if account is None or status not in _REFUSALS:
            return ""
        return (
            f"; {account} may not exist, or the caller (for delegates: each of the chain) lacks the permission "
            "iam.serviceAccounts.getAccessToken on it, which the role roles/iam.serviceAccountTokenCreator contains"
        )

    def _skew(self, received: Received | None) -> str:
        """Say that this machine's clock is wrong, if it differs from the token server's."""
        theirs = http_date(received.headers.get("Date", "")) if received else None
        seconds = self.now() - theirs.timestamp() if theirs else 0.0
        if abs(seconds) < _MOST_SKEW:
            return ""
        direction = "ahead of" if seconds > 0 else "behind"
        return f"because the clock of this machine is {abs(seconds) / 60:.0f} minutes {direction} the server's; set it"


def _oauth_code(error: Exception) -> str:
    """Return the OAuth 2.0 code in an error of google-auth, which has the response or a text about it; else empty."""
    answer = next((item for item in error.args if isinstance(item, dict)), {})
    found = _CODE_IN_TEXT.match(str(next(iter(error.args), "")))
    code = found[1] if found is not None else answer.get("error")
    return code if isinstance(code, str) and _OAUTH_CODE.fullmatch(code) else ""


def _none_found() -> NoCredentials:
    """Say that Application Default Credentials cannot be used, and which file the environment names for them."""
    variable = google.auth.environment_vars.CREDENTIALS
    named = named_file(os.environ[variable]) if os.environ.get(variable) else ""
    if named:
        return NoCredentials(f"the environment variable {variable} does not name a file with credentials: {named}")
    return NoCredentials("gcpx has no credentials: Application Default Credentials were not found or cannot be read")


def _no_token(why: str) -> Unauthenticated:
    return Unauthenticated(f"Google did not issue an access token: {why}")


def _load(settings: Settings, scopes: tuple[str, ...], request: _Request) -> Any:
    """Load the credentials for calls: the configured ones, or the credentials of an account that they impersonate."""
    account = settings.impersonate_service_account
    if account is None:
        return _load_source(settings, scopes, request)
    from google.auth import impersonated_credentials  # noqa: PLC0415 - rarely needed

    return impersonated_credentials.Credentials(
        source_credentials=_load_source(settings, (_CLOUD_PLATFORM,), request),
        target_principal=account,
        target_scopes=list(scopes),
        delegates=settings.impersonate_service_account_delegates,
    )


def _load_source(settings: Settings, scopes: tuple[str, ...], request: _Request) -> Any:
    if settings.access_token is not None:
        from google.oauth2 import credentials  # noqa: PLC0415 - each kind is loaded when it is used

        return credentials.Credentials(settings.access_token)
    if settings.credentials is None:
        return google.auth.default(scopes=scopes, request=request)[0]
    wrong = problem(settings.credentials)
    if wrong:
        raise UserError(f"gcpx:credentials {wrong}")
    info = parsed(settings.credentials)
    try:  # google-auth advises against its own loader, which takes any type
        return _LOADERS[info["type"]](info, scopes)
    except Exception as error:
        raise UserError(f"gcpx:credentials {INCOMPLETE} ({type(error).__name__})") from error


def _service_account(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    from google.oauth2 import service_account  # noqa: PLC0415 - as above

    return service_account.Credentials.from_service_account_info(info, scopes=scopes)


def _authorized_user(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    from google.oauth2 import credentials  # noqa: PLC0415 - as above

    return credentials.Credentials.from_authorized_user_info(info, scopes=scopes)


def _external_account(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    source = info.get("credential_source") or {}
    if str(source.get("environment_id", "")).startswith("aws"):
        from google.auth import aws as found  # noqa: PLC0415 - as above
    elif "executable" in source:
        from gcpx.gcp.executable_source import ExecutableCredentials  # noqa: PLC0415 - as above

        return ExecutableCredentials.from_info(info, scopes=scopes)
    else:
        from google.auth import identity_pool as found  # noqa: PLC0415 - as above
    return found.Credentials.from_info(info, scopes=scopes)


def _impersonated(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    from google.auth import impersonated_credentials  # noqa: PLC0415 - as above

    return impersonated_credentials.Credentials.from_impersonated_service_account_info(info, scopes=scopes)


def _external_account_authorized_user(info: dict[str, Any], _scopes: tuple[str, ...]) -> Any:
    """Load a user of a workforce pool; the login decides the tokens' scopes."""
    from google.auth import external_account_authorized_user  # noqa: PLC0415 - as above

    return external_account_authorized_user.Credentials.from_info(info)


_LOADERS: Final[dict[str, Callable[[dict[str, Any], tuple[str, ...]], Any]]] = {
    "authorized_user": _authorized_user,
    "external_account": _external_account,
    "external_account_authorized_user": _external_account_authorized_user,
    "impersonated_service_account": _impersonated,
    "service_account": _service_account,
}
