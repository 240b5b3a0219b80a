"""Clocks for the emulator that a test steers: no test waits for them, and none can be too late."""

from __future__ import annotations

import asyncio
import threading
import time

from gcpx_emulator.core.clock import Clock

HOUR = 3600.0
HANGS = 600.0
"""Seconds after which nothing comes any more, however busy the machine is: a failure instead of a test that hangs."""


class Fixed(Clock):
    """Time that is what a test sets, and passes no further."""

    def __init__(self, moment: float = 1_700_000_000.0) -> None:
        self.moment = moment

    def now(self) -> float:
        return self.moment


class Steered(Clock):
    """Time that passes when a test says so, and when somebody waits: who waits is there at once, unless it is held."""

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
        """Let nobody's waiting pass the time: it stands still."""
        self._held = True

    def release(self) -> None:
        """Let time pass again for whoever waits from now on."""
        self._held = False

    def wait_for_waiting(self) -> None:
        """Return when somebody waits for the time to pass."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, timeout=HANGS), "nobody waits"

    def advance(self, seconds: float) -> None:
        """Let time pass; whoever waits looks again."""
        with self._changed:
            self._now += seconds
            waiting, self._waiting = self._waiting, []
        for loop, woken in waiting:
            loop.call_soon_threadsafe(woken.set)

    def reset(self) -> None:
        """Begin at the present, held by nobody."""
        self.release()
        self.advance(0)
        self._now = time.time()
