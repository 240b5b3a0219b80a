"""Reads, awaits and formats times. Tests use their own clocks."""

from __future__ import annotations

import asyncio
import functools
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

LATEST: Final = 221_845_392_000
"""The latest time that a clock shows, in seconds since 1970: the beginning of the year 9000. Dates end soon after."""


class Clock:
    """The machine's clock, which tests can advance.

    Attributes:
        ahead: the seconds by which it was advanced.
    """

    def __init__(self) -> None:
        self.ahead = 0.0
        self._advanced = asyncio.Event()

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time() + self.ahead

    def advance(self, seconds: float) -> None:
        """Move the clock forward, and wake the tasks that wait for a time."""
        self.ahead += seconds
        self._advanced.set()
        self._advanced = asyncio.Event()

    def reset(self) -> None:
        """Show the machine's time again."""
        self.ahead = 0.0

    async def until(self, moment: float) -> None:
        """Wait for a time in seconds since 1970; it may return earlier, so callers must check the time again."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._advanced.wait(), max(0.0, moment - self.now()))


def timestamp(moment: float | None = None) -> str:
    """Write a time, by default the machine's, as Google's APIs do: RFC 3339 in UTC with milliseconds."""
    when = datetime.fromtimestamp(moment if moment is not None else time.time(), UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_SUNDAY: Final = 6
_PACIFIC: Final = timezone(timedelta(hours=-8))
_PACIFIC_IN_SUMMER: Final = timezone(timedelta(hours=-7))


def pacific_timestamp(moment: float | None = None) -> str:
    """Write a time, by default the machine's, as Compute does: with the offset of the west coast of the USA."""
    when = datetime.fromtimestamp(moment if moment is not None else time.time(), UTC)
    # The rules are written out because not every machine has a time zone database.
    begins = _sunday(when.year, 3, 2) + timedelta(hours=10)
    ends = _sunday(when.year, 11, 1) + timedelta(hours=9)
    zone = _PACIFIC_IN_SUMMER if begins <= when < ends else _PACIFIC
    return when.astimezone(zone).isoformat(timespec="milliseconds")


@functools.cache
def _sunday(year: int, month: int, number: int) -> datetime:
    """Return the start, in UTC, of the first, second, ... Sunday of a month."""
    first = datetime(year, month, 1, tzinfo=UTC)
    return first + timedelta(days=(_SUNDAY - first.weekday()) % 7 + 7 * (number - 1))
