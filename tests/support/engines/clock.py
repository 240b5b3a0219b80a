"""The clock of tests, so that no test has to sleep or depends on the machine's speed."""

from __future__ import annotations

import asyncio
import heapq
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

from gcpx_emulator.core.clock import Clock

HOUR: Final = 3600.0
HANGS: Final = 600.0
"""Seconds after which a wait fails, so that a test cannot hang; long enough for a very busy machine."""


class FakeClock(Clock):
    """A clock that does not move by itself. Plugins and an emulator can have one each, or share one.

    - A plugin's pause ends at once, and moves the clock to its end.
    - If several calls run side by side (`call`), the clock moves when all of them pause, to the end of the first pause.
    - What waits in the emulator moves the clock at once, too, unless the clock is held (`hold`): then it waits until the
      clock is moved.

    Attributes:
        pauses: the seconds of each pause since the last reset.
    """

    def __init__(self, now: float = 0.0) -> None:
        super().__init__()
        self.pauses: list[float] = []
        self._now = now
        self._held = False
        self._calls = 0
        self._pausing: list[tuple[float, int, threading.Event]] = []
        self._numbers = count()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._changed = threading.Condition()

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass, and wake everything in the emulator that waits for the clock."""
        with self._changed:
            self._move(self._now + seconds)

    def reset(self) -> None:
        """Release the clock, forget its pauses, and show the machine's time."""
        with self._changed:
            self._held = False
            self.pauses.clear()
            self._move(time.time())

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
        """Let what waits in the emulator wait until the clock is moved."""
        self._held = True

    def release(self) -> None:
        """Let what waits in the emulator move the clock again."""
        self._held = False

    def wait_for_waiting(self) -> None:
        """Block until something in the emulator waits for the clock."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, timeout=HANGS), "nothing waits for the clock"

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count one more call during the block: while it does not pause, the pauses of others do not end."""
        with self._changed:
            self._calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                self._end_first_pause()

    def pause(self, seconds: float) -> None:
        """Wait as a plugin does."""
        over = threading.Event()
        with self._changed:
            self.pauses.append(seconds)
            heapq.heappush(self._pausing, (self._now + seconds, next(self._numbers), over))
            self._end_first_pause()
        assert over.wait(HANGS), "the clock does not move"

    def cancellation(self, *, at_first_pause: bool = False) -> threading.Event:
        """Return an event that cancels calls; to wait for it is a pause. It can be set in the first pause."""
        return _Cancellation(self, at_first_pause=at_first_pause)

    def _end_first_pause(self) -> None:
        """Move to the end of the first pause, if all calls pause."""
        if not self._pausing or len(self._pausing) < self._calls:
            return
        moment, _, over = heapq.heappop(self._pausing)
        self._move(max(self._now, moment))
        over.set()

    def _move(self, moment: float) -> None:
        """Show a time, and wake what waits in the emulator."""
        self._now = moment
        waiting, self._waiting = self._waiting, []
        for loop, woken in waiting:
            loop.call_soon_threadsafe(woken.set)


class _Cancellation(threading.Event):
    """The event that cancels calls; waiting for it is a pause of a clock."""

    def __init__(self, clock: FakeClock, *, at_first_pause: bool) -> None:
        super().__init__()
        self._clock = clock
        self._at_first_pause = at_first_pause

    def wait(self, timeout: float | None = None) -> bool:
        seconds = timeout or 0.0
        if self._at_first_pause:
            self._clock.pauses.append(seconds)
            self.set()
        elif not self.is_set():
            self._clock.pause(seconds)
        return self.is_set()
