"""Insertions with request IDs derived from their content, so that nothing is created twice or taken from others.

Google ignores a request with a known ID, and returns the operation of the first request with this ID. A run that
continues an earlier one derives the same IDs, and so finds what the earlier run created, across retries, lost
responses and further runs of `pulumi up`.
"""

from __future__ import annotations

import abc
import json
import re
import shlex
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

import attrs

from gcpx.compute.operations import (
    Operation,
    Operations,
    Outcome,
    Wait,
    is_insertion,
    kind_of,
    left_nothing,
    requested_at,
)
from gcpx.compute.reference import NAME
from gcpx.errors import CancelledError, OutOfTimeError, ProviderError, safe_message, without_stop
from gcpx.gcp.creation import keeping_lost
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PermissionDenied, PreconditionFailed, Rejected, Unfinished
from gcpx.gcp.request import Request
from gcpx.model.context import Context
from gcpx.model.import_command import import_command
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import STACK_DIGITS, UNREAD
from gcpx.model.ownership import Owner, owner
from gcpx.model.slow_hash import with_hashed_secrets

LAG: Final = 20.0
"""The time by which Google's reads may lag behind its operations, in seconds."""
MOST_FAILURES: Final = 3
"""The number of operations, failed at once or without a visible result, after which the last request ID is used."""
_RECOGNIZED: Final = 3600.0
"""The time for which Google recognizes a request ID, in seconds."""
_CLOCK_SKEW: Final = 60.0
"""The largest difference between this machine's clock and Google's, in seconds."""
_MOST_REQUEST_IDS: Final = 20
"""The number of request IDs in a sequence. The last one is random."""
_NAMESPACE: Final = uuid.UUID("6f1b8ed0-8c31-5c0c-9a1e-5f6a0f4a1c07")
"""The namespace of request IDs for insertions and calls that must happen only once."""
_UNSEEN: Final = (
    "Google reports that the resource was created, but shows neither the resource nor an operation that deleted it; run "
    "`pulumi up` again to continue"
)


def request_id(context: Context, end: uuid.UUID | None = None) -> str:
    """Return a request ID that begins with the mark of the resource, and ends like `end`, by default a random UUID.

    So a list can find the operations of all insertions of a stack, and of a resource. Without a provider's ID, which is
    unique to a stack, the whole ID is the UUID.
    """
    end = end or uuid.uuid4()
    return f"{context.request_mark}{str(end)[18:]}" if context.request_mark else str(end)


@attrs.frozen
class Inserted:
    """The end of an insertion.

    Attributes:
        outcome: the result of its operation, which succeeded or failed.
        earlier: whether an earlier run may have started the operation.
    """

    outcome: Outcome
    earlier: bool


def insert_once(insertion: Insertion) -> Inserted:
    """Insert, unless an earlier run did, and return the end of the operation.

    For a derived request ID, Google returns a new operation, or the operation of an earlier run. The next ID of the
    sequence is used only if nothing exists: the operation failed, an operation shows that somebody deleted the result,
    or this run is at least the second one that does not see it. If a new operation fails at once, it looks like an
    earlier one, so the request is sent up to three times more, and creates nothing each time.

    Raises:
        Unfinished: Google accepted the request, or may have, and its result is not known.
        ApiError: Google refused the request.
    """
    context = insertion.context
    failures, unseen = 0, None
    for number in range(_MOST_REQUEST_IDS):
        is_last = failures == MOST_FAILURES or number == _MOST_REQUEST_IDS - 1
        next_id = request_id(context) if is_last else insertion.derived_request_id(number)
        operation = _find_or_send(insertion, next_id, unseen)
        outcome = insertion.wait(operation)
        ended = outcome.operation
        may_be_of_earlier_run = operation.get("status") == "DONE" or insertion.is_other(ended)
        owner = _owner_once_seen(insertion, outcome) if may_be_of_earlier_run else Owner.OURS
        if owner is Owner.OURS or is_last:
            break
        unseen = ended if owner is Owner.UNKNOWN else unseen
        failures += outcome.error is not None or (owner is Owner.UNKNOWN and insertion.may_lag(ended))
    if (
        may_be_of_earlier_run
        and owner is Owner.OURS
        and outcome.error is None
        and insertion.is_certainly_earlier(ended)
    ):
        context.inform(taken_over(insertion.thing(ended), ended))
    return Inserted(outcome, may_be_of_earlier_run)


def _find_or_send(insertion: Insertion, request_id: str, unseen: Operation | None) -> Operation:
    """Return the operation of a request ID, which an earlier run or this one has started.

    `unseen` is an operation with an earlier ID of the sequence, which succeeded without a visible result.
    """
    earlier = insertion.sent_earlier(request_id)
    if earlier is not None:
        return earlier
    try:
        return insertion.send(request_id)
    except (Conflict, Rejected, PreconditionFailed) as refusal:
        found = _find_after_refusal(insertion, refusal, request_id)
        if found is not None:
            return found
        if unseen is not None and not isinstance(refusal, PreconditionFailed):
            raise Unfinished(f"{_UNSEEN}. Google refused to create it again: {refusal}", unseen) from refusal
        raise


def _find_after_refusal(insertion: Insertion, refusal: ApiError, request_id: str) -> Operation | None:
    """Look for an earlier operation of a refused request: what it created may be the reason for the refusal.

    Google may also refuse an ID that was used with another body, such as one with another run's generated name.
    """
    context = insertion.context
    if not isinstance(refusal, insertion.refusals_of_repetition) and not context.autonamed:
        return None
    for _ in context.tries(LAG if refusal.is_repeated else 0.0):
        operation = insertion.operations.find_insertion_if_listed(context, insertion.scope, request_id)
        if operation is not None:
            return operation
    return None


def _owner_once_seen(insertion: Insertion, outcome: Outcome) -> Owner:
    """Determine who owns the result of an operation; wait for a while if Google does not show it yet."""
    owner = Owner.UNKNOWN
    try:
        for _ in insertion.context.tries(LAG):
            owner = insertion.owner(outcome)
            if owner is not Owner.UNKNOWN:
                return owner
            if not insertion.may_lag(outcome.operation):
                break
    except Exception as error:  # after any error, keep the result
        words = (
            "the resource was created, perhaps by an earlier run, but it could not be read: "
            f"{without_stop(safe_message(error))}; run `pulumi up` again to continue"
        )
        raise Unfinished(words, outcome.operation) from error
    if insertion.context.cancelled.is_set() or not insertion.was_known(outcome.operation):
        raise Unfinished(_UNSEEN, outcome.operation)
    return owner


@attrs.frozen(kw_only=True)
class Insertion(abc.ABC):
    """The data of `insert_once`: the request, how its result is found, and what proves who owns the result.

    Attributes:
        context: the engine's call.
        operations: the operations of the project.
        scope: the scope of the operation: `global`, `regions/R` or `zones/Z`.
        name: the name of the result; empty if its operation does not show it.
        refusals_of_repetition: the errors by which Google may refuse a known request ID, or an existing result of this request.
    """

    refusals_of_repetition: ClassVar[tuple[type[ApiError], ...]] = (Conflict,)
    context: Context
    operations: Operations
    scope: str
    name: str = ""

    @property
    @abc.abstractmethod
    def content(self) -> list[Any]:
        """JSON values that distinguish this insertion from all others of the resource."""

    @abc.abstractmethod
    def request(self, request_id: str) -> Request:
        """Return the inserting request with a request ID."""

    @abc.abstractmethod
    def wait(self, operation: Operation) -> Outcome:
        """Wait until the operation has ended."""

    @abc.abstractmethod
    def owner(self, outcome: Outcome) -> Owner:
        """Decide who owns the result of a finished operation of this insertion."""

    @abc.abstractmethod
    def was_known(self, operation: Operation) -> bool:
        """Return whether the state or the engine knows the result of an operation.

        If so, an earlier run has already waited for it to become visible.
        """

    @abc.abstractmethod
    def thing(self, operation: Operation) -> str:
        """Return the name of an operation's result in messages."""

    def exists(self) -> bool:
        """Return whether the resource to create exists, created by the request or by somebody else."""
        return False

    def may_lag(self, operation: Operation) -> bool:
        """Return whether a read may not show the result of a finished operation yet."""
        del operation
        return True

    def sent_earlier(self, request_id: str) -> Operation | None:
        """Return the operation that an earlier run started with a request ID, before the request is sent again.

        By default, gcpx does not look for it.
        """
        del request_id
        return None

    def send(self, request_id: str) -> Operation:
        """Send the request, and return its operation; if all responses are lost, look for the operation.

        Google may show the result of an operation some seconds before it lists the operation.

        Raises:
            Unfinished: Google may have carried out the request.
            ApiError: Google refused it; a Conflict also if somebody else has created the resource meanwhile.
        """
        try:
            return self.accepted(request_id)
        except Unfinished as error:
            lost = error
        for _ in self.context.tries(LAG):
            try:
                operation = self.operations.find_insertion(self.context, self.scope, request_id)
                exists = operation is None and self.exists()
            except Exception as error:  # after any error, Google may have carried out the request
                raise with_reason(lost, error) from error
            if operation is not None or not exists:
                raise lost.with_operation(operation) from lost
            # It exists without an operation of this request: the list lags, or somebody else has created it.
        if self.context.is_over:
            raise lost
        raise Conflict(
            f"{without_stop(str(lost.__cause__ or lost))}. It exists, and Google has listed no operation of this request; "
            "if it lists one later, the next `pulumi up` takes over what the request created"
        )

    def accepted(self, request_id: str) -> Operation:
        """Send the request; return its operation, or the operation of an earlier request with the same ID.

        Anybody with write access to the project can use the ID for another request, such as one that sets labels.
        """
        with keeping_lost():
            operation = self.operations.send(self.request(request_id), self.context)
        if operation.get("operationType") and not is_insertion(operation):
            raise Unfinished(
                f"another request ({kind_of(operation)}) has used the ID of this one; run `pulumi up` again in an hour"
            )
        return operation

    def is_other(self, operation: Operation) -> bool:
        """Return whether an operation creates a resource with another name, so that an earlier run started it."""
        return bool(self.name) and inserted_name(operation, self.name) != self.name

    def is_certainly_earlier(self, operation: Operation) -> bool:
        """Return whether an earlier run certainly started an operation; this run's clock may differ from Google's."""
        return self.is_other(operation) or requested_at(operation).timestamp() < time.time() - _CLOCK_SKEW

    def derived_request_id(self, number: int) -> str:
        """Return a request ID of the sequence, from 0 on; every run derives the same from the content."""
        sender = self.context.requester or self.context.urn
        content = json.dumps([sender, *with_hashed_secrets(self.content), number], sort_keys=True)
        return request_id(self.context, uuid.uuid5(_NAMESPACE, content))

    def earlier_operations(self) -> Iterator[Operation]:
        """Yield the operations of earlier runs of this insertion, except failed ones.

        Request IDs are used in order, so the first one without an operation ends the search, unless it is among the
        first ones, with operations that may have failed. Raises ApiError.
        """
        for number in range(_MOST_REQUEST_IDS - 1):
            operation = self.operations.find_insertion(self.context, self.scope, self.derived_request_id(number))
            if operation is not None:
                yield operation
            elif number >= MOST_FAILURES - 1:
                return


def with_reason(lost: Unfinished, error: Exception) -> Unfinished:
    """Add to the error of a lost request the error that prevents finding out what became of it."""
    words = f"{without_stop(str(lost))}. gcpx could not find out what became of the request: {safe_message(error)}"
    return Unfinished(words, lost.operation)


def taken_over(thing: str, operation: Operation) -> str:
    """Return the message that the result of an earlier run's operation is taken over."""
    return f"{thing} is taken over: a request of this resource created it at {operation.get('insertTime')}"


def inserted_name(operation: Mapping[str, Any], name: str) -> str:
    """Return the name of an `insert` operation's result; `name` if its link does not end in a valid name."""
    target = operation.get("targetLink")
    found = name_of(target) if isinstance(target, str) else ""
    return found if NAME.pattern.fullmatch(found) else name


def is_own(
    context: Context,
    operations: Operations,
    scope: str,
    live: Mapping[str, Any],
    replacing_kinds: tuple[str, ...] = (),
    *,
    resource_id: str = "",
) -> bool:
    """Return whether an existing resource is the one of the call; if not, warn that it is left alone.

    Args:
        context: the engine's call, which reads or deletes the resource. In an import, the user claims ownership.
        operations: the operations of the project.
        scope: the scope of the operation that created it: `global`, `regions/R` or `zones/Z`.
        live: the resource as Google returns it (REST JSON); for an attachment, its instance.
        replacing_kinds: the kinds of operations that, in this order, may have replaced our resource by the existing one
            under the same number: an attachment has the number of its instance.
        resource_id: its name in the warning; empty for its path.
    """
    known, number, why = context.prior.get("numericId"), str(live["id"]), ""

    def made_by_us() -> bool:
        nonlocal why
        why = _why_not_made(context, operations, scope, number, replacing_kinds)
        return not why

    is_settled = not context.prior.get(UNREAD)  # an import has no state; a read attachment has no number
    if is_settled and known is None:
        return True
    answer = owner(number, made_by_us, known=known)
    if why:
        context.warn(
            f"{resource_id or path_of(str(live.get('selfLink', '')))} is left alone, because nothing shows that this stack "
            f"created it: {why}. If it is yours, delete it, or import it; if the state still has this resource, run "
            f"`pulumi state delete {shlex.quote(context.urn)}` first"
        )
    return answer is Owner.OURS


def _why_not_made(
    context: Context, operations: Operations, scope: str, number: str, replacing_kinds: tuple[str, ...]
) -> str:
    """Return why the resource with a numeric ID was not created by a request of this resource; empty if it was.

    If Google refuses to list the operations, the target in the state decides. Without a provider's ID, all requests
    count as this resource's, because the requests of other stacks look the same.
    """
    if not context.request_mark:
        return ""
    try:
        insertions = operations.insertions_by_request_id(context, scope, context.request_mark, patience=0.0)
    except PermissionDenied as error:
        is_target = context.prior.get(UNREAD) == number
        return "" if is_target else f"the operations could not be listed: {without_stop(error.message)}"
    ours = [item for item in insertions if str(item.get("targetId")) == number]
    if not ours:
        return "no operation of this stack created the existing resource"
    if replacing_kinds and operations.happened_in_turn(context, scope, max(ours, key=requested_at), replacing_kinds):
        return "another request may have created it anew"
    return ""


def wait_for_insertions(
    context: Context, operations: Operations, scope: str, wait: Wait, is_shown: Callable[[Outcome], bool]
) -> None:
    """Wait until the insertions of a resource's interrupted runs have ended, and Google shows their results.

    Without a provider's ID, a resource's operations cannot be identified, and it returns at once.

    Args:
        context: the engine's call, which reads or deletes the resource.
        operations: the operations of the project.
        scope: the scope of the operations: `global`, `regions/R` or `zones/Z`.
        wait: the name of an operation in messages, and the time to wait for it.
        is_shown: returns whether Google shows the result of an operation.

    Raises:
        Unfinished: an operation has not ended, or Google does not show its result.
        ApiError: the operations cannot be listed. After an interrupted run, a missing permission is only a warning.
    """
    if not context.request_mark:
        return
    try:
        insertions = operations.insertions_by_request_id(context, scope, context.request_mark)
    except (NotFound, PermissionDenied) as error:
        if context.prior.get(UNREAD):  # otherwise, no run is known to be interrupted
            context.warn(
                f"{wait.what}: an earlier run was interrupted, and gcpx cannot find out whether Google is still working "
                f"on it: {error}"
            )
        return
    for operation in insertions:
        if operation.get("status") == "DONE":
            continue
        outcome = operations.outcome(context, operation, wait)
        if not left_nothing(outcome.operation) and not any(is_shown(outcome) for _ in context.tries(LAG)):
            words = "Google reports success, but does not show what was created; run the command again to go on"
            raise Unfinished(f"{wait.what}: {words}", outcome.operation)


@attrs.define
class EarlierInsertions:
    """The insertions of earlier runs, by the request IDs of their operations.

    The operations of a scope are listed once in a process, for all resources of a stack. Without a provider's ID, which
    distinguishes stacks, nothing is listed.
    """

    _lists: dict[str, list[Operation]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, eq=False)

    def find_recent(self, context: Context, operations: Operations, scope: str, request_id: str) -> Operation | None:
        """Find the operation of an earlier run's request, as long as Google should recognize its ID.

        Only for a generated name: an unrecognized repetition would create another resource.
        """
        listed = self.of_resource(context, operations, scope) if context.autonamed else []
        since = time.time() - _RECOGNIZED
        same = (item for item in listed if item.get("clientOperationId") == request_id)
        return next((item for item in same if requested_at(item).timestamp() > since), None)

    def of_resource(self, context: Context, operations: Operations, scope: str) -> list[Operation]:
        """Return the insertions of earlier runs of a resource, without failed ones.

        It is empty after a cancellation, or if they cannot be listed, because only a warning depends on them.
        """
        if not context.request_mark:
            return []
        stack, mark = context.requester[:STACK_DIGITS], context.request_mark
        place = f"{stack} {operations.path}/{scope}"
        try:
            with context.holding(self._lock, f"GET {operations.path}/{scope}/operations", reading=True):
                if place not in self._lists:
                    found: list[Operation] = []
                    with suppress(ProviderError):
                        found = operations.insertions_by_request_id(context, scope, f"{stack}-", patience=0.0)
                    self._lists[place] = found
                return [item for item in self._lists[place] if str(item.get("clientOperationId", "")).startswith(mark)]
        except (CancelledError, OutOfTimeError):
            return []


def orphan_warning(context: Context, resource_id: str, deletion: str) -> str:
    """Return the warning about something that an earlier run of this resource created; `deletion` is a command.

    It may be there on purpose: what `retainOnDelete` keeps looks like what an interrupted run leaves behind.
    """
    return (
        f"{resource_id} exists, and an earlier run of this resource created it. Unless this run deletes it, or another "
        "resource or stack has taken it over, it is in no state: retainOnDelete has kept it on purpose, or a run was "
        f"interrupted. If nothing needs it, delete it with `{deletion}`; to manage it as one more resource, run "
        f"{import_command(context, resource_id, f'{context.name}-earlier')}, and add the code that this prints to the program"
    )


def deletion_command(project: str, path: str, name: str) -> str:
    """Return the command that deletes a resource of a collection, such as `regions/us-east1/instanceTemplates`."""
    scope, _, kind = path.rpartition("/")
    words = re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", kind)
    region = f" --region={name_of(scope)}" if scope.startswith("regions/") else ""
    return f"gcloud compute {words} delete {name} --project={project}{region}"
