"""The time, and waiting for it: tests bring clocks of their own."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """The machine's clock."""

    def now(self) -> float:
        """Give the seconds since 1970."""
        return time.time()

    async def until(self, moment: float) -> None:
        """Wait until a time, or return earlier; callers check again."""
        await asyncio.sleep(max(0.0, moment - self.now()))
