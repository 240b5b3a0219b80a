"""What the provider was told about Google Cloud."""

from __future__ import annotations

import json
from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class Settings:
    """Resolved settings; credentials stay here and are never part of a resource.

    Attributes:
        quota_project: the project calls are counted on, where the user overrides it.
        request_timeout: seconds one HTTP request may take.
        endpoints: base URLs by API, None for Google's own.
        validate_online: check at preview what only Google can tell.
        emulator_host: host and port that answer for every API, without credentials.
    """

    project: str | None = None
    region: str | None = None
    zone: str | None = None
    credentials: str | None = attrs.field(default=None, repr=False)
    access_token: str | None = attrs.field(default=None, repr=False)
    impersonate: str | None = None
    delegates: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    quota_project: str | None = None
    request_reason: str | None = None
    request_timeout: float = 120.0
    universe_domain: str = "googleapis.com"
    endpoints: Mapping[str, str | None] = attrs.Factory(dict)
    validate_online: bool = False
    emulator_host: str | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """Texts that no message may hold."""
        return frozenset(filter(None, (self.access_token, self.credentials, *_parts(self.credentials or ""))))


def _parts(credentials: str) -> list[str]:
    """Give the secret parts of credentials in JSON, so that no part of them is shown."""
    try:
        found = json.loads(credentials)
    except (ValueError, RecursionError):
        return []
    names = ("private_key", "private_key_id", "client_secret", "refresh_token")
    return [str(found[name]) for name in names if found.get(name)] if isinstance(found, dict) else []
