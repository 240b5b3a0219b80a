"""Calls to Google's REST APIs: retries that are safe, one rate budget, errors that say what to do."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import attrs

from gcpx.errors import CancelledError
from gcpx.gcp.errors import ApiError, RateLimited, Refused, Unauthenticated, Uncallable, Unreachable, from_response
from gcpx.gcp.settings import Settings
from gcpx.model.call import Call

if TYPE_CHECKING:
    from gcpx.gcp.transport import Answer, Transport

_TRANSIENT: Final = frozenset({500, 502, 503, 504})
_BUSY_REASONS: Final = frozenset({"resourceNotReady", "operationInProgress", "resourceOperationRateExceeded"})
_LONGEST_PAUSE: Final = 30.0
_OK: Final = range(200, 300)
_REFUSALS: Final = 2
"""Retries where nothing listens on this machine: enough for what is just starting, and over within two seconds."""


@attrs.frozen
class Api:
    """One of Google's APIs: its name, its path, and the narrowest scope that its calls accept."""

    name: str
    path: str
    scope: str


COMPUTE: Final = Api("compute", "/compute", "https://www.googleapis.com/auth/compute")
STORAGE: Final = Api("storage", "/storage", "https://www.googleapis.com/auth/devstorage.full_control")
OSLOGIN: Final = Api("oslogin", "", "https://www.googleapis.com/auth/compute")
PUBSUB: Final = Api("pubsub", "", "https://www.googleapis.com/auth/pubsub")
OAUTH2: Final = Api("oauth2", "", "")
"""Answers anyone, so that nobody's credentials are sent along."""


def segment(text: str) -> str:
    """Write an ID of Google's, which may hold any characters, as one part of a path."""
    return quote(text, safe="@:")


@attrs.frozen(kw_only=True)
class Request:
    """One REST call.

    Attributes:
        path: below the API's own path, with the version: `v1/projects/p/global/images`.
        idempotent: sending it twice does what sending it once does.
        patience: seconds that retries may take.
        read_timeout: seconds to wait for the answer, where not the configured ones.
    """

    api: Api
    method: str
    path: str
    query: Mapping[str, Any] = attrs.Factory(dict)
    body: Any = None
    idempotent: bool = True
    patience: float = 120.0
    read_timeout: float | None = None

    @property
    def what(self) -> str:
        """The call in a few words."""
        return f"{self.method} {self.path.partition('/')[2]}"


@attrs.define
class Google:
    """Google Cloud, as configured.

    Attributes:
        backoff: seconds before the first retry; doubled with each, with jitter.
        clock: tells the time in seconds, from any beginning.
    """

    settings: Settings
    backoff: float = 0.5
    clock: Callable[[], float] = time.monotonic
    _not_before: float = attrs.field(default=0.0, init=False)
    _connected: Transport | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def send(self, request: Request, call: Call) -> dict[str, Any]:
        """Send a request, retrying what is safe to retry; returns the answer's body."""
        deadline = self.clock() + min(request.patience, call.timeout or request.patience)
        attempt, renew = 0, False
        while True:
            self._pause_for_all(call)
            try:
                return self._once(request, renew=renew)
            except Unauthenticated as error:
                if renew or error.status is None or self.settings.emulator_host:
                    raise
                renew = True
            except _Retry as retry:
                pause = retry.pause(self.backoff, attempt)
                if not retry.worth_it(request, attempt) or self.clock() + pause > deadline:
                    raise retry.error from retry.__cause__
                if isinstance(retry.error, RateLimited):
                    self._not_before = self.clock() + pause
                call.progress(f"{retry.error.message}; trying again in {pause:.1f} s")
                if call.cancelled.wait(pause):
                    raise retry.error from retry.__cause__
                attempt += 1

    def relocated(self, url: str) -> str:
        """Give the address of a page of Google's that is no API, such as its public keys, for this configuration."""
        host, custom = self.settings.emulator_host, self.settings.endpoints.get(OAUTH2.name)
        if host or custom:
            return f"{self.base(OAUTH2)}/{url.split('/', 3)[3]}"
        return url.replace("googleapis.com", self.settings.universe_domain)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._connected is not None:
                self._connected.close()

    def base(self, api: Api) -> str:
        """Give the base URL that an API is called on, without its path."""
        host, custom = (self.settings.emulator_host, self.settings.endpoints.get(api.name))
        if host:
            return host.rstrip("/") if "://" in host else f"http://{host}"
        if custom:
            # Other providers take the base with path and version; both forms serve.
            return custom.rstrip("/").removesuffix("/v1").removesuffix("/beta").removesuffix(api.path)
        return f"https://{api.name}.{self.settings.universe_domain}"

    def _pause_for_all(self, call: Call) -> None:
        """Hold every call back while Google asks for fewer: one budget for the whole process."""
        pause = self._not_before - self.clock()
        if pause > 0 and call.cancelled.wait(pause):
            raise CancelledError("cancelled before the call was made; this call changed nothing")

    def _once(self, request: Request, *, renew: bool) -> dict[str, Any]:
        from gcpx.gcp.transport import NoAnswerError  # noqa: PLC0415 - HTTP is loaded with the first call

        try:
            answer = self._transport.send(
                request.method,
                f"{self.base(request.api)}{request.api.path}/{request.path}",
                request.query,
                request.body,
                request.api.scope,
                read_timeout=request.read_timeout,
                renew=renew,
            )
        except NoAnswerError as error:
            raise _Retry(error.error, unsent=error.unsent) from error.__cause__
        return _body(request, answer)

    @property
    def _transport(self) -> Transport:
        from gcpx.gcp.transport import Transport  # noqa: PLC0415 - as above

        with self._lock:
            if self._connected is None:
                self._connected = Transport(self.settings)
            return self._connected


class _Retry(Exception):  # noqa: N818 - it asks for something, it is no failure yet
    """A failure that may pass."""

    def __init__(self, error: ApiError, *, unsent: bool = False, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.unsent = unsent
        self.after = after

    def worth_it(self, request: Request, attempt: int) -> bool:
        """Tell whether to send again: it may help, and does nothing twice."""
        if isinstance(self.error, Uncallable) or (isinstance(self.error, Refused) and attempt >= _REFUSALS):
            return False
        return request.idempotent or self.unsent or isinstance(self.error, RateLimited)

    def pause(self, backoff: float, attempt: int) -> float:
        if self.after is not None:
            return min(self.after, _LONGEST_PAUSE)
        ceiling = min(_LONGEST_PAUSE, backoff * 2**attempt)
        return random.uniform(ceiling / 2, ceiling)  # noqa: S311 - jitter, not a secret


def _body(request: Request, answer: Answer) -> dict[str, Any]:
    if answer.status in _OK:
        if isinstance(answer.body, dict):
            return answer.body
        raise _Retry(Unreachable(f"{request.what}: the response is not a JSON object"))
    error = from_response(request.what, answer.status, answer.body)
    if answer.status in _TRANSIENT or isinstance(error, RateLimited) or error.reason in _BUSY_REASONS:
        raise _Retry(error, after=answer.retry_after)
    raise error
