"""Scopes that cannot be reached, and quotas that cannot be told, as ordered at `/_emulator/outages`."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call
from gcpx_emulator.core.store import Json

OUTAGES: Final = "outages/all"
"""Where orders are kept: {"scopes": [SCOPE, ...], "quotas": [REGION, ...], "requireBasicQuota": BOOLEAN}."""


def orders(call: Call) -> Json:
    """Give what was ordered."""
    return call.store.get(OUTAGES) or {}


def unreachable(call: Call, scopes: list[str]) -> Json:
    """Name the scopes that are out of reach, with their warnings; without leave to go on, fail."""
    lost = [scope for scope in scopes if scope in orders(call).get("scopes", ())]
    if lost and call.query.get("returnPartialSuccess") != "true":
        raise ApiError(
            503, f"Scope '{lost[0]}' cannot be reached. Try again, or allow partial success.", "backendError"
        )
    return {scope: scope_warning("UNREACHABLE", f"Scope '{scope}' cannot be reached.", scope) for scope in lost}


def scope_warning(code: str, message: str, scope: str) -> Json:
    """Write a warning about a scope."""
    return {"code": code, "message": message, "data": [{"key": "scope", "value": scope}]}


def without_quotas(call: Call, region: Json) -> Json:
    """Leave out quotas that cannot be told; an organization's policy can forbid that."""
    if region["name"] not in orders(call).get("quotas", ()):
        return region
    words = f"Quota information of region '{region['name']}' is not available."
    if orders(call).get("requireBasicQuota"):
        raise ApiError(503, f"{words} The policy compute.requireBasicQuotaInResponse asks for it.", "backendError")
    kept = {key: value for key, value in region.items() if key != "quotas"}
    return kept | {"quotaStatusWarning": scope_warning("QUOTA_INFO_UNAVAILABLE", words, f"regions/{region['name']}")}
