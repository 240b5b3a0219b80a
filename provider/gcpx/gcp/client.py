"""The client of Google's REST APIs, through which resources and functions send their requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.errors import RUN_AGAIN, CancelledError, Interrupted, UserError, safe_message, without_stop
from gcpx.gcp.attempt import Attempt
from gcpx.gcp.errors import (
    ApiError,
    Conflict,
    NoResponse,
    NotFound,
    PreconditionFailed,
    RateLimited,
    Unauthenticated,
    Unfinished,
    UnreadableResponse,
    from_response,
    is_refusal,
)
from gcpx.gcp.request import MOST_AT_ONCE, Api, Request
from gcpx.gcp.retries import RateBudget, Retries, RetryableError, is_transient, retry_after
from gcpx.gcp.settings import Settings
from gcpx.gcp.shared_reads import SharedReads
from gcpx.model.context import Context

if TYPE_CHECKING:
    from gcpx.gcp.attempt import Response
    from gcpx.gcp.connections import Connections
    from gcpx.gcp.transport import Transport

_OK: Final = range(200, 300)


@attrs.define
class GoogleClient:
    """Sends requests to Google, as configured. One client serves all resources and functions, from any thread.

    Attributes:
        backoff: seconds before the first retry; see `gcpx.gcp.retries`.
        clock: gives the time in seconds, from any starting point.
        reads: the reads that one request may answer together.
    """

    settings: Settings
    backoff: float = 0.5
    clock: Callable[[], float] = time.monotonic
    _connections: Connections | None = attrs.field(default=None, repr=False)
    """Sends all requests, including those for tokens; None for gcpx's own connections."""
    reads: SharedReads = attrs.field(
        default=attrs.Factory(lambda self: SharedReads(self.clock), takes_self=True), init=False, repr=False
    )
    _budgets: dict[Api, RateBudget] = attrs.field(factory=dict, init=False)
    _slots: threading.Semaphore = attrs.field(factory=lambda: threading.Semaphore(MOST_AT_ONCE), init=False, repr=False)
    _transport: Transport | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    @property
    def transport(self) -> Transport:
        """The transport. The first request creates it: a preview sends none, and so needs no HTTP library."""
        from gcpx.gcp.connections import Connections  # noqa: PLC0415 - loads the HTTP library
        from gcpx.gcp.transport import Transport  # noqa: PLC0415 - as above

        with self._lock:
            if self._transport is None:
                self._transport = Transport(self.settings, self._connections or Connections(self.clock))
            return self._transport

    def send(self, request: Request, context: Context) -> dict[str, Any]:
        """Send a request, with retries where they are safe, and return the JSON object of the response.

        `context` reports progress before every retry. Its cancellation and its time limit end all waits.

        Raises:
            ApiError: an error response, or no response.
            UserError: the request cannot be encoded, or the credentials cannot be used.
            CancelledError: the user cancelled, and the request changed nothing.
            OutOfTimeError: the custom timeout passed before the request was sent.
            Unfinished: Google may have carried out a change: the user cancelled while the request was under way,
                or its response was lost for good, or cannot be read.
        """
        with self._lock:
            budget = self._budgets.setdefault(request.api, RateBudget(self.clock))
        retries = Retries(request, context, budget, self._slots, self.backoff)
        if request.only_reads:
            return self._send_until_answered(request, context, retries)
        self.reads.changed(request.path)
        try:
            response = self._send_until_answered(request, context, retries)
        except (NotFound, Conflict, PreconditionFailed) as error:
            error.is_repeated = retries.lost is not None
            raise  # these errors show the effect of an earlier attempt
        except Unfinished:
            raise
        except Exception as error:
            if retries.lost is None:
                raise
            context.sent.set()
            raise unfinished(error, retries.lost) from error
        else:
            context.sent.set()
            return response
        finally:
            self.reads.changed(request.path)

    def _send_until_answered(self, request: Request, context: Context, retries: Retries) -> dict[str, Any]:
        renew_token = False
        while True:
            try:
                with retries.turn() as sent:
                    return self._send_once(request, context, retries, sent, renew_token=renew_token)
            except Unauthenticated as error:
                # Google may refuse a token before it expires; without a status, there is no token at all.
                if renew_token or error.status is None or self.settings.emulator_host:
                    raise
                if retries.lost is not None and not request.idempotent:
                    raise  # Google accepted the token: the response got lost on the way back
                renew_token = True
            except RetryableError as failure:
                retries.wait_or_raise(failure)

    def _send_once(
        self, request: Request, context: Context, retries: Retries, sent: float, *, renew_token: bool
    ) -> dict[str, Any]:
        """Send a request, and note if Google may have carried it out although there is no result.

        The provider's `requestTimeout` and the call's time limit bound its time.
        """
        given, left = self.settings.timeout_seconds, max(0.001, context.seconds_left(reading=request.only_reads))
        read = min(request.read_timeout or given, left)
        attempt = Attempt(request, context, min(given, left), read, renew_token)
        response = None
        try:
            response = attempt.response(self.transport)
            return self._result(request, response, retries.budget, sent)
        except Interrupted:
            raise  # the error says itself what became of the request
        except Exception as error:
            lost = _loss(attempt, response, error)
            if lost is None:
                raise
            retries.lost = lost
            if lost is error or isinstance(error, RetryableError):
                raise
            raise lost from error

    def _result(self, request: Request, response: Response, budget: RateBudget, sent: float) -> dict[str, Any]:
        """Return the JSON object of a response, and record in the API's budget whether it was rate-limited."""
        error = None if response.status in _OK else self._refusal(request, response)
        if isinstance(error, RateLimited):
            budget.refused(sent, retry_after(response.headers))
        else:
            budget.accepted(sent)
        if error is not None:
            raise RetryableError(error, retry_after=retry_after(response.headers)) if is_transient(error) else error
        if not isinstance(response.body, dict):
            raise RetryableError(NoResponse(f"{request.description}: the response is not a JSON object"))
        return response.body

    def _refusal(self, request: Request, response: Response) -> ApiError:
        """Return the error of a response that is no success; a denial names the missing permission."""
        from gcpx.gcp.permissions import explain_denial  # noqa: PLC0415 - a table that only refusals need

        error = from_response(request.description, response.status, response.body)
        return explain_denial(error, request, self.transport.principal)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._transport is not None:
                self._transport.close()


def unfinished(error: Exception, lost: ApiError) -> Unfinished:
    """Return the error of a request that ended with an error after an attempt that Google may have carried out."""
    said = without_stop(str(_last(error, lost)))
    return Unfinished(f"{said}. Google may have carried the request out", next_step=RUN_AGAIN)


def _last(error: Exception, lost: ApiError) -> ApiError:
    if isinstance(error, ApiError):
        return error
    # A cancellation before another attempt says nothing about the lost one.
    if isinstance(error, CancelledError):
        return lost
    return lost.with_hint(f"Sent again, it failed: {safe_message(error)}")


def _loss(attempt: Attempt, response: Response | None, error: Exception) -> ApiError | None:
    """Return the error of an attempt that Google may have carried out; None if it did not, or the request only reads.

    A refusal by Google proves that it did not carry out the request. After any other failure of a sent request, gcpx
    must not forget what the request may have created.
    """
    request = attempt.request
    failure = error.error if isinstance(error, RetryableError) else error
    # Errors that the user has to correct, such as a wrong proxy, are found before the request is sent.
    is_unsent = not attempt.is_sent or isinstance(error, UserError)
    is_unsent = is_unsent or (isinstance(error, RetryableError) and error.unsent)
    if request.only_reads or is_unsent or (response is not None and is_refusal(response.status, response.body)):
        return None
    if isinstance(failure, ApiError):
        return failure
    return UnreadableResponse(safe_message(failure, request.description))
