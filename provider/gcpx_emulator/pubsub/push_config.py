"""The push settings of subscriptions."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_EMAIL: Final = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+")
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def check_push_config(config: Json) -> None:
    """Refuse push settings that Pub/Sub refuses or the emulator does not have."""
    endpoint = config.get("pushEndpoint", "")
    if endpoint and not _is_endpoint(endpoint):
        raise ApiError(400, f"Invalid push endpoint given (endpoint={endpoint}); it begins with https://.")
    if config.get("noWrapper"):
        raise ApiError(501, "pushes without a wrapper are not emulated")
    token = config.get("oidcToken")
    if token is not None and not _EMAIL.fullmatch(token.get("serviceAccountEmail", "")):
        raise ApiError(400, "The push configuration's service account e-mail is not valid.")


def _is_endpoint(endpoint: str) -> bool:
    """Return whether this is a URL with https, or one on this machine."""
    try:
        parts = urlsplit(endpoint)
        is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
        return bool(parts.hostname and parts.port != 0 and (parts.scheme == "https" or is_local))
    except ValueError:
        return False


def local_endpoint(subscription: Json) -> str:
    """Return the URL to which the emulator pushes a subscription's messages; empty unless it is on this machine."""
    endpoint = str(subscription.get("pushConfig", {}).get("pushEndpoint", ""))
    return endpoint if urlsplit(endpoint).hostname in _LOOPBACK else ""
