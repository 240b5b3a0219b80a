"""Failures to order, per method, and the record of every request."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.orders import checked
from gcpx_emulator.core.store import Json

_REMEMBERED: Final = 10_000
_SECRET: Final = frozenset({"access_token", "id_token", "key", "oauth_token"})
"""Parameters whose values no record shows."""
_KEPT_HEADERS: Final = ("user-agent", "x-goog-request-reason", "x-goog-user-project")


@attrs.frozen(kw_only=True)
class Fault:
    """What is to go wrong with the next calls of a method.

    Attributes:
        method: its ID, or `*` for any.
        times: how often.
        status: answer with this HTTP status instead of working.
        reason: Google's reason in that answer.
        message: the text in that answer.
        retry_after: seconds for the Retry-After header.
        drop: cut the connection `before` or `after` the work.
        delay: seconds before the answer.
        body: answer with this text instead, with status 200.
        operation: errors that the operation ends with: {"errors": [...], "httpErrorStatusCode": ...}.
    """

    method: str
    times: int = 1
    status: int | None = None
    reason: str | None = None
    message: str = "injected"
    retry_after: int | None = None
    drop: Literal["before", "after"] | None = None
    delay: float = 0.0
    body: str | None = None
    operation: Json | None = None

    @classmethod
    def parse(cls, spec: Any) -> Fault:
        """Read what a test ordered."""
        order = checked("faults", spec)
        if "method" not in order:
            raise ApiError(400, "An order at /_emulator/faults must have a method.")
        return cls(**order)


@attrs.define
class Faults:
    """Ordered failures, first come first served."""

    queue: list[Fault] = attrs.Factory(list)

    def take(self, method: str) -> Fault | None:
        """Find what is to go wrong with this call."""
        for index, fault in enumerate(self.queue):
            if fault.method in {method, "*"}:
                if fault.times <= 1:
                    del self.queue[index]
                else:
                    self.queue[index] = attrs.evolve(fault, times=fault.times - 1)
                return fault
        return None


@attrs.define
class Requests:
    """The latest requests."""

    kept: deque[Json] = attrs.Factory(lambda: deque(maxlen=_REMEMBERED))

    def add(self, http_method: str, path: str, query: dict[str, str], headers: Mapping[str, str]) -> Json:
        """Remember one; method, body and status are filled in as they become known. A token is never kept."""
        shown = {name: "[secret]" if name in _SECRET else value for name, value in query.items()}
        entry: Json = {"time": time.time(), "httpMethod": http_method, "path": path, "query": shown}
        entry |= {"method": "", "body": None, "status": None, "authorized": "authorization" in headers}
        entry["headers"] = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        self.kept.append(entry)
        return entry
