"""Compute's operations: wait for an operation, read its result, and find the one that a request ID started."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast

import attrs

from gcpx.errors import RUN_AGAIN, CancelledError, MalformedResponse, OutOfTimeError, safe_message
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, PermissionDenied, Rejected, TimedOut, Unfinished, from_operation
from gcpx.gcp.list_method import PAGE, ListMethod, items_of
from gcpx.gcp.request import COMPUTE, PATIENCE, SHORT_PATIENCE, Request, segment
from gcpx.gcp.retries import may_pass
from gcpx.gcp.shared_reads import Scope
from gcpx.model import codec
from gcpx.model.context import Context, Sharing
from gcpx.model.fields import Record, object_type, output_field, record
from gcpx.model.links import name_of, path_of
from gcpx.model.times import moment
from gcpx.model.words import counted

if TYPE_CHECKING:
    from gcpx.compute.value_types import LocationStatusValues, OperationValues

Operation: TypeAlias = "OperationValues"
"""An operation as the API returns it (REST JSON), with the fields that `getOperation` declares."""


def requested_at(operation: Operation) -> datetime:
    """Return the time at which an operation (REST JSON) was requested; raise MalformedResponse if it is missing."""
    inserted_at = moment(operation.get("insertTime"))
    if inserted_at is None:
        raise MalformedResponse("Google's response does not say when an operation was requested")
    return inserted_at


def kind_of(operation: Operation) -> str:
    """Return the kind of an operation (REST JSON), such as `insert` or `attachDisk`; empty if it is missing.

    This is the last part of its type, because some types begin with the collection: the insertion of a template has the
    type `compute.instanceTemplates.insert`, and its deletion `delete`.
    """
    return str(operation.get("operationType", "")).rpartition(".")[2]


def is_insertion(operation: Operation) -> bool:
    """Return whether an operation (REST JSON) creates or attaches something."""
    return kind_of(operation) in _INSERTIONS


def scope_of(operation: Operation) -> str:
    """Return the scope of an operation: `global`, `regions/R` or `zones/Z`."""
    if operation.get("zone"):
        return f"zones/{operation['zone'].rpartition('/')[2]}"
    return f"regions/{operation['region'].rpartition('/')[2]}" if operation.get("region") else "global"


@record
class LocationStatus(Record):
    """The status of a bulk creation in one location."""

    created_vm_count: int = output_field("The number of instances that were created.")
    deleted_vm_count: int = output_field(
        "The number of instances that were deleted again when the creation was rolled back."
    )
    failed_to_create_vm_count: int = output_field("The number of instances that could not be created.")
    status: str = output_field("The state of the creation.", enum=("CREATING", "DONE", "ROLLING_BACK"))
    target_vm_count: int = output_field("The number of instances that were to be created.")


@attrs.frozen
class Outcome:
    """The result of an operation.

    Attributes:
        operation: the operation (REST JSON) with status `DONE`.
        error: its error; None if it succeeded.
        per_location: the status of each location of a bulk creation, as engine values of `LocationStatus`, by name such
            as `zones/us-east1-b`.
    """

    operation: Operation
    error: ApiError | None
    per_location: dict[str, LocationStatusValues]

    @classmethod
    def of(cls, what: str, operation: Operation) -> Self:
        """Read an operation that is done; raise MalformedResponse if its numbers of instances are not valid."""
        error = from_operation(what, operation) if operation.get("error") else None
        return cls(operation, error, _per_location(operation))

    def result(self) -> Operation:
        """Return the operation if it succeeded; otherwise raise its error."""
        if self.error is not None:
            raise self.error
        return self.operation


def created_instances(per_location: Mapping[str, LocationStatusValues]) -> Counter[str]:
    """Return the numbers of instances that a bulk creation created and did not delete again, by zone name.

    Args:
        per_location: the status of each location, by name such as `zones/us-east1-b`.
    """
    return Counter({
        name_of(name): status.get("createdVmCount", 0) - status.get("deletedVmCount", 0)
        for name, status in per_location.items()
    })  # fmt: skip


def _per_location(operation: Operation) -> dict[str, LocationStatusValues]:
    metadata = operation.get("instancesBulkInsertOperationMetadata") or {}
    found = (metadata.get("perLocationStatus") or {}) if isinstance(metadata, dict) else None
    has_group = isinstance(operation.get("operationGroupId") or "", str)
    if not has_group or not isinstance(found, dict) or not all(isinstance(item, dict) for item in found.values()):
        raise MalformedResponse("Google's response does not say correctly where instances were created")
    read = {name: codec.from_body(object_type(LocationStatus), status) for name, status in found.items()}
    return cast("dict[str, LocationStatusValues]", read)


def percentage(operation: Operation) -> str:
    """Describe an operation's progress as a percentage."""
    return f"{operation.get('progress', 0)}%"


@attrs.frozen
class Wait:
    """The parameters of a wait for an operation.

    Attributes:
        what: the operation in messages, such as `insert global/instanceTemplates/web`.
        timeout: the longest time of the operation in seconds, without a custom timeout.
        describe: describes the progress of an operation (REST JSON) for the user.
    """

    what: str
    timeout: float
    describe: Callable[[Operation], str] = percentage


_LONG_POLL: Final = 5.0
"""The length of a long poll in seconds, after which the progress is shown."""
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 2.0
_INSERTIONS: Final = frozenset({"attachDisk", "bulkInsert", "insert"})
_DELETIONS: Final = frozenset({"deferredDelete", "delete", "preempted"})
"""The kinds of operations that may remove their target."""
_A_FEW: Final = 16
"""The number of operations up to which each is polled alone; lists poll more."""
_ROUND: Final = 0.1
"""Seconds between two checks of the shared lists, and between two of these lists."""
FIELDS_OF_PROGRESS: Final = "name,status,error,httpErrorStatusCode,httpErrorMessage,warnings,progress,endTime,instancesBulkInsertOperationMetadata"
"""The fields of an operation that change."""
_MOST_WARNINGS: Final = 10
"""The number of an operation's warnings that are shown; the others are counted."""
_NO_LONG_POLL: Final = (404, 501)
"""HTTP statuses of servers without a `wait` method."""


@attrs.frozen(kw_only=True)
class Operations:
    """The operations of one project.

    Attributes:
        version: the API version, `v1` or `beta`.
    """

    google: GoogleClient
    version: str
    project: str

    @property
    def path(self) -> str:
        """The path of requests to the project."""
        return f"{self.version}/projects/{self.project}"

    def send(self, request: Request, context: Context) -> Operation:
        """Send a request whose response is an operation."""
        return cast("Operation", self.google.send(request, context))

    def outcome(self, context: Context, operation: Operation, wait: Wait) -> Outcome:
        """Wait for the end of an operation, whether it succeeds or fails, and show its warnings.

        This uses the API's `wait` method, which responds when the operation is done, and `get` if the server has no such
        method, or does not respond in time.

        Args:
            context: the engine's call, which shows the progress and the operation's warnings.
            operation: Google's response to the request that started it.
            wait: its name in messages, and the time to wait.

        Raises:
            Unfinished: the user cancelled, the time is up, or the status cannot be read.
        """
        try:
            ended = operation
            if operation.get("status") != "DONE":
                with self.google.reads.counted_as_waiting(self._path_of_operations(operation)) as others:
                    ended = self._once_done(context, operation, wait, others)
            warn_of(context, wait.what, ended)
            return Outcome.of(wait.what, ended)
        except Unfinished as error:
            raise error.with_operation(operation) from error
        except Exception as error:  # despite any error, Google accepted the request
            raise Unfinished(safe_message(error, wait.what), operation, RUN_AGAIN) from error
        finally:
            self.ended(operation)

    def ended(self, operation: Operation) -> None:
        """Note that an operation has ended: earlier reads of its target may be out of date."""
        self.google.reads.changed(path_of(str(operation.get("targetLink", ""))))

    def _once_done(self, context: Context, operation: Operation, wait: Wait, others: Callable[[], int]) -> Operation:
        """Wait until an operation has ended, by lists while many others are waited for."""
        end, has_wait, shown = context.end(wait.timeout), True, ""
        for _ in context.tries(end - context.clock(), pause=_FIRST_PAUSE, longest=_LONGEST_PAUSE):
            left = end - context.clock()
            if left <= 0 or context.cancelled.is_set():
                break
            path = self.path_of(operation)
            long_poll = max(_FIRST_PAUSE, min(_LONG_POLL, left)) if has_wait else 0.0
            try:
                if others() > _A_FEW:
                    operation = self._read_with_others(context, operation, left, others)
                if operation.get("status") != "DONE":
                    operation = self._read(context, path, long_poll)
            except ApiError as error:
                if has_wait and error.status in _NO_LONG_POLL:
                    has_wait = False
                elif may_pass(error):
                    context.progress(f"{wait.what}: {error.message}; asking again")
                else:
                    words = f"{wait.what}: the status of its operation could not be read: {error}"
                    raise Unfinished(words) from error
            except (CancelledError, OutOfTimeError):
                pass  # the next try notices that the user cancelled, or that the time is over
            if operation.get("status") == "DONE":
                return operation
            progress = wait.describe(operation)
            if progress != shown:
                shown = progress
                context.progress(f"{wait.what}: {progress}")
        if context.cancelled.is_set():
            raise Unfinished(f"{wait.what}: cancelled while Google was still working on it", next_step=RUN_AGAIN)
        words = "did not finish in time; raise customTimeouts, or run the command again to go on"
        raise Unfinished(f"{wait.what}: {words}")

    def _read_with_others(
        self, context: Context, operation: Operation, seconds: float, others: Callable[[], int]
    ) -> Operation:
        """Poll an operation by lists that many calls share, until it is done or a list lacks it.

        Returns it as last read, also if the time is over, the user cancels, or only a few calls still wait.
        """
        place, call = self._path_of_operations(operation), attrs.evolve(context, sharing=Sharing())
        query = {"orderBy": "creationTimestamp desc"}
        method = ListMethod(
            google=self.google, path=place, query=query, fields=FIELDS_OF_PROGRESS, patience=SHORT_PATIENCE
        )

        def page(token: str) -> tuple[dict[str, dict[str, Any]], str]:
            found = method.page(context, token)
            return {str(item.get("name")): item for item in items_of(found)}, found.get("nextPageToken", "")

        scope = Scope(
            place=place,
            kind="operations",
            get=lambda _: None,  # the caller reads it
            page=page,
            longest_age=_ROUND,
            most_pages=others() // PAGE + 2,  # one more, for the operations of others
        )
        rounds = context.tries(seconds, pause=_ROUND, longest=_ROUND)
        next(rounds)  # it has just started, or was just read
        for _ in rounds:
            if context.cancelled.is_set() or others() <= _A_FEW:
                break
            found = self.google.reads.read(call, scope, str(operation["name"]))
            if found is None:
                break
            operation = cast("Operation", {**operation, **found})
            if operation.get("status") == "DONE":
                break
        return operation

    def path_of(self, operation: Operation) -> str:
        """Return the path of requests for an operation; raise MalformedResponse if its name is not a string."""
        name: object = operation.get("name")
        if not isinstance(name, str) or not name:
            raise MalformedResponse("Google's response has an operation without a name")
        return f"{self._path_of_operations(operation)}/{segment(name)}"

    def _path_of_operations(self, operation: Operation) -> str:
        """Return the path of an operation's list."""
        return f"{self.path}/{scope_of(operation)}/operations"

    def _read(self, context: Context, path: str, long_poll: float) -> Operation:
        """Read an operation once: wait some seconds until it is done or, with 0 or after a timeout, read it as it is."""
        if long_poll:
            wait = Request(
                api=COMPUTE, method="POST", path=f"{path}/wait", patience=0.0, read_timeout=long_poll, only_reads=True
            )
            with contextlib.suppress(TimedOut):
                return self.send(wait, context)
        return self.send(Request(api=COMPUTE, method="GET", path=path, patience=0.0), context)

    def find_insertion(self, context: Context, scope: str, request_id: str) -> Operation | None:
        """Find the insertion that a request ID started, unless it failed.

        Anybody with write access to the project can give any request the ID of another one.

        Args:
            context: the engine's call.
            scope: the scope of the operation: `global`, `regions/R` or `zones/Z`.
            request_id: the `requestId` of the request.
        """
        items = self._listed(context, scope, f'clientOperationId = "{request_id}"')
        started = (item for item in items if item.get("clientOperationId") == request_id and is_insertion(item))
        return next((item for item in started if not item.get("error")), None)

    def find_insertion_if_listed(self, context: Context, scope: str, request_id: str) -> Operation | None:
        """Find an operation as `find_insertion` does; None also after an error of Google."""
        try:
            return self.find_insertion(context, scope, request_id)
        except ApiError:
            return None

    def targets_of_group(self, context: Context, zones: Iterable[str], group: str) -> set[str]:
        """Return the numeric IDs of the resources that the operations of a group created in zones, given by name.

        Failed operations are in the group, too. If the filter finds none at all, all operations are listed, because
        Google does not document that it filters by this field.
        """
        zones = list(zones)
        for condition in (f'operationGroupId = "{group}"', ""):
            listed = [item for zone in zones for item in self._listed(context, f"zones/{zone}", condition)]
            found = [item for item in listed if item.get("operationGroupId") == group]
            if found:
                return {str(item.get("targetId")) for item in found if not item.get("error")}
        return set()

    def insertions_by_request_id(
        self, context: Context, scope: str, beginning: str, patience: float = PATIENCE
    ) -> list[Operation]:
        """List the insertions with this beginning of their request IDs, unless they left nothing.

        Args:
            context: the engine's call.
            scope: the scope of the operations, as in `find_insertion`.
            beginning: the beginning of the request IDs: digits and hyphens.
            patience: as in `ListMethod`.
        """
        items = self._listed(context, scope, f"clientOperationId eq {beginning}.*", patience)
        own = (item for item in items if str(item.get("clientOperationId", "")).startswith(beginning))
        return [item for item in own if is_insertion(item) and not left_nothing(item)]

    def happened_in_turn(
        self, context: Context, scope: str, operation: Operation, kinds: Iterable[str], beginning: str = ""
    ) -> bool:
        """Return whether operations of these kinds started on the same target, in this order, after another operation.

        It is also false if Google refuses to list the operations.

        Args:
            context: the engine's call.
            scope: the scope of the operations, as in `find_insertion`.
            operation: the other operation (REST JSON).
            kinds: values of `kind_of`, such as `detachDisk`.
            beginning: the beginning of their request IDs; empty for operations of any request.
        """
        try:
            later = [
                (requested_at(item), kind_of(item))
                for item in self.started_since(context, scope, operation)
                if item.get("targetId") == operation.get("targetId")
                and str(item.get("clientOperationId", "")).startswith(beginning)
            ]
        except PermissionDenied:
            return False
        later = [(time, kind) for time, kind in later if time > requested_at(operation)]
        for wanted in kinds:
            times = [time for time, kind in later if kind == wanted]
            if not times:
                return False
            later = [(time, kind) for time, kind in later if time >= min(times)]
        return True

    def deleted_since(self, context: Context, scope: str, operation: Operation) -> set[str]:
        """Return the IDs of resources deleted in a scope since an operation started, as `changed_since` does."""
        return self.changed_since(context, scope, operation, _DELETIONS)

    def changed_since(
        self, context: Context, scope: str, operation: Operation, kinds: Collection[str], beginning: str = ""
    ) -> set[str]:
        """Return the target IDs of operations of these kinds that started no earlier than a given one.

        It is empty if the operations cannot be listed. With a `beginning`, only operations with this beginning of their
        request IDs count. The other arguments are those of `happened_in_turn`.
        """
        try:
            return {
                str(item.get("targetId"))
                for item in self.started_since(context, scope, operation)
                if kind_of(item) in kinds and str(item.get("clientOperationId", "")).startswith(beginning)
            }
        except ApiError:
            return set()

    def started_since(self, context: Context, scope: str, operation: Operation) -> Iterator[Operation]:
        """Yield the operations that started no earlier than a given one, newest first, without failed ones.

        It sends no filter, because Google's types of operations vary, and skips older pages if the newest come first.

        Args:
            context: the engine's call.
            scope: the scope of the operations, as in `find_insertion`.
            operation: the other operation (REST JSON).
        """
        earliest, query = requested_at(operation), {"orderBy": "creationTimestamp desc"}
        seen: list[datetime] = []
        for page in ListMethod(google=self.google, path=f"{self.path}/{scope}/operations", query=query).pages(context):
            items = _on_page(page)
            since = [item for item in items if requested_at(item) >= earliest]
            yield from (item for item in since if not item.get("error"))
            seen += map(requested_at, items)
            are_in_order = seen == sorted(seen, reverse=True) and seen[:1] > seen[-1:]
            if not since and are_in_order:
                return

    def _listed(self, context: Context, scope: str, condition: str, patience: float = PATIENCE) -> list[Operation]:
        """List the operations in a scope that match a filter, or all of them if Google does not support the filter.

        Google does not document the fields of filters, so callers check the results. `patience` is as in `ListMethod`.
        """
        path = f"{self.path}/{scope}/operations"

        def listed(query: dict[str, str | None]) -> list[Operation]:
            method = ListMethod(google=self.google, path=path, query=query, patience=patience)
            return [item for page in method.pages(context) for item in _on_page(page)]

        try:
            return listed({"filter": condition or None})
        except Rejected as error:
            if error.reason != "invalid" or not condition:
                raise
            return listed({})


def _on_page(page: Mapping[str, object]) -> list[Operation]:
    return cast("list[Operation]", items_of(page))


def left_nothing(insertion: Operation) -> bool:
    """Return whether an insertion failed; a failed bulk creation may have left instances."""
    if not insertion.get("error"):
        return False
    return not created_instances(Outcome.of("insert", insertion).per_location).total()


def warn_of(context: Context, what: str, operation: Operation) -> None:
    """Show the first warnings of an operation (REST JSON), with its name `what`, and the number of the others."""
    warnings = operation.get("warnings", ())
    for warning in warnings[:_MOST_WARNINGS]:
        context.warn(f"{what}: {warning.get('message') or warning.get('code')}")
    if len(warnings) > _MOST_WARNINGS:
        context.warn(f"{what}: Google has given {counted(len(warnings) - _MOST_WARNINGS, 'more warning')}")
