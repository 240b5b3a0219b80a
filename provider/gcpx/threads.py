"""The threads of the plugin, for the calls of the engine and for requests to Google.

Starting a thread takes time, so threads are reused. None delays the end of the process.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")
_MOST_IDLE: Final = 16
"""The number of idle threads that are kept for further work."""
_AT_ONCE: Final = 16
"""The number of running calls above which the starts of further calls are spread over time."""
_NAP: Final = 0.001
_CALM: Final = 0.003
"""The longest duration of a nap, in seconds, if few threads compete for the interpreter."""
_LONGEST_DELAY: Final = 0.02
"""The longest delay between the starts of two calls in seconds, so that calls also start on a busy machine."""


class Threads:
    """A pool with one thread for each piece of work; idle threads take the next one."""

    def __init__(self) -> None:
        self._idle = 0
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        """Work that no thread has started; for each element, a thread waits."""
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Start work, as `begin` does, once the operating system allows a thread or other work has ended."""
        while not self.begin(work):
            time.sleep(_LONGEST_DELAY)

    def begin(self, work: Callable[[], None]) -> bool:
        """Start work, which raises nothing, in a thread of its own, and do not wait for its end.

        Returns false, without starting it, if the operating system allows no more threads now.
        """
        with self._lock:
            has_idle = self._idle > 0
            self._idle -= has_idle
        if not has_idle:
            try:
                threading.Thread(target=self._serve, daemon=True).start()
            except RuntimeError:
                return False
        self._work.put(work)
        return True

    def _serve(self) -> None:
        while True:
            work = self._work.get()
            work()
            del work  # an idle thread must not keep a request and its response
            with self._lock:
                if self._idle == _MOST_IDLE:
                    return
                self._idle += 1


class CallThreads(Executor):
    """An executor with as many threads as there are calls.

    Only one thread of Python runs at a time. If hundreds of calls start at once, each of them, and a cancellation, too,
    waits for all others whenever it needs the interpreter. So they start one after the other: the next one when the
    running threads leave the interpreter free, as most do while they wait for Google, or when a call has ended, in
    its thread.

    If the operating system allows no thread now, calls wait in the same way, so that `submit` never waits.
    """

    def __init__(self) -> None:
        self._threads = Threads()
        self._running = 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        threading.Thread(target=self._begin_waiting, daemon=True).start()

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Run a function in a thread of its own."""
        result: Future[T] = Future()
        with self._changed:
            self._waiting.append(partial(_call, result, partial(function, *arguments, **named)))
            if self._running < _AT_ONCE and self._threads.begin(self._serve):
                self._running += 1
            else:
                self._changed.notify()
        return result

    def _begin_waiting(self) -> None:
        """Start threads for the waiting calls, one after the other, as long as the process runs."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                self._running += 1
            self._threads.run(self._serve)
            _wait_until_calm()

    def _serve(self) -> None:
        """Run the waiting calls, until there are none."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._running -= 1
                    return
                call = self._waiting.popleft()
            call()
            del call


def _call(result: Future[T], function: Callable[[], T]) -> None:
    try:
        result.set_result(function())
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
        result.set_exception(error)


def _wait_until_calm() -> None:
    begun = before = time.monotonic()
    while True:
        time.sleep(_NAP)
        now = time.monotonic()
        if now - before < _CALM or now - begun > _LONGEST_DELAY:
            return
        before = now
