"""Requests that nobody has to wait for: a cancellation, or the end of their time, leaves them behind."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import attrs

from gcpx.errors import CancelledError
from gcpx.gcp.errors import TimedOut, Unfinished
from gcpx.gcp.request import Request
from gcpx.gcp.retries import RetryableError
from gcpx.model.call import NOTICED_WITHIN, Call

T = TypeVar("T")
GRACE: Final = 1.0
"""Seconds that a request which changes something gets for its response after a cancellation."""
_ALLOWANCE: Final = 0.2
"""Seconds beyond the limit, because the time-outs of the HTTP client say more about what they waited for."""
_Results = queue.SimpleQueue[tuple[Any, BaseException | None]]


@attrs.define
class Attempt:
    """One attempt to send a request, in a thread of its own.

    Attributes:
        limit: the most seconds from the beginning of the attempt to the end of the response, if the call has more time.
        grace: what is usually `GRACE`.
    """

    request: Request
    call: Call
    limit: float
    grace: float = GRACE
    _sent: bool = attrs.field(default=False, init=False)
    _abandoned: bool = attrs.field(default=False, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Note that the request is sent now; raises CancelledError if nobody waits for the attempt any more."""
        with self._lock:
            if self._abandoned:
                raise CancelledError.before(self.request.description)
            self._sent = True

    def result(self, work: Callable[[], T]) -> T:
        """Do the work of sending, which calls `begin` before anything is sent, and return its result.

        Raises:
            CancelledError: the user cancelled before the request was sent, or it only reads.
            Unfinished: the user cancelled while the request was under way; it may have been carried out.
            RetryableError: the limit is over.
            Exception: whatever the work raises.
        """
        results: _Results = queue.SimpleQueue()
        threading.Thread(target=_report, args=(work, results), daemon=True).start()
        try:
            result, error = self._first(results)
        except queue.Empty:
            raise self._abandon() from None
        if error is not None:
            raise error
        found: T = result
        return found

    def _first(self, results: _Results) -> tuple[Any, BaseException | None]:
        """Wait for the result; raises `queue.Empty` if there is none in time."""
        end = time.monotonic() + self.limit + _ALLOWANCE
        while not self.call.cancelled.is_set() and time.monotonic() < end and self._seconds_left > -_ALLOWANCE:
            with contextlib.suppress(queue.Empty):
                return results.get(timeout=NOTICED_WITHIN)
        waits_on = self._sent and not self.request.only_reads and self.call.cancelled.is_set()
        return results.get(timeout=self.grace if waits_on else 0.0)

    @property
    def _seconds_left(self) -> float:
        return self.call.seconds_left(reading=self.request.only_reads)

    def _abandon(self) -> Exception:
        """Leave the work to itself, and return what the attempt raises."""
        with self._lock:
            self._abandoned = True
        what = self.request.description
        if not self.call.cancelled.is_set():
            late = TimedOut(f"{what}: the response was not complete in time")
            return RetryableError(late, unsent=not self._sent)
        if not self._sent:
            return CancelledError.before(what)
        if self.request.only_reads:
            return CancelledError(f"{what}: cancelled while waiting for the response")
        return Unfinished(
            f"{what}: cancelled while waiting for the response; Google may still carry the request out. "
            "Run the command again to go on"
        )


def _report(work: Callable[[], Any], results: _Results) -> None:
    try:
        results.put((work(), None))
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
        results.put((None, error))
