"""What Pub/Sub's published description says of the settings of topics and subscriptions, and no schema can."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.store import Json

_DURATION: Final = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)s")
_DAY: Final = 86_400
_RETENTION: Final = (600, 31 * _DAY)
_BACKOFF: Final = (0, 600)
_LIFE: Final = (_DAY, 10**12)
_LEASE: Final = range(601)


def check_durations(body: Json) -> None:
    """Refuse times of a topic or a subscription that are too short or too long."""
    retry = body.get("retryPolicy") or {}
    for name in ("minimumBackoff", "maximumBackoff"):
        _check(f"retry_policy.{name}", retry.get(name), *_BACKOFF)
    _check("message_retention_duration", body.get("messageRetentionDuration"), *_RETENTION)
    _check("expiration_policy.ttl", (body.get("expirationPolicy") or {}).get("ttl"), *_LIFE)


def _check(name: str, value: Any, least: int, most: int) -> None:
    if value is None:
        return
    found = _DURATION.fullmatch(value)
    if found is None or not least <= float(found[1]) <= most:
        raise ApiError(400, f"Invalid {name} given ({value}); it is {least} to {most} seconds, such as '{least}s'.")


def check_lease(seconds: int) -> None:
    """Refuse a deadline of single messages that is none."""
    if seconds not in _LEASE:
        raise ApiError(400, f"Invalid ack deadline given (ack_deadline_seconds={seconds}); it is 0 to 600 seconds.")
