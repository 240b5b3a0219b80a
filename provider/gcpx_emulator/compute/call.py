"""Calls of Compute Engine's methods, and the registration of their handlers."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import attrs

from gcpx_emulator.compute.links import last_part, path_of, scope_of
from gcpx_emulator.compute.operation_resource import Work, insertion_type
from gcpx_emulator.core import call, handlers
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.effects import Effect, change, delete, put
from gcpx_emulator.core.errors import ApiError, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operation, Operations

_COLLECTIONS: Final = {
    "disk": "disks",
    "instance": "instances",
    "instanceTemplate": "instanceTemplates",
    "machineImage": "machineImages",
    "reservation": "reservations",
    "resourcePolicy": "resourcePolicies",
}
"""The collections of resources, by the parameter of the path that names one."""


_ANONYMOUS: Final = "operator@example.com"
"""The user of operations that are started without a token of the emulator."""


@attrs.frozen(kw_only=True)
class Call(call.Call):
    """A call of a method of Compute Engine.

    Attributes:
        now: when it arrived, in seconds since 1970. Its operation and the instances that it creates have this time.
    """

    now: float = attrs.field(default=attrs.Factory(lambda self: self.operations.now(), takes_self=True))

    @classmethod
    def of(cls, checked: call.Call) -> Call:
        """Convert a call; numeric IDs in its path are replaced by names."""
        fields = {field.name: getattr(checked, field.name) for field in attrs.fields(call.Call)}
        named = cls(**fields)
        return attrs.evolve(named, path={**named.path, **named._names()})

    def _names(self) -> dict[str, str]:
        """Look up the names of the resources in the path, which may be given by their numeric IDs."""
        names = {}
        for parameter, value in self.path.items():
            collection = self.method.id.split(".")[1] if parameter == "resource" else _COLLECTIONS.get(parameter)
            if collection is not None:
                names[parameter] = last_part(self.store.with_name(f"{self.parent}/{collection}/{value}"))
        return names

    @property
    def operations(self) -> Operations:
        """The operations of all projects."""
        return self.cloud.operations

    @property
    def base(self) -> str:
        """The beginning of full URLs."""
        return f"https://www.googleapis.com/compute/{self.method.version}"

    @property
    def project(self) -> str:
        """The path of the project."""
        return f"projects/{self.path['project']}"

    @property
    def scope(self) -> str:
        """Where in the project the resource is: `global`, `regions/REGION` or `zones/ZONE`."""
        for name in ("zone", "region"):
            if name in self.path:
                return f"{name}s/{self.path[name]}"
        return "global"

    @property
    def parent(self) -> str:
        """The path of the scope."""
        return f"{self.project}/{self.scope}"

    @property
    def end(self) -> float:
        """When an operation of this call will end, in seconds since 1970."""
        return self.now + self.operations.latency

    def url(self, path: str) -> str:
        """Return the full URL of a path."""
        return f"{self.base}/{path}"

    def full_url(self, link: str) -> str:
        """Complete a URL that may be partial."""
        return self.url(path_of(link, self.path["project"]))

    def resolve(self, link: str) -> str:
        """Return the path of the resource that a full or partial URL names, by its name or its numeric ID."""
        return self.store.with_name(path_of(link, self.path["project"]))

    def read(self, path: str) -> Json:
        """Read a resource, which must exist."""
        resource = self.store.get(path)
        if resource is None:
            raise not_found(path)
        return resource

    def new_id(self) -> str:
        """Return a numeric ID that no resource has yet."""
        return self.store.new_id()

    def group_ids(self, number: int) -> list[str]:
        """Return numeric IDs for members of groups, which have their own range; all at once, because that is cheap."""
        first = 2 * 10**18 + self.store.next("group", number)
        return [str(first + index) for index in range(number)]

    def insert(
        self, path: str, resource: Json, *effects: Effect, details: Json | None = None, failure: Json | None = None
    ) -> Json:
        """Start the operation that creates a resource and has other effects, or fails as `failure` says."""
        all_effects = [put(path, resource), *effects]
        return self.start(
            Work(
                kind=insertion_type(self.method.id),
                target=path,
                target_id=resource["id"],
                effects=all_effects,
                failure=failure,
                details=details or {},
            )
        )

    def update(self, kind: str, path: str, resource: Json, *effects: Effect) -> Json:
        """Start an operation that changes a resource, and has other effects; `kind` is its type.

        Fields that are the same in `resource` as now are kept as they are when the operation ends.
        """
        current = self.read(path)
        fields = {name: resource.get(name) for name in current | resource if current.get(name) != resource.get(name)}
        all_effects = [change(path, fields), *effects]
        return self.start(Work(kind=kind, target=path, target_id=resource["id"], effects=all_effects))

    def delete(self, path: str, *effects: Effect) -> Json:
        """Start the operation that deletes a resource, which must exist, and has other effects."""
        target_id, all_effects = str(self.read(path)["id"]), [delete(path), *effects]
        return self.start(Work(kind="delete", target=path, target_id=target_id, effects=all_effects))

    def start(self, work: Work, group: Sequence[Work] = ()) -> Json:
        """Start an operation; a failure that a fault injects ends it without its effects.

        The works of a group become operations in the scopes of their targets, which end when this one ends.
        """
        request_id = self.query.get("requestId")
        name = f"operation-{int(self.now * 1000)}-{uuid.uuid4().hex[:8]}"
        failed = attrs.evolve(work, failure=self.failure or work.failure)
        client_id = {"clientOperationId": request_id} if request_id else {}
        first = self._new_operation(name, self.scope, failed, {"id": self.new_id(), **client_id})
        ids = self.group_ids(len(group))
        members = [
            self._new_operation(f"{name}-{index:08x}", scope_of(one.target), one, {"id": ids[index]})
            for index, one in enumerate(group)
        ]
        return self.operations.start(attrs.evolve(first, request_id=request_id), members)

    def _new_operation(self, name: str, scope: str, work: Work, own: Json) -> Operation:
        """Write an operation; `own` are its numeric ID and other fields that only this one has."""
        project = self.path["project"]
        failure, effects = work.outcome()
        body = self._body(name, scope, work) | own | {"insertTime": timestamp(self.now)} | failure
        return Operation(
            name=name, project=project, scope=scope, request_id=None, body=body, begins=self.now, effects=effects
        )

    def _body(self, name: str, scope: str, work: Work) -> Json:
        """Write what an operation shows at any time."""
        kind, parent = scope.partition("/")[0].removesuffix("s"), f"{self.project}/{scope}"
        location = {} if kind == "global" else {kind: self.url(parent)}
        return {
            "kind": "compute#operation",
            "name": name,
            "operationType": work.kind,
            "targetLink": self.url(work.target),
            "targetId": work.target_id,
            "user": self.caller or _ANONYMOUS,
            "selfLink": self.url(f"{parent}/operations/{name}"),
            **location,
            **work.details,
        }


Handler = Callable[[Call], Any]
_H = TypeVar("_H", bound=Handler)


def handles(*methods: str) -> Callable[[_H], _H]:
    """Register the handler of one or more methods, by their IDs.

    A change whose request ID was used before is not repeated; the response is the operation of the first request.
    """

    def register(handler: _H) -> _H:
        handlers.handles(*methods)(functools.partial(_answer, handler))
        return handler

    return register


def _answer(handler: Handler, checked: call.Call) -> Any:
    request_id = checked.query.get("requestId")
    if request_id and checked.method.http_method in {"POST", "DELETE", "PATCH"}:
        _check_request_id(request_id)
        operations = checked.cloud.operations
        started = operations.of_request(checked.path.get("project", ""), request_id)
        if not operations.is_same_request(request_id, checked.body):
            raise ApiError(
                400, f"Invalid value for field 'requestId': '{request_id}'. It was used for another request."
            )
        if started is not None:
            return started
    return handler(Call.of(checked))


def _check_request_id(request_id: str) -> None:
    try:
        number = uuid.UUID(request_id).int
    except ValueError:
        number = 0
    if number == 0:
        raise ApiError(400, f"Invalid value for field 'requestId': '{request_id}'. Must be a valid UUID.")
