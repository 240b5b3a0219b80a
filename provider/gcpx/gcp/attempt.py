"""One attempt to send a request; a cancellation or the end of its time ends the wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Executor, wait
from typing import Any, Final, Protocol

import attrs

from gcpx.errors import RUN_AGAIN, CancelledError
from gcpx.gcp.errors import TimedOut, Unfinished
from gcpx.gcp.request import Request
from gcpx.gcp.retries import RetryableError
from gcpx.model.context import NOTICED_WITHIN, Context
from gcpx.threads import Threads

_LOOK: Final = NOTICED_WITHIN / 2
"""Seconds between two checks for a cancellation, which leave the caller time to return its partial state."""
_ALLOWANCE: Final = 0.2
"""Seconds beyond the limit, because the time-outs of the HTTP client have better messages."""


@attrs.frozen
class Response:
    """A response.

    Attributes:
        body: parsed JSON; `{}` without a body, and the text of a body that is not JSON.
    """

    status: int
    headers: Mapping[str, str]
    body: Any


_THREADS: Final = Threads()


class Sender(Protocol):
    """Sends requests: a `Transport`."""

    def send(self, attempt: Attempt) -> Response:
        """Send the request of an attempt, after `Attempt.begin`."""


@attrs.define
class Attempt:
    """One attempt to send a request, in a thread of its own.

    Attributes:
        step: the longest time of each step, in seconds: connecting, sending, waiting for a free connection.
        read: the seconds to wait for the response.
        renew_token: whether a new access token is needed, because Google refused the last one.
        threads: the threads that send it.
        is_sent: whether the request was sent, or may have been.
    """

    request: Request
    context: Context
    step: float
    read: float
    renew_token: bool = False
    threads: Executor = _THREADS
    is_sent: bool = attrs.field(default=False, init=False)
    _abandoned: bool = attrs.field(default=False, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Note that the request is being sent; raises CancelledError if nobody waits for the attempt any more."""
        with self._lock:
            if self._abandoned:
                raise CancelledError.before(self.request.description)
            self.is_sent = True

    def response(self, sender: Sender) -> Response:
        """Send the request with a sender, and return the response.

        Raises:
            CancelledError: the user cancelled before the request was sent, or it only reads.
            Unfinished: the user cancelled while the request was under way; it may have been carried out.
            RetryableError: the time is over.
            Exception: whatever the sender raises.
        """
        outcome = self.threads.submit(sender.send, self)
        cancelled, only_reads = self.context.cancelled, self.request.only_reads
        end = time.monotonic() + max(self.step, self.read) + _ALLOWANCE
        while (
            not outcome.done()
            and not cancelled.is_set()
            and time.monotonic() < end
            and self.context.seconds_left(reading=only_reads) > -_ALLOWANCE
        ):
            wait((outcome,), _LOOK)
        if not outcome.done():
            raise self._abandon()
        return outcome.result()

    def _abandon(self) -> Exception:
        """Abandon the work, and return the exception of the attempt."""
        with self._lock:
            self._abandoned = True
        what = self.request.description
        if not self.context.cancelled.is_set():
            late = TimedOut(f"{what}: the response was not complete in time")
            return RetryableError(late, unsent=not self.is_sent)
        if not self.is_sent:
            return CancelledError.before(what)
        if self.request.only_reads:
            return CancelledError(f"{what}: cancelled while waiting for the response")
        return Unfinished(
            f"{what}: cancelled while waiting for the response; Google may still carry the request out",
            next_step=RUN_AGAIN,
        )
