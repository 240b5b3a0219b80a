"""Calls of Compute Engine's methods: their handlers, the links and names in them, and the operations they start."""

from __future__ import annotations

import functools
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import attrs

from gcpx_emulator.compute.work import QUICK, Work, insertion_type, operation_body, url_of
from gcpx_emulator.core import call
from gcpx_emulator.core.errors import ApiError, already_exists, invalid, not_found, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, Operation, change, delete, put
from gcpx_emulator.core.projects import project_number


@functools.lru_cache(maxsize=4096)
def fixed_id(path: str) -> str:
    """Return a numeric ID that is always the same for a path."""
    return str(10**17 + sum(ord(letter) * 131**place for place, letter in enumerate(path)) % 10**17)


def path_of(link: str, project: str) -> str:
    """Return the path, `projects/...`, of the resource that a full or partial URL names; `project` completes it."""
    path = re.sub(r"^https?://[^/]+/compute/[a-z0-9]+/", "", link).strip("/")
    return path if path.startswith("projects/") else f"projects/{project}/{path}"


def last_part(link: str) -> str:
    """Return the last part of a URL or path, which is a resource's name."""
    return link.rpartition("/")[2]


COLLECTIONS: Final[dict[str, str]] = {}
"""The collections of resources, by the parameter of the path that names one."""
COLLECTIONS_OF_METHODS: Final[dict[str, str]] = {}
"""The collections in paths, where the methods' IDs have another name."""


def collection_of(method: str) -> str:
    """Return the collection in the paths of a method's resources, such as `disks` for `compute.regionDisks.get`."""
    name = method.split(".")[1]
    return COLLECTIONS_OF_METHODS.get(name, name)


def existing(kind: str, field: str, link: str, resource: Json | None) -> Json:
    """Return the resource that a field refers to; refuse the request if there is none.

    `kind` is the word for it in the error, such as `network`; `link` is the field's value in the request.
    """
    if resource is None:
        raise invalid(field, link, f"The referenced {kind} resource cannot be found.")
    return resource


@attrs.frozen(kw_only=True)
class Call(call.Call):
    """A call of a method of Compute Engine.

    Attributes:
        project: the path of the project.
        now: the arrival in seconds since 1970, which is also the time of its operation and of new instances.
        found: a cache of look-ups until the call ends, to which the call adds its own changes.
    """

    project: str
    now: float
    found: Json = attrs.field(factory=dict, eq=False, repr=False)

    @classmethod
    def of(cls, checked: call.Call) -> Call:
        """Convert a call; numeric IDs in its path are replaced by names."""
        fields = {field.name: getattr(checked, field.name) for field in attrs.fields(call.Call)}
        given = cls(**fields, project=f"projects/{checked.path['project']}", now=checked.cloud.operations.clock.now())
        names = {}
        for parameter, value in given.path.items():
            collection = collection_of(given.method.id) if parameter == "resource" else COLLECTIONS.get(parameter)
            if collection is not None:
                names[parameter] = last_part(given.store.with_name(f"{given.parent}/{collection}/{value}"))
        return attrs.evolve(given, path={**given.path, **names})

    @property
    def scope(self) -> str:
        """The resource's scope in the project: `global`, `regions/REGION` or `zones/ZONE`."""
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
        """The time at which an operation of this call will end, in seconds since 1970."""
        return self.now + self.cloud.operations.latency

    @property
    def verb(self) -> str:
        """The last part of the method's ID, such as `insert`."""
        return self.method.id.rpartition(".")[2]

    def within(self, scope: str) -> Call:
        """Return this call in another scope."""
        kind, _, place = scope.partition("/")
        own = {name: value for name, value in self.path.items() if name not in {"zone", "region"}}
        return attrs.evolve(self, path=own | ({kind.removesuffix("s"): place} if place else {}))

    def url(self, path: str) -> str:
        """Return the full URL of a path."""
        return url_of(path, self.method.version)

    def full_url(self, link: str) -> str:
        """Complete a URL that may be partial."""
        return self.url(path_of(link, self.path["project"]))

    def resolve(self, link: str) -> str:
        """Return the path of the resource that a full or partial URL names.

        The URL may have names or numbers of the resource and its project.
        """
        return self.store.with_name(self._with_name_of_project(path_of(link, self.path["project"])))

    def _with_name_of_project(self, path: str) -> str:
        """Replace the number of the call's project, or of one that has resources, by its name."""
        number, _, rest = path.removeprefix("projects/").partition("/")
        if not number.isdecimal():
            return path
        names = (collection.split("/")[1] for collection in self.store.collections("projects/", ""))
        name = next((name for name in (self.path["project"], *names) if project_number(name) == number), number)
        return f"projects/{name}/{rest}"

    def read(self, path: str) -> Json:
        """Read a resource, which must exist."""
        resource = self.store.get(path)
        if resource is None:
            raise not_found(path)
        return resource

    def ready(self, path: str) -> Json:
        """Read a resource, which must exist, and which no operation may be changing."""
        resource = self.read(path)
        check_ready(self, path)
        return resource

    def linked(self, kind: str, field: str, link: str) -> Json:
        """Read the resource that a field refers to, which must exist; `kind` is as in `existing`."""
        return existing(kind, field, link, self.store.get(self.resolve(link)))

    def group_ids(self, number: int) -> list[str]:
        """Return numeric IDs for members of groups, from a range of their own; asking for all at once is cheap."""
        first = 2 * 10**18 + self.store.next("group", number)
        return [str(first + index) for index in range(number)]

    def insert(
        self, path: str, resource: Json, *effects: Effect, details: Json | None = None, failure: Json | None = None
    ) -> Json:
        """Start the operation that creates a resource and applies other effects, or ends with `failure`."""
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

    def update(self, kind: str, path: str, resource: Json, *effects: Effect, failure: Json | None = None) -> Json:
        """Start an operation that changes a resource and applies other effects, or ends with `failure`.

        `kind` is its type. It leaves fields alone that are the same in `resource` as at its start.
        """
        current = self.read(path)
        fields = {name: resource.get(name) for name in current | resource if current.get(name) != resource.get(name)}
        all_effects = [change(path, fields), *effects]
        return self.start(Work(kind=kind, target=path, target_id=resource["id"], effects=all_effects, failure=failure))

    def delete(self, path: str, *effects: Effect) -> Json:
        """Start the operation that deletes a resource, which must exist, and applies other effects."""
        target_id, all_effects = str(self.read(path)["id"]), [delete(path), *effects]
        return self.start(Work(kind="delete", target=path, target_id=target_id, effects=all_effects))

    def start(self, work: Work, group: Sequence[Work] = ()) -> Json:
        """Start an operation; a failure that a fault injects ends it as its own does.

        Each work of a group becomes an operation in the scope of its target, and ends together with this one.
        """
        request_id = self.query.get("requestId")
        name = f"operation-{int(self.now * 1000)}-{uuid.uuid4().hex[:8]}"
        failed = attrs.evolve(work, failure=self.failure or work.failure)
        client_id = {"clientOperationId": request_id} if request_id else {}
        first = self._new_operation(name, self.scope, failed, {"id": self.store.new_id(), **client_id})
        ids = self.group_ids(len(group)) if group else []
        members = [
            self._new_operation(f"{name}-{index:08x}", "/".join(one.target.split("/")[2:4]), one, {"id": ids[index]})
            for index, one in enumerate(group)
        ]
        return self.cloud.operations.start(attrs.evolve(first, request_id=request_id), members)

    def _new_operation(self, name: str, scope: str, work: Work, own: Json) -> Operation:
        """Write an operation; `own` has its numeric ID and other fields of this operation alone."""
        operation = Operation(
            name=name,
            project=self.path["project"],
            scope=scope,
            begins=self.now,
            ends=self.now if work.kind in QUICK and self.cloud.operations.has_quick else None,
            effects=work.undoing if work.failure else work.effects,
        )
        own = {"user": self.caller or call.ANONYMOUS, **own}
        return attrs.evolve(operation, body=operation_body(work, operation, self.method.version) | own)


Handler = Callable[[Call], Any]
_H = TypeVar("_H", bound=Handler)


def handles(*methods: str) -> Callable[[_H], _H]:
    """Register the handler of one or more methods, by their IDs.

    A change whose request ID was used before is not repeated; the response is the operation of the first request.
    """

    def register(handler: _H) -> _H:
        call.handles(*methods)(_answering(handler))
        return handler

    return register


@functools.cache
def _answering(handler: Handler) -> call.Handler:
    """Return the one handler of calls for all methods with a handler; the page of what is emulated compares them."""
    return functools.partial(_answer, handler)


def _answer(handler: Handler, checked: call.Call) -> Any:
    request_id = checked.query.get("requestId")
    if request_id and checked.method.http_method in {"POST", "DELETE", "PATCH", "PUT"}:
        _check_request_id(request_id)
        operations = checked.cloud.operations
        started = operations.of_request(checked.path.get("project", ""), request_id)
        if not operations.is_same_request(request_id, checked.body):
            raise invalid("requestId", request_id, "It was used for another request.")
        if started is not None:
            return started
    return handler(Call.of(checked))


def _check_request_id(request_id: str) -> None:
    try:
        number = uuid.UUID(request_id).int
    except ValueError:
        number = 0
    if number == 0:
        raise invalid("requestId", request_id, "Must be a valid UUID.")


NAME: Final = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""The form of resource names, as in RFC 1035."""
NAME_MESSAGE: Final = "Must be 1 to 63 lower-case letters, digits and hyphens (RFC 1035), beginning with a letter."


def check_name(body: Json) -> str:
    """Refuse a missing or malformed name; return the name."""
    name = body.get("name")
    if not name:
        raise required("resource.name")
    if not NAME.fullmatch(name):
        raise invalid("resource.name", name, f"Must be a match of regex '(?:{NAME.pattern})'")
    return str(name)


def check_free(call: Call, path: str) -> None:
    """Refuse to create a resource that exists, or that an operation is creating."""
    if call.store.get(path) is not None or call.cloud.operations.is_pending(path):
        raise already_exists(path)


def check_ready(call: Call, path: str) -> None:
    """Refuse to change a resource that an operation is changing."""
    if call.cloud.operations.is_pending(path):
        raise ApiError(400, f"The resource '{path}' is not ready", "resourceNotReady")
