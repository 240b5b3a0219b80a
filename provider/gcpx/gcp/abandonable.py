"""Calls that are abandoned on cancellation."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from gcpx.errors import CancelledError
from gcpx.model.call import Call

T = TypeVar("T")
_NOTICED_WITHIN: Final = 0.2
"""The maximum number of seconds until a cancellation is noticed."""


def unless_cancelled(call: Call, work: Callable[[], T]) -> T:
    """Do work that only reads, and return its result; if the user cancels meanwhile, ignore its result.

    Raises:
        CancelledError: the user cancelled before the work was done.
        Exception: whatever the work raises.
    """
    results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    threading.Thread(target=_report, args=(work, results), daemon=True).start()
    while True:
        try:
            result, error = results.get(timeout=_NOTICED_WITHIN)
        except queue.Empty:
            if call.cancelled.is_set():
                raise CancelledError("cancelled while waiting for a response") from None
            continue
        if error is not None:
            raise error
        found: T = result
        return found


def _report(work: Callable[[], Any], results: queue.SimpleQueue[tuple[Any, BaseException | None]]) -> None:
    try:
        results.put((work(), None))
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
        results.put((None, error))
