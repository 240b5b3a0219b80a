"""Requests that each start an operation: sent side by side, and waited for together by a few lists of operations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import attrs

from gcpx.compute.operation_watch import OperationsWatch, Started
from gcpx.compute.operations import Operations
from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.request import Request
from gcpx.model.call import Call

_PROGRESS_INTERVAL: Final = 1.0
"""Seconds between lines of progress, so that logs, which keep all of them, stay short."""


@attrs.frozen(kw_only=True)
class BatchRequest:
    """One request of a batch.

    Attributes:
        request: the request, whose response is an operation.
        what: what messages call the operation, such as `delete zones/us-east1-b/instances/web-1`.
    """

    request: Request
    what: str


@attrs.frozen(kw_only=True)
class OperationBatch:
    """Requests of one kind, such as the deletions of many instances.

    Attributes:
        operations: the operations of the project that the requests are sent to.
        timeout: seconds that all operations together may take if the user sets no custom timeout.
        done: what messages count, such as `instances deleted`.
    """

    operations: Operations
    timeout: float
    done: str

    def run(self, call: Call, requests: Sequence[BatchRequest]) -> list[ProviderError | None]:
        """Send all requests, wait until their operations have ended, and show the progress.

        After a cancellation, the remaining requests are not sent, and the started operations are not waited for.

        Returns:
            For each request, None if its operation succeeded, or else why not: the `ApiError` of the response or of the
            operation, CancelledError if the request was not sent, or `Unfinished` if the result is not known.
        """
        started = self._send_all(call, requests)
        watch = OperationsWatch(self.operations, call, call.end(self.timeout))
        for ended in watch.rounds([item for item in started if not item.is_settled]):
            if ended:
                settled = sum(item.is_settled for item in started)
                call.progress(f"{settled:,}/{len(started):,} {self.done}")
        return [item.error for item in started]

    def _send_all(self, call: Call, requests: Sequence[BatchRequest]) -> list[Started]:
        """Send the requests; the result has their operations or errors, in the order of the requests."""
        started, shown = [], time.monotonic()
        for item in call.side_by_side(lambda request: self._send(call, request), requests):
            started.append(item)
            if time.monotonic() - shown >= _PROGRESS_INTERVAL:
                shown = time.monotonic()
                call.progress(f"{len(started):,}/{len(requests):,} requests sent")
        return started

    def _send(self, call: Call, request: BatchRequest) -> Started:
        if call.cancelled.is_set():
            return Started(request.what, {}, CancelledError.before(request.what))
        try:
            operation: dict[str, Any] = self.operations.google.send(request.request, call)
        except ProviderError as error:
            return Started(request.what, {}, error)
        return Started.accepted(request.what, operation)
