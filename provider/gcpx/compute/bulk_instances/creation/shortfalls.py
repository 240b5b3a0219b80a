"""Why a bulk creation fell short: the output `shortfalls`, and the lines of messages that say what to do next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gcpx.compute.bulk_instances.creation.causes import (
    ADDRESSES,
    CAUSES,
    OTHER,
    PERMISSION,
    QUOTA,
    STOCK_OUT,
    Quota,
    Reason,
)
from gcpx.model.fields import Record, output_field, record

Shortfalls = Mapping[Reason, int]
"""How many instances could not be created, by reason."""


@record
class Shortfall(Record):
    """Instances that could not be created for one reason."""

    cause: str = output_field(
        "Why the instances could not be created: `STOCK_OUT` if the zone has no capacity, `QUOTA` if a quota is used up, `ADDRESSES` if the subnetwork has no free address, `PERMISSION` if a permission is missing, `OTHER` for every other reason.",
        enum=CAUSES,
    )
    count: int = output_field("The number of instances that could not be created.")
    machine_type: str = output_field("The machine type of the instances; missing if it is not known.")
    message: str = output_field("Why the instances could not be created, and what to do next.")
    zone: str = output_field("The name of the zone; missing if it is not known.")
    zones_with_room: list[str] = output_field(
        "The names of the zones that have capacity, according to Google; empty if it names none."
    )


def shortfall_outputs(shortfalls: Shortfalls) -> list[dict[str, Any]]:
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


def shortfall_lines(shortfalls: Shortfalls) -> str:
    """Describe shortfalls for a message, one line each: how many, where, why, and what to do next."""
    return "\n".join(f"- {_subject(reason, count)}: {_explained(reason)}" for reason, count in shortfalls.items())


def _subject(reason: Reason, count: int) -> str:
    return f"{count:,} instance{'s' if count > 1 else ''}{f' in {reason.zone}' if reason.zone else ''}"


def _explained(reason: Reason) -> str:
    """Say why instances could not be created, and what to do next."""
    return _EXPLAINED[reason.cause](reason)


def _stock_out(reason: Reason) -> str:
    found = f"no capacity{f' for {reason.machine_type}' if reason.machine_type else ''}"
    if not reason.zones_with_room:
        return f"{found}: allow other zones with locationPolicy, allow other machine types with instanceFlexibilityPolicy, or add fallbacks"
    zones = ", ".join(reason.zones_with_room)
    return f"{found}, but Google has room in {zones}: allow these zones with locationPolicy, or name them in fallbacks"


def _quota(reason: Reason) -> str:
    return f"{_used_up(reason.quota) if reason.quota else _message(reason)}: request a higher quota, or delete what you do not need"


def _used_up(quota: Quota) -> str:
    known = {"limit": quota.limit, "usage": quota.usage}
    numbers = [f"{name} {number:,.15g}" for name, number in known.items() if number is not None]
    facts = ", ".join(filter(None, (quota.place, *numbers)))
    return f"the quota {quota.name} is used up{f' ({facts})' if facts else ''}"


def _addresses(reason: Reason) -> str:
    return f"{_message(reason)}: extend the subnetwork's range, or use another subnetwork"


def _permission(reason: Reason) -> str:
    return f"{_message(reason)}: grant the missing permission"


def _message(reason: Reason) -> str:
    return reason.message.rstrip(".") or "Google gave no reason"


_EXPLAINED: Final[Mapping[str, Callable[[Reason], str]]] = {
    ADDRESSES: _addresses,
    OTHER: _message,
    PERMISSION: _permission,
    QUOTA: _quota,
    STOCK_OUT: _stock_out,
}
