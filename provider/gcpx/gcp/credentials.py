"""Who calls: from settings to an Authorization header, through google-auth."""

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

_CODE: Final = re.compile(r"[a-z_]{1,40}")
_CODES: Final = {
    "invalid_grant": "so the key or the refresh token has expired, was revoked, or belongs to another account",
    "invalid_client": "so the OAuth client of the credentials is unknown",
    "invalid_scope": "so gcpx:scopes contains a scope that does not exist",
    "unauthorized_client": "so the account is not allowed to request these scopes",
    "access_denied": "so the account is not allowed to do this",
}
CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"


class _Response(google.auth.transport.Response):  # type: ignore[misc]
    """An httpx answer as google-auth reads it."""

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
    """google-auth's own calls over our connection pool, so that proxies and certificates are the same."""

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
    """Tokens for one set of scopes each, refreshed before they expire."""

    settings: Settings
    client: httpx.Client
    _by_scopes: dict[tuple[str, ...], Any] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def header(self, scope: str, *, renew: bool = False) -> dict[str, str]:
        """Give the Authorization header for a scope; `renew` after Google refused the last token."""
        scopes = self.settings.scopes or (scope,)
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
                raise Unauthenticated(f"Google did not issue an access token: {_why(error)}") from error
        return headers


def _why(error: BaseException) -> str:
    """Say what went wrong without the text of the error, which may quote keys and tokens."""
    answer = next((item for item in error.args if isinstance(item, dict)), {})
    code = answer.get("error")
    if isinstance(code, str) and _CODE.fullmatch(code):
        return f"the token server answered {code}, {_CODES.get(code, 'see the OAuth 2.0 error codes')}"
    if isinstance(error, google.auth.exceptions.DefaultCredentialsError):
        return "Application Default Credentials were not found or cannot be read"
    if isinstance(error, google.auth.exceptions.TransportError):
        return "the token server did not respond"
    if isinstance(error, google.auth.exceptions.RefreshError):
        return "the token server refused the request"
    return f"the credentials cannot be used ({type(error).__name__})"


def _load(settings: Settings, scopes: tuple[str, ...]) -> Any:
    source = _source(settings, (CLOUD_PLATFORM,) if settings.impersonate else scopes)
    if settings.impersonate is None:
        return source
    from google.auth import impersonated_credentials  # noqa: PLC0415 - rarely needed

    return impersonated_credentials.Credentials(
        source_credentials=source,
        target_principal=settings.impersonate,
        target_scopes=list(scopes),
        delegates=list(settings.delegates),
    )


def _source(settings: Settings, scopes: tuple[str, ...]) -> Any:
    if settings.access_token is not None:
        from google.oauth2 import credentials  # noqa: PLC0415 - each kind is loaded when it is used

        return credentials.Credentials(settings.access_token)
    if settings.credentials is None:
        return google.auth.default(scopes=scopes)[0]
    return _of_type(_parsed(settings.credentials), scopes)


def _parsed(text: str) -> dict[str, Any]:
    """Read credentials given as JSON, or as the path of a file that holds it."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text()
        parsed: Any = json.loads(content)
    except (OSError, ValueError, RuntimeError):
        # The error's own text would show what was given.
        raise UserError("gcpx:credentials must be the path of a readable file, or valid JSON") from None
    if not isinstance(parsed, dict):
        raise UserError("gcpx:credentials must be a JSON object")
    return parsed


def _of_type(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    """Make credentials by their declared type; google-auth advises against its loader of any type."""
    load = _LOADERS.get(str(info.get("type")))
    if load is None:
        raise UserError(f"gcpx:credentials must have one of the types {', '.join(_LOADERS)}")
    try:
        return load(info, scopes)
    except Exception as error:
        raise UserError(
            f"gcpx:credentials must be complete credentials of type {info['type']}, as Google writes them "
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
