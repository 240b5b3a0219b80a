"""The threads in which the calls of the engine run: one for each call, so that no call waits for the end of another."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

import attrs

T = TypeVar("T")
_AT_ONCE: Final = 16
"""The calls that may run before the beginning of further ones is spread over time."""
_NAP: Final = 0.001
_CALM: Final = 0.003
"""Seconds. If a nap takes less, few threads compete for the interpreter."""
_LONGEST_DELAY: Final = 0.02
"""Seconds by which the beginning of one call may delay the next one, so that calls begin on a busy machine, too."""


@attrs.define(eq=False)
class CallThreads(Executor):
    """An executor with as many threads as there are calls; they do not hold up the end of the process.

    Only one thread of Python runs at a time. If hundreds of calls begin at once, each of them, and a cancellation, too,
    waits for all others whenever it needs the interpreter. So they begin one after the other: the next one when the
    threads that run leave the interpreter free, which most calls do as soon as they wait for Google.
    """

    _running: int = 0
    _waiting: deque[Callable[[], None]] = attrs.Factory(deque)
    _is_spreading: bool = False
    _lock: threading.Lock = attrs.Factory(threading.Lock)

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Run a function in a thread of its own."""
        result: Future[T] = Future()
        work: Callable[[], None] = partial(self._run, result, partial(function, *arguments, **named))
        with self._lock:
            self._running += 1
            if self._running > _AT_ONCE:
                self._waiting.append(work)
                work = self._begin_waiting
                if self._is_spreading:
                    return result
                self._is_spreading = True
        _start(work)
        return result

    def _begin_waiting(self) -> None:
        """Begin the calls that wait, until there are none."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_spreading = False
                    return
                work = self._waiting.popleft()
            _start(work)
            _wait_until_calm()

    def _run(self, result: Future[T], work: Callable[[], T]) -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            result.set_exception(error)
        finally:
            with self._lock:
                self._running -= 1


def serve_beside_calls(method: Callable[..., Any]) -> None:
    """Let a method of a servicer run in a thread of its own, so that it does not wait behind queued calls.

    gRPC takes the thread from this attribute. Without it, the method would run like all others.
    """
    method.__dict__["experimental_thread_pool"] = ThreadPoolExecutor(1)


def _start(work: Callable[[], None]) -> None:
    """Start a thread; while the operating system allows no more threads, wait for the end of others."""
    while True:
        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:
            time.sleep(_LONGEST_DELAY)
        else:
            return


def _wait_until_calm() -> None:
    begun = before = time.monotonic()
    while True:
        time.sleep(_NAP)
        now = time.monotonic()
        if now - before < _CALM or now - begun > _LONGEST_DELAY:
            return
        before = now
