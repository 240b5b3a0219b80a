"""What Compute resources share: creation that survives retries and restarts, deletion, reads."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx.compute.creation import Creation
from gcpx.compute.operations import Operations
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import Google
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PreconditionFailed, ServerError
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call

_NAMESPACE: Final = uuid.UUID("6f1b8ed0-8c31-5c0c-9a1e-5f6a0f4a1c07")
_IN_USE: Final = ("resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
_IN_USE_ATTEMPTS: Final = 5
_WITHOUT_REQUEST_ID: Final = ("machineImages.setLabels",)
"""Methods that take none; what they do twice is the same as once, since a fingerprint guards them."""


@attrs.frozen(kw_only=True)
class Collection:
    """One collection of Compute resources, such as `global/instanceTemplates` of a project.

    Attributes:
        path: scope and collection, without the project.
        timeout: seconds an operation may take where the user sets no custom timeout.
        view: how much of a resource is read, where the API offers a choice.
    """

    google: Google
    version: str
    project: str
    path: str
    timeout: float
    view: str | None = None

    @property
    def url(self) -> str:
        """The collection below the API's path."""
        return f"{self.version}/projects/{self.project}/{self.path}"

    def _path(self, name: str) -> str:
        return f"{self.url}/{segment(name)}"

    def get(self, name: str, waiting: Call) -> dict[str, Any] | None:
        """Read one resource; None when there is none."""
        try:
            query = {"view": self.view} if self.view else {}
            found = self.google.send(Request(api=COMPUTE, method="GET", path=self._path(name), query=query), waiting)
        except NotFound:
            return None
        if not found.get("id"):
            raise ServerError(
                f"Google's response for {self.path}/{name} holds no id"
            )  # it does not say that it is gone
        return found

    def insert(
        self, call: Call, body: dict[str, Any], name: str, query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Create a resource and return the operation that did; `made` reads what came of it."""
        creation = Creation(
            namespace=_NAMESPACE,
            content=[call.urn, self.url, body],
            send=lambda request_id: self._post(call, body, {**(query or {}), "requestId": request_id}, name),
            follow=lambda operation: self._operations.outcome(
                operation, call, f"insert {self.path}/{name}", self.timeout
            ),
            there=lambda outcome: outcome.error is None and self._found(call, name, outcome.operation) is not None,
        )
        outcome = creation.run()
        if outcome.error is not None:
            raise outcome.error
        return outcome.operation

    def made(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Read what an operation made."""
        found = self._found(call, name, operation)
        if found is None:
            raise NotFound(f"Google does not return {self.path}/{name}, or returns a different resource with this name")
        return found

    def _found(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Read a resource, if it is the one that an operation made and not a later one of the same name."""
        live = self.get(name, call)
        ours = live is not None and str(live.get("id")) == str(operation.get("targetId", live.get("id")))
        return live if ours else None

    def act(self, call: Call, name: str, verb: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Call a method of one resource, such as `setLabels`, and wait until its operation is done."""
        if f"{self.path.rpartition('/')[2]}.{verb}" not in _WITHOUT_REQUEST_ID:
            query = {"requestId": str(uuid.uuid4()), **query}
        path = f"{self._path(name)}/{verb}"
        operation = self.google.send(Request(api=COMPUTE, method="POST", path=path, query=query, body=body), call)
        what = f"{verb} of {self.path}/{name}"
        return self._operations.wait(operation, call, what, self.timeout)

    def edit(self, call: Call, name: str, verb: str, body_of: Callable[[dict[str, Any]], Any]) -> None:
        """Read, modify and write one resource; when someone else was faster, once more."""
        for attempt in range(2):
            found = self.get(name, call)
            if found is None:
                raise NotFound(f"{self.path}/{name} is gone; run `pulumi refresh`, then `pulumi up`")
            try:
                self.act(call, name, verb, body_of(found))
            except PreconditionFailed:
                if attempt:
                    raise
            else:
                return

    def delete(self, call: Call, name: str) -> None:
        """Delete a resource and wait until it is gone; one that is gone is a success.

        Something that still uses it is often about to be replaced itself, so that is waited for a while.
        """
        for attempt in range(_IN_USE_ATTEMPTS):
            try:
                self._delete(call, name)
            except ApiError as error:
                pause = self.google.backoff * 2**attempt
                last = attempt == _IN_USE_ATTEMPTS - 1
                if error.reason not in _IN_USE or last or call.cancelled.wait(pause):
                    raise
                call.progress(f"{self.path}/{name} is still in use; trying again")
            else:
                return

    def _delete(self, call: Call, name: str) -> None:
        query = {"requestId": str(uuid.uuid4())}
        request = Request(api=COMPUTE, method="DELETE", path=self._path(name), query=query)
        try:
            operation = self.google.send(request, call)
            self._operations.wait(operation, call, f"delete {self.path}/{name}", self.timeout)
        except NotFound:
            return

    def _post(self, call: Call, body: dict[str, Any], query: Mapping[str, Any], name: str) -> dict[str, Any]:
        request = Request(
            api=COMPUTE, method="POST", path=self.url, query=query, body=body, patience=call.timeout or self.timeout
        )
        try:
            return self.google.send(request, call)
        except Conflict as error:
            return self._ours(call, query["requestId"]) or _explain(
                error, f"projects/{self.project}/{self.path}/{name}"
            )

    def _ours(self, call: Call, request_id: str) -> dict[str, Any] | None:
        """Find the operation that proves that this very request created a conflicting resource."""
        try:
            return self._operations.requested(call, self.path.rpartition("/")[0], request_id)
        except ApiError:
            return None

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.google, version=self.version, project=self.project)


def _explain(error: Conflict, what: str) -> dict[str, Any]:
    raise Conflict(
        f"{error}. {what} exists and was not created by this resource: import it with `pulumi import` by this ID, "
        "choose another name, or, when this is a replacement, set the resource option deleteBeforeReplace",
        status=error.status,
        reason=error.reason,
    ) from error
