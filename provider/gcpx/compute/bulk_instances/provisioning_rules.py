"""What flex start, reservations and run limits require or exclude in a fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gcpx.compute.bulk_instances.creation.attempts import with_fallback
from gcpx.compute.documentation import page, rest
from gcpx.model.rules import Violation, elements, nested, number, rule
from gcpx.model.values import UNKNOWN

_FLEX_START: Final = page("About Flex-start VMs")
_PROPERTIES: Final = "instanceProperties"
_MOST_SECONDS: Final = 604_800
"""Seven days."""


@rule(
    "FLEX_START requires maxRunDuration of at most 7 days, and excludes SPECIFIC_RESERVATION and MIGRATE", _FLEX_START
)
def flex_start_has_a_run_limit(values: dict[str, Any]) -> list[Violation]:
    """Refuse flex start without a run limit, or with what it excludes; also where a fallback uses it."""
    return _of_all_attempts(values, _flex_start)


@rule(
    "RESERVATION_BOUND requires reservationAffinity with SPECIFIC_RESERVATION",
    rest("instances", "scheduling.provisioningModel"),
)
def bound_instances_name_a_reservation(values: dict[str, Any]) -> list[Violation]:
    """Refuse reservation-bound instances without a reservation; also where a fallback makes them so."""
    return _of_all_attempts(values, _reservation_bound)


def _flex_start(values: dict[str, Any]) -> list[Violation]:
    properties = nested(values, "instanceProperties")
    scheduling = nested(properties, "scheduling")
    if scheduling.get("provisioningModel") != "FLEX_START":
        return []
    failures = _missing_run_limit(values, scheduling)
    if nested(properties, "reservationAffinity").get("consumeReservationType") == "SPECIFIC_RESERVATION":
        words = "must not be SPECIFIC_RESERVATION with FLEX_START, which does not use reservations"
        failures.append((f"{_PROPERTIES}.reservationAffinity.consumeReservationType", words))
    if scheduling.get("onHostMaintenance") == "MIGRATE":
        failures.append((f"{_PROPERTIES}.scheduling.onHostMaintenance", "must be TERMINATE with FLEX_START"))
    return failures


def _missing_run_limit(values: dict[str, Any], scheduling: dict[str, Any]) -> list[Violation]:
    """Find a missing run limit, which a template may have, or one that is too long."""
    limits = [scheduling.get(name) for name in ("maxRunDuration", "terminationTime")]
    if values.get("sourceInstanceTemplate") is None and all(limit is None for limit in limits):
        words = "is required with FLEX_START: set how long the instances run, at most 7 days"
        return [(f"{_PROPERTIES}.scheduling.maxRunDuration", words)]
    seconds = number(nested(scheduling, "maxRunDuration"), "seconds")
    if seconds is None or seconds <= _MOST_SECONDS:
        return []
    words = f"must be at most {_MOST_SECONDS:,} (7 days) with FLEX_START"
    return [(f"{_PROPERTIES}.scheduling.maxRunDuration.seconds", words)]


def _reservation_bound(values: dict[str, Any]) -> list[Violation]:
    properties = nested(values, "instanceProperties")
    if nested(properties, "scheduling").get("provisioningModel") != "RESERVATION_BOUND":
        return []
    affinity = properties.get("reservationAffinity")
    named = nested(properties, "reservationAffinity").get("consumeReservationType")
    if named in {"SPECIFIC_RESERVATION", UNKNOWN} or affinity is UNKNOWN or _may_be_in_template(values, affinity):
        return []
    words = "must be SPECIFIC_RESERVATION with RESERVATION_BOUND, so that the reservation is known"
    return [(f"{_PROPERTIES}.reservationAffinity.consumeReservationType", words)]


def _may_be_in_template(values: dict[str, Any], value: Any) -> bool:
    return value is None and values.get("sourceInstanceTemplate") is not None


def _of_all_attempts(values: dict[str, Any], find: Callable[[dict[str, Any]], list[Violation]]) -> list[Violation]:
    """Find what is wrong with the fleet's own properties, and with those that result from each fallback."""
    own = find(values)
    return own + [
        (("fallbacks", index), f"does not fit: {path} {words}")
        for index, fallback in elements(values, "fallbacks")
        for path, words in find(with_fallback(values, fallback))
        if (path, words) not in own
    ]
