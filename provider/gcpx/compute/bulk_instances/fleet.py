"""A fleet: its ID, which instances are its members, how they are listed, and requests to many of them."""

from __future__ import annotations

import re
import shlex
import threading
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.compute.bulk_instances.member import (
    TRACKING_LABEL,
    Instance,
    fleet_values,
    is_stopped,
    is_tracked,
    membership_labels,
    membership_pattern,
    name_order,
    pattern_expression,
)
from gcpx.compute.collection import may_refuse_number
from gcpx.compute.insertion import EarlierInsertions
from gcpx.compute.listing import ImportableResources
from gcpx.compute.operation_batch import BatchRequest, OperationBatch
from gcpx.compute.operations import Operation, Operations, kind_of
from gcpx.errors import MalformedResponse, ProviderError, without_stop
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, Conflict, NotFound, Rejected, ServerError
from gcpx.gcp.list_method import ListMethod, is_id, items_of, scopes_in, scopes_of
from gcpx.gcp.request import COMPUTE, SHORT_PATIENCE, Request, segment
from gcpx.model.context import Context
from gcpx.model.import_command import import_command
from gcpx.model.links import name_of
from gcpx.model.times import moment
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import MemberValues

_Region = tuple[str, str]
"""A project and the name of one of its regions."""


@attrs.define
class RegionZones:
    """The zones of regions that aggregated lists of this process have named, or that have known members."""

    _zones: dict[_Region, set[str]] = attrs.field(factory=lambda: defaultdict(set), init=False)
    _listed: set[_Region] = attrs.field(factory=set, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def of(self, project: str, region: str) -> list[str]:
        """Return the names of a region's zones; empty if the region was not listed."""
        with self._lock:
            return sorted(self._zones[project, region]) if (project, region) in self._listed else []

    def add(self, project: str, region: str, zones: Iterable[str]) -> None:
        """Add zones, such as `zones/us-east1-b`, in which instances are or were created, even if lists lack them.

        Zones of other regions are left out.
        """
        names = map(name_of, zones)
        with self._lock:
            self._zones[project, region].update(name for name in names if name.startswith(f"{region}-"))

    def learn(self, project: str, region: str, listed: set[str]) -> list[str]:
        """Add the zones of an aggregated list; return the known zones of the region that the list lacks."""
        self.add(project, region, listed)
        with self._lock:
            self._listed.add((project, region))
            return sorted(self._zones[project, region] - listed)

    def forget(self, project: str, region: str) -> bool:
        """Drop the zones of a region, because one of them no longer exists; return whether there were any."""
        with self._lock:
            self._listed.discard((project, region))
            return bool(self._zones.pop((project, region), None))


_CLOCK_SKEW: Final = timedelta(seconds=2)
"""By how much the times of operations and of instances may differ, because different machines write them."""


@attrs.frozen
class GroupCreation:
    """A bulk creation that this run started, or that an earlier run started and this run found.

    Attributes:
        operation: its operation (REST JSON).
        created: how many instances it created, by zone; None if that is not known, or if an earlier run started it.
    """

    operation: Operation
    created: Counter[str] | None

    @property
    def group(self) -> str:
        """The ID that its operations share; empty if Google gave none."""
        return self.operation.get("operationGroupId") or ""


@attrs.define
class Membership:
    """The findings of one call of the engine about the instances that match a fleet's ID.

    Attributes:
        unmanaged: the instances of the last list that are not members, by numeric ID.
    """

    unmanaged: dict[str, Instance] = attrs.Factory(dict)
    _members: set[str] = attrs.Factory(set)
    """The numeric IDs of members."""
    creations: list[GroupCreation] = attrs.Factory(list)
    """The bulk creations since the last list."""
    _groups: list[str] = attrs.Factory(list)
    """The group IDs of all bulk creations of the call, because a list may not show yet what they have created."""
    _has_read_operations: bool = False

    def take_in(self, instances: Iterable[Instance | MemberValues]) -> None:
        """Make instances members; `instances` may also be elements of the output `members`."""
        self._members |= {str(item["id"]) for item in instances}

    def members_among(self, context: Context, fleet: Fleet, found: list[Instance]) -> list[Instance]:
        """Return the members among the instances that match.

        Args:
            context: the engine's call, whose last outputs have the members of the state.
            fleet: the fleet; its operations are read if the context and the list are not enough.
            found: the instances that match, as they were just listed.

        Raises:
            ApiError: operations cannot be listed, so it is not known whether an instance is a member.
        """
        self.take_in(item for item in fleet_values(context.prior).get("members") or () if item.get("id"))
        creations, self.creations = self.creations, []
        self._groups += [creation.group for creation in creations]
        outside = self._outside(found)
        if not self._has_read_operations and _are_created_by(creations, outside):
            self.take_in(outside)
        elif outside:
            self._read_operations(context, fleet, outside)
        self.unmanaged = {str(item["id"]): item for item in self._outside(outside)}
        return [item for item in found if str(item["id"]) in self._members]

    def _outside(self, found: list[Instance]) -> list[Instance]:
        return [item for item in found if str(item["id"]) not in self._members]

    def _read_operations(self, context: Context, fleet: Fleet, outside: list[Instance]) -> None:
        """Take in the instances that bulk creations of this run, or of interrupted runs, have created."""
        self._has_read_operations = True
        self._take_in_created(context, fleet, self._groups, outside)
        new = [item for item in self._outside(outside) if str(item["id"]) not in self.unmanaged]
        if new:
            self._take_in_created(context, fleet, _earlier_groups(context, fleet, new), new)

    def _take_in_created(
        self, context: Context, fleet: Fleet, groups: Iterable[str], instances: list[Instance]
    ) -> None:
        for group in filter(None, groups):
            created = created_in_group(context, fleet.operations, group, self._outside(instances))
            self.take_in(without_deleted(context, fleet.operations, created))


def _are_created_by(creations: Sequence[GroupCreation], instances: Sequence[Instance]) -> bool:
    """Return whether creations made the instances: as many in each zone as Google says, while the operations ran."""
    known = [creation.created for creation in creations if creation.created is not None]
    created, by_zone = sum(known, Counter[str]()), Counter(name_of(item["zone"]) for item in instances)
    return (
        len(known) == len(creations)
        and by_zone == created
        and all(any(_may_have_created(one.operation, item) for one in creations) for item in instances)
    )


def without_deleted(context: Context, operations: Operations, instances: list[Instance]) -> list[Instance]:
    """Leave out instances that somebody has started to delete: a list may still show them."""
    times = [created for item in instances if (created := moment(item.get("creationTimestamp"))) is not None]
    if not times:
        return instances
    first: Operation = {"insertTime": min(times).isoformat()}
    scopes = sorted({f"zones/{name_of(item['zone'])}" for item in instances})
    # Not all of `deleted_since`: an instance may be preempted and still exist.
    deleted = {found for scope in scopes for found in operations.changed_since(context, scope, first, {"delete"})}
    return [item for item in instances if str(item["id"]) not in deleted]


def created_in_group(context: Context, operations: Operations, group: str, instances: list[Instance]) -> list[Instance]:
    """Return the instances that the operations of a group have created; raises `ApiError`."""
    zones = sorted({name_of(item["zone"]) for item in instances})
    targets = operations.targets_of_group(context, zones, group)
    return [item for item in instances if str(item["id"]) in targets]


def _earlier_groups(context: Context, fleet: Fleet, instances: list[Instance]) -> list[str]:
    """Return the group IDs of the resource's bulk creations that may have created one of the instances.

    Without a provider's ID, which distinguishes stacks, only the last creation of the state is known to be this
    resource's.
    """
    if not context.request_mark:
        return [fleet_values(context.prior).get("operationGroupId") or ""]
    sent = fleet.operations.insertions_by_request_id(context, f"regions/{fleet.region}", context.request_mark)
    fitting = (operation for operation in sent if any(_may_have_created(operation, item) for item in instances))
    return [operation.get("operationGroupId") or "" for operation in fitting]


def _may_have_created(operation: Operation, instance: Instance) -> bool:
    """Return whether an instance was created while an operation was under way; true if the times are unknown."""
    created, started = moment(instance.get("creationTimestamp")), moment(operation.get("insertTime"))
    if created is None or started is None:
        return True
    ended = moment(operation.get("endTime"))
    return started - _CLOCK_SKEW <= created and (ended is None or created <= ended + _CLOCK_SKEW)


TIMEOUT: Final = 1200.0
"""Seconds that an operation may take if the user sets no custom timeout."""
_VERSION: Final = "beta"


@attrs.frozen
class MemberRequest:
    """One call of a method of one member, which starts an operation.

    Attributes:
        member: the member as it was listed.
        method: `delete`, or a custom method such as `stop` or `setLabels`.
        body: the JSON of the body; None sends no body.
        query: the query parameters in addition to the request ID.
    """

    member: Instance
    method: str
    body: Any = None
    query: Mapping[str, Any] = attrs.Factory(dict)

    def of_batch(self, project: str, *, by_name: bool) -> BatchRequest:
        """Write the request, with a request ID of its own, so that it can be sent again.

        It names the member by its numeric ID, so that it cannot hit a namesake, or by its name.
        """
        instances, name = f"zones/{name_of(self.member['zone'])}/instances", self.member["name"]
        is_deletion = self.method == "delete"
        url, method = f"{_VERSION}/projects/{project}/{instances}", "" if is_deletion else f"/{self.method}"
        shown = f"{url}/{segment(name)}{method}"
        request = Request(
            api=COMPUTE,
            method="DELETE" if is_deletion else "POST",
            path=shown if by_name else f"{url}/{segment(str(self.member['id']))}{method}",
            shown=shown,
            query={"requestId": str(uuid.uuid4()), **self.query},
            body=self.body,
        )
        words = f"delete {instances}/{name}" if is_deletion else f"{self.method} of {instances}/{name}"
        return BatchRequest(request=request, what=words)


@attrs.frozen
class FailedRequest:
    """A request that did not succeed, and why."""

    request: MemberRequest
    error: ProviderError


@attrs.frozen
class Fleet:
    """The members among the instances of one region that have the same label, or names of the same pattern.

    Attributes:
        project: the project's ID or number.
        region: the region's name, such as `us-east1`.
        id: the fleet ID, in one of the forms of `fleet_id`.
        zones: the zones of regions, which all fleets of a process share.
        earlier: the insertions of earlier runs, which they share, too.
        membership: which of the instances are members, as far as one call of the engine has found out.
    """

    google: GoogleClient
    project: str
    region: str
    id: str
    zones: RegionZones = attrs.field(factory=RegionZones, eq=False, repr=False)
    earlier: EarlierInsertions = attrs.field(factory=EarlierInsertions, eq=False, repr=False)
    membership: Membership = attrs.field(factory=Membership, eq=False, repr=False)

    @property
    def resource_id(self) -> str:
        """The resource's ID in Pulumi, by which it can also be imported."""
        place = f"bulkInstances/{self.id}" if is_tracked(self.id) else self.id
        return f"projects/{self.project}/regions/{self.region}/{place}"

    @property
    def operations(self) -> Operations:
        """The operations of the project."""
        return Operations(google=self.google, version=_VERSION, project=self.project)

    def members(self, context: Context) -> list[Instance]:
        """List the members; raises the same as `matching` and `Membership.members_among`."""
        return self.membership.members_among(context, self, self.matching(context))

    def matching(self, context: Context) -> list[Instance]:
        """List the instances that match the fleet's ID, ordered by name and number; raises `ApiError`.

        The first list of a region in a process is an aggregated one, which counts as a heavy-weight read, and names the
        region's zones. Later ones list each zone, side by side.
        """
        known = (member.get("zone") or "" for member in fleet_values(context.prior).get("members") or ())
        self.zones.add(self.project, self.region, known)
        zones = self.zones.of(self.project, self.region)
        try:
            found = self._listed_in(context, zones) if zones else self._listed(context)
        except NotFound:
            if not self.zones.forget(self.project, self.region):
                raise
            found = self._listed(context)
        return sorted(filter(self._matches, found), key=lambda member: name_order(member["name"]))

    def of_region(self, context: Context, field: str) -> list[Any]:
        """Read a field of the fleet's region, which is a list (REST JSON); raises `ApiError`."""
        path = f"beta/projects/{self.project}/regions/{self.region}"
        request = Request(api=COMPUTE, method="GET", path=path, query={"fields": field}, patience=SHORT_PATIENCE)
        found: list[Any] = self.google.send(request, context).get(field) or []
        return found

    def read_again(self, context: Context, members: Iterable[Instance]) -> list[Instance]:
        """Read members once more, by lists of their zones; members that no longer exist are left out."""
        members = list(members)
        ids = {member["id"] for member in members}
        zones = list(dict.fromkeys(name_of(member["zone"]) for member in members))
        return [member for member in self._listed_in(context, zones) if member["id"] in ids and self._matches(member)]

    def delete(self, context: Context, members: Iterable[Instance]) -> None:
        """Delete members side by side; raises the error of the first failure, after trying all."""
        for failure in self.try_all(context, [MemberRequest(member, "delete") for member in members], "deleted"):
            raise failure.error

    def try_all(self, context: Context, requests: Sequence[MemberRequest], done: str) -> list[FailedRequest]:
        """Send requests for members side by side, then wait until all their operations have ended.

        Args:
            context: the engine's call; it shows the progress, and a cancellation ends the wait at once.
            requests: at most one for each member, because Google refuses a change while another one is running.
            done: what happens to the members, in messages, such as `deleted`.

        Returns:
            The requests that failed, in their order, with their errors: `ApiError`, CancelledError for a request that
            was not sent, and `Unfinished` for one whose result is not known. `NotFound` is one of them, except for
            `delete`; the member is then missing in the lists, too.
        """
        if not requests:
            return []
        batch = OperationBatch(operations=self.operations, timeout=TIMEOUT, done=f"instances {done}")
        errors = batch.run(context, [request.of_batch(self.project, by_name=False) for request in requests])
        refused = [i for i, error in enumerate(errors) if isinstance(error, ApiError) and may_refuse_number(error)]
        if refused:  # what Google still lists is tried by its name
            listed = {item["id"] for item in self.read_again(context, (requests[i].member for i in refused))}
            again = [index for index in refused if requests[index].member["id"] in listed]
            by_name = batch.run(context, [requests[i].of_batch(self.project, by_name=True) for i in again])
            for index, error in zip(again, by_name, strict=True):
                errors[index] = error
                if isinstance(error, NotFound):
                    words = f"{without_stop(error.message)}, although it is in the list of instances"
                    errors[index] = ServerError(words, status=error.status)
        return [
            FailedRequest(request, _with_advice(request, error))
            for request, error in zip(requests, errors, strict=True)
            if error is not None and not (request.method == "delete" and isinstance(error, NotFound))
        ]

    def _listed_in(self, context: Context, zones: Iterable[str]) -> list[Instance]:
        """List the instances in some zones that fit the filter."""

        def listed(zone: str) -> list[Instance]:
            pages = self._list_method(f"zones/{zone}/instances").pages(context)
            return [checked_instance(item, zone) for page in pages for item in items_of(page)]

        return [instance for found in context.side_by_side(listed, zones) for instance in found]

    def _listed(self, context: Context) -> list[Instance]:
        """List the instances in all zones that fit the filter; learn the zones of the region."""
        pages = list(self._list_method("aggregated/instances", includeAllScopes=True).pages(context))
        scopes = [scope for page in pages for scope in scopes_of(page, "instances").items()]
        in_zones = [(name_of(name), items) for name, items in scopes if name.startswith("zones/")]
        zones = {zone for zone, _ in in_zones}
        if not any(zone.startswith(f"{self.region}-") for zone in zones):
            # All scopes are included, so the zones are on the list even if nothing is in them.
            if zones:
                raise NotFound(f"The resource 'projects/{self.project}/regions/{self.region}' was not found")
            raise MalformedResponse("Google's list of instances has no zones, so it is not complete")
        found = [checked_instance(item, zone) for zone, items in in_zones for item in items]
        return found + self._listed_in(context, self.zones.learn(self.project, self.region, zones))

    def _list_method(self, path: str, **query: Any) -> ListMethod:
        path = f"{_VERSION}/projects/{self.project}/{path}"
        query = {"filter": self._filter, **query}
        return ListMethod(google=self.google, path=path, query=query, needs=scopes_in(self.region))

    @property
    def _filter(self) -> str:
        pattern = membership_pattern(self.id)
        if pattern is not None:
            return f"name eq {pattern_expression(pattern)}"
        return " ".join(f'labels.{key} = "{value}"' for key, value in membership_labels(self.id).items())

    def _matches(self, instance: Instance) -> bool:
        """Return whether a listed instance matches the fleet's ID.

        The filter ignores the region, and does not distinguish a missing label from an empty one. Raises
        MalformedResponse for an instance that the filter excludes: to leave it out could be to forget it.
        """
        if region_of(instance) != self.region:
            return False
        pattern, wanted = membership_pattern(self.id), membership_labels(self.id)
        fits = pattern is None or re.fullmatch(pattern_expression(pattern), instance["name"]) is not None
        labels: dict[str, str] = instance.get("labels", {})
        if not fits or any(labels.get(key, "") != value for key, value in wanted.items()):
            raise MalformedResponse(f"Google's list has an instance that does not fit its filter: {self._filter}")
        return wanted.keys() <= labels.keys()


def _with_advice(request: MemberRequest, error: ProviderError) -> ProviderError:
    """Return an error with the command that frees a member which is protected against deletion."""
    if request.method != "delete" or not isinstance(error, Rejected | Conflict) or "protect" not in error.message:
        return error
    link = f"projects/{request.member['selfLink'].partition('/projects/')[2]}"
    return error.with_hint(f"To allow it, run `gcloud compute instances update {link} --no-deletion-protection`")


def checked_instance(found: dict[str, Any], zone: str) -> Instance:
    """Return an instance of a list of a zone; raise MalformedResponse if what identifies it is not valid.

    An instance that is left out because it cannot be read, or that seems to be elsewhere, would be taken for deleted.
    """
    texts = [found.get(name) for name in ("name", "zone", "status", "selfLink", "machineType")]
    labels = found.get("labels", {})
    has_labels = isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())
    is_valid = has_labels and is_id(found.get("id")) and all(isinstance(text, str) and text for text in texts)
    own_link = f"/zones/{zone}/instances/{found.get('name')}"
    if not is_valid or name_of(found["zone"]) != zone or not found["selfLink"].endswith(own_link):
        words = "Google's list has an instance without a valid name, ID, zone, status, link, machine type or labels"
        raise MalformedResponse(words)
    return cast("Instance", found)


def instances_in_region(
    context: Context, fleet: Fleet, fields: str, expression: str, version: str = "beta"
) -> list[Instance]:
    """List the instances in a fleet's region that match a filter expression, members or not.

    Args:
        context: the engine's call.
        fleet: the fleet.
        fields: the fields to read, as a field mask; `zone` is among them.
        expression: the filter expression.
        version: the API version, `v1` or `beta`.

    Raises:
        ApiError: the list cannot be read.
    """
    found = ImportableResources(
        google=fleet.google,
        project=fleet.project,
        version=version,
        collection="instances",
        fields=fields,
        filter=expression,
        needs=scopes_in(fleet.region),
    ).read_all(context)
    return [cast("Instance", item) for item in found if region_of(cast("Instance", item)) == fleet.region]


def region_of(instance: Mapping[str, Any]) -> str:
    """Return the name of the region that an instance's zone is in."""
    return name_of(instance["zone"]).rpartition("-")[0]


_STOP_TIMES: Final = {
    "STOPPED": "lastStopTimestamp",
    "SUSPENDED": "lastSuspendedTimestamp",
    "TERMINATED": "lastStopTimestamp",
}
"""The field with the time of the stop, by status; it is not set before the stop has ended."""
_REASONS: Final = {
    "deferredStop": "RUN_LIMIT",
    "guestTerminate": "GUEST",
    "hostError": "HOST_ERROR",
    "preempted": "PREEMPTED",
    "stop": "REQUESTED",
    "suspend": "REQUESTED",
}
"""Why an instance was stopped, by the kind of the operation that stopped it."""
_FILTER: Final = f'operationType eq "(.*[.])?({"|".join(_REASONS)})"'
"""Some types begin with the collection, as in `compute.instances.preempted`."""
_FIELDS: Final = "operationType,targetId,insertTime,error(errors(code))"


def stop_reasons(context: Context, fleet: Fleet, members: list[Instance]) -> dict[str, str]:
    """Find out why members were stopped, from the operations of their zones.

    Sends one list for each zone with stopped members, and no request if none is stopped.

    Args:
        context: the engine's call; its progress says which lists could not be read.
        fleet: the fleet.
        members: the members to explain; running ones are skipped.

    Returns:
        The reasons (`stopReason` of the outputs) by instance ID. A reason that is not known is left out, as
        are all reasons if the operations cannot be listed.
    """
    stopped = [member for member in members if is_stopped(member)]
    stops: defaultdict[str, list[_Stop]] = defaultdict(list)
    zones = sorted({name_of(member["zone"]) for member in stopped})
    for in_zone in context.side_by_side(partial(_stops, context, fleet), zones) if zones else ():
        for stop in in_zone:
            stops[stop.instance].append(stop)
    found = {str(member["id"]): _reason(member, stops[str(member["id"])]) for member in stopped}
    return {key: reason for key, reason in found.items() if reason is not None}


@attrs.frozen
class _Stop:
    """An operation that stopped an instance.

    Attributes:
        instance: the instance's ID.
        at: when the operation was requested.
        reason: the reason that its type stands for.
    """

    instance: str
    at: datetime
    reason: str


def _stops(context: Context, fleet: Fleet, zone: str) -> list[_Stop]:
    """List the operations that stopped instances in a zone; if a read fails, say so and return the others."""
    path = f"v1/projects/{fleet.project}/zones/{zone}/operations"
    query = {"filter": _FILTER}
    method = ListMethod(google=fleet.google, path=path, query=query, fields=_FIELDS, patience=SHORT_PATIENCE)
    found: list[_Stop] = []
    try:
        for page in method.pages(context):
            for operation in page.get("items", ()):
                at, reason = moment(operation.get("insertTime")), _REASONS.get(kind_of(operation))
                if at is not None and reason is not None and not operation.get("error"):  # failed ones stopped nothing
                    found.append(_Stop(str(operation.get("targetId")), at, reason))
    except ApiError as error:
        context.progress(f"the reasons why instances in {zone} are stopped cannot be read: {error}")
    return found


def _reason(member: Instance, stops: list[_Stop]) -> str | None:
    """Return the reason of the latest stop between the last start of a member and its present stop, if any."""
    started = moment(member.get("lastStartTimestamp"))
    # None if the stop has not ended yet, or if Google does not say
    stopped = moment(member.get(_STOP_TIMES.get(member.get("status", ""), "")))
    fitting = [
        stop for stop in stops if (started is None or started <= stop.at) and (stopped is None or stop.at <= stopped)
    ]
    return max(fitting, key=lambda stop: stop.at).reason if fitting else None


@contextmanager
def naming_unmanaged(context: Context, fleet: Fleet) -> Iterator[None]:
    """Warn of the unmanaged instances that the block has found, also if it fails.

    Only gcpx sets its label. Others may also use the labels and names by which a fleet was imported.
    """
    try:
        yield
    finally:
        instances = list(fleet.membership.unmanaged.values())
        if instances and is_tracked(fleet.id):
            context.warn(_warning(context, fleet, instances))


def matching(instances: list[Instance]) -> str:
    """Say which instances match the ID of a fleet."""
    return f"{_number(instances)} it: {_names(instances)}"


def what_matches(found: list[Instance], own: list[Instance]) -> str:
    """Say which of the instances in `found` prevent the use of a new fleet's ID; the fleet itself created `own`."""
    ids = {member["id"] for member in own}
    others = [instance for instance in found if instance["id"] not in ids]
    if not others:
        return f"{_number(found)} it, more than the fleet should have: {_names(found)}"
    were = "was" if len(others) == 1 else "were"
    return f"{_number(others)} it and {were} not created by this resource: {_names(others)}"


def _warning(context: Context, fleet: Fleet, instances: list[Instance]) -> str:
    is_one = len(instances) == 1
    return (
        f"{_number(instances)} the label {TRACKING_LABEL}={fleet.id} and {'is not a member' if is_one else 'are not members'} of this fleet, because "
        f"{'it is' if is_one else 'they are'} not in the state, and no known operation of this resource created "
        f"{'it' if is_one else 'them'}: {_names(instances)}. gcpx does not count, change or delete "
        f"{'it' if is_one else 'them'}. {_advice(context, fleet, instances[0])}"
    )


def _advice(context: Context, fleet: Fleet, instance: Instance) -> str:
    command = (
        f"gcloud compute instances remove-labels {instance['name']} --labels={TRACKING_LABEL} "
        f"--zone={name_of(instance['zone'])} --project={fleet.project}"
    )
    name = instance["name"]
    return (
        f"If {name} has the label by mistake, remove the label with `{command}`. If {name} belongs to the fleet, raise "
        f"`count` to include it, and run `pulumi state delete {shlex.quote(context.urn)}` and then "
        f"{import_command(context, fleet.resource_id)}, which imports every instance that has the label"
    )


def _number(instances: list[Instance]) -> str:
    return counted(len(instances), "instance matches", "instances match")


def _names(instances: list[Instance]) -> str:
    return names_in_words(instance["name"] for instance in instances)
