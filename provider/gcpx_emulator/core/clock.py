"""The time: reading it, waiting for it and formatting it. Tests use their own clocks."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime


class Clock:
    """The machine's clock, which tests can advance."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._advanced = asyncio.Event()

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let the clock show a later time, and wake what waits for it."""
        self._ahead += seconds
        self._advanced.set()
        self._advanced = asyncio.Event()

    def reset(self) -> None:
        """Show the machine's time again."""
        self._ahead = 0.0

    async def until(self, moment: float) -> None:
        """Wait for a time in seconds since 1970; it may return earlier, so callers check the time again."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._advanced.wait(), max(0.0, moment - self.now()))


def timestamp(moment: float | None = None) -> str:
    """Write a time, by default the machine's, as Google's APIs do: RFC 3339 in UTC with milliseconds."""
    when = datetime.fromtimestamp(moment if moment is not None else time.time(), UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
