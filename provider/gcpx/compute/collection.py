"""The calls to one collection of Compute resources: get, insert, custom methods, delete."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx.compute.idempotent_insert import IdempotentInsert
from gcpx.compute.operations import Operations, Wait
from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PreconditionFailed
from gcpx.gcp.list_method import is_id
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call

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

    def insert(
        self, call: Call, body: dict[str, Any], name: str, query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Create a resource, and return its operation, for `read_inserted`, once it has succeeded.

        `name` is the name that the body gives to the resource; `query` holds parameters beside the request ID.

        Raises:
            Conflict: a resource of this name exists, and no earlier run created it.
            ApiError: the request or the operation failed, and nothing was created.
            Unfinished: Google accepted the request, and its result is not known.
        """
        return self._insertion(call, body, name, query or {}).run().result()

    def _insertion(self, call: Call, body: dict[str, Any], name: str, query: Mapping[str, Any]) -> IdempotentInsert:
        wait = self._wait(f"insert {self.path}/{name}")
        return IdempotentInsert(
            namespace=_NAMESPACE,
            content=[call.urn, self.url, body],
            send=lambda request_id: self._post(call, body, {**query, "requestId": request_id}, name),
            wait=lambda operation: self._operations.outcome(call, operation, wait),
            exists=lambda outcome: outcome.error is None and self._was_inserted(call, name, outcome.operation),
        )

    def read_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Read the resource that an operation of `insert` created; raises `NotFound` if it does not exist."""
        live = self._get_inserted(call, name, operation)
        if live is None:
            raise NotFound(f"Google does not return {self.path}/{name}, or returns a different resource with this name")
        return live

    def _was_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> bool:
        return self._get_inserted(call, name, operation) is not None

    def _get_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
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
        return self._operations.wait(call, operation, self._wait(f"{method} of {self.path}/{name}"))

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
            self._operations.wait(call, operation, self._wait(f"delete {self.path}/{name}"))
        except NotFound:
            return

    def _post(self, call: Call, body: dict[str, Any], query: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Send an insert; a conflict with a resource that this very request created is not an error."""
        patience = call.timeout or self.timeout
        request = Request(api=COMPUTE, method="POST", path=self.url, query=query, body=body, patience=patience)
        try:
            return self.google.send(request, call)
        except Conflict as error:
            operation = self._operation_of(call, query["requestId"])
            if operation is None:
                raise _already_exists(error, f"projects/{self.project}/{self.path}/{name}") from error
            return operation

    def _operation_of(self, call: Call, request_id: str) -> dict[str, Any] | None:
        """Find the operation of a request ID; None if there is none, or if that cannot be determined."""
        try:
            return self._operations.requested(call, self.path.rpartition("/")[0], request_id)
        except ApiError:
            return None

    def _path(self, name: str) -> str:
        return f"{self.url}/{segment(name)}"

    def _wait(self, what: str) -> Wait:
        return Wait(what, self.timeout)

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.google, version=self.version, project=self.project)


def _already_exists(error: Conflict, resource_id: str) -> Conflict:
    return Conflict(
        f"{error}. {resource_id} exists and was not created by this resource: import it with `pulumi import` by this ID, "
        "choose another name, or, if this is a replacement, set the resource option deleteBeforeReplace",
        status=error.status,
        reason=error.reason,
    )
