"""Creations whose result the state does not know: they may be under way, and what exists may be somebody else's."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gcpx.compute.lagging_reads import looks
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.operations import Operations, Wait, left_nothing
from gcpx.compute.request_ids import resource_mark
from gcpx.errors import ProviderError
from gcpx.gcp.errors import Conflict, NotFound, PermissionDenied, Unfinished
from gcpx.model.call import Call
from gcpx.model.links import path_of
from gcpx.model.naming import TARGET, UNREAD


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


def is_own(call: Call, operations: Operations, scope: str, live: Mapping[str, Any]) -> bool:
    """Return whether what exists under a resource's name is that resource, and warn if not.

    If all responses to its creation and to the look-ups after it were lost, what exists may be somebody else's. It is
    then ours only if an operation of this stack created it. If Google refuses to list the operations, the one counts
    that the state knows.

    Args:
        call: the engine's call, which reads or deletes the resource.
        operations: the operations of the project.
        scope: where that operation would be: `global`, `regions/R` or `zones/Z`.
        live: the resource as Google returns it (REST JSON); for an attachment, its instance.
    """
    is_proven = call.last.get("numericId") or not call.last.get(UNREAD)
    if is_proven or not call.provider_id:  # without a provider's ID, no operation shows whose it is
        return True
    try:
        begun = operations.begun_by_requests(call, scope, resource_mark(call), patience=0.0)
        targets, why = {str(item.get("targetId")) for item in begun}, "no operation of this stack created what exists"
    except PermissionDenied as error:
        targets, why = {str(call.last.get(TARGET))}, f"the operations could not be listed: {error.message.rstrip('.')}"
    if str(live["id"]) in targets:
        return True
    call.warn(
        f"{path_of(str(live.get('selfLink', '')))} is left alone, because nothing shows that this stack created it: the "
        f"response to the creation was lost, and {why}. If it is yours, delete it, or import it; if the state still has "
        f"this resource, run `pulumi state delete {shlex.quote(call.urn)}` first"
    )
    return False


def wait_for_insertions(
    call: Call, operations: Operations, scope: str, wait: Wait, is_shown: Callable[[Outcome], bool]
) -> None:
    """Wait until what interrupted runs of a resource began to insert has ended, and Google shows what it created.

    Without a provider's ID, the operations of a resource cannot be told from others, and nothing is waited for.

    Args:
        call: the engine's call, which reads or deletes the resource.
        operations: the operations of the project.
        scope: where the operations would be: `global`, `regions/R` or `zones/Z`.
        wait: what to call an operation, and how long to wait for it.
        is_shown: tells whether Google shows what an operation has created.

    Raises:
        Unfinished: an operation has not ended, or Google does not show what it created.
        ApiError: the operations cannot be listed. A missing permission is only a warning.
    """
    if not call.provider_id:
        return
    try:
        begun = operations.begun_by_requests(call, scope, resource_mark(call))
    except (NotFound, PermissionDenied) as error:
        call.warn(
            f"{wait.what}: an earlier run was interrupted, and gcpx cannot find out whether Google is still working on "
            f"it: {error}"
        )
        return
    for operation in begun:
        if operation.get("status") == "DONE":
            continue
        outcome = operations.outcome(call, operation, wait)
        if not left_nothing(outcome.operation) and not any(is_shown(outcome) for _ in looks(call)):
            words = "Google reports success, but does not show what was created; run the command again to go on"
            raise Unfinished(f"{wait.what}: {words}", outcome.operation)
