"""Who calls: from settings to an Authorization header, through google-auth."""

from __future__ import annotations

import json
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
from gcpx.google.errors import Unauthenticated
from gcpx.google.settings import Settings

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
            except google.auth.exceptions.GoogleAuthError as error:
                raise Unauthenticated(f"no access token could be had: {_first(error)}") from error
        return headers


def _first(error: Exception) -> str:
    return str(error.args[0] if error.args else error)


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
        parsed: dict[str, Any] = json.loads(content)
    except (OSError, ValueError):
        # The error's own text would show what was given.
        raise UserError("gcpx:credentials is neither the path of a readable file nor valid JSON") from None
    return parsed


def _of_type(info: dict[str, Any], scopes: tuple[str, ...]) -> Any:
    """Make credentials by their declared type; google-auth advises against its loader of any type."""
    kind = info.get("type")
    if kind not in _LOADERS:
        raise UserError(f"gcpx:credentials are of type {kind!r}; known are {', '.join(_LOADERS)}")
    return _LOADERS[kind](info, scopes)


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
