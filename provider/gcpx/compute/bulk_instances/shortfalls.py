"""Why a bulk creation created too few instances: the causes, from Google's errors, and the text for the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import Places
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.operations import Operation, Outcome
from gcpx.errors import safe_message, without_stop
from gcpx.gcp.errors import ApiError, PermissionDenied, QuotaExceeded
from gcpx.gcp.list_method import ListMethod
from gcpx.gcp.request import SHORT_PATIENCE
from gcpx.model.context import Context
from gcpx.model.fields import Record, nested, output_field, record, text
from gcpx.model.links import name_of
from gcpx.model.words import counted

if TYPE_CHECKING:
    from gcpx.compute.value_types import OperationErrorValues, ShortfallValues

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
        is_pinned: whether the instances must be in the zones of the members that they replace.
        shape: the target shape of the location policy, if this is what keeps members out of the zones with room.
        message: Google's message for one of the instances.
    """

    cause: str = OTHER
    code: str = ""
    zone: str = ""
    machine_type: str = ""
    zones_with_room: tuple[str, ...] = ()
    quota: Quota | None = None
    is_pinned: bool = False
    shape: str = ""
    message: str = attrs.field(default="", eq=False)

    @property
    def is_shortage(self) -> bool:
        """Whether other zones or machine types may help: capacity, quota or addresses are used up, or no code says why."""
        return self.cause in _SHORTAGES or not self.code

    @property
    def is_cancellation(self) -> bool:
        """Whether the creation was canceled. In a creation that failed as a whole, this is not the cause."""
        return _plain(self.code) == _CANCELED


def reason_of_operation(operation: Operation) -> Reason:
    """Read why an operation (REST JSON) failed; without errors, the reason is empty."""
    errors = [item for item in (operation.get("error") or {}).get("errors") or () if isinstance(item, dict)]

    def rank(reason: Reason) -> tuple[bool, bool, bool]:  # the one that says most first
        return reason.is_cancellation, not reason.code, reason.cause == OTHER

    found = min(map(_reason, errors), key=rank, default=Reason())
    return attrs.evolve(found, zone=found.zone or name_of(operation.get("zone") or ""))


def is_shortage(error: ApiError) -> bool:
    """Return whether an error says that capacity, a quota or addresses are used up."""
    return reason_of_error(error).cause in _SHORTAGES


def reason_of_error(error: ApiError) -> Reason:
    """Read why a request was refused, or why its operation failed."""
    if error.operation is not None:
        return reason_of_operation(cast("Operation", error.operation))
    described = _described(error.details)
    causes = [_cause(code) for code in (error.reason, str(described.pop("reason"))) if _cause(code) != OTHER]
    causes += [cause for kind, cause in _CLASSES.items() if isinstance(error, kind)]
    cause = causes[0] if causes else OTHER
    return Reason(cause=cause, code=error.reason or type(error).__name__, message=error.message, **described)


def _reason(error: OperationErrorValues) -> Reason:
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


def why_missing(
    context: Context,
    fleet: Fleet,
    body: Mapping[str, Any],
    outcome: Outcome,
    missing: int,
    places: Places,
    *,
    pinned: bool,
) -> Counter[Reason]:
    """Return why a bulk creation created fewer instances than its body asks for: how many for each reason.

    An instance gets the reason of the whole operation if its own operation gives none. If operations cannot be
    read, all instances get that one.

    Args:
        context: the engine's call.
        fleet: the fleet.
        body: the request (REST JSON); its machine type counts if Google names none.
        outcome: how it ended; without an operation if Google refused it.
        missing: how many instances it did not create.
        places: where the fleet may have members.
        pinned: `is_pinned` of the reasons.
    """
    whole = reason_of_error(outcome.error) if outcome.error else Reason()
    status = outcome.per_location.items()
    failed = {name_of(name): count for name, one in status if (count := one.get("failedToCreateVmCount"))}
    found: Counter[Reason] = Counter()
    try:
        for operation in _failed_operations(context, fleet, outcome.operation.get("operationGroupId"), failed):
            found[reason_of_operation(operation)] += 1
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the shortfall itself is reported
        problem = safe_message(error, "the operations of the instances")
        whole = whole if whole.message else attrs.evolve(whole, message=f"the reasons could not be read ({problem})")
    if outcome.error is not None:  # Google has then deleted what it had created, and its errors say only that
        found = Counter({reason: count for reason, count in found.items() if not reason.is_cancellation})
    for zone, number in failed.items():
        unexplained = number - sum(count for reason, count in found.items() if reason.zone == zone)
        if unexplained > 0:
            found[attrs.evolve(whole, zone=zone)] += unexplained
    asked = text(nested(cast("dict[str, Any]", body), "instanceProperties"), "machineType")
    completed: Counter[Reason] = Counter()
    for reason, count in (found or {whole: missing}).items():
        quota = _with_usage(context, fleet, reason.quota) if reason.quota else None
        machine_type = reason.machine_type or asked
        are_allowed = bool(reason.zones_with_room) and all(map(places.allows, reason.zones_with_room))
        completed[
            attrs.evolve(
                reason,
                quota=quota,
                machine_type=machine_type,
                is_pinned=pinned,
                shape=places.shape if are_allowed else "",
            )
        ] += count
    return completed


def _failed_operations(context: Context, fleet: Fleet, group: str | None, zones: Iterable[str]) -> Iterator[Operation]:
    """List the failed operations of a group in some zones; each is about one instance."""
    for zone in zones if group else ():
        listed = ListMethod(
            google=fleet.google,
            path=f"beta/projects/{fleet.project}/zones/{zone}/operations",
            query={"filter": f'operationGroupId = "{group}"'},
            fields="operationGroupId,zone,error(errors(code,message,errorDetails))",
            patience=SHORT_PATIENCE,
        )
        for page in listed.pages(context):
            # The filter is not relied on: a server that ignores it lists other operations, too.
            same = (item for item in page.get("items", ()) if item.get("operationGroupId") == group)
            yield from (item for item in same if item.get("error"))


def _with_usage(context: Context, fleet: Fleet, quota: Quota) -> Quota:
    """Add limit and usage of a quota from the region, if it is one of the region's."""
    metric = quota.name.partition("-per-")[0]
    try:
        known = {item.get("metric"): item for item in fleet.of_region(context, "quotas")}.get(metric, {})
    except Exception:  # noqa: BLE001 - the message only says less
        return quota
    limit = known.get("limit") if quota.limit is None else quota.limit
    return attrs.evolve(quota, limit=limit, usage=known.get("usage"))


@record
class Shortfall(Record):
    """Instances that could not be created for one reason."""

    cause: str = output_field(
        "Why the instances could not be created: `STOCK_OUT` if the zone has no capacity, `QUOTA` if a quota is used up, `ADDRESSES` if the subnetwork has no free address, `PERMISSION` if a permission is missing, `OTHER` for every other reason.",
        enum=CAUSES,
    )
    count: int = output_field("The number of instances that could not be created.")
    machine_type: str = output_field("The machine type of the instances; missing if it is not known.")
    message: str = output_field("Why the instances could not be created, and what to do next.", quotes=True)
    zone: str = output_field("The name of the zone; missing if it is not known.")
    zones_with_room: list[str] = output_field(
        "The names of the zones that have capacity, according to Google; empty if it names none."
    )


def shortfall_outputs(shortfalls: Mapping[Reason, int]) -> list[ShortfallValues]:
    """Return the engine values of the output `shortfalls`."""
    return [
        {
            "cause": reason.cause,
            "count": count,
            **({"machineType": reason.machine_type} if reason.machine_type else {}),
            "message": _explained(reason),
            **({"zone": reason.zone} if reason.zone else {}),
            "zonesWithRoom": list(reason.zones_with_room),
        }
        for reason, count in shortfalls.items()
    ]


def shortfall_lines(shortfalls: Mapping[Reason, int]) -> str:
    """Describe shortfalls for a message, one line each: how many, where, why, and what to do next."""
    return "\n".join(
        f"- {counted(count, 'instance')}{f' in {reason.zone}' if reason.zone else ''}: {_explained(reason)}"
        for reason, count in shortfalls.items()
    )


def is_message_of(reason: Reason, error: ApiError | None) -> bool:
    """Return whether the message of an error says all that is known about a reason, and what to do next."""
    only_message = reason.cause in _ONLY_MESSAGE and reason.quota is None
    return error is not None and only_message and reason.message == error.message


def _explained(reason: Reason) -> str:
    """Say why instances could not be created, and what to do next."""
    message = without_stop(reason.message) or "Google gave no reason"
    if reason.cause == STOCK_OUT:
        return _stock_out(reason)
    if reason.cause == QUOTA:
        used_up = _used_up(reason.quota) if reason.quota else message
        return f"{used_up}: request a higher quota, or delete what you do not need"
    if reason.cause == ADDRESSES:
        return f"{message}: extend the subnetwork's range, or use another subnetwork"
    return f"{message}: grant the missing permission" if reason.cause == PERMISSION else message


_OF_SHAPES: Final[Mapping[str, str]] = {
    "ANY": "try again later",
    "ANY_SINGLE_ZONE": "let members be in several zones, with the target shape ANY or BALANCED",
    "BALANCED": "let the members be spread less evenly, with the target shape ANY",
}
"""The advice if the zones with room are allowed already."""


def _stock_out(reason: Reason) -> str:
    found = f"no capacity{f' for {reason.machine_type}' if reason.machine_type else ''}"
    if reason.is_pinned:
        room = f", and Google reported room in {', '.join(reason.zones_with_room)}" if reason.zones_with_room else ""
        return f"{found}{room}: members that keep their names come back in their zones; to have them elsewhere, leave the zone out of locationPolicy and fallbacks"
    if not reason.zones_with_room:
        return f"{found}: allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy, or add fallbacks"
    zones = ", ".join(reason.zones_with_room)
    advice = _OF_SHAPES.get(reason.shape, "allow these zones with locationPolicy")
    return f"{found}, but Google reported room in {zones}: {advice}, or name them in fallbacks"


def _used_up(quota: Quota) -> str:
    known = {"limit": quota.limit, "usage": quota.usage}
    numbers = [f"{name} {number:,.15g}" for name, number in known.items() if number is not None]
    facts = ", ".join(filter(None, (quota.place, *numbers)))
    return f"the quota {quota.name} is used up{f' ({facts})' if facts else ''}"


_ONLY_MESSAGE: Final = frozenset({OTHER, PERMISSION, QUOTA})
"""The causes about which gcpx says no more than Google's message and the next step of its error."""
