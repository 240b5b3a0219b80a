"""Creations whose response is lost for good: what exists may be somebody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gcpx.compute.operations import Operations
from gcpx.errors import ProviderError
from gcpx.gcp.errors import Conflict, Unfinished
from gcpx.model.call import Call


@contextmanager
def refusing_what_others_created(
    operations: Operations, call: Call, scope: str, request_id: str, exists: Callable[[], bool]
) -> Iterator[None]:
    """Find out, if the block raises Unfinished for a creation, whether what exists was created by its request.

    Args:
        operations: the operations of the project.
        call: the engine's call.
        scope: where the operation of the request would be: `global`, `regions/R` or `zones/Z`.
        request_id: the `requestId` of the request.
        exists: tells whether what the request was to create exists.

    Raises:
        Conflict: it exists, and the request has no operation, so somebody else created it.
        Unfinished: the request may have created it.
    """
    try:
        yield
    except Unfinished as lost:
        try:
            operation = operations.requested(call, scope, request_id)
            is_others = operation is None and exists()
        except ProviderError:
            raise lost from None
        if is_others:
            raise Conflict(f"{lost}, but what exists was created by another request") from lost
        raise Unfinished(str(lost), operation) from lost
