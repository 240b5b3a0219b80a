"""Scopes that cannot be reached and quotas that are not available, as set at `/_emulator/outages`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.locations import REGIONS, SCOPES
from gcpx_emulator.core.control_bodies import SWITCH, ControlBody, list_of
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.settings import setting

_BODY: Final = ControlBody(
    "outages",
    {
        "scopes": list_of("scopes", SCOPES),
        "alwaysPartial": SWITCH,
        "quotas": list_of("regions", REGIONS),
        "requireBasicQuota": SWITCH,
    },
)
_OUTAGES: Final = setting("outages", _BODY.check)


def unreachable(call: Call, scopes: Sequence[str]) -> Json:
    """Return a warning for each of these scopes that cannot be reached, by scope.

    Raises:
        ApiError: 503, if a scope cannot be reached, and neither the call nor the setting allows partial success.
    """
    outages = _OUTAGES.read(call.store)
    lost = [scope for scope in scopes if scope in outages.get("scopes", ())]
    is_partial = outages.get("alwaysPartial") or call.query.get("returnPartialSuccess") == "true"
    if lost and not is_partial:
        raise ApiError(
            503, f"Scope '{lost[0]}' cannot be reached. Try again, or allow partial success.", "backendError"
        )
    return {scope: scope_warning("UNREACHABLE", f"Scope '{scope}' cannot be reached.", scope) for scope in lost}


def scope_warning(code: str, message: str, scope: str) -> Json:
    """Write a warning about a scope."""
    return {"code": code, "message": message, "data": [{"key": "scope", "value": scope}]}


def without_unavailable_quotas(call: Call, region: Json) -> Json:
    """Replace the quotas of a region by a warning, if they are not available.

    Raises:
        ApiError: 503, if an organization's policy requires the quotas.
    """
    outages, name = _OUTAGES.read(call.store), region["name"]
    if name not in outages.get("quotas", ()):
        return region
    message = f"Quota information of region '{name}' is not available."
    if outages.get("requireBasicQuota"):
        raise ApiError(503, f"{message} The policy compute.requireBasicQuotaInResponse asks for it.", "backendError")
    kept = {key: value for key, value in region.items() if key != "quotas"}
    return kept | {"quotaStatusWarning": scope_warning("QUOTA_INFO_UNAVAILABLE", message, f"regions/{name}")}
