"""The time: reading it, waiting for it and formatting it. Tests use their own clocks."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time()

    async def until(self, moment: float) -> None:
        """Wait for a time in seconds since 1970; it may return earlier, so callers check the time again."""
        await asyncio.sleep(max(0.0, moment - self.now()))


def timestamp(moment: float | None = None) -> str:
    """Write a time, by default the machine's, as Google's APIs do: RFC 3339 in UTC with milliseconds."""
    when = datetime.fromtimestamp(moment if moment is not None else time.time(), UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
