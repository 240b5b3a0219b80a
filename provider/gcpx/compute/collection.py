"""The calls to one collection of Compute resources: get, insert, custom methods, delete."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.idempotent_insert import Fate, IdempotentInsert, Inserted
from gcpx.compute.lost_responses import is_own, refusing_what_others_created, wait_for_insertions
from gcpx.compute.name_pattern import NAME
from gcpx.compute.operation_fields import moment
from gcpx.compute.operation_outcome import Outcome
from gcpx.compute.operations import Operations, Wait
from gcpx.compute.request_ids import RequestIds
from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PermissionDenied, PreconditionFailed, Rejected
from gcpx.gcp.list_method import is_id
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of

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

    def get(self, call: Call, name: str) -> dict[str, Any] | None:
        """Read a resource; None if it does not exist."""
        query = {"view": self.view} if self.view else {}
        try:
            live = self.google.send(Request(api=COMPUTE, method="GET", path=self.url_of(name), query=query), call)
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
            return self.operations.outcome(call, operation, self.wait(f"insert {self.path}/{target}"))

        inserted = IdempotentInsert(
            request_ids=self._request_ids(call, body),
            send=lambda request_id: self._post(call, body, {**(query or {}), "requestId": request_id}),
            wait=wait,
            fate=lambda outcome: self._fate(call, name, outcome),
            was_known=lambda operation: operation.get("targetId") in {call.last.get("numericId"), *call.shown},
            is_other=lambda operation: inserted_name(operation, name) != name,
        ).run()
        inserted.outcome.result()
        return inserted

    def _request_ids(self, call: Call, body: dict[str, Any]) -> RequestIds:
        """Derive the request IDs from the body; a generated name is left out, because every run generates another."""
        content = {key: value for key, value in body.items() if key != "name"} if call.autonamed else body
        return RequestIds(call=call, namespace=NAMESPACE, content=[self.url, content])

    def _fate(self, call: Call, name: str, outcome: Outcome) -> Fate:
        """Tell whether what an operation of `insert` was to create exists and is to be used.

        What another resource of the state has, or what the engine is about to replace, is not to be used. If Google
        shows what had the name before, it does not show yet what the operation has created.
        """
        operation, name = outcome.operation, inserted_name(outcome.operation, name)
        if outcome.error is not None or call.is_anothers(self.id_of(name)):
            return Fate.GONE
        live, target = self.get(call, name), str(operation.get("targetId"))
        if live is not None and _has_created(operation, live):
            is_replaced = target in call.shown or (call.autonamed and name in call.shown)
            return Fate.GONE if is_replaced else Fate.FOUND
        if live is not None and not _is_older(live, operation):
            return Fate.GONE
        return Fate.GONE if target in self.operations.deleted_since(call, self.scope, operation) else Fate.UNSEEN

    def read_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Read the resource that an operation of `insert` created; raises `NotFound` if it does not exist."""
        live = self.get_inserted(call, name, operation)
        if live is None:
            raise NotFound(f"Google does not return {self.path}/{name}, or returns a different resource with this name")
        return live

    def get_inserted(self, call: Call, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Read a resource; None if it is gone, or if a later one has its name."""
        live = self.get(call, name)
        return live if live is not None and _has_created(operation, live) else None

    def settle(self, call: Call, name: str) -> None:
        """Wait for what interrupted runs are still inserting, as `wait_for_insertions` does; `name` is for messages."""

        def is_shown(outcome: Outcome) -> bool:
            operation = outcome.operation
            return self.get_inserted(call, inserted_name(operation, name), operation) is not None

        wait = self.wait(f"insert {self.path}/{name}")
        wait_for_insertions(call, self.operations, self.scope, wait, is_shown)

    def invoke(
        self, call: Call, live: Mapping[str, Any], method: str, body: Any = None, **query: Any
    ) -> dict[str, Any]:
        """Call a method of one resource, such as `setLabels`; returns its operation once it has succeeded.

        Args:
            call: the engine's call.
            live: the resource as it was read.
            method: the method.
            body: the JSON of the body.
            query: parameters beside the request ID.

        Raises:
            GoneError: the resource no longer exists.
            ApiError: the request or the operation failed.
            Unfinished: Google accepted the request, and its result is not known.
        """
        name = str(live["name"])
        has_request_id = f"{self.path.rpartition('/')[2]}.{method}" not in _WITHOUT_REQUEST_ID
        request_ids = RequestIds(call=call, namespace=NAMESPACE, content=[])

        def send(last_part: str) -> dict[str, Any]:
            path, shown = f"{self.url_of(last_part)}/{method}", f"{self.url_of(name)}/{method}"
            given = {"requestId": request_ids.random(), **query} if has_request_id else query
            request = Request(api=COMPUTE, method="POST", path=path, shown=shown, query=given, body=body)
            return self.google.send(request, call)

        operation = self._change(call, name, str(live["id"]), send)
        return self.operations.wait(call, operation, self.wait(f"{method} of {self.path}/{name}"))

    def _change(self, call: Call, name: str, number: str, send: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """Send a change to the path with the resource's numeric ID, so that it cannot hit a namesake.

        If Google refuses the number, `send` gets the name, after a read has shown that it still belongs to the number.
        Raises GoneError if it does not, or if somebody has given the name to another resource since that read.
        """
        try:
            return send(number)
        except ApiError as error:
            if not may_refuse_number(error):
                raise
            named = self._number_of(call, name, error)
            if named != number:
                raise GoneError.of(f"{self.path}/{name}", named) from error
        operation = send(name)
        target = str(operation.get("targetId", number))
        if target != number:
            call.warn(
                f"{self.path}/{name}: the request reached another resource (numeric ID {target}), which somebody created "
                f"with the name of ours (numeric ID {number}) after gcpx had checked it"
            )
            raise GoneError.of(f"{self.path}/{name}")
        return operation

    def _number_of(self, call: Call, name: str, refusal: ApiError) -> str:
        """Return the numeric ID of what has a name, empty if nothing has; raise the refusal if that cannot be read."""
        try:
            live = self.get(call, name)
        except ApiError as error:
            raise refusal.with_hint(
                f"gcpx could not check either whether the resource still exists: {error.message}"
            ) from error
        return "" if live is None else str(live["id"])

    def read_modify_write(self, call: Call, name: str, method: str, body_from: Callable[[dict[str, Any]], Any]) -> None:
        """Call a method, such as `setLabels`, with a body that `body_from` makes from the current resource.

        The body contains the fingerprint, so the call fails if someone else changed the resource meanwhile. It is then
        tried once more. Raises GoneError if the resource does not exist, whatever else has its name.
        """
        for is_last in (False, True):
            live = self.get_own(call, name)
            if live is None:
                raise GoneError.of(f"{self.path}/{name}")
            try:
                self.invoke(call, live, method, body_from(live))
            except PreconditionFailed:
                if is_last:
                    raise
            else:
                return

    def delete(self, call: Call, name: str) -> None:
        """Delete the resource of the call, and wait until it is gone; does nothing if it does not exist.

        If the resource is still in use, try again for a while, because its user is often about to be replaced.
        """
        number = str(call.last.get("numericId") or (self.get_own(call, name) or {}).get("id", ""))
        for attempt in range(_DELETE_ATTEMPTS if number else 0):
            try:
                self._delete(call, name, number)
            except ApiError as error:
                pause = self.google.backoff * 2**attempt
                is_last = attempt == _DELETE_ATTEMPTS - 1
                if error.reason not in _IN_USE or is_last or call.cancelled.wait(pause):
                    raise
                call.progress(f"{self.path}/{name} is still in use; trying again")
            else:
                return

    def _delete(self, call: Call, name: str, number: str) -> None:
        def send(last_part: str) -> dict[str, Any]:
            path, query = self.url_of(last_part), {"requestId": str(uuid.uuid4())}
            request = Request(api=COMPUTE, method="DELETE", path=path, shown=self.url_of(name), query=query)
            return self.google.send(request, call)

        try:
            operation = self._change(call, name, number, send)
        except GoneError as error:
            if error.namesake:
                call.warn(
                    f"{self.id_of(name)} was not deleted, because it is not the resource in the state: that one is gone, "
                    f"and another one (numeric ID {error.namesake}) has its name"
                )
            return
        self.operations.wait(call, operation, self.wait(f"delete {self.path}/{name}"))

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

    def get_own(self, call: Call, name: str) -> dict[str, Any] | None:
        """Read the resource of the call; None if it is gone, or if what has its name is another one, or may be.

        After the deletion of ours, someone else may have used its name again: the state has the numeric ID of ours.
        """
        live, known = self.get(call, name), call.last.get("numericId")
        if live is None or (known is not None and str(live["id"]) != known):
            return None
        return live if self.is_own(call, live) else None

    def is_own(self, call: Call, live: Mapping[str, Any]) -> bool:
        """Return whether what exists under a resource's name is that resource, as `lost_responses.is_own` finds out."""
        return is_own(call, self.operations, self.scope, live)

    def _has_written_name(self, call: Call, name: str) -> bool:
        """Return whether a resource exists with a name that was not generated, and that others may use, too."""
        return not call.autonamed and self.get(call, name) is not None

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


def _has_created(operation: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Return whether an operation of `insert` created a resource, and not a later one with the same name."""
    return str(live["id"]) == str(operation.get("targetId", live["id"]))


def _is_older(live: Mapping[str, Any], operation: Mapping[str, Any]) -> bool:
    """Return whether a resource was created before an operation was begun; false if it does not say when."""
    created = live.get("creationTimestamp")
    return isinstance(created, str) and moment(created) < moment(operation["insertTime"])


def _already_exists(call: Call, error: Conflict, resource_id: str) -> Conflict:
    return Conflict(
        f"{error}. {resource_id} exists and was not created by this resource with these inputs. "
        f"{how_to_manage(call, resource_id, 'choose another name')}",
        status=error.status,
        reason=error.reason,
    )
