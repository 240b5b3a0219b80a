"""The reservations that instances consume: their declaration and rules."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, record
from gcpx.model.rules import Violation, rule, text

_NAME_KEY: Final = re.compile(r"(?:[a-z]+\.)?googleapis\.com/reservation-name")


@rule(
    "consumeReservationType SPECIFIC_RESERVATION requires key and values; ANY_RESERVATION and NO_RESERVATION exclude them",
    rest("instances", "reservationAffinity.consumeReservationType"),
)
def specific_reservations_require_key_and_values(values: dict[str, Any]) -> list[Violation]:
    """Refuse `key` and `values` where they are required and missing, or given and not used."""
    kind = values.get("consumeReservationType", "ANY_RESERVATION")
    if kind in ("ANY_RESERVATION", "NO_RESERVATION"):
        given = (name for name in ("key", "values") if values.get(name))
        return [(name, "requires consumeReservationType: SPECIFIC_RESERVATION") for name in given]
    if kind == "SPECIFIC_RESERVATION":
        missing = (name for name in ("key", "values") if not values.get(name))
        return [(name, "is required with SPECIFIC_RESERVATION") for name in missing]
    return []


@rule(
    "key should be compute.googleapis.com/reservation-name, which selects a reservation by its name",
    rest("instances", "reservationAffinity.key"),
    warns=True,
)
def reservation_key_selects_by_name(values: dict[str, Any]) -> list[Violation]:
    """Warn about other keys, which choose reservations by label."""
    key = text(values, "key")
    if not key or _NAME_KEY.fullmatch(key):
        return []
    return [
        (
            "key",
            "should be compute.googleapis.com/reservation-name, which selects a reservation by its name; other keys select by label, and this one is sent unchanged",
        )
    ]


@record
class ReservationAffinity(Record):
    """The reservations that instances consume."""

    RULES = (specific_reservations_require_key_and_values, reservation_key_selects_by_name)

    consume_reservation_type: str = field(
        "Which reservations to consume: any that fits (`ANY_RESERVATION`), those that `key` and `values` select (`SPECIFIC_RESERVATION`), or none (`NO_RESERVATION`). Values with `THEN` also say what happens when these have no capacity left. Default: `ANY_RESERVATION`.",
        enum=(
            "ANY_RESERVATION",
            "ANY_RESERVATION_THEN_FAIL",
            "NO_RESERVATION",
            "SPECIFIC_RESERVATION",
            "SPECIFIC_THEN_ANY_RESERVATION",
            "SPECIFIC_THEN_NO_RESERVATION",
        ),
        default="ANY_RESERVATION",
        source=rest("instances", "reservationAffinity.consumeReservationType"),
    )
    key: str = field(
        "The label key that selects reservations; `compute.googleapis.com/reservation-name` selects them by name. Required with `SPECIFIC_RESERVATION`."
    )
    values: list[str] = field(
        "The label values that select reservations: names such as `my-reservation`, or `projects/my-project/reservations/my-reservation` for a shared one. Required with `SPECIFIC_RESERVATION`.",
        identity="set",
    )
