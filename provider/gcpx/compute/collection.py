"""The calls to one collection of Compute resources: get, insert, custom methods, delete.

An insertion happens exactly once, across retries, lost responses and further runs of `pulumi up`, because its request
ID follows from what is inserted.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
import shlex
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.operations import Operations, Outcome, Wait, left_nothing, moment
from gcpx.compute.reference import NAME
from gcpx.errors import CancelledError, MalformedResponse, OutOfTimeError, ProviderError, safe_message
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PermissionDenied, PreconditionFailed, Rejected, Unfinished
from gcpx.gcp.list_method import is_id
from gcpx.gcp.request import COMPUTE, Request, segment
from gcpx.model.import_command import how_to_manage, separate_import_command
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import TARGET, UNREAD
from gcpx.model.resource import Context

_PATIENCE: Final = 20.0
"""Seconds in which answers may lag."""
_FIRST_PAUSE: Final = 0.5


def looks(context: Context) -> Iterator[None]:
    """Yield each time to look: at once, and then after growing pauses, for 20 seconds.

    Ends earlier if the user cancels, or if the time of the call is over.
    """
    end, pause = context.clock() + min(_PATIENCE, context.seconds_left()), _FIRST_PAUSE
    yield
    while context.clock() < end and not context.cancelled.wait(min(pause, max(0.0, end - context.clock()))):
        yield
        pause *= 2


_STACK: Final = 8
"""The hexadecimal digits of a request ID that are derived from the provider's ID."""


@attrs.frozen(kw_only=True)
class RequestIds:
    """The request IDs of one insertion, as UUIDs.

    The first 8 digits follow from the provider's ID, which is unique to a stack, and the next 7 from the URN. So the
    operations of all insertions of a stack, and of a resource, can be listed. The other digits follow from the content,
    or are random. Without a provider's ID, the whole request ID follows from the content, or is random.

    Attributes:
        context: the engine's call, which knows the provider's ID and the URN.
        namespace: the UUID that keeps inserts of different kinds apart.
        content: JSON values that distinguish this insert from all others of the resource.
    """

    context: Context
    namespace: uuid.UUID
    content: list[Any]

    def derived(self, number: int) -> str:
        """Return a request ID of the sequence, which begins at 0."""
        given = [self.context.provider_id] if self.context.provider_id else []
        content = json.dumps([*given, self.context.urn, *self.content, number], sort_keys=True)
        return self._marked(uuid.uuid5(self.namespace, content))

    def random(self) -> str:
        """Return a request ID that no other run derives; it also shows whose it is."""
        return self._marked(uuid.uuid4())

    def _marked(self, request_id: uuid.UUID) -> str:
        return f"{resource_mark(self.context)}{str(request_id)[18:]}" if self.context.provider_id else str(request_id)


def stack_mark(provider_id: str) -> str:
    """Return the digits with which all request IDs of a stack begin."""
    return hashlib.sha256(provider_id.encode()).hexdigest()[:_STACK]


def resource_mark(context: Context) -> str:
    """Return the digits with which the request IDs of a resource begin; the call must have a provider's ID."""
    of_urn = hashlib.sha256(f"{context.provider_id} {context.urn}".encode()).hexdigest()
    return f"{stack_mark(context.provider_id)}-{of_urn[:4]}-5{of_urn[4:7]}"


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
        context, fate = self.request_ids.context, Fate.UNSEEN
        try:
            for _ in looks(context):
                fate = self.fate(outcome)
                if fate is not Fate.UNSEEN:
                    return fate
        except Exception as error:  # after any error, keep what was created
            words = (
                "the resource was created, perhaps by an earlier run, but it could not be read: "
                f"{safe_message(error)}; run `pulumi up` again to continue"
            )
            raise Unfinished(words, outcome.operation) from error
        if context.cancelled.is_set() or not self.was_known(outcome.operation):
            raise Unfinished(_UNSEEN, outcome.operation)
        return fate


@contextmanager
def refusing_what_others_created(
    operations: Operations, context: Context, scope: str, request_id: str, exists: Callable[[], bool]
) -> Iterator[None]:
    """Find out, if the block raises Unfinished for a creation, whether what exists was created by its request.

    Args:
        operations: the operations of the project.
        context: the engine's call.
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
            operation = operations.requested(context, scope, request_id)
            is_others = operation is None and exists()
        except ProviderError:
            raise lost from None
        if is_others:
            raise Conflict(f"{lost}, but what exists was created by another request") from lost
        raise Unfinished(str(lost), operation) from lost


def is_own(context: Context, operations: Operations, scope: str, state: Mapping[str, Any]) -> bool:
    """Return whether what exists under a resource's name is that resource, and warn if not.

    If all responses to its creation and to the look-ups after it were lost, what exists may be somebody else's. It is
    then ours only if an operation of this stack created it. If Google refuses to list the operations, the one counts
    that the state knows.

    Args:
        context: the engine's call, which reads or deletes the resource.
        operations: the operations of the project.
        scope: where that operation would be: `global`, `regions/R` or `zones/Z`.
        state: the resource as Google returns it (REST JSON); for an attachment, its instance.
    """
    is_proven = context.prior.get("numericId") or not context.prior.get(UNREAD)
    if is_proven or not context.provider_id:  # without a provider's ID, no operation shows whose it is
        return True
    try:
        begun = operations.begun_by_requests(context, scope, resource_mark(context), patience=0.0)
        targets, why = {str(item.get("targetId")) for item in begun}, "no operation of this stack created what exists"
    except PermissionDenied as error:
        targets, why = (
            {str(context.prior.get(TARGET))},
            f"the operations could not be listed: {error.message.rstrip('.')}",
        )
    if str(state["id"]) in targets:
        return True
    context.warn(
        f"{path_of(str(state.get('selfLink', '')))} is left alone, because nothing shows that this stack created it: the "
        f"response to the creation was lost, and {why}. If it is yours, delete it, or import it; if the state still has "
        f"this resource, run `pulumi state delete {shlex.quote(context.urn)}` first"
    )
    return False


def wait_for_insertions(
    context: Context, operations: Operations, scope: str, wait: Wait, is_shown: Callable[[Outcome], bool]
) -> None:
    """Wait until what interrupted runs of a resource began to insert has ended, and Google shows what it created.

    Without a provider's ID, the operations of a resource cannot be told from others, and nothing is waited for.

    Args:
        context: the engine's call, which reads or deletes the resource.
        operations: the operations of the project.
        scope: where the operations would be: `global`, `regions/R` or `zones/Z`.
        wait: what to call an operation, and how long to wait for it.
        is_shown: tells whether Google shows what an operation has created.

    Raises:
        Unfinished: an operation has not ended, or Google does not show what it created.
        ApiError: the operations cannot be listed. A missing permission is only a warning.
    """
    if not context.provider_id:
        return
    try:
        begun = operations.begun_by_requests(context, scope, resource_mark(context))
    except (NotFound, PermissionDenied) as error:
        context.warn(
            f"{wait.what}: an earlier run was interrupted, and gcpx cannot find out whether Google is still working on "
            f"it: {error}"
        )
        return
    for operation in begun:
        if operation.get("status") == "DONE":
            continue
        outcome = operations.outcome(context, operation, wait)
        if not left_nothing(outcome.operation) and not any(is_shown(outcome) for _ in looks(context)):
            words = "Google reports success, but does not show what was created; run the command again to go on"
            raise Unfinished(f"{wait.what}: {words}", outcome.operation)


NAMESPACE: Final = uuid.UUID("6f1b8ed0-8c31-5c0c-9a1e-5f6a0f4a1c07")
"""The namespace of the request IDs by which resources are inserted and methods called once."""
_IN_USE: Final = ("resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
_DELETE_ATTEMPTS: Final = 5
_WITHOUT_REQUEST_ID: Final = ("machineImages.setLabels",)
"""Methods without a request ID. Sending them twice is safe, because a fingerprint guards the change."""


class GoneError(NotFound):
    """The resource of a numeric ID no longer exists.

    Attributes:
        namesake: the numeric ID of what has its name now; empty if nothing has.
    """

    namesake: str = ""

    @classmethod
    def of(cls, path: str, namesake: str = "") -> GoneError:
        """Say that the resource with the name at the end of a path is gone."""
        why = f", and another one (numeric ID {namesake}) has its name" if namesake else ""
        error = cls(f"{path}: the resource in the state no longer exists{why}; run `pulumi up --refresh`")
        error.namesake = namesake
        return error


@attrs.frozen(kw_only=True)
class Collection:
    """One collection of Compute resources, such as the global instance templates of a project.

    Resources are REST JSON in all methods.

    Attributes:
        version: the API version, `v1` or `beta`.
        path: scope and collection, such as `global/instanceTemplates`.
        timeout: seconds that an operation may take if the user sets no custom timeout.
        view: the API's `view` parameter of `get`, for collections that have one.
    """

    google: GoogleClient
    version: str
    project: str
    path: str
    timeout: float
    view: str | None = None

    @property
    def url(self) -> str:
        """The path of requests to the collection: version, project, scope and collection."""
        return f"{self.version}/projects/{self.project}/{self.path}"

    def url_of(self, name: str) -> str:
        """Return the path of requests to one resource, by its name or numeric ID."""
        return f"{self.url}/{segment(name)}"

    def wait(self, what: str) -> Wait:
        """Say how long to wait for an operation, which messages call `what`."""
        return Wait(what, self.timeout)

    def get(self, context: Context, name: str) -> dict[str, Any] | None:
        """Read a resource; None if it does not exist."""
        query = {"view": self.view} if self.view else {}
        try:
            state = self.google.send(Request(api=COMPUTE, method="GET", path=self.url_of(name), query=query), context)
        except NotFound:
            return None
        # An empty response, or one about something else, does not mean that the resource is gone.
        if not is_id(state.get("id")) or name not in {state.get("name"), str(state["id"])}:
            raise MalformedResponse(
                f"Google's response for {self.path}/{name} is not about it: it holds no such id or name"
            )
        return state

    def insert(self, context: Context, body: dict[str, Any], query: Mapping[str, Any] | None = None) -> Inserted:
        """Create a resource, and return its operation, for `read_inserted`, once it has succeeded.

        If the name was generated, the resource may be one that an interrupted run created under another name.

        Args:
            context: the engine's call.
            body: the resource, with its name.
            query: parameters beside the request ID.

        Raises:
            Conflict: a resource of this name exists, and no earlier run created it.
            ApiError: the request or the operation failed, and nothing was created.
            Unfinished: Google accepted the request, and its result is not known.
        """
        name = body["name"]

        def wait(operation: dict[str, Any]) -> Outcome:
            target = inserted_name(operation, name)
            return self.operations.outcome(context, operation, self.wait(f"insert {self.path}/{target}"))

        inserted = IdempotentInsert(
            request_ids=self._request_ids(context, body),
            send=lambda request_id: self._post(context, body, {**(query or {}), "requestId": request_id}),
            wait=wait,
            fate=lambda outcome: self._fate(context, name, outcome),
            was_known=lambda operation: operation.get("targetId") in {context.prior.get("numericId"), *context.shown},
            is_other=lambda operation: inserted_name(operation, name) != name,
        ).run()
        inserted.outcome.result()
        return inserted

    def _request_ids(self, context: Context, body: dict[str, Any]) -> RequestIds:
        """Derive the request IDs from the body; a generated name is left out, because every run generates another."""
        content = {key: value for key, value in body.items() if key != "name"} if context.autonamed else body
        return RequestIds(context=context, namespace=NAMESPACE, content=[self.url, content])

    def _fate(self, context: Context, name: str, outcome: Outcome) -> Fate:
        """Tell whether what an operation of `insert` was to create exists and is to be used.

        What another resource of the state has, or what the engine is about to replace, is not to be used. If Google
        shows what had the name before, it does not show yet what the operation has created.
        """
        operation, name = outcome.operation, inserted_name(outcome.operation, name)
        if outcome.error is not None or context.is_anothers(self.id_of(name)):
            return Fate.GONE
        state, target = self.get(context, name), str(operation.get("targetId"))
        if state is not None and _has_created(operation, state):
            is_replaced = target in context.shown or (context.autonamed and name in context.shown)
            return Fate.GONE if is_replaced else Fate.FOUND
        if state is not None and not _is_older(state, operation):
            return Fate.GONE
        return Fate.GONE if target in self.operations.deleted_since(context, self.scope, operation) else Fate.UNSEEN

    def read_inserted(self, context: Context, name: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Read the resource that an operation of `insert` created; raises `NotFound` if it does not exist."""
        state = self.get_inserted(context, name, operation)
        if state is None:
            raise NotFound(f"Google does not return {self.path}/{name}, or returns a different resource with this name")
        return state

    def get_inserted(self, context: Context, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Read a resource; None if it is gone, or if a later one has its name."""
        state = self.get(context, name)
        return state if state is not None and _has_created(operation, state) else None

    def settle(self, context: Context, name: str) -> None:
        """Wait for what interrupted runs are still inserting, as `wait_for_insertions` does; `name` is for messages."""

        def is_shown(outcome: Outcome) -> bool:
            operation = outcome.operation
            return self.get_inserted(context, inserted_name(operation, name), operation) is not None

        wait = self.wait(f"insert {self.path}/{name}")
        wait_for_insertions(context, self.operations, self.scope, wait, is_shown)

    def invoke(
        self, context: Context, state: Mapping[str, Any], method: str, body: Any = None, **query: Any
    ) -> dict[str, Any]:
        """Call a method of one resource, such as `setLabels`; returns its operation once it has succeeded.

        Args:
            context: the engine's call.
            state: the resource as it was read.
            method: the method.
            body: the JSON of the body.
            query: parameters beside the request ID.

        Raises:
            GoneError: the resource no longer exists.
            ApiError: the request or the operation failed.
            Unfinished: Google accepted the request, and its result is not known.
        """
        name = str(state["name"])
        has_request_id = f"{self.path.rpartition('/')[2]}.{method}" not in _WITHOUT_REQUEST_ID
        request_ids = RequestIds(context=context, namespace=NAMESPACE, content=[])

        def send(last_part: str) -> dict[str, Any]:
            path, shown = f"{self.url_of(last_part)}/{method}", f"{self.url_of(name)}/{method}"
            given = {"requestId": request_ids.random(), **query} if has_request_id else query
            request = Request(api=COMPUTE, method="POST", path=path, shown=shown, query=given, body=body)
            return self.google.send(request, context)

        operation = self._change(context, name, str(state["id"]), send)
        return self.operations.wait(context, operation, self.wait(f"{method} of {self.path}/{name}"))

    def _change(
        self, context: Context, name: str, number: str, send: Callable[[str], dict[str, Any]]
    ) -> dict[str, Any]:
        """Send a change to the path with the resource's numeric ID, so that it cannot hit a namesake.

        If Google refuses the number, `send` gets the name, after a read has shown that it still belongs to the number.
        Raises GoneError if it does not, or if somebody has given the name to another resource since that read.
        """
        try:
            return send(number)
        except ApiError as error:
            if not may_refuse_number(error):
                raise
            named = self._number_of(context, name, error)
            if named != number:
                raise GoneError.of(f"{self.path}/{name}", named) from error
        operation = send(name)
        target = str(operation.get("targetId", number))
        if target != number:
            context.warn(
                f"{self.path}/{name}: the request reached another resource (numeric ID {target}), which somebody created "
                f"with the name of ours (numeric ID {number}) after gcpx had checked it"
            )
            raise GoneError.of(f"{self.path}/{name}")
        return operation

    def _number_of(self, context: Context, name: str, refusal: ApiError) -> str:
        """Return the numeric ID of what has a name, empty if nothing has; raise the refusal if that cannot be read."""
        try:
            state = self.get(context, name)
        except ApiError as error:
            raise refusal.with_hint(
                f"gcpx could not check either whether the resource still exists: {error.message}"
            ) from error
        return "" if state is None else str(state["id"])

    def read_modify_write(
        self, context: Context, name: str, method: str, body_from: Callable[[dict[str, Any]], Any]
    ) -> None:
        """Call a method, such as `setLabels`, with a body that `body_from` makes from the current resource.

        The body contains the fingerprint, so the call fails if someone else changed the resource meanwhile. It is then
        tried once more. Raises GoneError if the resource does not exist, whatever else has its name.
        """
        for is_last in (False, True):
            state = self.get_own(context, name)
            if state is None:
                raise GoneError.of(f"{self.path}/{name}")
            try:
                self.invoke(context, state, method, body_from(state))
            except PreconditionFailed:
                if is_last:
                    raise
            else:
                return

    def delete(self, context: Context, name: str) -> None:
        """Delete the resource of the call, and wait until it is gone; does nothing if it does not exist.

        If the resource is still in use, try again for a while, because its user is often about to be replaced.
        """
        number = str(context.prior.get("numericId") or (self.get_own(context, name) or {}).get("id", ""))
        for attempt in range(_DELETE_ATTEMPTS if number else 0):
            try:
                self._delete(context, name, number)
            except ApiError as error:
                pause = self.google.backoff * 2**attempt
                is_last = attempt == _DELETE_ATTEMPTS - 1
                if error.reason not in _IN_USE or is_last or context.cancelled.wait(pause):
                    raise
                context.progress(f"{self.path}/{name} is still in use; trying again")
            else:
                return

    def _delete(self, context: Context, name: str, number: str) -> None:
        def send(last_part: str) -> dict[str, Any]:
            path, query = self.url_of(last_part), {"requestId": str(uuid.uuid4())}
            request = Request(api=COMPUTE, method="DELETE", path=path, shown=self.url_of(name), query=query)
            return self.google.send(request, context)

        try:
            operation = self._change(context, name, number, send)
        except GoneError as error:
            if error.namesake:
                context.warn(
                    f"{self.id_of(name)} was not deleted, because it is not the resource in the state: that one is gone, "
                    f"and another one (numeric ID {error.namesake}) has its name"
                )
            return
        self.operations.wait(context, operation, self.wait(f"delete {self.path}/{name}"))

    def _post(self, context: Context, body: dict[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
        """Send an insert; a conflict with a resource that this very request created is not an error.

        Nor is it one if Google refuses a request ID because it was used with another body: with another generated name.
        """
        patience = context.timeout or self.timeout
        request = Request(api=COMPUTE, method="POST", path=self.url, query=query, body=body, patience=patience)
        exists = partial(self._has_written_name, context, body["name"])
        try:
            with refusing_what_others_created(self.operations, context, self.scope, query["requestId"], exists):
                return self.google.send(request, context)
        except (Conflict, Rejected, PreconditionFailed) as error:
            may_exist = isinstance(error, Conflict) or context.autonamed
            operation = (
                self.operations.requested_if_known(context, self.scope, query["requestId"]) if may_exist else None
            )
            if operation is not None:
                return operation
            if isinstance(error, Conflict):
                raise _already_exists(context, error, self.id_of(body["name"])) from error
            raise

    def get_own(self, context: Context, name: str) -> dict[str, Any] | None:
        """Read the resource of the call; None if it is gone, or if what has its name is another one, or may be.

        After the deletion of ours, someone else may have used its name again: the state has the numeric ID of ours.
        """
        state, known = self.get(context, name), context.prior.get("numericId")
        if state is None or (known is not None and str(state["id"]) != known):
            return None
        return state if self.is_own(context, state) else None

    def is_own(self, context: Context, state: Mapping[str, Any]) -> bool:
        """Return whether what exists under a resource's name is that resource, as `lost_responses.is_own` finds out."""
        return is_own(context, self.operations, self.scope, state)

    def _has_written_name(self, context: Context, name: str) -> bool:
        """Return whether a resource exists with a name that was not generated, and that others may use, too."""
        return not context.autonamed and self.get(context, name) is not None

    def id_of(self, name: str) -> str:
        """Return the ID of a resource of the collection, `projects/...`."""
        return f"projects/{self.project}/{self.path}/{name}"

    @property
    def scope(self) -> str:
        """Where the collection is: `global`, `regions/R` or `zones/Z`."""
        return self.path.rpartition("/")[0]

    @property
    def operations(self) -> Operations:
        """The operations of the project."""
        return Operations(google=self.google, version=self.version, project=self.project)


def may_refuse_number(error: ApiError) -> bool:
    """Return whether an error may be about a numeric ID in a path that would be accepted with the name.

    Conditions of IAM may allow names only. Google's API descriptions accept both in the paths of all changes.
    """
    return isinstance(error, NotFound | PermissionDenied) or (isinstance(error, Rejected) and error.reason == "invalid")


def inserted_name(operation: Mapping[str, Any], name: str) -> str:
    """Return the name of what an operation of `insert` creates; `name` if its link does not end in a valid one."""
    target = operation.get("targetLink")
    found = name_of(target) if isinstance(target, str) else ""
    return found if NAME[0].fullmatch(found) else name


def _has_created(operation: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Return whether an operation of `insert` created a resource, and not a later one with the same name."""
    return str(state["id"]) == str(operation.get("targetId", state["id"]))


def _is_older(state: Mapping[str, Any], operation: Mapping[str, Any]) -> bool:
    """Return whether a resource was created before an operation was begun; false if it does not say when."""
    created = state.get("creationTimestamp")
    return isinstance(created, str) and moment(created) < moment(operation["insertTime"])


def _already_exists(context: Context, error: Conflict, resource_id: str) -> Conflict:
    return Conflict(
        f"{error}. {resource_id} exists and was not created by this resource with these inputs. "
        f"{how_to_manage(context, resource_id, 'choose another name')}",
        status=error.status,
        reason=error.reason,
    )


@attrs.frozen(kw_only=True)
class MethodCall:
    """A call of a custom method of one resource, such as `attachDisk`.

    Attributes:
        collection: where the resource is.
        name: the resource's name.
        body: the JSON of the body.
        query: parameters beside the request ID.
        inverse: the method that undoes it.
        exists: tells whether what it creates exists.
    """

    collection: Collection
    name: str
    method: str
    body: Any
    query: Mapping[str, Any]
    inverse: str
    exists: Callable[[], bool]

    def run_once(self, context: Context) -> Inserted:
        """Make the call, once across retries and further runs; return how it ended.

        Raises the same as `Collection.insert`.
        """
        path, operations = f"{self.collection.url_of(self.name)}/{self.method}", self.collection.operations
        wait = self.collection.wait(f"{self.method} of {self.collection.path}/{self.name}")

        def send(request_id: str) -> dict[str, Any]:
            query = {**self.query, "requestId": request_id}
            request = Request(api=COMPUTE, method="POST", path=path, query=query, body=self.body)
            with refusing_what_others_created(operations, context, self.collection.scope, request_id, self.exists):
                return self.collection.google.send(request, context)

        inserted = IdempotentInsert(
            request_ids=RequestIds(context=context, namespace=NAMESPACE, content=[path, self.body, {**self.query}]),
            send=send,
            wait=lambda operation: operations.outcome(context, operation, wait),
            fate=lambda outcome: self._fate(context, outcome),
            was_known=lambda operation: bool(context.prior.get(UNREAD)) or self._may_be_undone(context, operation),
        ).run()
        inserted.outcome.result()
        return inserted

    def _fate(self, context: Context, outcome: Outcome) -> Fate:
        """Tell whether what an operation was to create exists and is to be used.

        If it was undone since, and somebody else may have created it again, it is not to be used, even if it exists.
        Operations do not say what on the resource they undo, unless by their request IDs they are this resource's own.
        """
        if outcome.error is not None:
            return Fate.GONE
        state, operation, target = (
            self.collection.get(context, self.name),
            outcome.operation,
            str(outcome.operation.get("targetId")),
        )
        operations, scope = self.collection.operations, self.collection.scope
        if state is None or str(state["id"]) != target:
            return Fate.GONE if target in operations.deleted_since(context, scope, operation) else Fate.UNSEEN
        if self.exists():
            was_repeated = operations.were_begun_in_turn(context, scope, operation, (self.inverse, self.method))
            return Fate.GONE if was_repeated else Fate.FOUND
        is_undone = context.provider_id and self._may_be_undone(context, operation, resource_mark(context))
        return Fate.GONE if is_undone else Fate.UNSEEN

    def _may_be_undone(self, context: Context, operation: Mapping[str, Any], beginning: str = "") -> bool:
        """Return whether something on the resource was undone since, by a request whose ID begins with given digits."""
        operations, scope = self.collection.operations, self.collection.scope
        undone = operations.changed_since(context, scope, operation, {self.inverse}, beginning)
        return str(operation.get("targetId")) in undone


Operation = dict[str, Any]
"""An operation as the API returns it (REST JSON)."""


@attrs.define
class EarlierInsertions:
    """The insertions of earlier runs, by the request IDs of their operations.

    The operations of a scope are listed once in a process, for all resources of a stack. Without a provider's ID, which
    tells stacks apart, nothing is listed.

    Attributes:
        token: the type token of the resources, for messages.
    """

    token: str
    _lists: dict[str, list[Operation]] = attrs.Factory(dict)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, eq=False)

    def warn(self, context: Context, collection: Collection, own: Operation) -> None:
        """Warn of resources that earlier runs inserted and that no state has.

        Args:
            context: the engine's call, which creates a resource with a generated name.
            collection: where the resource is.
            own: the operation that created it.
        """
        if not context.autonamed or not context.provider_id:
            return
        for operation in self.of_resource(context, collection.operations, collection.scope):
            name = inserted_name(operation, "")
            if (
                operation.get("targetId") != own.get("targetId")
                and not {name, operation.get("targetId")} & context.shown
            ):
                self._warn_if_it_exists(context, collection, name, operation)

    def of_resource(self, context: Context, operations: Operations, scope: str) -> list[Operation]:
        """Return the operations by which earlier runs of a resource inserted something, without those that failed.

        There are none after a cancellation, because only a warning depends on them.
        """
        place = f"{context.provider_id} {operations.path}/{scope}"
        try:
            with context.holding(self._lock, f"GET {operations.path}/{scope}/operations", reading=True):
                if place not in self._lists:
                    self._lists[place] = _listed(context, operations, scope)
                found = self._lists[place]
        except (CancelledError, OutOfTimeError):
            return []
        mark = resource_mark(context)
        return [item for item in found if str(item.get("clientOperationId", "")).startswith(mark)]

    def _warn_if_it_exists(self, context: Context, collection: Collection, name: str, operation: Operation) -> None:
        resource_id = collection.id_of(name)
        if context.urn_of(resource_id) is not None:
            return
        try:
            found = collection.get_inserted(context, name, operation)
        except ProviderError:
            return
        if found is not None:
            context.warn(orphan_warning(context, resource_id, _deletion(collection, name)))


def orphan_warning(context: Context, resource_id: str, deletion: str) -> str:
    """Return the warning about something that an interrupted run of this resource created; `deletion` is a command."""
    return (
        f"{resource_id} exists, and an earlier run of this resource created it. Unless this run deletes it, or another "
        f"resource or stack has taken it over, it is in no state: delete it with `{deletion}`, or keep it as one more "
        f"resource: run {separate_import_command(context, resource_id)}, and add the code that this prints to the program"
    )


def _listed(context: Context, operations: Operations, scope: str) -> list[Operation]:
    """List the operations of a stack; none if they cannot be listed, because only a warning depends on them."""
    try:
        return operations.begun_by_requests(context, scope, f"{stack_mark(context.provider_id)}-", patience=0.0)
    except ProviderError:
        return []


def _deletion(collection: Collection, name: str) -> str:
    """Return the command that deletes a resource of a collection."""
    scope, kind = collection.scope, collection.path.rpartition("/")[2]
    words = re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", kind)
    region = f" --region={scope.rpartition('/')[2]}" if scope.startswith("regions/") else ""
    return f"gcloud compute {words} delete {name} --project={collection.project}{region}"
