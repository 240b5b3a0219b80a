"""Clocks for the emulator that tests control, so that no test depends on real time."""

from __future__ import annotations

import asyncio
import threading
import time

from gcpx_emulator.core.clock import Clock

HOUR = 3600.0
HANGS = 600.0
"""Seconds after which a wait is a failure, even on a busy machine; otherwise a test would hang."""


class Fixed(Clock):
    """Time that stands still at a moment that a test sets."""

    def __init__(self, moment: float = 1_700_000_000.0) -> None:
        self.moment = moment

    def now(self) -> float:
        return self.moment


class Steered(Clock):
    """Time that passes when a test advances it, and when somebody waits for it: unless it is held, no wait takes time."""

    def __init__(self) -> None:
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
        """Let time stand still until it is advanced, also for those who wait."""
        self._held = True

    def release(self) -> None:
        """Let time pass again for those who wait from now on."""
        self._held = False

    def wait_for_waiting(self) -> None:
        """Return once somebody waits for the time to pass."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, timeout=HANGS), "nobody waits"

    def advance(self, seconds: float) -> None:
        """Let time pass; those who wait check the time again."""
        with self._changed:
            self._now += seconds
            waiting, self._waiting = self._waiting, []
        for loop, woken in waiting:
            loop.call_soon_threadsafe(woken.set)

    def reset(self) -> None:
        """Return to the present; time is not held."""
        self.release()
        self.advance(0)
        self._now = time.time()
