"""What Compute resources share: creation that survives retries and restarts, deletion, reads."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx.google.client import COMPUTE, Google, Request, Waiting
from gcpx.google.errors import ApiError, Conflict, NotFound, PreconditionFailed
from gcpx.google.operations import Operations, Surroundings

_NAMESPACE: Final = uuid.UUID("6f1b8ed0-8c31-5c0c-9a1e-5f6a0f4a1c07")
_ATTEMPTS: Final = 4
"""Request IDs in line for one creation. The last is new each time: by then what was made before is known to be gone."""
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

    def get(self, name: str, waiting: Waiting) -> dict[str, Any] | None:
        """Read one resource; None when there is none."""
        try:
            query = {"view": self.view} if self.view else {}
            return self.google.send(Request(api=COMPUTE, method="GET", path=f"{self.url}/{name}", query=query), waiting)
        except NotFound:
            return None

    def insert(
        self, call: Surroundings, body: dict[str, Any], name: str, query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Create a resource and return it as Google has it.

        One logical creation has one request ID, the same over retries and over another `pulumi up`, so that nothing is
        made twice. When Google answers with the operation of an earlier creation whose resource is gone by now, or
        which failed, the next ID in line is used.
        """
        what = f"insert {self.path}/{name}"
        for salt in range(_ATTEMPTS):
            request_id = self._request_id(call, body, salt)
            operation = self._post(call, body, {**(query or {}), "requestId": request_id}, name)
            replayed = operation.get("status") == "DONE"
            try:
                done = self._operations.wait(operation, call, what, self.timeout)
            except ApiError:
                if replayed and salt == 0:
                    continue
                raise
            live = self.get(name, call)
            if live is not None and str(live.get("id")) == str(done.get("targetId", live.get("id"))):
                return live
            if not replayed:
                raise NotFound(f"{what}: the operation succeeded, but the resource is not there; someone deleted it")
        raise Conflict(f"{what}: every request ID of this creation was used before; rename the resource")

    def act(self, call: Surroundings, name: str, verb: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """Call a method of one resource, such as `setLabels`, and wait until its operation is done."""
        if f"{self.path.rpartition('/')[2]}.{verb}" not in _WITHOUT_REQUEST_ID:
            query = {"requestId": str(uuid.uuid4()), **query}
        path = f"{self.url}/{name}/{verb}"
        operation = self.google.send(Request(api=COMPUTE, method="POST", path=path, query=query, body=body), call)
        what = f"{verb} of {self.path}/{name}"
        return self._operations.wait(operation, call, what, self.timeout)

    def edit(self, call: Surroundings, name: str, verb: str, body_of: Callable[[dict[str, Any]], Any]) -> None:
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

    def delete(self, call: Surroundings, name: str) -> None:
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

    def _delete(self, call: Surroundings, name: str) -> None:
        query = {"requestId": str(uuid.uuid4())}
        request = Request(api=COMPUTE, method="DELETE", path=f"{self.url}/{name}", query=query)
        try:
            operation = self.google.send(request, call)
            self._operations.wait(operation, call, f"delete {self.path}/{name}", self.timeout)
        except NotFound:
            return

    def _post(self, call: Surroundings, body: dict[str, Any], query: Mapping[str, Any], name: str) -> dict[str, Any]:
        request = Request(
            api=COMPUTE, method="POST", path=self.url, query=query, body=body, patience=call.timeout or self.timeout
        )
        try:
            return self.google.send(request, call)
        except Conflict as error:
            return self._ours(call, query["requestId"]) or _explain(
                error, f"projects/{self.project}/{self.path}/{name}"
            )

    def _ours(self, call: Surroundings, request_id: str) -> dict[str, Any] | None:
        """Find the operation that proves a conflicting resource to be the fruit of this very request."""
        scope = self.path.rpartition("/")[0]
        path = f"{self.version}/projects/{self.project}/{scope}/operations"
        query = {"filter": f'clientOperationId = "{request_id}"'}
        try:
            found = self.google.send(Request(api=COMPUTE, method="GET", path=path, query=query), call)
        except ApiError:
            return None
        good = [item for item in found.get("items", ()) if not item.get("error")]
        return good[0] if good else None

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.google, version=self.version, project=self.project)

    def _request_id(self, call: Surroundings, body: dict[str, Any], salt: int) -> str:
        if salt == _ATTEMPTS - 1:
            return str(uuid.uuid4())
        content = json.dumps([call.urn, self.url, body, salt], sort_keys=True)
        return str(uuid.uuid5(_NAMESPACE, content))


def _explain(error: Conflict, what: str) -> dict[str, Any]:
    raise Conflict(
        f"{error}. {what} exists and was not made by this resource: import it with `pulumi import` by this ID, choose "
        "another name, or, when this is a replacement, set the resource option deleteBeforeReplace",
        status=error.status,
        reason=error.reason,
    ) from error


def split_link(link: str) -> str:
    """Reduce an ID or a self link to its path: no host, no API version, no query."""
    path = re.sub(r"^(?:https?:)?//[^/]+/", "", link.strip()).partition("?")[0].strip("/")
    return re.sub(r"^(?:compute/)?(?:v1|beta|alpha)/(?=projects/)", "", path)


def last_part(link: str) -> str:
    """Give the name at the end of a link."""
    return link.rpartition("/")[2]
