"""Call for Compute operations: by long poll, until done, cancelled or out of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx.errors import safe_message
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import Google
from gcpx.gcp.errors import ApiError, TimedOut, Unfinished, from_operation
from gcpx.gcp.request import Request
from gcpx.gcp.retries import may_pass
from gcpx.model.call import Call

_LONG_POLL: Final = 5.0
"""Seconds of one long poll; short enough that a cancel is noticed in time."""
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 2.0
_NO_LONG_POLL: Final = (404, 501)


@attrs.frozen
class Outcome:
    """How an operation ended.

    Attributes:
        operation: as it was when it ended.
        error: what it failed with, if it did.
    """

    operation: dict[str, Any]
    error: ApiError | None

    @property
    def per_location(self) -> dict[str, Any]:
        """The status of each location that a bulk creation went to, by name."""
        found: dict[str, Any] = self.operation.get("instancesBulkInsertOperationMetadata", {}).get(
            "perLocationStatus", {}
        )
        return found


@attrs.frozen(kw_only=True)
class _Poll:
    """How to ask next: by long poll or not, and whether after a pause."""

    long: bool
    pause: bool


@attrs.frozen(kw_only=True)
class Operations:
    """The operations of one project, through one version of the API."""

    google: Google
    version: str
    project: str

    def wait(
        self,
        operation: dict[str, Any],
        call: Call,
        what: str,
        timeout: float,
        describe: Callable[[dict[str, Any]], str] | None = None,
    ) -> dict[str, Any]:
        """Wait until an operation is done; raises what it failed with, or `Unfinished`.

        `describe` says how far an operation has come, where a percentage is not enough.
        """
        try:
            return self._ended(operation, call, what, time.monotonic() + (call.timeout or timeout), describe)
        except ApiError:
            raise
        except Exception as error:  # also a response that is not an operation: Google accepted the request
            raise Unfinished(safe_message(error, what), operation) from error

    def _ended(
        self,
        operation: dict[str, Any],
        call: Call,
        what: str,
        deadline: float,
        describe: Callable[[dict[str, Any]], str] | None,
    ) -> dict[str, Any]:
        say = describe or _percentage
        shown, pause, poll = None, _FIRST_PAUSE, _Poll(long=True, pause=False)
        while operation.get("status") != "DONE":
            _go_on(call, deadline, what)
            operation, poll = self._next(operation, call, what, poll, deadline)
            if operation.get("status") != "DONE" and say(operation) != shown:
                shown = say(operation)
                call.progress(f"{what}: {shown}")
            if poll.pause:
                call.cancelled.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        for warning in operation.get("warnings", ()):
            call.warn(f"{what}: {warning.get('message') or warning.get('code')}")
        if operation.get("error"):
            raise from_operation(what, operation)
        return operation

    def outcome(
        self,
        operation: dict[str, Any],
        call: Call,
        what: str,
        timeout: float,
        describe: Callable[[dict[str, Any]], str] | None = None,
    ) -> Outcome:
        """Wait as `wait` does; a failure of the operation is part of what it came to."""
        ended, say = [operation], describe or _percentage

        def remember(current: dict[str, Any]) -> str:
            ended[0] = current
            return say(current)

        try:
            return Outcome(self.wait(operation, call, what, timeout, remember), None)
        except ApiError as error:
            return Outcome(error.operation or ended[0], error)

    def requested(self, call: Call, scope: str, request_id: str) -> dict[str, Any] | None:
        """Find the operation that a request ID started in a scope, such as `regions/R`, if it has no error."""
        path = f"{self.version}/projects/{self.project}/{scope}/operations"
        query = {"filter": f'clientOperationId = "{request_id}"'}
        found = self.google.send(Request(api=COMPUTE, method="GET", path=path, query=query), call)
        return next((item for item in found.get("items", ()) if not item.get("error")), None)

    def _next(
        self, operation: dict[str, Any], call: Call, what: str, poll: _Poll, deadline: float
    ) -> tuple[dict[str, Any], _Poll]:
        """Ask once more. An error of the asking is not a failure of the operation."""
        try:
            return self._poll(operation, call, deadline, long_poll=poll.long), _Poll(
                long=poll.long, pause=not poll.long
            )
        except ApiError as error:
            if poll.long and error.status in _NO_LONG_POLL:
                return operation, _Poll(long=False, pause=False)
            if may_pass(error):
                call.progress(f"{what}: {error.message}; asking again")
                return operation, _Poll(long=poll.long, pause=True)
            raise Unfinished(f"{what}: the status of its operation could not be read: {error}") from error

    def _poll(self, operation: dict[str, Any], call: Call, deadline: float, *, long_poll: bool) -> dict[str, Any]:
        path = f"{self.version}/projects/{self.project}/{scope_of(operation)}/operations/{operation['name']}"
        if long_poll:
            patience = max(_FIRST_PAUSE, min(_LONG_POLL, deadline - time.monotonic()))
            try:
                return self.google.send(
                    Request(api=COMPUTE, method="POST", path=f"{path}/wait", patience=0.0, read_timeout=patience), call
                )
            except TimedOut:
                pass  # The operation goes on; a plain read tells how far it is.
        return self.google.send(Request(api=COMPUTE, method="GET", path=path, patience=0.0), call)


def _percentage(operation: dict[str, Any]) -> str:
    return f"{operation.get('progress', 0)}%"


def scope_of(operation: dict[str, Any]) -> str:
    """Give the scope an operation lives in: `global`, `regions/R` or `zones/Z`."""
    for name in ("zone", "region"):
        if operation.get(name):
            return f"{name}s/{operation[name].rpartition('/')[2]}"
    return "global"


def _go_on(call: Call, deadline: float, what: str) -> None:
    if call.cancelled.is_set():
        raise Unfinished(
            f"{what}: cancelled while Google was still working on it; run `pulumi refresh` to get the result"
        )
    if time.monotonic() > deadline:
        raise Unfinished(
            f"{what}: did not finish in time; raise customTimeouts, or run `pulumi refresh` to get the result"
        )
