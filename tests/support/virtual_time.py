"""A clock that several threads share: it moves only when all of them pause, so that no pause takes real time."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import attrs
from hurried import HurriedProvider
from steered import HANGS


@attrs.define(eq=False)
class VirtualTime:
    """The clock of some calls that run side by side.

    Attributes:
        moves: is called with the seconds by which the clock moves, for other clocks to move with it.
    """

    moves: Callable[[float], None]
    _now: float = 0.0
    _calls: int = 0
    _pausing: list[tuple[float, int, threading.Event]] = attrs.Factory(list)
    _numbers: Iterator[int] = attrs.Factory(count)
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def now(self) -> float:
        return self._now

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count one more call during the block: while it does not pause, the clock stands still."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._move()

    def pause(self, seconds: float) -> None:
        """Wait until the clock has moved on."""
        over = threading.Event()
        with self._lock:
            heapq.heappush(self._pausing, (self._now + seconds, next(self._numbers), over))
            self._move()
        assert over.wait(HANGS), "the clock does not move"

    def _move(self) -> None:
        """If all calls pause, move to the end of the first pause."""
        if not self._pausing or len(self._pausing) < self._calls:
            return
        moment, _, over = heapq.heappop(self._pausing)
        self.moves(max(0.0, moment - self._now))
        self._now = max(self._now, moment)
        over.set()


class _Cancelled(threading.Event):
    """The event that cancels calls; waiting for it pauses in virtual time."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time = time

    def wait(self, timeout: float | None = None) -> bool:
        self._time.pause(timeout or 0.0)
        return self.is_set()


class VirtualProvider(HurriedProvider):
    """A provider whose calls pause in virtual time."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time = time

    def configure(self, args: dict[str, object]) -> None:
        super().configure(args)
        assert self._client is not None
        self.cancelled, self.clock = _Cancelled(self._time), self._time.now
        self._client.clock = self.clock
