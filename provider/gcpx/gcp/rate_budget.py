"""How many requests a second may be sent: as many as wanted, until a response says that there are too many.

Google's rate quotas differ by project and are shared with other programs, so the rate is learned from the responses:

- Until the first rate-limited response, there is no limit.
- A rate-limited response cuts the rate to a part of the rate at which requests were accepted (multiplicative decrease),
  at most once a second. After a cut, only a response to a later request cuts it again, and only if a later request
  was accepted: if Google refuses everything until a quota's minute ends, a lower rate would not help.
- Accepted requests raise the rate by the same number a second, whatever the rate is (additive increase).
- A Retry-After holds back all requests until it is over.

Programs that share a quota in this way converge to equal parts of it, as TCP connections do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

import attrs

from gcpx.errors import CancelledError, OutOfTimeError
from gcpx.gcp.request import Request
from gcpx.model.call import Call

LONGEST_PAUSE: Final = 30.0
"""Seconds; a longer Retry-After is shortened to it."""
_CUT: Final = 0.8
_INCREASE: Final = 2.0
"""By how many requests a second the rate grows within a second of accepted requests."""
_USED: Final = 0.5
"""The part of the rate that must be used for it to grow."""
_LEAST: Final = 1.0
"""The lowest rate. The pauses of `gcpx.gcp.retries`, which grow, slow down requests that are refused even so."""
_WINDOW: Final = 1.0
"""Seconds over which a rate is observed, and between two cuts."""


@attrs.define
class _Recent:
    """The times of events in the last second."""

    _times: deque[float] = attrs.Factory(deque)

    def add(self, moment: float, now: float) -> None:
        self._times.append(moment)
        self.rate(now)

    def rate(self, now: float) -> float:
        """Return how many events per second there were."""
        while self._times and self._times[0] <= now - _WINDOW:
            self._times.popleft()
        return len(self._times) / _WINDOW


@attrs.define
class RateBudget:
    """The rate of the requests to one API, for all threads of a process.

    Attributes:
        clock: gives the time in seconds, from any starting point.
        rate: the allowed requests a second; None until a response is rate-limited.
    """

    clock: Callable[[], float]
    rate: float | None = attrs.field(default=None, init=False)
    _next: float = attrs.field(default=float("-inf"), init=False)
    """When the next request may be sent, by the rate."""
    _held_until: float = attrs.field(default=float("-inf"), init=False)
    """When the next request may be sent, by the last Retry-After."""
    _cut_at: float = attrs.field(default=float("-inf"), init=False)
    _accepted_since_cut: bool = attrs.field(default=True, init=False)
    """Whether a request that was sent after the last cut was accepted."""
    _sent: _Recent = attrs.field(factory=_Recent, init=False)
    _accepted: _Recent = attrs.field(factory=_Recent, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def wait(self, request: Request, call: Call) -> float:
        """Wait until a request may be sent; return that time, for `accepted` or `refused`.

        Raises CancelledError if the user cancels before that, and OutOfTimeError if the call's time ends before that.
        """
        while True:
            if call.cancelled.is_set():
                raise CancelledError.before(request.description)
            moment = self.reserve()
            remaining = max(0.0, moment - self.clock())
            if remaining >= call.seconds_left(reading=request.only_reads):
                raise OutOfTimeError(request.description, call.timeout)
            if remaining and call.cancelled.wait(remaining):
                raise CancelledError.before(request.description)
            if moment >= self._held_until:  # otherwise a Retry-After arrived in the meantime
                return moment

    def reserve(self) -> float:
        """Take the next place for a request; return the time at which it may be sent."""
        with self._lock:
            now = self.clock()
            moment = max(now, self._next, self._held_until)
            if self.rate is not None:
                self._next = moment + 1 / self.rate
            self._sent.add(moment, now)
            return moment

    def seconds_until_next(self) -> float:
        """Return the seconds until one more request may be sent."""
        with self._lock:
            return max(0.0, max(self._next, self._held_until) - self.clock())

    def accepted(self, sent: float) -> None:
        """Record a response that is not rate-limited, to a request that was sent at the time `sent`."""
        with self._lock:
            now = self.clock()
            self._accepted.add(now, now)
            self._accepted_since_cut = self._accepted_since_cut or sent > self._cut_at
            if self.rate is not None and self._sent.rate(now) > _USED * self.rate:
                self.rate += _INCREASE / self.rate

    def refused(self, sent: float, retry_after: float | None) -> None:
        """Record a rate-limited response to a request sent at the time `sent`, with the seconds of its Retry-After."""
        with self._lock:
            now = self.clock()
            if self._accepted_since_cut and sent > self._cut_at and now >= self._cut_at + _WINDOW:
                self._cut(now)
            if retry_after is not None:
                self._held_until = max(self._held_until, now + min(retry_after, LONGEST_PAUSE))

    def _cut(self, now: float) -> None:
        """Lower the rate; not below half, because few requests may have been accepted for other reasons."""
        if self.rate is None:
            self.rate = max(_LEAST, _CUT * self._sent.rate(now))
        else:
            self.rate = max(_LEAST, self.rate / 2, _CUT * min(self.rate, self._accepted.rate(now)))
        self._cut_at, self._accepted_since_cut = now, False
        self._next = max(self._next, now + 1 / self.rate)
