"""The client of Google's REST APIs: what resources and functions send their requests with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.gcp.errors import (
    ApiError,
    Conflict,
    NoResponse,
    NotFound,
    PreconditionFailed,
    RateLimited,
    Unauthenticated,
    Unfinished,
    from_response,
)
from gcpx.gcp.permissions import explain_denial
from gcpx.gcp.request import MOST_AT_ONCE, Api, Request, Timeouts
from gcpx.gcp.retries import RateBudget, Retries, RetryableError, is_transient
from gcpx.gcp.settings import Settings
from gcpx.gcp.transport import GRACE, Attempt
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.gcp.transport import Response, Transport

_OK: Final = range(200, 300)


@attrs.define
class GoogleClient:
    """The configured Google Cloud. One client serves all resources and functions, from any thread.

    Attributes:
        backoff: seconds before the first retry; see `gcpx.gcp.retries`.
        grace: seconds that a request under way gets after a cancellation; see `gcpx.gcp.transport`.
        clock: gives the time in seconds, from any starting point.
    """

    settings: Settings
    backoff: float = 0.5
    grace: float = GRACE
    clock: Callable[[], float] = time.monotonic
    _budgets: dict[Api, RateBudget] = attrs.field(factory=dict, init=False)
    _connections: threading.Semaphore = attrs.field(
        factory=lambda: threading.Semaphore(MOST_AT_ONCE), init=False, repr=False
    )
    _connected: Transport | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def send(self, request: Request, context: Context) -> dict[str, Any]:
        """Send a request, with retries where they are safe, and return the JSON object of the response.

        `context` shows progress before every retry. Its cancellation and its time limit end all waits.

        Raises:
            ApiError: an error response, or no response.
            UserError: the request cannot be encoded, or the credentials cannot be used.
            CancelledError: the user cancelled, and the request changed nothing.
            OutOfTimeError: the custom timeout was over before the request was sent.
            Unfinished: a request that changes something may have been carried out: the user cancelled while it was
                under way, or its response was lost for good.
        """
        retries = Retries(request, context, self._budget(request.api), self._connections, self.backoff)
        try:
            return self._send_until_answered(request, context, retries)
        except (NotFound, Conflict, PreconditionFailed) as error:
            error.is_repeated = retries.lost is not None
            raise  # these show what an earlier attempt has done
        except ApiError as error:
            if request.only_reads or retries.lost is None:
                raise
            raise Unfinished(
                f"{str(error).rstrip('.')}. Google may have carried the request out. Run the command again to go on"
            ) from error

    def _send_until_answered(self, request: Request, context: Context, retries: Retries) -> dict[str, Any]:
        renew_token = False
        while True:
            try:
                with retries.turn() as sent:
                    return self._send_once(request, context, sent, renew_token=renew_token)
            except Unauthenticated as error:
                # Google may refuse a token before it expires; without a status, no token could be obtained at all.
                if renew_token or error.status is None or self.settings.emulator_host:
                    raise
                renew_token = True
            except RetryableError as failure:
                retries.wait_or_raise(failure)

    def _send_once(self, request: Request, context: Context, sent: float, *, renew_token: bool) -> dict[str, Any]:
        """Send a request, and record in the budget of its API what the response says about the rate."""
        timeouts = self._timeouts(request, context)
        attempt, transport = Attempt(request, context, timeouts.longest, self.grace), self._transport
        response = attempt.result(lambda: transport.send(request, timeouts, attempt.begin, renew_token=renew_token))
        error = None if response.status in _OK else self._refusal(request, response)
        if isinstance(error, RateLimited):
            self._budget(request.api).refused(sent, response.retry_after)
        else:
            self._budget(request.api).accepted(sent)
        if error is not None:
            may_change = is_transient(error) and not request.is_final(error)
            raise RetryableError(error, retry_after=response.retry_after) if may_change else error
        if not isinstance(response.body, dict):
            raise RetryableError(NoResponse(f"{request.description}: the response is not a JSON object"))
        return response.body

    def _timeouts(self, request: Request, context: Context) -> Timeouts:
        """Return how long a request may take: the provider's `requestTimeout`, but not longer than the call's limit."""
        given, left = self.settings.timeout_seconds, max(0.001, context.seconds_left(reading=request.only_reads))
        return Timeouts(min(given, left), read=min(request.read_timeout or given, left))

    def _refusal(self, request: Request, response: Response) -> ApiError:
        """Return the error of a response; for a missing permission, name it, the resource and the caller."""
        error = from_response(request.description, response.status, response.body)
        return explain_denial(error, request, self._transport.principal)

    def _budget(self, api: Api) -> RateBudget:
        with self._lock:
            return self._budgets.setdefault(api, RateBudget(self.clock))

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._connected is not None:
                self._connected.close()

    @property
    def _transport(self) -> Transport:
        from gcpx.gcp.transport import Transport  # noqa: PLC0415 - HTTP is loaded with the first call

        with self._lock:
            if self._connected is None:
                self._connected = Transport(self.settings)
            return self._connected
