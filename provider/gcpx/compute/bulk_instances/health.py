"""The health of a fleet's members: which of them are stopped, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.operation_fields import kind_of
from gcpx.gcp.errors import ApiError
from gcpx.gcp.list_method import ListMethod
from gcpx.model.call import Call
from gcpx.model.links import name_of

HEALTH_SOURCE: Final = "[health.py](provider/gcpx/compute/bulk_instances/health.py): stopped members"
"""The source of rules about stopped members, which gcpx defines itself, as a link in RULES.md."""
_STOPPED: Final = frozenset({"STOPPED", "STOPPING", "SUSPENDED", "SUSPENDING", "TERMINATED"})
_STOP_TIMES: Final = {
    "STOPPED": "lastStopTimestamp",
    "SUSPENDED": "lastSuspendedTimestamp",
    "TERMINATED": "lastStopTimestamp",
}
"""The field with the time of the stop, by status; it is not set before the stop has ended."""
_REASONS: Final = {
    "deferredStop": "RUN_LIMIT",
    "guestTerminate": "GUEST",
    "hostError": "HOST_ERROR",
    "preempted": "PREEMPTED",
    "stop": "REQUESTED",
    "suspend": "REQUESTED",
}
"""Why an instance was stopped, by the kind of the operation that stopped it."""
_FILTER: Final = f'operationType eq "(.*[.])?({"|".join(_REASONS)})"'
"""Some types begin with the collection, as in `compute.instances.preempted`."""
_FIELDS: Final = "operationType,targetId,insertTime,error(errors(code))"
_PATIENCE: Final = 10.0
"""Seconds of retries. The reasons only inform, so a refresh does not wait long for them."""


def is_stopped(instance: Instance) -> bool:
    """Return whether an instance is stopped, suspended, or about to be, and so does not count as running."""
    return instance.get("status") in _STOPPED


def keeps_stopped(inputs: dict[str, Any]) -> bool:
    """Return whether a fleet's inputs say that stopped members stay stopped, and count as existing."""
    return inputs.get("onStopped") == "KEEP"


def stop_reasons(call: Call, fleet: Fleet, members: list[Instance]) -> dict[str, str]:
    """Find out why members were stopped, from the operations of their zones.

    Sends one list for each zone with stopped members, and no request if none is stopped.

    Args:
        call: the engine's call; its progress says which lists could not be read.
        fleet: the fleet.
        members: the members to explain; running ones are skipped.

    Returns:
        The reasons (`stopReason` of the outputs) by instance ID. A reason that is not known is left out, also if the
        operations cannot be listed.
    """
    stopped = [member for member in members if is_stopped(member)]
    stops = _stops_by_instance(call, fleet, sorted({name_of(member["zone"]) for member in stopped}))
    found = {str(member["id"]): _reason(member, stops[str(member["id"])]) for member in stopped}
    return {key: reason for key, reason in found.items() if reason is not None}


@attrs.frozen
class _Stop:
    """An operation that stopped an instance.

    Attributes:
        instance: the instance's ID.
        at: when the operation was requested.
        reason: the reason that its type stands for.
    """

    instance: str
    at: datetime
    reason: str


def _stops_by_instance(call: Call, fleet: Fleet, zones: list[str]) -> defaultdict[str, list[_Stop]]:
    """List the operations that stopped instances in some zones, by instance ID; the zones are read in parallel."""
    found: defaultdict[str, list[_Stop]] = defaultdict(list)
    for stops in call.side_by_side(partial(_stops, call, fleet), zones):
        for stop in stops:
            found[stop.instance].append(stop)
    return found


def _stops(call: Call, fleet: Fleet, zone: str) -> list[_Stop]:
    """List what stopped instances in a zone; if reading fails, say so and return what was read before."""
    path = f"v1/projects/{fleet.project}/zones/{zone}/operations"
    query = {"filter": _FILTER}
    method = ListMethod(google=fleet.google, path=path, query=query, fields=_FIELDS, patience=_PATIENCE)
    found: list[_Stop] = []
    try:
        for page in method.pages(call):
            found.extend(_stops_of(page.get("items", ())))
    except ApiError as error:
        call.progress(f"the reasons why instances in {zone} are stopped cannot be read: {error}")
    return found


def _stops_of(operations: Any) -> Iterator[_Stop]:
    """Read operations (REST JSON); those that failed stopped nothing."""
    for operation in operations:
        at, reason = _time(operation.get("insertTime")), _REASONS.get(kind_of(operation))
        if at is not None and reason is not None and not operation.get("error"):
            yield _Stop(str(operation.get("targetId")), at, reason)


def _reason(member: Instance, stops: list[_Stop]) -> str | None:
    """Return the reason of the latest stop between the last start of a member and its present stop, if any."""
    started, stopped = _time(member.get("lastStartTimestamp")), _stop_time(member)
    fitting = [
        stop for stop in stops if (started is None or started <= stop.at) and (stopped is None or stop.at <= stopped)
    ]
    return max(fitting, key=lambda stop: stop.at).reason if fitting else None


def _stop_time(member: Instance) -> datetime | None:
    """Return when a member's present stop ended; None if it has not ended yet, or if Google does not say."""
    return _time(member.get(_STOP_TIMES.get(member.get("status", ""), "")))


def _time(text: Any) -> datetime | None:
    """Parse a timestamp (RFC 3339); None if it is missing or malformed."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
