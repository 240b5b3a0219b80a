"""The threads of the plugin, for the calls of the engine and for requests to Google."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Threads(Executor):
    """An executor with as many threads as there are pieces of work; idle threads take the next one.

    It differs from Python's own in two ways. No thread delays the end of the process. And `submit` never fails: if the
    operating system allows no more threads, the work waits until other work has ended.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._unfinished = 0
        self._threads = 0
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Run a function in a thread of its own."""
        result: Future[T] = Future()
        with self._lock:
            self._unfinished += 1
            if self._unfinished > self._threads:
                with contextlib.suppress(RuntimeError):
                    threading.Thread(target=self._serve, daemon=True).start()
                    self._threads += 1
        self._work.put(partial(_run, result, partial(function, *arguments, **named)))
        return result

    def _serve(self) -> None:
        while True:
            work = self._work.get()
            work()
            del work  # an idle thread must not keep a request and its response
            with self._lock:
                self._unfinished -= 1


def _run(result: Future[T], function: Callable[[], T]) -> None:
    try:
        result.set_result(function())
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
        result.set_exception(error)
