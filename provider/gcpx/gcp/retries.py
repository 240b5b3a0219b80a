"""Which requests are retried, after what pause, and for how long; and how many may be sent in a second."""

from __future__ import annotations

import math
import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Final

import attrs

from gcpx.errors import CancelledError, OutOfTimeError, ProviderError
from gcpx.gcp.errors import (
    ApiError,
    CannotSendRequest,
    ConnectionRefused,
    HostNotFound,
    NoResponse,
    RateLimited,
    ServerError,
    UnreadableResponse,
)
from gcpx.gcp.request import Request
from gcpx.model.resource import Context


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the header Retry-After of a response, which gives seconds or a date, in seconds; None without one."""
    text = headers.get("Retry-After")
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    until, now = http_date(text), http_date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until else None


def http_date(text: str) -> datetime | None:
    """Read the date in a header; None if it is not a date."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few responses need it

    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


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
    _sent: deque[float] = attrs.field(factory=deque, init=False)
    """When requests were sent in the last second."""
    _accepted: deque[float] = attrs.field(factory=deque, init=False)
    """When responses came in the last second that were not rate-limited."""
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def wait(self, request: Request, context: Context) -> float:
        """Wait until a request may be sent; return that time, for `accepted` or `refused`.

        Raises CancelledError if the user cancels before that, and OutOfTimeError if the call's time ends before that.
        """
        while True:
            if context.cancelled.is_set():
                raise CancelledError.before(request.description)
            moment = self.reserve()
            remaining = max(0.0, moment - self.clock())
            if remaining >= context.seconds_left(reading=request.only_reads):
                raise OutOfTimeError(request.description, context.timeout)
            if remaining and context.cancelled.wait(remaining):
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
            self._sent.append(moment)
            _recent_rate(self._sent, now)
            return moment

    def seconds_until_next(self) -> float:
        """Return the seconds until one more request may be sent."""
        with self._lock:
            return max(0.0, max(self._next, self._held_until) - self.clock())

    def accepted(self, sent: float) -> None:
        """Record a response that is not rate-limited, to a request that was sent at the time `sent`."""
        with self._lock:
            now = self.clock()
            self._accepted.append(now)
            _recent_rate(self._accepted, now)
            self._accepted_since_cut = self._accepted_since_cut or sent > self._cut_at
            if self.rate is not None and _recent_rate(self._sent, now) > _USED * self.rate:
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
            self.rate = max(_LEAST, _CUT * _recent_rate(self._sent, now))
        else:
            self.rate = max(_LEAST, self.rate / 2, _CUT * min(self.rate, _recent_rate(self._accepted, now)))
        self._cut_at, self._accepted_since_cut = now, False
        self._next = max(self._next, now + 1 / self.rate)


def _recent_rate(moments: deque[float], now: float) -> float:
    """Forget the moments before the last second, and return how many a second the others are."""
    while moments and moments[0] <= now - _WINDOW:
        moments.popleft()
    return len(moments) / _WINDOW


_TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
_BUSY_REASONS: Final = frozenset({"resourceNotReady", "operationInProgress", "resourceOperationRateExceeded"})


class RetryableError(Exception):
    """A failure that may be temporary.

    Attributes:
        error: what the call fails with if it is not sent again.
        unsent: the request certainly did not reach Google.
        retry_after: the seconds that Google asks to wait; None if it does not.
    """

    def __init__(self, error: ApiError, *, unsent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.unsent = unsent
        self.retry_after = retry_after


def is_transient(error: ApiError) -> bool:
    """Return whether an error response may change after a pause."""
    return error.status in _TRANSIENT_STATUSES or isinstance(error, RateLimited) or error.reason in _BUSY_REASONS


def may_pass(error: Exception) -> bool:
    """Return whether an error says nothing about what was asked for, so that asking once more later may succeed."""
    passing = isinstance(error, NoResponse | RateLimited | ServerError)
    return passing and not isinstance(error, ConnectionRefused | CannotSendRequest | UnreadableResponse)


_MOST_RETRIES_BY_ERROR: Final[Mapping[type[ApiError], int]] = {ConnectionRefused: 2, HostNotFound: 3}
"""Retries when nothing listens on this machine, which are enough for a server that is starting and over within two
seconds, and when a name cannot be resolved, which is seldom a matter of time."""


@attrs.define
class Retries:
    """The retries of one request.

    Attributes:
        budget: the rate of the requests to the same API.
        connections: as many permits as requests may be under way at the same time.
        backoff: seconds before the first retry, before the random part is taken off.
        lost: the error of an attempt that Google may have carried out; `GoogleClient` decides which attempts those are.
    """

    request: Request
    context: Context
    budget: RateBudget
    connections: threading.Semaphore
    backoff: float
    lost: ApiError | None = attrs.field(default=None, init=False)
    _attempt: int = attrs.field(default=0, init=False)
    _end: float | None = attrs.field(default=None, init=False)
    """When retries end, in the time of the call's clock; None before the request is first sent."""

    @contextmanager
    def turn(self) -> Iterator[float]:
        """Wait until the request may be sent; the caller sends it in the block. Yields the time for the rate budget.

        The connection that it takes is free again after the block. Raises CancelledError or OutOfTimeError if the
        request is not to be sent any more, or the error of an earlier attempt that Google may have carried out.
        """
        request, context = self.request, self.context
        with ExitStack() as held:
            try:
                moment = self.budget.wait(request, context)
                held.enter_context(context.holding(self.connections, request.description, reading=request.only_reads))
            except ProviderError as error:
                if self.lost is not None:
                    raise self.lost from error
                raise
            if self._end is None:
                self._end = context.clock() + request.patience
            yield moment

    def wait_or_raise(self, failure: RetryableError) -> None:
        """Wait before the request is sent again, with a line of progress.

        Raises the failure's own error if it is not to be sent again, because that is not safe, does not help or takes
        too long, or because the user cancels.
        """
        pause = self._pause(failure)
        if not self._is_allowed(failure) or pause > self._seconds_left():
            raise self.lost or failure.error from failure.__cause__
        self.context.progress(f"{failure.error.message}; trying again in {pause:.1f} s")
        if self.context.cancelled.wait(pause):
            raise self.lost or failure.error from failure.__cause__
        self._attempt += 1

    def _seconds_left(self) -> float:
        """Return the seconds in which the request may still be sent again."""
        patience = math.inf if self._end is None else self._end - self.context.clock()
        return min(patience, self.context.seconds_left())

    def _is_allowed(self, failure: RetryableError) -> bool:
        """Return whether sending the request again may help, and cannot do its work twice."""
        if isinstance(failure.error, CannotSendRequest):
            return False
        if self._attempt >= _MOST_RETRIES_BY_ERROR.get(type(failure.error), sys.maxsize):
            return False
        return self.request.idempotent or self.lost is None

    def _pause(self, failure: RetryableError) -> float:
        if failure.retry_after is not None:
            return min(failure.retry_after, LONGEST_PAUSE)
        ceiling = min(LONGEST_PAUSE, self.backoff * 2**self._attempt)
        pause = random.uniform(ceiling / 2, ceiling)  # noqa: S311 - jitter, not a secret
        return max(pause, self.budget.seconds_until_next())
