"""Clocks for the emulator that tests control, so that no test has to sleep or depends on the machine's speed."""

from __future__ import annotations

import asyncio
import threading
import time

from gcpx_emulator.core.clock import Clock

HOUR = 3600.0
HANGS = 600.0
"""Seconds after which a wait fails, so that a test cannot hang; long enough for a very busy machine."""


class Fixed(Clock):
    """A clock that always shows the time that a test sets."""

    def __init__(self, moment: float = 1_700_000_000.0) -> None:
        super().__init__()
        self.moment = moment

    def now(self) -> float:
        return self.moment


class Steered(Clock):
    """A clock that a test advances. Unless it is held, waiting for a moment advances it to that moment at once."""

    def __init__(self) -> None:
        super().__init__()
        self._now = time.time()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._changed = threading.Condition()
        self._held = False

    def now(self) -> float:
        return self._now

    async def until(self, moment: float) -> None:
        with self._changed:
            if not self._held:
                self._now = max(self._now, moment)
                return
            woken = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), woken))
            self._changed.notify_all()
        await woken.wait()

    def hold(self) -> None:
        """Stop the clock: waiting no longer advances it."""
        self._held = True

    def release(self) -> None:
        """Let waiting advance the clock again."""
        self._held = False

    def wait_for_waiting(self) -> None:
        """Block until something waits for the clock."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, timeout=HANGS), "nothing waits for the clock"

    def advance(self, seconds: float) -> None:
        """Advance the clock, and wake everything that waits for it."""
        with self._changed:
            self._now += seconds
            waiting, self._waiting = self._waiting, []
        for loop, woken in waiting:
            loop.call_soon_threadsafe(woken.set)

    def reset(self) -> None:
        """Release the clock, and set it to the present."""
        self.release()
        self.advance(0)
        self._now = time.time()
