"""The calls to one collection of Compute resources: get, custom methods, delete."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx.compute.insertion import inserted_name, is_own, request_id, wait_for_insertions
from gcpx.compute.operations import Operation, Operations, Outcome, Wait
from gcpx.errors import MalformedResponse
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, NotFound, PermissionDenied, Rejected
from gcpx.gcp.list_method import ListMethod, is_id, items_of, no_scope
from gcpx.gcp.request import COMPUTE, SHORT_PATIENCE, Request, segment
from gcpx.gcp.shared_reads import Scope
from gcpx.model.context import Context
from gcpx.model.links import name_of

_IN_USE: Final = ("resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
_IN_USE_PATIENCE: Final = 7.5
"""The time for which the deletion of a resource in use is retried, in seconds: its user is often about to be replaced."""
_WITHOUT_REQUEST_ID: Final = ("machineImages.setLabels",)
"""Methods without a request ID. Sending them twice is safe, because of their fingerprint."""


class GoneError(NotFound):
    """The resource with a numeric ID no longer exists.

    Attributes:
        namesake: the numeric ID of the resource that has its name now; empty if there is none.
    """

    namesake: str = ""

    @classmethod
    def of(cls, path: str, namesake: str = "") -> GoneError:
        """Create the error about the resource with the name at the end of a path."""
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
        timeout: the longest time of an operation in seconds, without a custom timeout.
        view: the API's `view` parameter of `get`, for collections that have one.
    """

    google: GoogleClient
    version: str
    project: str
    path: str
    timeout: float
    view: str | None = None

    @property
    def scope(self) -> str:
        """The collection's scope: `global`, `regions/R` or `zones/Z`."""
        return self.path.rpartition("/")[0]

    @property
    def operations(self) -> Operations:
        """The operations of the project."""
        return Operations(google=self.google, version=self.version, project=self.project)

    def id_of(self, name: str) -> str:
        """Return the ID of a resource of the collection, `projects/...`."""
        return f"projects/{self.project}/{self.path}/{name}"

    @property
    def url(self) -> str:
        """The path of requests to the collection: version, project, scope and collection."""
        return f"{self.version}/projects/{self.project}/{self.path}"

    def url_of(self, name: str) -> str:
        """Return the path of requests to one resource, by its name or numeric ID."""
        return f"{self.url}/{segment(name)}"

    def get(self, context: Context, name: str) -> dict[str, Any] | None:
        """Read a resource; None if it does not exist."""
        live = self.google.reads.read(context, self._shared(context), name)
        if live is None:
            return None
        # An empty response, or one about another resource, does not mean that the resource is gone.
        if not is_id(live.get("id")) or name not in {live.get("name"), str(live["id"])}:
            raise MalformedResponse(
                f"Google's response for {self.path}/{name} is not about it: it holds no such id or name"
            )
        return live

    def _shared(self, context: Context) -> Scope:
        """Return the scope of shared reads: resources of the collection are read alone or by a page of the list."""
        query = {"view": self.view} if self.view else {}
        # A resource that a page lacks is read alone, so a page may lack any scope.
        pages = ListMethod(google=self.google, path=self.url, query=query, patience=SHORT_PATIENCE, needs=no_scope)

        def get(name: str) -> dict[str, Any]:
            request = Request(api=COMPUTE, method="GET", path=self.url_of(name), query=query)
            return self.google.send(request, context)

        def page(token: str) -> tuple[dict[str, dict[str, Any]], str]:
            found = pages.page(context, token)
            return {str(item.get("name")): item for item in items_of(found)}, found.get("nextPageToken", "")

        place = f"{self.url}?view={self.view}" if self.view else self.url
        return Scope(place=place, kind=self.path.rpartition("/")[2], get=get, page=page)

    def get_own(self, context: Context, name: str) -> dict[str, Any] | None:
        """Read the resource of the call; None if it is gone, or if another one has, or may have, its name.

        After a deletion, somebody else may have used its name again. The state has the numeric ID of ours.
        """
        live = self.get(context, name)
        return live if live is not None and is_own(context, self.operations, self.scope, live) else None

    def get_inserted(self, context: Context, name: str, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Read the resource that an operation of `insert` created; None if it is gone, or a later one has its name."""
        live = self.get(context, name)
        return live if live is not None and has_created(operation, live) else None

    def named(self, context: Context, operation: Operation) -> Operation:
        """Return an operation of `insert` with a link that ends in the name of its result.

        All recorded links do. If one ends in the numeric ID, the resource with that ID is read; if it is gone, the link
        stays.
        """
        target = str(operation.get("targetId"))
        live = self.get(context, target) if name_of(operation.get("targetLink")) == target else None
        return operation if live is None else {**operation, "targetLink": self.id_of(str(live["name"]))}

    def settle(self, context: Context, name: str) -> None:
        """Wait for the insertions of interrupted runs, as `wait_for_insertions` does; `name` is for messages."""

        def is_shown(outcome: Outcome) -> bool:
            operation = self.named(context, outcome.operation)
            return self.get_inserted(context, inserted_name(operation, name), operation) is not None

        wait = Wait(f"insert {self.path}/{name}", self.timeout)
        wait_for_insertions(context, self.operations, self.scope, wait, is_shown)

    def invoke(
        self, context: Context, live: Mapping[str, Any], method: str, body: Any = None, **query: Any
    ) -> Operation:
        """Call a method of one resource, such as `setLabels`; returns its operation once it has succeeded.

        Args:
            context: the engine's call.
            live: the resource as read.
            method: the method.
            body: the JSON of the body.
            query: parameters in addition to the request ID.

        Raises:
            GoneError: the resource no longer exists.
            ApiError: the request or the operation failed.
            Unfinished: Google accepted the request, and its result is not known.
        """
        name = str(live["name"])
        if f"{self.path.rpartition('/')[2]}.{method}" not in _WITHOUT_REQUEST_ID:
            query = {"requestId": request_id(context), **query}

        def send(last_part: str) -> Operation:
            path, shown = f"{self.url_of(last_part)}/{method}", f"{self.url_of(name)}/{method}"
            request = Request(api=COMPUTE, method="POST", path=path, shown=shown, query=query, body=body)
            return self.operations.send(request, context)

        operation = self._change(context, name, str(live["id"]), send)
        wait = Wait(f"{method} of {self.path}/{name}", self.timeout)
        return self.operations.outcome(context, operation, wait).result()

    def delete(self, context: Context, name: str) -> None:
        """Delete the resource of the call, and wait until it is gone; does nothing if it does not exist.

        If the resource is still in use, try again for a while.
        """
        number = str(context.prior.get("numericId") or (self.get_own(context, name) or {}).get("id", ""))
        if not number:
            return
        for _ in context.tries(_IN_USE_PATIENCE, pause=self.google.backoff):
            try:
                self._delete(context, name, number)
            except ApiError as error:
                if error.reason not in _IN_USE:
                    raise
                in_use = error
                context.progress(f"{self.path}/{name} is still in use; trying again")
            else:
                return
        raise in_use

    def _delete(self, context: Context, name: str, number: str) -> None:
        def send(last_part: str) -> Operation:
            path, query = self.url_of(last_part), {"requestId": str(uuid.uuid4())}
            request = Request(api=COMPUTE, method="DELETE", path=path, shown=self.url_of(name), query=query)
            return self.operations.send(request, context)

        try:
            operation = self._change(context, name, number, send)
        except GoneError as error:
            if error.namesake:
                context.warn(
                    f"{self.id_of(name)} was not deleted, because it is not the resource in the state: that one is gone, "
                    f"and another one (numeric ID {error.namesake}) has its name"
                )
            return
        self.operations.outcome(context, operation, Wait(f"delete {self.path}/{name}", self.timeout)).result()

    def _change(self, context: Context, name: str, number: str, send: Callable[[str], Operation]) -> Operation:
        """Send a change to the path with the resource's numeric ID, so that it cannot affect a namesake.

        If Google refuses the number, `send` gets the name, after a read that shows that it still belongs to the number.
        Raises GoneError if it does not, or if another resource got the name since that read.
        """
        try:
            return send(number)
        except ApiError as refusal:
            if not may_refuse_number(refusal):
                raise
            try:
                live = self.get(context, name)
            except ApiError as error:
                hint = f"gcpx could not check either whether the resource still exists: {error.message}"
                raise refusal.with_hint(hint) from error
            if live is None or str(live["id"]) != number:
                raise GoneError.of(f"{self.path}/{name}", str((live or {}).get("id", ""))) from refusal
        operation = send(name)
        target = str(operation.get("targetId", number))
        if target != number:
            context.warn(
                f"{self.path}/{name}: the request reached another resource (numeric ID {target}), which somebody created "
                f"with the name of ours (numeric ID {number}) after gcpx had checked it"
            )
            raise GoneError.of(f"{self.path}/{name}")
        return operation


def may_refuse_number(error: ApiError) -> bool:
    """Return whether an error may be about the numeric ID in a path, so that the name may be accepted.

    IAM conditions may allow only names. Google's API descriptions accept both in the paths of all changes.
    """
    return isinstance(error, NotFound | PermissionDenied) or (isinstance(error, Rejected) and error.reason == "invalid")


def has_created(operation: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Return whether an operation of `insert` created a resource, and not a later one with the same name."""
    return str(live["id"]) == str(operation.get("targetId", live["id"]))
