"""Compute's operations: wait until one ends, read how it ended, and find the one that a request ID started."""

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
from gcpx.model.fields import Record, object_type, output_field, record
from gcpx.model.links import name_of, path_of
from gcpx.model.resource import Context, Sharing
from gcpx.model.times import moment

if TYPE_CHECKING:
    from gcpx.compute.value_types import LocationStatusValues, OperationValues

Operation: TypeAlias = "OperationValues"
"""An operation as the API returns it (REST JSON), whose fields have the names that `getOperation` declares."""


def begun_at(operation: Operation) -> datetime:
    """Return when an operation (REST JSON) was requested; raise MalformedResponse if it does not say."""
    begun = moment(operation.get("insertTime"))
    if begun is None:
        raise MalformedResponse("Google's response does not say when an operation was begun")
    return begun


def kind_of(operation: Operation) -> str:
    """Return what an operation (REST JSON) does, such as `insert` or `attachDisk`; empty if it does not say.

    This is the last part of its type, because some types begin with the collection: Google calls the insertion of a
    template `compute.instanceTemplates.insert`, and its deletion `delete`.
    """
    return str(operation.get("operationType", "")).rpartition(".")[2]


def is_insertion(operation: Operation) -> bool:
    """Return whether an operation (REST JSON) creates or attaches something."""
    return kind_of(operation) in _INSERTIONS


def scope_of(operation: Operation) -> str:
    """Tell where an operation is: `global`, `regions/R` or `zones/Z`."""
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
    """How an operation ended.

    Attributes:
        operation: the operation (REST JSON) with status `DONE`.
        error: why it failed; None if it succeeded.
        per_location: the status of each location that a bulk creation used, as engine values of `LocationStatus`, by
            name such as `zones/us-east1-b`.
    """

    operation: Operation
    error: ApiError | None
    per_location: dict[str, LocationStatusValues]

    @classmethod
    def of(cls, what: str, operation: Operation) -> Self:
        """Read an operation that is done; raise MalformedResponse if what it says about instances is not valid."""
        error = from_operation(what, operation) if operation.get("error") else None
        return cls(operation, error, _per_location(operation))

    def result(self) -> Operation:
        """Return the operation if it succeeded; raise its error if it failed."""
        if self.error is not None:
            raise self.error
        return self.operation


def created_instances(per_location: Mapping[str, LocationStatusValues]) -> Counter[str]:
    """Return how many instances a bulk creation has created and not deleted again, by the names of their zones.

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
    """What to wait for, and for how long.

    Attributes:
        what: the operation in messages, such as `insert global/instanceTemplates/web`.
        timeout: seconds that the operation may take if the user sets no custom timeout.
        describe: describes the progress of an operation (REST JSON) to the user.
    """

    what: str
    timeout: float
    describe: Callable[[Operation], str] = percentage


_LONG_POLL: Final = 5.0
"""Seconds of one long poll, after which the progress is shown."""
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 2.0
_INSERTIONS: Final = frozenset({"attachDisk", "bulkInsert", "insert"})
_DELETIONS: Final = frozenset({"deferredDelete", "delete", "preempted"})
"""The kinds of operations after which their target may be gone."""
_A_FEW: Final = 16
"""So many operations are waited for by a request for each of them; if there are more, lists show them."""
_ROUND: Final = 0.1
"""Seconds between two looks at the lists that show many operations, and between two of these lists."""
FIELDS_OF_PROGRESS: Final = "name,status,error,httpErrorStatusCode,httpErrorMessage,warnings,progress,endTime,instancesBulkInsertOperationMetadata"
"""The fields of an operation that change."""
_NO_LONG_POLL: Final = (404, 501)
"""HTTP statuses by which a server says that it has no `wait` method."""


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
        """Wait until an operation has ended, whether it succeeded or failed, and show its warnings.

        It is read with the API's `wait` method, which responds when the operation is done, and with `get` if the server
        has no such method, or does not respond in time.

        Args:
            context: the engine's call, which shows the progress and the operation's warnings.
            operation: Google's response to the request that started it.
            wait: what to call it, and how long to wait.

        Raises:
            Unfinished: the user cancelled, the time is up, or the status cannot be read.
        """
        try:
            ended = operation if operation.get("status") == "DONE" else self._until_done(context, operation, wait)
            warn_of(context, wait.what, ended)
            return Outcome.of(wait.what, ended)
        except Unfinished as error:
            raise error.with_operation(operation) from error
        except Exception as error:  # whatever went wrong, Google accepted the request
            raise Unfinished(safe_message(error, wait.what), operation, RUN_AGAIN) from error
        finally:
            self.ended(operation)

    def ended(self, operation: Operation) -> None:
        """Note that an operation has ended: what was read of its target before that may be out of date."""
        self.google.reads.changed(path_of(str(operation.get("targetLink", ""))))

    def _until_done(self, context: Context, operation: Operation, wait: Wait) -> Operation:
        with self.google.reads.crowd(self._path_of_operations(operation)) as others:
            return self._once_done(context, operation, wait, others)

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
                pass  # the next try finds that the user cancelled, or that the time is up
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
        """Read an operation again and again, by lists that many calls share, until it is done or a list lacks it.

        Returns it as it was last read, also if the time is up, the user cancels, or only a few calls still wait.
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
            alone=lambda _: None,  # the caller reads it
            page=page,
            longest_age=_ROUND,
            most_pages=others() // PAGE + 2,  # one more for the operations of others
        )
        rounds = context.tries(seconds, pause=_ROUND, longest=_ROUND)
        next(rounds)  # it has just begun, or was just read
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
        """Return the path of requests for an operation; raise MalformedResponse if its name is no text."""
        name: object = operation.get("name")
        if not isinstance(name, str) or not name:
            raise MalformedResponse("Google's response has an operation without a name")
        return f"{self._path_of_operations(operation)}/{segment(name)}"

    def _path_of_operations(self, operation: Operation) -> str:
        """Return the path of the list that has an operation."""
        return f"{self.path}/{scope_of(operation)}/operations"

    def _read(self, context: Context, path: str, long_poll: float) -> Operation:
        """Read an operation once: for some seconds until it is done or, with 0 or after a timeout, as it is."""
        if long_poll:
            wait = Request(
                api=COMPUTE, method="POST", path=f"{path}/wait", patience=0.0, read_timeout=long_poll, only_reads=True
            )
            with contextlib.suppress(TimedOut):
                return self.send(wait, context)
        return self.send(Request(api=COMPUTE, method="GET", path=path, patience=0.0), context)

    def requested(self, context: Context, scope: str, request_id: str) -> Operation | None:
        """Find the insertion that a request ID started, unless it failed.

        Whoever may change something in the project can give any request the ID of another one.

        Args:
            context: the engine's call.
            scope: where the operation is: `global`, `regions/R` or `zones/Z`.
            request_id: the `requestId` of the request.
        """
        items = self._listed(context, scope, f'clientOperationId = "{request_id}"')
        started = (item for item in items if item.get("clientOperationId") == request_id and is_insertion(item))
        return next((item for item in started if not item.get("error")), None)

    def requested_if_known(self, context: Context, scope: str, request_id: str) -> Operation | None:
        """Find an operation as `requested` does; None also if an error of Google leaves that open."""
        try:
            return self.requested(context, scope, request_id)
        except ApiError:
            return None

    def targets_of_group(self, context: Context, zones: Iterable[str], group: str) -> set[str]:
        """Return the numeric IDs of what the operations that share a group ID have created, in zones by name.

        Failed operations are in the group, too. If a filter finds none at all, all operations are listed, because it is
        not documented that Google filters by this field.
        """
        zones = list(zones)
        for condition in (f'operationGroupId = "{group}"', ""):
            listed = [item for zone in zones for item in self._listed(context, f"zones/{zone}", condition)]
            found = [item for item in listed if item.get("operationGroupId") == group]
            if found:
                return {str(item.get("targetId")) for item in found if not item.get("error")}
        return set()

    def begun_by_requests(
        self, context: Context, scope: str, beginning: str, patience: float = PATIENCE
    ) -> list[Operation]:
        """List the insertions whose request IDs begin with given digits and hyphens, unless they left nothing.

        Args:
            context: the engine's call.
            scope: where the operations are, as in `requested`.
            beginning: the beginning of their request IDs.
            patience: that of `ListMethod`.
        """
        items = self._listed(context, scope, f"clientOperationId eq {beginning}.*", patience)
        begun = (item for item in items if str(item.get("clientOperationId", "")).startswith(beginning))
        return [item for item in begun if is_insertion(item) and not left_nothing(item)]

    def were_begun_in_turn(
        self, context: Context, scope: str, operation: Operation, kinds: Iterable[str], beginning: str = ""
    ) -> bool:
        """Return whether operations of some kinds were begun on the same target after another one, in the order given.

        False also if Google refuses to list the operations.

        Args:
            context: the engine's call.
            scope: where the operations are, as in `requested`.
            operation: the other operation (REST JSON).
            kinds: some of those of `kind_of`, such as `detachDisk`.
            beginning: that of their request IDs; empty for operations of any request.
        """
        try:
            later = [
                (begun_at(item), kind_of(item))
                for item in self.begun_since(context, scope, operation)
                if item.get("targetId") == operation.get("targetId")
                and str(item.get("clientOperationId", "")).startswith(beginning)
            ]
        except PermissionDenied:
            return False
        later = [(begun, kind) for begun, kind in later if begun > begun_at(operation)]
        for wanted in kinds:
            times = [begun for begun, kind in later if kind == wanted]
            if not times:
                return False
            later = [(begun, kind) for begun, kind in later if begun >= min(times)]
        return True

    def deleted_since(self, context: Context, scope: str, operation: Operation) -> set[str]:
        """Return the IDs of what was deleted in a scope since an operation was begun, as `changed_since` does."""
        return self.changed_since(context, scope, operation, _DELETIONS)

    def changed_since(
        self, context: Context, scope: str, operation: Operation, kinds: Collection[str], beginning: str = ""
    ) -> set[str]:
        """Return the target IDs of operations of some kinds that were begun no earlier than a given one.

        It is empty if the operations cannot be listed. With a `beginning`, only operations count whose request IDs
        begin with it. The other arguments are those of `were_begun_in_turn`.
        """
        try:
            return {
                str(item.get("targetId"))
                for item in self.begun_since(context, scope, operation)
                if kind_of(item) in kinds and str(item.get("clientOperationId", "")).startswith(beginning)
            }
        except ApiError:
            return set()

    def begun_since(self, context: Context, scope: str, operation: Operation) -> Iterator[Operation]:
        """Yield the operations that were begun no earlier than a given one, newest first, without those that failed.

        No filter is sent, because Google's types of operations vary; older pages are not read, if the newest come first.

        Args:
            context: the engine's call.
            scope: where the operations are, as in `requested`.
            operation: the other operation (REST JSON).
        """
        begun, query = begun_at(operation), {"orderBy": "creationTimestamp desc"}
        seen: list[datetime] = []
        for page in ListMethod(google=self.google, path=f"{self.path}/{scope}/operations", query=query).pages(context):
            items = _on_page(page)
            since = [item for item in items if begun_at(item) >= begun]
            yield from (item for item in since if not item.get("error"))
            seen += map(begun_at, items)
            are_in_order = seen == sorted(seen, reverse=True) and seen[:1] > seen[-1:]
            if not since and are_in_order:
                return

    def _listed(self, context: Context, scope: str, condition: str, patience: float = PATIENCE) -> list[Operation]:
        """List the operations in a scope that fit a filter, or all of them if Google does not know the filter.

        It is not documented by which fields Google filters operations, so callers check what they get. `patience` is
        that of `ListMethod`.
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
    """Return whether an insertion failed; a bulk creation that failed may have left instances."""
    if not insertion.get("error"):
        return False
    return not created_instances(Outcome.of("insert", insertion).per_location).total()


def warn_of(context: Context, what: str, operation: Operation) -> None:
    """Show the warnings of an operation (REST JSON), which messages call `what`."""
    for warning in operation.get("warnings", ()):
        context.warn(f"{what}: {warning.get('message') or warning.get('code')}")
