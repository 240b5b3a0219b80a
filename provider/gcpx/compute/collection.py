"""The calls to one collection of Compute resources: get, insert, custom methods, delete."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gcpx.compute.insertion import Inserted, Insertion, inserted_name, is_own, request_id, wait_for_insertions
from gcpx.compute.operations import Operation, Operations, Outcome, Wait, begun_at
from gcpx.errors import MalformedResponse
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, PermissionDenied, PreconditionFailed, Rejected
from gcpx.gcp.list_method import is_id
from gcpx.gcp.request import COMPUTE, Request, segment
from gcpx.model.import_command import how_to_manage
from gcpx.model.naming import UNREAD
from gcpx.model.ownership import Known, Maker, Owner, Shown, owner
from gcpx.model.resource import Context, State
from gcpx.model.times import moment

_IN_USE: Final = ("resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE")
_IN_USE_PATIENCE: Final = 7.5
"""Seconds for which the deletion of a resource in use is tried again: what uses it is often about to be replaced."""
_WITHOUT_REQUEST_ID: Final = ("machineImages.setLabels",)
"""Methods without a request ID. Sending them twice is safe, because a fingerprint guards the change."""


class GoneError(NotFound):
    """The resource with a numeric ID no longer exists.

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
    def scope(self) -> str:
        """Where the collection is: `global`, `regions/R` or `zones/Z`."""
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
        query = {"view": self.view} if self.view else {}
        try:
            live = self.google.send(Request(api=COMPUTE, method="GET", path=self.url_of(name), query=query), context)
        except NotFound:
            return None
        # An empty response, or one about something else, does not mean that the resource is gone.
        if not is_id(live.get("id")) or name not in {live.get("name"), str(live["id"])}:
            raise MalformedResponse(
                f"Google's response for {self.path}/{name} is not about it: it holds no such id or name"
            )
        return live

    def get_own(self, context: Context, name: str) -> dict[str, Any] | None:
        """Read the resource of the call; None if it is gone, or if what has its name is, or may be, another one.

        After ours was deleted, someone else may have used its name again. The state has the numeric ID of ours.
        """
        live = self.get(context, name)
        return live if live is not None and is_own(context, self.operations, self.scope, live) else None

    def get_inserted(self, context: Context, name: str, operation: Operation) -> dict[str, Any] | None:
        """Read the resource that an operation of `insert` created; None if it is gone, or a later one has its name."""
        live = self.get(context, name)
        return live if live is not None and _has_created(operation, live) else None

    def insert(self, context: Context, body: dict[str, Any], query: Mapping[str, Any] | None = None) -> Inserted:
        """Create a resource, and return its operation, for `get_inserted`, once it has succeeded.

        If the name was generated, the resource may be one that an interrupted run created under another name.

        Args:
            context: the engine's call.
            body: the resource, with its name.
            query: parameters in addition to the request ID.

        Raises:
            Conflict: a resource of this name exists, and no earlier run created it.
            ApiError: the request or the operation failed, and nothing was created.
            Unfinished: Google accepted the request, and its result is not known.
        """
        inserted = _ResourceInsertion(
            context=context, operations=self.operations, scope=self.scope, collection=self, body=body, query=query or {}
        ).run()
        inserted.outcome.result()
        return inserted

    def settle(self, context: Context, name: str) -> None:
        """Wait for what interrupted runs are still inserting, as `wait_for_insertions` does; `name` is for messages."""

        def is_shown(outcome: Outcome) -> bool:
            operation = outcome.operation
            return self.get_inserted(context, inserted_name(operation, name), operation) is not None

        wait = Wait(f"insert {self.path}/{name}", self.timeout)
        wait_for_insertions(context, self.operations, self.scope, wait, is_shown)

    def invoke(
        self, context: Context, live: Mapping[str, Any], method: str, body: Any = None, **query: Any
    ) -> Operation:
        """Call a method of one resource, such as `setLabels`; returns its operation once it has succeeded.

        Args:
            context: the engine's call.
            live: the resource as it was read.
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

    def read_modify_write(
        self, context: Context, name: str, method: str, body_from: Callable[[dict[str, Any]], Any]
    ) -> None:
        """Call a method, such as `setLabels`, with a body that `body_from` makes from the current resource.

        The body contains the fingerprint, so the call fails if someone else changed the resource meanwhile. It is then
        tried once more. Raises GoneError if the resource does not exist, whatever else has its name.
        """
        for is_last in (False, True):
            live = self.get_own(context, name)
            if live is None:
                raise GoneError.of(f"{self.path}/{name}")
            try:
                self.invoke(context, live, method, body_from(live))
            except PreconditionFailed:
                if is_last:
                    raise
            else:
                return

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
        """Send a change to the path with the resource's numeric ID, so that it cannot hit a namesake.

        If Google refuses the number, `send` gets the name, after a read has shown that it still belongs to the number.
        Raises GoneError if it does not, or if somebody has given the name to another resource since that read.
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
    """Return whether an error may be about a numeric ID in a path that would be accepted with the name.

    Conditions of IAM may allow names only. Google's API descriptions accept both in the paths of all changes.
    """
    return isinstance(error, NotFound | PermissionDenied) or (isinstance(error, Rejected) and error.reason == "invalid")


def _has_created(operation: Operation, live: Mapping[str, Any]) -> bool:
    """Return whether an operation of `insert` created a resource, and not a later one with the same name."""
    return str(live["id"]) == str(operation.get("targetId", live["id"]))


@attrs.frozen(kw_only=True)
class _ResourceInsertion(Insertion):
    """The insertion of a resource into a collection.

    Attributes:
        body: the resource (REST JSON), with its name.
        query: parameters in addition to the request ID.
    """

    collection: Collection
    body: dict[str, Any]
    query: Mapping[str, Any]

    @property
    def content(self) -> list[Any]:
        """Return collection and body; a generated name is left out, because every run generates another."""
        hidden = {"name"} if self.context.autonamed else frozenset()
        return [self.collection.url, {key: value for key, value in self.body.items() if key not in hidden}]

    def request(self, request_id: str) -> Request:
        """Return the request, which is retried as long as the operation may take."""
        return Request(
            api=COMPUTE,
            method="POST",
            path=self.collection.url,
            query={**self.query, "requestId": request_id},
            body=self.body,
            patience=self.context.timeout or self.collection.timeout,
        )

    def exists(self) -> bool:
        """Return whether a resource exists with a name that was not generated, and that others may use, too."""
        return not self.context.autonamed and self.collection.get(self.context, self.body["name"]) is not None

    def explained(self, error: ApiError) -> ApiError:
        """Say of a conflict what to do about the resource that has the name."""
        if not isinstance(error, Conflict):
            return error
        resource_id = self.collection.id_of(self.body["name"])
        not_ours = "" if self.context.is_blocked else " and was not created by this resource with these inputs"
        words = f"{error}. {resource_id} exists{not_ours}."
        next_step = how_to_manage(self.context, resource_id, "choose another name")
        return Conflict(f"{words} {next_step}", status=error.status, reason=error.reason)

    def wait(self, operation: Operation) -> Outcome:
        """Wait for the insertion."""
        target = inserted_name(operation, self.body["name"])
        wait = Wait(f"insert {self.collection.path}/{target}", self.collection.timeout)
        return self.operations.outcome(self.context, operation, wait)

    def is_other(self, operation: Operation) -> bool:
        """Return whether an operation inserts a resource of another name."""
        return bool(inserted_name(operation, self.body["name"]) != self.body["name"])

    def was_known(self, operation: Operation) -> bool:
        """Return whether the state has the numeric ID, or what this creation replaces."""
        target = operation.get("targetId")
        return target == self.context.prior.get("numericId") or self.context.is_replaced(target)

    def thing(self, operation: Operation) -> str:
        """Return the ID of the resource."""
        return self.collection.id_of(inserted_name(operation, self.body["name"]))

    def owner(self, outcome: Outcome) -> Owner:
        """Tell whose the resource is: also another resource of the state may have it, or what this creation replaces.

        If Google shows what had the name before, it does not show yet what the operation has created.
        """
        context, operation = self.context, outcome.operation
        name, target = inserted_name(operation, self.body["name"]), str(operation.get("targetId"))
        if outcome.error is not None:
            return Owner.NOBODY
        if context.is_anothers(self.collection.id_of(name)):
            return Owner.ENTRY
        is_replaced = context.is_replaced(target) or (context.autonamed and context.is_replaced(name))
        live = self.collection.get(context, name)
        created = moment(live.get("creationTimestamp")) if live is not None else None
        if live is not None and _has_created(operation, live):
            shown = Shown.SAME
        elif live is None or (created is not None and created < begun_at(operation)):
            shown = Shown.NOTHING
        else:
            shown = Shown.OTHER

        def maker() -> Maker:
            is_gone = shown is Shown.NOTHING and target in self.operations.deleted_since(context, self.scope, operation)
            return Maker.OTHERS if is_gone else Maker.OURS

        if shown is Shown.SAME and (is_replaced or context.is_blocked):
            return owner(Known.SHARED if is_replaced else Known.ID, shown, maker)
        return owner(Known.NOTHING, shown, maker)


@attrs.frozen(kw_only=True)
class MethodInsertion(Insertion):
    """A call of a custom method that creates something on a resource, such as `attachDisk`.

    Attributes:
        collection: where the resource is.
        name: the resource's name.
        body: the JSON of the body.
        query: parameters in addition to the request ID.
        inverse: the method that undoes it.
        find: finds what it creates.
        explain: returns Google's refusal with what the user can do about it.
    """

    collection: Collection
    name: str
    method: str
    body: Any
    query: Mapping[str, Any]
    inverse: str
    find: Callable[[], State | None]
    explain: Callable[[ApiError], ApiError]

    @property
    def content(self) -> list[Any]:
        """Which method of what, with which body."""
        return [f"{self.collection.url_of(self.name)}/{self.method}", self.body, {**self.query}]

    def request(self, request_id: str) -> Request:
        """Return the call."""
        path = f"{self.collection.url_of(self.name)}/{self.method}"
        query = {**self.query, "requestId": request_id}
        return Request(api=COMPUTE, method="POST", path=path, query=query, body=self.body)

    def exists(self) -> bool:
        """Return whether what it creates is there."""
        return self.find() is not None

    def explained(self, error: ApiError) -> ApiError:
        """Return the refusal with what the user can do about it."""
        return self.explain(error)

    def wait(self, operation: Operation) -> Outcome:
        """Wait for the call."""
        wait = Wait(f"{self.method} of {self.collection.path}/{self.name}", self.collection.timeout)
        return self.operations.outcome(self.context, operation, wait)

    def was_known(self, operation: Operation) -> bool:
        """Return whether the state has it as unread, or something on the resource was undone since then."""
        return bool(self.context.prior.get(UNREAD)) or self._may_be_undone(operation)

    def thing(self, operation: Operation) -> str:
        """Name the call."""
        del operation
        return f"{self.method} of {self.collection.path}/{self.name}"

    def owner(self, outcome: Outcome) -> Owner:
        """Tell whose it is what the call has created.

        If it was undone since, and somebody else may have created it again, that request made it. An operation does not
        say what it undoes on the resource. Only a request ID of this resource shows that.
        """
        context, operation, target = self.context, outcome.operation, str(outcome.operation.get("targetId"))
        if outcome.error is not None:
            return Owner.NOBODY
        live = self.collection.get(context, self.name)
        is_there = live is not None and str(live["id"]) == target
        found = self.find() if is_there else None
        shown = Shown.NOTHING if found is None else Shown.SAME
        if found is not None and context.is_replaced(found.id):
            known = Known.SHARED
        else:
            known = Known.ID if context.is_blocked else Known.NOTHING

        def maker() -> Maker:
            if not is_there:
                is_undone = target in self.operations.deleted_since(context, self.scope, operation)
            elif shown is Shown.SAME:
                in_turn = (self.inverse, self.method)
                is_undone = self.operations.were_begun_in_turn(context, self.scope, operation, in_turn)
            else:
                is_undone = bool(context.request_mark) and self._may_be_undone(operation, context.request_mark)
            return Maker.OTHERS if is_undone else Maker.OURS

        return owner(known, shown, maker)

    def _may_be_undone(self, operation: Operation, beginning: str = "") -> bool:
        """Return whether something on the resource was undone since, by a request whose ID begins with given digits."""
        undone = self.operations.changed_since(self.context, self.scope, operation, {self.inverse}, beginning)
        return str(operation.get("targetId")) in undone
