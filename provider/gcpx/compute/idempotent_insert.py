"""Insert a resource or a fleet exactly once, across retries and further runs of `pulumi up`, by request IDs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.request_ids import RequestIds
from gcpx.errors import safe_message
from gcpx.gcp.errors import Unfinished

_ATTEMPTS: Final = 4
"""The number of request IDs in a sequence. The last one is random."""


@attrs.frozen
class Inserted:
    """How an insert ended.

    Attributes:
        outcome: the end of its operation, whether it succeeded or failed.
        earlier: whether an earlier run had begun the operation.
    """

    outcome: Outcome
    earlier: bool

    @property
    def operation(self) -> dict[str, Any]:
        """The operation (REST JSON)."""
        return self.outcome.operation


@attrs.frozen(kw_only=True)
class IdempotentInsert:
    """An insert under a sequence of request IDs.

    Google ignores a request whose ID it knows and returns the operation of the first request with this ID. The IDs
    are therefore derived from what is inserted: another run sends the same IDs, and finds what an earlier run created.

    Attributes:
        request_ids: the request IDs.
        send: sends the insert with a request ID, and returns Google's operation (REST JSON).
        wait: waits until the operation has ended.
        exists: tells whether what an earlier run's operation created still exists, and is to be used.
        is_other: tells whether an operation creates something under another name than this insert, so that an earlier
            run has begun it.
    """

    request_ids: RequestIds
    send: Callable[[str], dict[str, Any]]
    wait: Callable[[dict[str, Any]], Outcome]
    exists: Callable[[Outcome], bool]
    is_other: Callable[[dict[str, Any]], bool] = lambda _: False

    def run(self) -> Inserted:
        """Insert, and return how the operation ended.

        An operation that is done in its first response belongs to an earlier run. If nothing of its result exists,
        because it failed or because someone deleted the result, the next request ID of the sequence is used.

        Raises:
            Unfinished: Google accepted the request, and its result is not known.
            ApiError: Google refused the request.
        """
        for request_id in self._request_ids():
            operation = self.send(request_id)
            earlier = operation.get("status") == "DONE" or self.is_other(operation)
            outcome = self.wait(operation)
            if not earlier or self._still_exists(outcome):
                break
        return Inserted(outcome, earlier)

    @property
    def derived_request_ids(self) -> Iterator[str]:
        """The request IDs that every run derives from the content, in the order of their use."""
        return map(self.request_ids.derived, range(_ATTEMPTS - 1))

    def _still_exists(self, outcome: Outcome) -> bool:
        try:
            return self.exists(outcome)
        except Exception as error:  # after any error, keep what was created
            words = f"created by an earlier run, but it could not be read: {safe_message(error)}"
            raise Unfinished(words, outcome.operation) from error

    def _request_ids(self) -> Iterator[str]:
        yield from self.derived_request_ids
        yield str(uuid.uuid4())
