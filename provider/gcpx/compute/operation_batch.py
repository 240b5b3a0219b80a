"""Sends many requests that start operations in parallel, and waits for all of them with a few lists."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Self

import attrs

from gcpx.compute.operations import FIELDS_OF_PROGRESS, Operation, Operations, scope_of, warn_of
from gcpx.errors import CancelledError, ProviderError, safe_message
from gcpx.gcp.errors import NotFound, Unfinished, from_operation
from gcpx.gcp.list_method import PAGE, ListMethod
from gcpx.gcp.request import COMPUTE, SHORT_PATIENCE, Request
from gcpx.gcp.retries import may_pass
from gcpx.model.context import Context

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 15.0


@attrs.define
class Started:
    """A sent request, with its operation as last read.

    Attributes:
        what: the name of the operation in messages.
        operation: the operation (REST JSON); empty if the request was not accepted.
        error: the error of the request or the operation, if it did not succeed.
        was_missing: whether a list lacked it.
    """

    what: str
    operation: Operation
    error: ProviderError | None = None
    was_missing: bool = False

    @classmethod
    def accepted(cls, what: str, operation: Operation) -> Self:
        """Create the record from Google's response to an accepted request."""
        if not all(isinstance(operation.get(name), str) for name in ("name", "zone")):
            return cls(
                what, operation, Unfinished(f"{what}: Google's response does not describe its operation", operation)
            )
        started = cls(what, operation)
        started.update(operation)
        return started

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.error is not None or self.operation.get("status") == "DONE"

    def update(self, operation: Operation) -> None:
        """Update the operation with a new read; `operation` may lack fields that do not change."""
        self.operation = {**self.operation, **operation}
        if self.operation.get("status") == "DONE" and self.operation.get("error"):
            self.error = from_operation(self.what, self.operation)

    def give_up(self, reason: str) -> None:
        """Record that the result will stay unknown."""
        self.error = Unfinished(f"{self.what}: {reason}", self.operation, "Run `pulumi refresh` to find out the result")


@attrs.define
class OperationsWatch:
    """Reads operations in rounds until all of them have ended.

    Attributes:
        deadline: the end of the wait, by the call's clock.
    """

    operations: Operations
    context: Context
    deadline: float

    def rounds(self, pending: list[Started]) -> Iterator[int]:
        """Read until all operations are settled, with growing pauses; yield the number that ended after each round.

        Operations that are still running when the user cancels or the time is over get an `Unfinished`.
        """
        if not pending:
            return
        left = self.deadline - self.context.clock()
        for _ in self.context.tries(left, pause=_FIRST_PAUSE, longest=_LONGEST_PAUSE):
            if self._gave_up(pending):
                return
            self._read(pending)
            still_pending = [item for item in pending if not item.is_settled]
            yield len(pending) - len(still_pending)
            pending = still_pending
            if not pending:
                return
        self._gave_up(pending)

    def _gave_up(self, pending: list[Started]) -> bool:
        reason = ""
        if self.context.cancelled.is_set():
            reason = "cancelled while Google was still working on it"
        elif self.context.clock() >= self.deadline:
            reason = "did not finish in time (customTimeouts can allow more)"
        for item in pending if reason else ():
            item.give_up(reason)
        return bool(reason)

    def _read(self, pending: list[Started]) -> None:
        """Read all pending operations once: by a list of each zone, and one by one if a list does not show them."""
        zones: dict[str, list[Started]] = defaultdict(list)
        for item in pending:
            zones[scope_of(item.operation)].append(item)
        side_by_side = self.context.side_by_side
        left = [
            item for items in side_by_side(lambda zone: self._read_zone(zone, zones[zone]), zones) for item in items
        ]
        list(side_by_side(self._read_one, left))

    def _read_zone(self, zone: str, pending: list[Started]) -> list[Started]:
        """Read the operations of one zone by a list; return the ones to read one by one."""
        if len(pending) == 1:
            return pending
        unseen = {item.operation["name"]: item for item in pending}
        try:
            self._read_list(zone, unseen)
        except Exception as error:  # noqa: BLE001 - no failure of a list says anything about the operations
            return [] if self._may_pass(error) else list(unseen.values())
        # A list may lag behind, so an operation that it lacks is left for the next round, once.
        missing = [item for item in unseen.values() if item.was_missing]
        for item in unseen.values():
            item.was_missing = True
        return missing

    def _read_list(self, zone: str, unseen: dict[str, Started]) -> None:
        """Update the operations that a list shows, and remove them from `unseen`, which has them by name.

        Reads as many pages as the operations can fill, and one more for operations of others.
        """
        query = {"orderBy": "creationTimestamp desc"}
        path = f"{self.operations.path}/{zone}/operations"
        google = self.operations.google
        method = ListMethod(google=google, path=path, query=query, fields=FIELDS_OF_PROGRESS, patience=SHORT_PATIENCE)
        for page in islice(method.pages(self.context), len(unseen) // PAGE + 2):
            for operation in page.get("items", ()):
                item = unseen.pop(operation.get("name"), None)
                if item is not None:
                    self._update(item, operation)
            if not unseen:
                return

    def _read_one(self, item: Started) -> None:
        try:
            path = self.operations.path_of(item.operation)
            request = Request(
                api=COMPUTE, method="GET", path=path, query={"fields": FIELDS_OF_PROGRESS}, patience=SHORT_PATIENCE
            )
            self._update(item, self.operations.send(request, self.context))
        except Exception as error:  # noqa: BLE001 - whatever went wrong, Google accepted the request
            if not self._may_pass(error):
                item.give_up(f"the status of its operation could not be read: {safe_message(error)}")

    def _may_pass(self, error: Exception) -> bool:
        """Return whether to leave operations for the next round after a read failed."""
        if may_pass(error):
            self.context.progress(f"{safe_message(error)}; asking again")
        return isinstance(error, CancelledError) or may_pass(error)

    def _update(self, item: Started, operation: Operation) -> None:
        item.update(operation)
        if item.is_settled:
            self.operations.ended(item.operation)
            warn_of(self.context, item.what, operation)


@attrs.frozen(kw_only=True)
class BatchRequest:
    """One request of a batch.

    Attributes:
        request: the request, which returns an operation.
        what: the name of the operation in messages, such as `delete zones/us-east1-b/instances/web-1`.
    """

    request: Request
    what: str


_PROGRESS_INTERVAL: Final = 1.0
"""Seconds between lines of progress, so that logs, which keep all of them, stay short."""


@attrs.frozen(kw_only=True)
class OperationBatch:
    """Requests of one kind, such as the deletions of many instances.

    Attributes:
        operations: the operations of the requests' project.
        timeout: seconds that all operations together may take if the user sets no custom timeout.
        done: the counted results in messages, such as `instances deleted`.
    """

    operations: Operations
    timeout: float
    done: str

    def run(self, context: Context, requests: Sequence[BatchRequest]) -> list[ProviderError | None]:
        """Send all requests, wait until their operations have ended, and show the progress.

        After a cancellation, it sends no more requests, and does not wait for started operations.

        Returns:
            For each request, None if its operation succeeded, or else the `ApiError` of the response or of the operation,
            CancelledError if the request was not sent, or `Unfinished` if the result is not known.
        """
        started = self._send_all(context, requests)
        watch = OperationsWatch(self.operations, context, context.end(self.timeout))
        for ended in watch.rounds([item for item in started if not item.is_settled]):
            if ended:
                gone = sum(isinstance(item.error, NotFound) for item in started)
                failed = sum(item.error is not None for item in started) - gone
                done = sum(item.is_settled for item in started) - failed - gone
                more = (f", {failed:,} failed" if failed else "") + (f", {gone:,} already gone" if gone else "")
                context.progress(f"{done:,}/{len(started):,} {self.done}{more}")
        return [item.error for item in started]

    def _send_all(self, context: Context, requests: Sequence[BatchRequest]) -> list[Started]:
        """Send the requests; the result has their operations or errors, in the order of the requests."""
        started, shown = [], time.monotonic()
        for item in context.side_by_side(lambda request: self._send(context, request), requests):
            started.append(item)
            if time.monotonic() - shown >= _PROGRESS_INTERVAL:
                shown = time.monotonic()
                context.progress(f"{len(started):,}/{len(requests):,} requests sent")
        return started

    def _send(self, context: Context, request: BatchRequest) -> Started:
        if context.cancelled.is_set():
            return Started(request.what, {}, CancelledError.before(request.what))
        try:
            operation = self.operations.send(request.request, context)
        except ProviderError as error:
            return Started(request.what, {}, error)
        return Started.accepted(request.what, operation)
