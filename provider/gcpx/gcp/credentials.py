"""Credentials: from the settings to an Authorization header, through google-auth."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs
import google.auth
import google.auth.exceptions
import google.auth.transport
import httpx

from gcpx.errors import UserError
from gcpx.gcp.errors import Unauthenticated
from gcpx.gcp.settings import Settings

_OAUTH_CODE: Final = re.compile(r"[a-z_]{1,40}")
_OAUTH_CODES: Final = {
    "invalid_grant": "so the key or the refresh token has expired, was revoked, or belongs to another account",
    "invalid_client": "so the OAuth client of the credentials is unknown",
    "invalid_scope": "so gcpx:scopes contains a scope that does not exist",
    "unauthorized_client": "so the account is not allowed to request these scopes",
    "access_denied": "so the account is not allowed to do this",
}
"""What the errors of a token server mean, by OAuth 2.0's code."""
_CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"


class _Response(google.auth.transport.Response):  # type: ignore[misc]
    """An httpx response as google-auth reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Any:
        return self._response.headers

    @property
    def data(self) -> bytes:
        return self._response.content


class _Request(google.auth.transport.Request):  # type: ignore[misc]
    """google-auth's own requests, sent through our connection pool, with the same proxies and certificates."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def __call__(
        self, url: str, method: str = "GET", body: Any = None, headers: Any = None, timeout: float = 60, **_: Any
    ) -> _Response:
        try:
            return _Response(self._client.request(method, url, content=body, headers=headers, timeout=timeout))
        except httpx.HTTPError as error:
            raise google.auth.exceptions.TransportError(error) from error


@attrs.define
class Credentials:
    """The access tokens of one configuration: one for each set of scopes, refreshed before it expires."""

    settings: Settings
    client: httpx.Client
    _by_scopes: dict[tuple[str, ...], Any] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def header(self, scope: str, *, renew: bool = False) -> dict[str, str]:
        """Return the headers that authorize a call with a scope; `renew` asks for a new token.

        Raises UserError if the configured credentials cannot be used, and Unauthenticated if no token is issued for
        them.
        """
        scopes = tuple(self.settings.scopes) or (scope,)
        headers: dict[str, str] = {}
        with self._lock:
            try:
                credentials = self._by_scopes.get(scopes) if not renew else None
                if credentials is None:
                    credentials = self._by_scopes[scopes] = _load(self.settings, scopes)
                credentials.before_request(_Request(self.client), "GET", "", headers)
            except UserError:
                raise
            except Exception as error:
                raise Unauthenticated(f"Google did not issue an access token: {_explain(error)}") from error
        return headers


def _explain(error: BaseException) -> str:
    """Say what went wrong, without the text of the error, which may quote keys and tokens."""
    answer = next((item for item in error.args if isinstance(item, dict)), {})
    code = answer.get("error")
    if isinstance(code, str) and _OAUTH_CODE.fullmatch(code):
        return f"the token server answered {code}, {_OAUTH_CODES.get(code, 'see the OAuth 2.0 error codes')}"
    if isinstance(error, google.auth.exceptions.DefaultCredentialsError):
        return "Application Default Credentials were not found or cannot be read"
    if isinstance(error, google.auth.exceptions.TransportError):
        return "the token server did not respond"
    if isinstance(error, google.auth.exceptions.RefreshError):
        return "the token server refused the request"
    return f"the credentials cannot be used ({type(error).__name__})"


def _load(settings: Settings, scopes: tuple[str, ...]) -> Any:
    """Load the credentials that calls use: the configured ones, or those of the account that they impersonate."""
    account = settings.impersonate_service_account
    if account is None:
        return _load_source(settings, scopes)
    from google.auth import impersonated_credentials  # noqa: PLC0415 - rarely needed

    return impersonated_credentials.Credentials(
        source_credentials=_load_source(settings, (_CLOUD_PLATFORM,)),
        target_principal=account,
        target_scopes=list(scopes),
        delegates=settings.impersonate_service_account_delegates,
    )


def _load_source(settings: Settings, scopes: tuple[str, ...]) -> Any:
    if settings.access_token is not None:
        from google.oauth2 import credentials  # noqa: PLC0415 - each kind is loaded when it is used

        return credentials.Credentials(settings.access_token)
    if settings.credentials is None:
        return google.auth.default(scopes=scopes)[0]
    return _load_json(_parsed(settings.credentials), scopes)


def _parsed(text: str) -> dict[str, Any]:
    """Read credentials that are JSON, or the path of a file with JSON."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text()
        parsed: Any = json.loads(content)
    except (OSError, ValueError, RuntimeError):
        # The text of the error would quote what was given.
        raise UserError("gcpx:credentials must be the path of a readable file, or valid JSON") from None
    if not isinstance(parsed, dict):
        raise UserError("gcpx:credentials must be a JSON object")
    return parsed


def _load_json(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    """Load credentials by their `type`; google-auth advises against its own loader, which takes any type."""
    load = _LOADERS.get(str(info.get("type")))
    if load is None:
        raise UserError(f"gcpx:credentials must have one of the types {', '.join(_LOADERS)}")
    try:
        return load(info, scopes)
    except Exception as error:
        raise UserError(
            f"gcpx:credentials must have every field of type {info['type']}, as in the file that Google creates "
            f"({type(error).__name__})"
        ) from error


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
        from google.auth import pluggable as found  # noqa: PLC0415 - as above
    else:
        from google.auth import identity_pool as found  # noqa: PLC0415 - as above
    return found.Credentials.from_info(info, scopes=scopes)


def _impersonated(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    from google.auth import impersonated_credentials  # noqa: PLC0415 - as above

    return impersonated_credentials.Credentials.from_impersonated_service_account_info(info, scopes=scopes)


_LOADERS: Final[dict[str, Callable[[dict[str, Any], tuple[str, ...]], Any]]] = {
    "authorized_user": _authorized_user,
    "external_account": _external_account,
    "impersonated_service_account": _impersonated,
    "service_account": _service_account,
}
