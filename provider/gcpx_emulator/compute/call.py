"""Calls of Compute Engine's methods: their handlers, links, names, fingerprints and operations."""

from __future__ import annotations

import base64
import copy
import functools
import hashlib
import json
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import attrs

from gcpx_emulator.core import call
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.discovery import MERGE_PATCH, SKIPS_NULLS, Api, methods_of, serve
from gcpx_emulator.core.errors import ApiError, ErrorForm, already_exists, invalid, not_found, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, Operation, Progress, change, delete, put
from gcpx_emulator.core.projects import project_number

_PARTIAL_SUCCESS: Final[Json] = {"returnPartialSuccess": {"location": "query", "type": "boolean"}}
"""A parameter of every list method in the documentation, but only of some in the description of v1."""
_LARGEST_PAGE: Final = "500"
_PATCHES: Final = (
    "compute.firewalls.patch",
    "compute.images.patch",
    "compute.instances.setScheduling",
    "compute.instances.updateDisplayDevice",
    "compute.instances.updateShieldedInstanceConfig",
)
"""Methods that merge their body into the resource, and remove fields that are null in the body."""


def _amend(document: Json) -> None:
    for method in methods_of(document):
        parameters = method.setdefault("parameters", {})
        if "pageToken" in parameters:
            method["parameters"] = parameters = _PARTIAL_SUCCESS | parameters
        if "maxResults" in parameters:
            parameters["maxResults"].setdefault("maximum", _LARGEST_PAGE)
        if method["id"] == "compute.instances.update":
            # Terraform sends the `view` of its read with its update, too.
            parameters["view"] = {"location": "query", "type": "string"}
        if method["id"] in _PATCHES:
            method["request"][MERGE_PATCH] = True
    schemas = document["schemas"]
    schemas["GuestOsFeature"]["properties"]["type"]["enum"].append("SUSPEND_RESUME_COMPATIBLE")
    # Terraform sends `[null]` for Spot VMs.
    schemas["Scheduling"]["properties"]["nodeAffinities"][SKIPS_NULLS] = True
    # These properties are merged into those of a template.
    schemas["BulkInsertInstanceResource"]["properties"]["instanceProperties"][MERGE_PATCH] = True


def _amend_beta(document: Json) -> None:
    _amend(document)
    licenses = {"type": "array", "items": {"type": "string"}}
    document["schemas"]["AttachedDisk"]["properties"]["userLicenses"] = licenses


serve(
    Api("compute.v1", prefixes=("compute/v1",), amend=_amend, errors=ErrorForm.REASONS),
    Api("compute.beta", prefixes=("compute/beta",), amend=_amend_beta, errors=ErrorForm.REASONS),
)


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


_QUICK: Final = frozenset({"compute.subnetworks.patch", "setDiskAutoDelete", "setLabels"})
"""The types of operations that are done from the first response.

Source: operations of Google that were recorded from 2016 to 2026; one of the setLabels was running (2019). A patch of a
subnetwork was recorded in 2018.
"""
_PENDING: Final = frozenset({"reset", "resizeDisk", "setMachineType", "setPrivateIpGoogleAccess", "setTags", "start"})
"""The types of operations that are pending at first; all others are running from the first response.

Source: the first responses of Google that were recorded, for `start` in 2019, for `setPrivateIpGoogleAccess` in 2018,
for the others before.
"""
_PENDING_SHARE: Final = 0.2
"""The fraction of an operation's time during which it is pending."""
_FULL_TYPES: Final = frozenset({"compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert"})
"""The insertions whose operations have the method's ID as their type.

Source: operations of Google that were recorded in 2016, 2019 and 2026 for global templates; those of node templates
and node groups (2024) have the same form. No operation of a regional template was recorded. All other operations are
named like their method: insertions of machine images (2020), instances (2018 to 2026), disks and images (2013), and
deletions, also of templates (2026).
"""
_FAILURE: Final = "_failure"
"""The field of a stored operation with its failure, which it shows at its end."""


def insertion_type(method: str) -> str:
    """Return the type that Google gives the operation of an insertion, by the method's ID."""
    return method if method in _FULL_TYPES else "insert"


@attrs.frozen(kw_only=True)
class Work:
    """The work of an operation.

    Attributes:
        kind: the operation's type, such as `insert`.
        target: the path of the resource that it works on.
        target_id: that resource's numeric ID.
        effects: changes of the store when the operation ends, unless it fails.
        failure: {"errors": [...]} and, optionally, httpErrorStatusCode and httpErrorMessage; None if it succeeds.
        details: more fields of the operation, such as warnings.
    """

    kind: str
    target: str
    target_id: str
    effects: list[Effect] = attrs.Factory(list)
    failure: Json | None = None
    details: Json = attrs.Factory(dict)


def url_of(path: str, version: str) -> str:
    """Return the full URL of a path in a version of the API."""
    return f"https://www.googleapis.com/compute/{version}/{path}"


def operation_body(work: Work, operation: Operation, version: str) -> Json:
    """Write the stored fields of an operation, with links of a version of the API."""
    kind, parent = (
        operation.scope.partition("/")[0].removesuffix("s"),
        f"projects/{operation.project}/{operation.scope}",
    )
    return {
        "kind": "compute#operation",
        "name": operation.name,
        "operationType": work.kind,
        "targetLink": url_of(work.target, version),
        "targetId": work.target_id,
        "selfLink": url_of(f"{parent}/operations/{operation.name}", version),
        **({} if kind == "global" else {kind: url_of(parent, version)}),
        **work.details,
        "insertTime": pacific_timestamp(operation.begins),
        **({_FAILURE: work.failure} if work.failure else {}),
    }


def shown_operation(body: Json, progress: Progress) -> Json:
    """Write an operation as the API shows it at a moment."""
    shown, share = {name: value for name, value in body.items() if name != _FAILURE}, progress.share
    waits = _PENDING_SHARE if body["operationType"] in _PENDING else 0.0
    if share < waits:
        return shown | {"status": "PENDING", "progress": 0}
    started = pacific_timestamp(progress.begins + waits * (progress.ends - progress.begins))
    if share < 1:
        running = {"status": "RUNNING", "progress": int(share * 100), "startTime": started}
        return _with_instance_counts(shown, share) | running
    done = {"status": "DONE", "progress": 100, "startTime": started, "endTime": pacific_timestamp(progress.ends)}
    return shown | done | _error(body.get(_FAILURE))


def _error(failure: Json | None) -> Json:
    if failure is None:
        return {}
    return {
        "error": {"errors": failure["errors"]},
        "httpErrorStatusCode": failure.get("httpErrorStatusCode", 400),
        "httpErrorMessage": failure.get("httpErrorMessage", "BAD REQUEST"),
    }


def _with_instance_counts(body: Json, share: float) -> Json:
    """Show how many instances an unfinished bulk creation has created in each zone."""
    if "instancesBulkInsertOperationMetadata" not in body:
        return body
    shown = copy.deepcopy(body)
    for zone in shown["instancesBulkInsertOperationMetadata"]["perLocationStatus"].values():
        created = int(zone["createdVmCount"] * share)
        zone |= {"status": "CREATING", "deletedVmCount": 0, "createdVmCount": created}
    return shown


def fingerprint(value: Any) -> str:
    """Hash a JSON value; equal values have equal fingerprints."""
    return base64.urlsafe_b64encode(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]).decode()


def metadata_with_fingerprint(items: list[Json]) -> Json:
    """Write metadata."""
    content = {"items": items} if items else {}
    return {"kind": "compute#metadata", "fingerprint": fingerprint(content), **content}


def tags_with_fingerprint(items: list[str]) -> Json:
    """Write network tags, sorted."""
    content = {"items": sorted(items)}
    return (content if items else {}) | {"fingerprint": fingerprint(content)}


def with_fingerprint(interface: Json) -> Json:
    """Give a network interface its fingerprint, in place of any that a client sent."""
    content = without_fingerprint(interface)
    return content | {"fingerprint": fingerprint(content)}


def without_fingerprint(interface: Json) -> Json:
    """Leave out the fingerprint of a network interface."""
    return {key: value for key, value in interface.items() if key != "fingerprint"}


_COLLECTIONS: Final = {
    "address": "addresses",
    "disk": "disks",
    "firewall": "firewalls",
    "instance": "instances",
    "instanceTemplate": "instanceTemplates",
    "machineImage": "machineImages",
    "network": "networks",
    "reservation": "reservations",
    "resourcePolicy": "resourcePolicies",
    "snapshot": "snapshots",
    "subnetwork": "subnetworks",
}
"""The collections of resources, by the parameter of the path that names one."""


_SHARED_COLLECTIONS: Final = {"globalAddresses": "addresses", "regionDisks": "disks"}
"""The collections in paths, where the methods' IDs have another name."""


def collection_of(method: str) -> str:
    """Return the collection in the paths of a method's resources, such as `disks` for `compute.regionDisks.get`."""
    name = method.split(".")[1]
    return _SHARED_COLLECTIONS.get(name, name)


def existing(kind: str, field: str, link: str, resource: Json | None) -> Json:
    """Return the resource that a field refers to; refuse the request if there is none.

    `kind` is the word for it in the error, such as `network`; `link` is the field's value in the request.
    """
    if resource is None:
        raise invalid(field, link, f"The referenced {kind} resource cannot be found.")
    return resource


ANONYMOUS: Final = "operator@example.com"
"""The user of operations whose request had no token of the emulator."""


@attrs.frozen(kw_only=True)
class Call(call.Call):
    """A call of a method of Compute Engine.

    Attributes:
        project: the path of the project.
        now: the arrival in seconds since 1970, which is also the time of its operation and of new instances.
        found: a cache of look-ups that stay valid until the call ends.
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
            collection = collection_of(given.method.id) if parameter == "resource" else _COLLECTIONS.get(parameter)
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
        """Start an operation; a failure that a fault injects ends it without its effects.

        Each work of a group becomes an operation in the scope of its target, and ends together with this one.
        """
        request_id = self.query.get("requestId")
        name = f"operation-{int(self.now * 1000)}-{uuid.uuid4().hex[:8]}"
        failed = attrs.evolve(work, failure=self.failure or work.failure)
        client_id = {"clientOperationId": request_id} if request_id else {}
        first = self._new_operation(name, self.scope, failed, {"id": self.store.new_id(), **client_id})
        ids = self.group_ids(len(group))
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
            ends=self.now if work.kind in _QUICK and self.cloud.operations.has_quick else None,
            effects=[] if work.failure else work.effects,
        )
        own = {"user": self.caller or ANONYMOUS, **own}
        return attrs.evolve(operation, body=operation_body(work, operation, self.method.version) | own)


Handler = Callable[[Call], Any]
_H = TypeVar("_H", bound=Handler)


def handles(*methods: str) -> Callable[[_H], _H]:
    """Register the handler of one or more methods, by their IDs.

    A change whose request ID was used before is not repeated; the response is the operation of the first request.
    """

    def register(handler: _H) -> _H:
        call.handles(*methods)(functools.partial(_answer, handler))
        return handler

    return register


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
