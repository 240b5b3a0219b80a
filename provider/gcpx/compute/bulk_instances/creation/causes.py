"""Why Google did not create instances: one cause for all spellings of an error.

The same shortage is spelled differently in the response to a request (`quotaExceeded`) and in the errors of an operation
(`QUOTA_EXCEEDED`), and in different versions of the API.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from gcpx.gcp.errors import ApiError, PermissionDenied, QuotaExceeded
from gcpx.model.links import name_of

STOCK_OUT: Final = "STOCK_OUT"
QUOTA: Final = "QUOTA"
ADDRESSES: Final = "ADDRESSES"
PERMISSION: Final = "PERMISSION"
OTHER: Final = "OTHER"
CAUSES: Final = (ADDRESSES, OTHER, PERMISSION, QUOTA, STOCK_OUT)
_SHORTAGES: Final = frozenset({STOCK_OUT, QUOTA, ADDRESSES})
_CODES: Final[Mapping[str, str]] = {
    "resourceavailability": STOCK_OUT,
    "resourcepoolexhausted": STOCK_OUT,
    "stockout": STOCK_OUT,
    "zoneresourcepoolexhausted": STOCK_OUT,
    "zoneresourcepoolexhaustedwithdetails": STOCK_OUT,
    "limitexceeded": QUOTA,
    "quotaexceeded": QUOTA,
    "ipspaceexhausted": ADDRESSES,
    "ipspaceexhaustedwithdetails": ADDRESSES,
    "forbidden": PERMISSION,
    "iampermissiondenied": PERMISSION,
    "permissiondenied": PERMISSION,
    "permissionserror": PERMISSION,
}
"""Causes by Google's codes and reasons, in lower case and without underscores."""
_CLASSES: Final = {QuotaExceeded: QUOTA, PermissionDenied: PERMISSION}
"""Causes by the classes of errors, for responses that give no reason."""
_NO_CAUSE: Final = "vmmincountnotreached"
"""A code that only says that a shortage ended the whole creation."""
_CANCELED: Final = "operationcanceledbyuser"
"""The code of an instance that Google deleted again, because the whole creation failed; or that a user deleted."""


@attrs.frozen(kw_only=True)
class Quota:
    """A quota that is used up.

    Attributes:
        name: Google's name for it.
        place: what it applies to, such as `region us-east1`.
        limit: None if it is not known.
        usage: None if it is not known.
    """

    name: str
    place: str = ""
    limit: float | None = None
    usage: float | None = None


@attrs.frozen(kw_only=True)
class Reason:
    """Why instances were not created. Reasons that differ only in Google's message are the same.

    Attributes:
        cause: one of `CAUSES`.
        code: Google's code or reason; empty if Google gave none.
        zone: the name of the zone; empty if it is not known.
        machine_type: the name of the machine type; empty if it is not known.
        zones_with_room: the names of the zones that have capacity, according to Google.
        quota: the quota that is used up, if Google names it.
        message: Google's message for one of the instances.
    """

    cause: str = OTHER
    code: str = ""
    zone: str = ""
    machine_type: str = ""
    zones_with_room: tuple[str, ...] = ()
    quota: Quota | None = None
    message: str = attrs.field(default="", eq=False)

    @property
    def is_shortage(self) -> bool:
        """Whether other zones or machine types may help: capacity, quota or addresses are used up, or no code says why."""
        return self.cause in _SHORTAGES or not self.code

    @property
    def is_cancellation(self) -> bool:
        """Whether the creation was canceled. In a creation that failed as a whole, this is not the cause."""
        return _plain(self.code) == _CANCELED


def reason_of_operation(operation: Mapping[str, Any]) -> Reason:
    """Read why an operation (REST JSON) failed; without errors, the reason is empty."""
    errors = [item for item in (operation.get("error") or {}).get("errors") or () if isinstance(item, dict)]
    reasons = sorted((_reason(item) for item in errors), key=_rank)
    found = reasons[0] if reasons else Reason()
    return attrs.evolve(found, zone=found.zone or name_of(operation.get("zone") or ""))


def _rank(reason: Reason) -> tuple[bool, bool, bool]:
    """Return a key that sorts the reasons of one operation, the one that says most first."""
    return reason.is_cancellation, not reason.code, reason.cause == OTHER


def is_shortage(error: ApiError) -> bool:
    """Return whether an error says that capacity, a quota or addresses are used up."""
    return reason_of_error(error).cause in _SHORTAGES


def reason_of_error(error: ApiError) -> Reason:
    """Read why a request was refused, or why its operation failed."""
    if error.operation is not None:
        return reason_of_operation(error.operation)
    described = _described(error.details)
    causes = [_cause(code) for code in (error.reason, str(described.pop("reason"))) if _cause(code) != OTHER]
    causes += [cause for kind, cause in _CLASSES.items() if isinstance(error, kind)]
    cause = causes[0] if causes else OTHER
    return Reason(cause=cause, code=error.reason or type(error).__name__, message=error.message, **described)


def _reason(error: dict[str, Any]) -> Reason:
    """Read one error of an operation."""
    code, message = str(error.get("code") or ""), str(error.get("message") or "")
    described = _described(error.get("errorDetails") or ())
    reason = str(described.pop("reason"))
    if _plain(code) == _NO_CAUSE:
        return Reason(message=message)
    cause = _cause(code)
    return Reason(cause=_cause(reason) if cause == OTHER else cause, code=code, message=message, **described)


def _described(details: Iterable[Any]) -> dict[str, Any]:
    """Read the details of an error: Google's reason, zone, machine type, zones with room, and quota."""
    info: dict[str, Any] = {}
    quota: dict[str, Any] = {}
    for detail in details:
        if isinstance(detail, dict):
            info = detail.get("errorInfo") or (detail if "metadatas" in detail else info)
            quota = detail.get("quotaInfo") or quota
    data = info.get("metadatas") or {}
    zones = sorted(filter(None, (zone.strip() for zone in str(data.get("zonesAvailable") or "").split(","))))
    return {
        "reason": info.get("reason") or "",
        "zone": name_of(str(data.get("zone") or "")),
        "machine_type": name_of(str(data.get("vmType") or "")),
        "zones_with_room": tuple(zones),
        "quota": _quota(quota),
    }


def _quota(info: dict[str, Any]) -> Quota | None:
    name, limit = info.get("limitName") or info.get("metricName"), info.get("limit")
    if not name:
        return None
    place = ", ".join(f"{key} {value}" for key, value in (info.get("dimensions") or {}).items())
    return Quota(name=str(name), limit=float(limit) if isinstance(limit, int | float) else None, place=place)


def _cause(code: str) -> str:
    return _CODES.get(_plain(code), OTHER)


def _plain(code: str) -> str:
    return re.sub(r"[^a-z]", "", code.lower())
