"""The client of Google's REST APIs: what resources and functions send their requests with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.gcp.apis import Api
from gcpx.gcp.errors import ApiError, NoResponse, RateLimited, Unauthenticated, from_response
from gcpx.gcp.permissions import explain_denial
from gcpx.gcp.rate_budget import RateBudget
from gcpx.gcp.request import Request
from gcpx.gcp.retries import Retries, RetryableError, is_transient
from gcpx.gcp.settings import Settings
from gcpx.model.call import Call

if TYPE_CHECKING:
    from gcpx.gcp.transport import Response, Transport

_OK: Final = range(200, 300)


@attrs.define
class GoogleClient:
    """The configured Google Cloud. One client serves all resources and functions, from any thread.

    Attributes:
        backoff: seconds before the first retry; see `gcpx.gcp.retries`.
        clock: gives the time in seconds, from any starting point.
    """

    settings: Settings
    backoff: float = 0.5
    clock: Callable[[], float] = time.monotonic
    _budgets: dict[Api, RateBudget] = attrs.field(factory=dict, init=False)
    _connected: Transport | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def send(self, request: Request, call: Call) -> dict[str, Any]:
        """Send a request, with retries where they are safe, and return the JSON object of the response.

        `call` shows progress before every retry, and ends all waits when it is cancelled. Raises the `ApiError` of an
        error response or of a missing one, UserError if the request cannot be encoded or the credentials cannot be
        used, and CancelledError if the user cancels before the request is sent.
        """
        retries, renew_token = None, False
        while True:
            sent = self._budget(request.api).wait(call)
            retries = retries or Retries(request, call, self._budget(request.api), self.backoff)
            try:
                return self._send_once(request, sent, renew_token=renew_token)
            except Unauthenticated as error:
                # Google may refuse a token before it expires; without a status, no token could be obtained at all.
                if renew_token or error.status is None or self.settings.emulator_host:
                    raise
                renew_token = True
            except RetryableError as failure:
                retries.wait_or_raise(failure)

    def _send_once(self, request: Request, sent: float, *, renew_token: bool) -> dict[str, Any]:
        """Send a request, and record in the budget of its API what the response says about the rate."""
        response = self._transport.send(request, renew_token=renew_token)
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
