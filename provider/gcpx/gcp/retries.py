"""Which requests are retried, after what pause, and for how long.

- 429, and 403 with a rate-limit reason: always, because Google did nothing. They also lower the rate of all requests to
  the API (`gcpx.gcp.rate_budget`).
- 500, 502, 503, 504, a busy resource, and a response that is not JSON: if the request is idempotent.
- No response: if the request is idempotent or was certainly not sent; at most twice if nothing listens on this machine,
  and three times if the name of the host cannot be resolved.
- 401: once, with a new access token (`GoogleClient.send`).

The pause is that of the response's Retry-After; without one, it doubles with every attempt. It is at most 30 seconds.
Retries end when the request's patience is over, which counts from when it was first sent, or the custom timeout, which
counts from when the engine called.
"""

from __future__ import annotations

import math
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

import attrs

from gcpx.errors import ProviderError
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
from gcpx.gcp.rate_budget import LONGEST_PAUSE, RateBudget
from gcpx.gcp.request import Request
from gcpx.model.call import Call

_TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
_BUSY_REASONS: Final = frozenset({"resourceNotReady", "operationInProgress", "resourceOperationRateExceeded"})
_MOST_RETRIES: Final[Mapping[type[ApiError], int]] = {ConnectionRefused: 2, HostNotFound: 3}
"""Retries when nothing listens on this machine, which are enough for a server that is starting and over within two
seconds, and when a name cannot be resolved, which is seldom a matter of time."""


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


@attrs.define
class Retries:
    """The retries of one request.

    Attributes:
        budget: the rate of the requests to the same API.
        connections: as many permits as requests may be under way at the same time.
        backoff: seconds before the first retry, before the random part is taken off.
        lost: the error of an attempt that Google may have carried out.
    """

    request: Request
    call: Call
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
        request, call = self.request, self.call
        with ExitStack() as held:
            try:
                moment = self.budget.wait(request, call)
                held.enter_context(call.holding(self.connections, request.description, reading=request.only_reads))
            except ProviderError as error:
                if self.lost is not None:
                    raise self.lost from error
                raise
            if self._end is None:
                self._end = call.clock() + request.patience
            yield moment

    def wait_or_raise(self, failure: RetryableError) -> None:
        """Wait before the request is sent again, with a line of progress.

        Raises the failure's own error if it is not to be sent again, because that is not safe, does not help or takes
        too long, or because the user cancels.
        """
        pause = self._pause(failure)
        may_be_done = not failure.unsent and isinstance(failure.error, NoResponse | ServerError)
        if may_be_done and not self.request.only_reads:
            self.lost = failure.error
        if not self._is_allowed(failure) or pause > self._seconds_left():
            raise self.lost or failure.error from failure.__cause__
        self.call.progress(f"{failure.error.message}; trying again in {pause:.1f} s")
        if self.call.cancelled.wait(pause):
            raise self.lost or failure.error from failure.__cause__
        self._attempt += 1

    def _seconds_left(self) -> float:
        """Return the seconds in which the request may still be sent again."""
        patience = math.inf if self._end is None else self._end - self.call.clock()
        return min(patience, self.call.seconds_left())

    def _is_allowed(self, failure: RetryableError) -> bool:
        """Return whether sending the request again may help, and cannot do its work twice."""
        if isinstance(failure.error, CannotSendRequest):
            return False
        if self._attempt >= _MOST_RETRIES.get(type(failure.error), sys.maxsize):
            return False
        return self.request.idempotent or failure.unsent or isinstance(failure.error, RateLimited)

    def _pause(self, failure: RetryableError) -> float:
        if failure.retry_after is not None:
            return min(failure.retry_after, LONGEST_PAUSE)
        ceiling = min(LONGEST_PAUSE, self.backoff * 2**self._attempt)
        pause = random.uniform(ceiling / 2, ceiling)  # noqa: S311 - jitter, not a secret
        return max(pause, self.budget.seconds_until_next())
