"""Insert a resource or a fleet exactly once, across retries and further runs of `pulumi up`, by request IDs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx.compute.lagging_reads import looks
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.request_ids import RequestIds
from gcpx.errors import safe_message
from gcpx.gcp.errors import Conflict, Rejected, Unfinished

_MOST: Final = 20
"""The number of request IDs in a sequence. The last one is random."""
MOST_FAILURES: Final = 3
"""After how many operations that failed at once, or whose results are not seen, the last one is used."""
_UNSEEN: Final = (
    "Google reports that the resource was created, but shows neither the resource nor an operation that deleted it; run "
    "`pulumi up` again to continue"
)


class Fate(enum.Enum):
    """Whether what an operation was to create exists and is to be used."""

    FOUND = "it exists, and is to be used"
    GONE = "it was never created, was deleted, or is not to be used"
    UNSEEN = "it was created, but Google shows neither it nor its deletion"


@attrs.frozen
class Inserted:
    """How an insert ended.

    Attributes:
        outcome: the end of its operation, whether it succeeded or failed.
        earlier: whether an earlier run may have begun the operation.
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
        fate: tells whether what a finished operation was to create exists and is to be used.
        was_known: tells whether the state or the engine knows what an operation has created, which means that an earlier
            run has already waited for it to become visible.
        is_other: tells whether an operation creates something under another name than this insert, so that an earlier
            run has begun it.
    """

    request_ids: RequestIds
    send: Callable[[str], dict[str, Any]]
    wait: Callable[[dict[str, Any]], Outcome]
    fate: Callable[[Outcome], Fate]
    was_known: Callable[[dict[str, Any]], bool]
    is_other: Callable[[dict[str, Any]], bool] = lambda _: False

    def run(self) -> Inserted:
        """Insert, and return how the operation ended.

        An operation that is done in its first response may be an earlier run's, or this insert's own. The next request
        ID is used only if nothing of its result exists: because the operation failed, because an operation shows that
        somebody deleted the result, or because this run is at least the second one that does not see it. An operation
        of this insert that fails at once cannot be told from an earlier one, so the insert is then sent up to three
        times more, and creates nothing each time.

        Raises:
            Unfinished: Google accepted the request, and its result is not known.
            ApiError: Google refused the request.
        """
        failures, unseen = 0, None
        for number in range(_MOST):
            is_last = failures == MOST_FAILURES or number == _MOST - 1
            request_id = self.request_ids.random() if is_last else self.request_ids.derived(number)
            operation = self._sent(request_id, unseen)
            may_be_earlier = operation.get("status") == "DONE" or self.is_other(operation)
            outcome = self.wait(operation)
            fate = self._fate(outcome) if may_be_earlier else Fate.FOUND
            if fate is Fate.FOUND or is_last:
                break
            unseen = outcome.operation if fate is Fate.UNSEEN else unseen
            failures += fate is Fate.UNSEEN or outcome.error is not None
        return Inserted(outcome, may_be_earlier)

    def _sent(self, request_id: str, unseen: dict[str, Any] | None) -> dict[str, Any]:
        """Send the insert; if Google refuses it after an operation with an unseen result, that may be the reason."""
        try:
            return self.send(request_id)
        except (Conflict, Rejected) as error:
            if unseen is None:
                raise
            raise Unfinished(f"{_UNSEEN}. Google refused to create it again: {error}", unseen) from error

    @property
    def derived_request_ids(self) -> Iterator[str]:
        """The request IDs that every run derives from the content, in the order of their use."""
        return map(self.request_ids.derived, range(_MOST - 1))

    def _fate(self, outcome: Outcome) -> Fate:
        """Tell whether what an operation has created is to be used; look for it for a while, if Google does not show it."""
        call, fate = self.request_ids.call, Fate.UNSEEN
        try:
            for _ in looks(call):
                fate = self.fate(outcome)
                if fate is not Fate.UNSEEN:
                    return fate
        except Exception as error:  # after any error, keep what was created
            words = (
                "the resource was created, perhaps by an earlier run, but it could not be read: "
                f"{safe_message(error)}; run `pulumi up` again to continue"
            )
            raise Unfinished(words, outcome.operation) from error
        if call.cancelled.is_set() or not self.was_known(outcome.operation):
            raise Unfinished(_UNSEEN, outcome.operation)
        return fate
