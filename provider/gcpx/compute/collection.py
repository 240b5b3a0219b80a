"""The calls to one collection of Compute resources: get, insert, custom methods, delete."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.idempotent_insert import IdempotentInsert, Inserted
from gcpx.compute.lost_responses import is_own, refusing_what_others_created
from gcpx.compute.method_call import MethodCall
from gcpx.compute.name_pattern import NAME
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.operations import Operations, Wait
from gcpx.compute.request_ids import RequestIds
from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PreconditionFailed, Rejected
from gcpx.gcp.list_method import is_id
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of

_NAMESPACE: Final = uuid.UUID("6f1b8ed0-8c31-5c0c-9a1e-5f6a0f4a1c07")
_IN_USE: Final = ("resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
_DELETE_ATTEMPTS: Final = 5
_WITHOUT_REQUEST_ID: Final = ("machineImages.setLabels",)
"""Methods without a request ID. Sending them twice is safe, because a fingerprint guards the change."""


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

    def get(self, call: Call, name: str) -> dict[str, Any] | None:
        """Read a resource; None if it does not exist."""
        query = {"view": self.view} if self.view else {}
        try:
            live = self.google.send(Request(api=COMPUTE, method="GET", path=self._path(name), query=query), call)
        except NotFound:
            return None
        # An empty response, or one about something else, does not mean that the resource is gone.
        if not is_id(live.get("id")) or name not in {live.get("name"), str(live["id"])}:
            raise MalformedResponse(
                f"Google's response for {self.path}/{name} is not about it: it holds no such id or name"
            )
        return live

    def insert(self, call: Call, body: dict[str, Any], query: Mapping[str, Any] | None = None) -> Inserted:
        """Create a resource, and return its operation, for `read_inserted`, once it has succeeded.

        If the name was generated, the resource may be one that an interrupted run created under another name.

        Args:
            call: the engine's call.
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
            return self.operations.outcome(call, operation, self._wait(f"insert {self.path}/{target}"))

        inserted = IdempotentInsert(
            request_ids=self._request_ids(call, body),
            send=lambda request_id: self._post(call, body, {**(query or {}), "requestId": request_id}),
            wait=wait,
            exists=lambda outcome: outcome.error is None and self._can_adopt(call, name, outcome.operation),
            is_other=lambda operation: inserted_name(operation, name) != name,
        ).run()
        inserted.outcome.result()
        return inserted

    def _request_ids(self, call: Call, body: dict[str, Any]) -> RequestIds:
        """Derive the request IDs from the body; a generated name is left out, because every run generates another."""
        content = {key: value for key, value in body.items() if key != "name"} if call.autonamed else body
        return RequestIds(call=call, namespace=_NAMESPACE, content=[self.url, content])

    def _can_adopt(self, call: Call, name: str, operation: Mapping[str, Any]) -> bool:
        """Return whether what an earlier run inserted still exists, and no resource of the state has it.

        Neither the one that the engine is about to replace may have it, nor another one to which the entry was moved.
        """
        name = inserted_name(operation, name)
        is_replaced = operation.get("targetId") in call.shown or (call.autonamed and name in call.shown)
        is_known = is_replaced or call.is_anothers(self.id_of(name))
        return not is_known and self.get_inserted(call, name, operation) is not None

    def read_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Read the resource that an operation of `insert` created; raises `NotFound` if it does not exist."""
        live = self.get_inserted(call, name, operation)
        if live is None:
            raise NotFound(f"Google does not return {self.path}/{name}, or returns a different resource with this name")
        return live

    def get_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Read a resource; None if it is gone, or if a later one has its name."""
        live = self.get(call, name)
        if live is None or str(live["id"]) != str(operation.get("targetId", live["id"])):
            return None
        return live

    def invoke(self, call: Call, name: str, method: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Call a method of one resource, such as `setLabels`; returns its operation once it has succeeded.

        Raises:
            ApiError: the request or the operation failed.
            Unfinished: Google accepted the request, and its result is not known.
        """
        if f"{self.path.rpartition('/')[2]}.{method}" not in _WITHOUT_REQUEST_ID:
            query = {"requestId": str(uuid.uuid4()), **query}
        path = f"{self._path(name)}/{method}"
        operation = self.google.send(Request(api=COMPUTE, method="POST", path=path, query=query, body=body), call)
        return self.operations.wait(call, operation, self._wait(f"{method} of {self.path}/{name}"))

    def invoke_once(self, call: Call, made: MethodCall, exists: Callable[[], bool]) -> bool:
        """Call a method that creates something, once across retries and further runs, as `insert` does.

        `exists` tells whether what an earlier run created still exists. Returns whether an earlier run created it.
        Raises the same as `insert`.
        """
        path, wait = f"{self._path(made.name)}/{made.method}", f"{made.method} of {self.path}/{made.name}"

        def send(request_id: str) -> dict[str, Any]:
            query = {**made.query, "requestId": request_id}
            request = Request(api=COMPUTE, method="POST", path=path, query=query, body=made.body)
            with refusing_what_others_created(self.operations, call, self.scope, request_id, exists):
                return self.google.send(request, call)

        inserted = IdempotentInsert(
            request_ids=RequestIds(call=call, namespace=_NAMESPACE, content=[path, made.body, {**made.query}]),
            send=send,
            wait=lambda operation: self.operations.outcome(call, operation, self._wait(wait)),
            exists=lambda outcome: (
                outcome.error is None and exists() and self._is_current(call, made, outcome.operation)
            ),
        ).run()
        inserted.outcome.result()
        return inserted.earlier

    def _is_current(self, call: Call, made: MethodCall, operation: Mapping[str, Any]) -> bool:
        """Return whether what a method created was not undone since; somebody else may have created it again then."""
        live = self.get(call, made.name)
        if live is None or str(live["id"]) != str(operation.get("targetId")):
            return False
        return not self.operations.were_begun_after(call, self.scope, operation, made.inverse)

    def read_modify_write(self, call: Call, name: str, method: str, body_from: Callable[[dict[str, Any]], Any]) -> None:
        """Call a method, such as `setLabels`, with a body that `body_from` makes from the current resource.

        The body contains the fingerprint, so the call fails if someone else changed the resource meanwhile. It is then
        tried once more. Raises `NotFound` if the resource does not exist.
        """
        for is_last in (False, True):
            live = self.get(call, name)
            if live is None:
                raise NotFound(f"{self.path}/{name} is gone; run `pulumi refresh`, then `pulumi up`")
            try:
                self.invoke(call, name, method, body_from(live))
            except PreconditionFailed:
                if is_last:
                    raise
            else:
                return

    def delete(self, call: Call, name: str) -> None:
        """Delete a resource, and wait until it is gone; does nothing if it does not exist.

        If the resource is still in use, try again for a while, because its user is often about to be replaced.
        """
        for attempt in range(_DELETE_ATTEMPTS):
            try:
                self._delete(call, name)
            except ApiError as error:
                pause = self.google.backoff * 2**attempt
                is_last = attempt == _DELETE_ATTEMPTS - 1
                if error.reason not in _IN_USE or is_last or call.cancelled.wait(pause):
                    raise
                call.progress(f"{self.path}/{name} is still in use; trying again")
            else:
                return

    def _delete(self, call: Call, name: str) -> None:
        query = {"requestId": str(uuid.uuid4())}
        request = Request(api=COMPUTE, method="DELETE", path=self._path(name), query=query)
        try:
            operation = self.google.send(request, call)
            self.operations.wait(call, operation, self._wait(f"delete {self.path}/{name}"))
        except NotFound:
            if self.get(call, name) is not None:
                raise

    def _post(self, call: Call, body: dict[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
        """Send an insert; a conflict with a resource that this very request created is not an error.

        Nor is it one if Google refuses a request ID because it was used with another body: with another generated name.
        """
        patience = call.timeout or self.timeout
        request = Request(api=COMPUTE, method="POST", path=self.url, query=query, body=body, patience=patience)
        exists = partial(self._has_written_name, call, body["name"])
        try:
            with refusing_what_others_created(self.operations, call, self.scope, query["requestId"], exists):
                return self.google.send(request, call)
        except (Conflict, Rejected, PreconditionFailed) as error:
            may_exist = isinstance(error, Conflict) or call.autonamed
            operation = self.operations.requested_if_known(call, self.scope, query["requestId"]) if may_exist else None
            if operation is not None:
                return operation
            if isinstance(error, Conflict):
                raise _already_exists(call, error, self.id_of(body["name"])) from error
            raise

    def is_own(self, call: Call, live: Mapping[str, Any]) -> bool:
        """Return whether what exists under a resource's name is that resource, as `lost_responses.is_own` finds out."""
        return is_own(call, self.operations, self.scope, live)

    def _has_written_name(self, call: Call, name: str) -> bool:
        """Return whether a resource exists with a name that was not generated, and that others may use, too."""
        return not call.autonamed and self.get(call, name) is not None

    def _path(self, name: str) -> str:
        return f"{self.url}/{segment(name)}"

    def _wait(self, what: str) -> Wait:
        return Wait(what, self.timeout)

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


def inserted_name(operation: Mapping[str, Any], name: str) -> str:
    """Return the name of what an operation of `insert` creates; `name` if its link does not end in a valid one."""
    target = operation.get("targetLink")
    found = name_of(target) if isinstance(target, str) else ""
    return found if NAME[0].fullmatch(found) else name


def _already_exists(call: Call, error: Conflict, resource_id: str) -> Conflict:
    return Conflict(
        f"{error}. {resource_id} exists and was not created by this resource with these inputs. "
        f"{how_to_manage(call, resource_id, 'choose another name')}",
        status=error.status,
        reason=error.reason,
    )
