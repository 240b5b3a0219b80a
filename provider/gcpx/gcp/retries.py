"""Retries of requests with growing pauses, and the rate at which requests are sent."""

from __future__ import annotations

import math
import random
import re
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
from gcpx.model.context import Context


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a response's Retry-After header, which has seconds or a date; None without one."""
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
"""The longest pause for a Retry-After, in seconds."""
_CUT: Final = 0.8
_INCREASE: Final = 2.0
"""The growth of the rate, in requests per second, after each second of accepted requests."""
_USED: Final = 0.5
"""The fraction of the rate that must be used for it to grow."""
_LEAST: Final = 1.0
"""The lowest rate. If requests are refused even then, the growing pauses between retries slow them down."""
_WINDOW: Final = 1.0
"""The time over which a rate is observed, and the least time between two cuts, in seconds."""


@attrs.define
class RateBudget:
    """The rate of the requests to one API, for all threads of a process.

    Attributes:
        clock: gives the time in seconds, from any starting point.
        rate: the allowed requests per second; None until a response is rate-limited.
    """

    clock: Callable[[], float]
    rate: float | None = attrs.field(default=None, init=False)
    _next: float = attrs.field(default=float("-inf"), init=False)
    """The time of the next request that the rate allows."""
    _held_until: float = attrs.field(default=float("-inf"), init=False)
    """The time of the next request that the last Retry-After allows."""
    _cut_at: float = attrs.field(default=float("-inf"), init=False)
    _accepted_since_cut: bool = attrs.field(default=True, init=False)
    """Whether a request that was sent after the last cut was accepted."""
    _sent: deque[float] = attrs.field(factory=deque, init=False)
    """The times of requests sent in the last second."""
    _accepted: deque[float] = attrs.field(factory=deque, init=False)
    """The times of responses in the last second that were not rate-limited."""
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
            if moment >= self._held_until:  # otherwise, a Retry-After arrived in the meantime
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
        """Record a rate-limited response, with its Retry-After in seconds, to a request sent at the time `sent`."""
        with self._lock:
            now = self.clock()
            if self._accepted_since_cut and sent > self._cut_at and now >= self._cut_at + _WINDOW:
                self._cut(now)
            if retry_after is not None:
                self._held_until = max(self._held_until, now + min(retry_after, LONGEST_PAUSE))

    def _cut(self, now: float) -> None:
        """Lower the rate, at most by half, because there may be other reasons for few accepted requests."""
        if self.rate is None:
            self.rate = max(_LEAST, _CUT * _recent_rate(self._sent, now))
        else:
            self.rate = max(_LEAST, self.rate / 2, _CUT * min(self.rate, _recent_rate(self._accepted, now)))
        self._cut_at, self._accepted_since_cut = now, False
        self._next = max(self._next, now + 1 / self.rate)


def _recent_rate(moments: deque[float], now: float) -> float:
    """Forget the times before the last second, and return the rate of the others per second."""
    while moments and moments[0] <= now - _WINDOW:
        moments.popleft()
    return len(moments) / _WINDOW


_TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
_USED_UP: Final = re.compile(
    "(?:zone_?)?resource_?pool_?exhausted.*|ip_?space_?exhausted.*|resource_?availability|stockout", re.IGNORECASE
)
"""Reasons that stay for minutes or longer, whatever the status: capacity or addresses are used up."""
_BUSY_REASONS: Final = frozenset({"resourceNotReady", "operationInProgress", "resourceOperationRateExceeded"})


class RetryableError(Exception):
    """A failure that may be temporary.

    Attributes:
        error: the error of the call if it is not sent again.
        unsent: the request certainly did not reach Google.
        retry_after: the seconds that Google asks to wait, if it does.
    """

    def __init__(self, error: ApiError, *, unsent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.unsent = unsent
        self.retry_after = retry_after


def is_transient(error: ApiError) -> bool:
    """Return whether an error response may change after a pause."""
    if _USED_UP.fullmatch(error.reason or ""):
        return False
    return error.status in _TRANSIENT_STATUSES or isinstance(error, RateLimited) or error.reason in _BUSY_REASONS


def may_pass(error: Exception) -> bool:
    """Return whether an error says nothing about the requested resource, so that a later request may succeed."""
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
        connections: permits for concurrent requests.
        backoff: the pause before the first retry, in seconds, from which a random part is subtracted.
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
    """The time at which retries end, by the call's clock; None before the request is first sent."""

    @contextmanager
    def turn(self) -> Iterator[float]:
        """Wait until the request may be sent; the caller sends it in the block. Yields the time for the rate budget.

        Its connection is free again after the block. Raises CancelledError or OutOfTimeError if the request must not be
        sent any more, or the error of an earlier attempt that Google may have carried out.
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

        Raises the failure's own error if the request must not be sent again: that is not safe, does not help or takes
        too long, or the user cancels.
        """
        pause = self._pause(failure)
        patience = math.inf if self._end is None else self._end - self.context.clock()
        if not self._is_allowed(failure) or pause > min(patience, self.context.seconds_left()):
            raise self.lost or failure.error from failure.__cause__
        self.context.progress(f"{failure.error.message}; trying again in {pause:.1f} s")
        if self.context.cancelled.wait(pause):
            raise self.lost or failure.error from failure.__cause__
        self._attempt += 1

    def _is_allowed(self, failure: RetryableError) -> bool:
        """Return whether sending the request again may help, and cannot repeat its effect."""
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
