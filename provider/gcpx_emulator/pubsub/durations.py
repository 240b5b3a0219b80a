"""Bounds of the durations in topics and subscriptions.

Source: the fields of `Topic` and `Subscription` in the REST reference of Pub/Sub.
"""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

_DURATION: Final = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)s")
_DAY: Final = 86_400
_RETENTION: Final = (600, 31 * _DAY)
_BACKOFF: Final = (0, 600)
_TIME_TO_LIVE: Final = (_DAY, 10**12)
_LEASES: Final = range(601)


def seconds_of(duration: object) -> float | None:
    """Read a duration such as `1.5s`; None if it is not one."""
    match = _DURATION.fullmatch(str(duration))
    return float(match[1]) if match else None


def check_durations(body: Json) -> None:
    """Refuse a topic or subscription with durations that are too short or too long."""
    retry, expiration = body.get("retryPolicy") or {}, body.get("expirationPolicy") or {}
    _check("retry_policy.minimumBackoff", retry.get("minimumBackoff"), _BACKOFF)
    _check("retry_policy.maximumBackoff", retry.get("maximumBackoff"), _BACKOFF)
    _check("message_retention_duration", body.get("messageRetentionDuration"), _RETENTION)
    _check("expiration_policy.ttl", expiration.get("ttl"), _TIME_TO_LIVE)


def _check(name: str, duration: str | None, bounds: tuple[int, int]) -> None:
    least, most = bounds
    seconds = seconds_of(duration)
    if duration is not None and (seconds is None or not least <= seconds <= most):
        raise ApiError(400, f"Invalid {name} given ({duration}); it is {least} to {most} seconds, such as '{least}s'.")


def check_lease(seconds: int) -> None:
    """Refuse a deadline that single messages cannot have."""
    if seconds not in _LEASES:
        raise ApiError(400, f"Invalid ack deadline given (ack_deadline_seconds={seconds}); it is 0 to 600 seconds.")
