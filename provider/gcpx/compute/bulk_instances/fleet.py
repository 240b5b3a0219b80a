"""The members of a fleet: find them, and change or delete them side by side."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet_id import is_tracked, membership_labels, membership_pattern, pattern_expression
from gcpx.compute.bulk_instances.membership import Membership
from gcpx.compute.bulk_instances.region_zones import RegionZones
from gcpx.compute.collection import may_refuse_number
from gcpx.compute.operation_batch import BatchRequest, OperationBatch
from gcpx.compute.operations import Operations
from gcpx.errors import MalformedResponse, ProviderError
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, NotFound, ServerError
from gcpx.gcp.list_method import ListMethod, is_id, items_of, scopes_in, scopes_of
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call
from gcpx.model.links import name_of

Instance = dict[str, Any]
"""An instance as the API returns it (REST JSON)."""
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
class Failure:
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
        membership: which of the instances are members, as far as one call of the engine has found out.
    """

    google: GoogleClient
    project: str
    region: str
    id: str
    zones: RegionZones = attrs.field(factory=RegionZones, eq=False, repr=False)
    membership: Membership = attrs.field(factory=Membership, eq=False, repr=False)

    @property
    def resource_id(self) -> str:
        """The resource's ID in Pulumi, by which it can also be imported."""
        place = f"bulkInstances/{self.id}" if is_tracked(self.id) else self.id
        return f"projects/{self.project}/regions/{self.region}/{place}"

    @property
    def labels(self) -> dict[str, str]:
        """The label that every member has, as a map; empty if the members are found by their names."""
        return membership_labels(self.id)

    @property
    def name_pattern(self) -> str | None:
        """The pattern that the name of every member fits; None if the members are found by a label."""
        return membership_pattern(self.id)

    @property
    def operations(self) -> Operations:
        """The operations of the project."""
        return Operations(google=self.google, version=_VERSION, project=self.project)

    def members(self, call: Call) -> list[Instance]:
        """List the members; raises the same as `matching` and `members_among`."""
        return self.members_among(call, self.matching(call))

    def members_among(self, call: Call, found: list[Instance]) -> list[Instance]:
        """Return the members among instances that match; raises `ApiError` if it cannot be told who is one."""
        return self.membership.members_among(call, self.operations, self.region, found)

    def matching(self, call: Call) -> list[Instance]:
        """List the instances that match the fleet's ID, ordered by name and number; raises `ApiError`.

        The first list of a region in a process is an aggregated one, which counts as a heavy-weight read, and names the
        region's zones. Later ones list each zone, side by side.
        """
        self.look_in(member.get("zone") or "" for member in call.last.get("members") or ())
        try:
            found = self._found(call)
        except NotFound:
            if not self.zones.forget(self.project, self.region):
                raise
            found = self._found(call)
        return sorted(filter(self._matches, found), key=lambda member: name_order(member["name"]))

    def look_in(self, locations: Iterable[str]) -> None:
        """From now on, also list these zones, such as `zones/us-east1-b`, in which members were or have been created."""
        self.zones.add(self.project, self.region, map(name_of, locations))

    def read_again(self, call: Call, members: Iterable[Instance]) -> list[Instance]:
        """Read members once more, by lists of their zones; leaves out those that no longer exist."""
        members = list(members)
        ids = {member["id"] for member in members}
        zones = list(dict.fromkeys(name_of(member["zone"]) for member in members))
        return [member for member in self._listed_in(call, zones) if member["id"] in ids and self._matches(member)]

    def delete(self, call: Call, members: Iterable[Instance]) -> None:
        """Delete members side by side; raises the same as `send_all`."""
        self.send_all(call, [MemberRequest(member, "delete") for member in members], "deleted")

    def send_all(self, call: Call, requests: Sequence[MemberRequest], done: str) -> None:
        """Send requests as `try_all` does; raises the error of the first failure, after trying all requests."""
        for failure in self.try_all(call, requests, done):
            raise failure.error

    def try_all(self, call: Call, requests: Sequence[MemberRequest], done: str) -> list[Failure]:
        """Send requests for members side by side, then wait until all their operations have ended.

        Args:
            call: the engine's call; it shows the progress, and a cancellation ends the wait at once.
            requests: at most one for each member, because Google refuses a change while another one is running.
            done: what happens to the members, in messages, such as `deleted`.

        Returns:
            The requests that failed, in their order, with their errors: `ApiError`, CancelledError for a request that
            was not sent, and `Unfinished` for one whose result is not known. `NotFound` is one of them, except for
            `delete`; the member is then in no list either.
        """
        errors = self._errors(call, requests, done)
        listed = self._listed_despite_errors(call, requests, errors)
        again = self._errors(call, [requests[index] for index in listed], done, by_name=True)
        for index, error in zip(listed, again, strict=True):
            errors[index] = _contradiction(error) if isinstance(error, NotFound) else error
        return [
            Failure(request, error)
            for request, error in zip(requests, errors, strict=True)
            if error is not None and not (request.method == "delete" and isinstance(error, NotFound))
        ]

    def _errors(
        self, call: Call, requests: Sequence[MemberRequest], done: str, *, by_name: bool = False
    ) -> list[ProviderError | None]:
        """Send requests once; return the error of each, or None."""
        if not requests:
            return []
        batch = OperationBatch(operations=self.operations, timeout=TIMEOUT, done=f"instances {done}")
        return batch.run(call, [request.of_batch(self.project, by_name=by_name) for request in requests])

    def _listed_despite_errors(
        self, call: Call, requests: Sequence[MemberRequest], errors: Sequence[ProviderError | None]
    ) -> list[int]:
        """Return the indexes of the requests to send again by name: Google refused the number, but lists the member."""
        missing = [
            index for index, error in enumerate(errors) if isinstance(error, ApiError) and may_refuse_number(error)
        ]
        if not missing:
            return []
        listed = {member["id"] for member in self.read_again(call, (requests[index].member for index in missing))}
        return [index for index in missing if requests[index].member["id"] in listed]

    def _found(self, call: Call) -> list[Instance]:
        """List the instances in the zones of the region, or first in all zones, that fit the filter."""
        zones = self.zones.of(self.project, self.region)
        return self._listed_in(call, zones) if zones else self._listed(call)

    def _listed_in(self, call: Call, zones: Iterable[str]) -> list[Instance]:
        """List the instances in some zones that fit the filter."""
        listed = call.side_by_side(lambda zone: self._listed_in_zone(call, zone), zones)
        return [instance for found in listed for instance in found]

    def _listed_in_zone(self, call: Call, zone: str) -> list[Instance]:
        pages = self._list_method(f"zones/{zone}/instances").pages(call)
        return [checked_instance(item, zone) for page in pages for item in items_of(page)]

    def _listed(self, call: Call) -> list[Instance]:
        """List the instances in all zones that fit the filter; learn the zones of the region."""
        pages = list(self._list_method("aggregated/instances", includeAllScopes=True).pages(call))
        scopes = [scope for page in pages for scope in scopes_of(page, "instances").items()]
        in_zones = [(name_of(name), items) for name, items in scopes if name.startswith("zones/")]
        zones = {zone for zone, _ in in_zones}
        if not any(zone.startswith(f"{self.region}-") for zone in zones):
            raise _without_zones(f"projects/{self.project}/regions/{self.region}", zones)
        found = [checked_instance(item, zone) for zone, items in in_zones for item in items]
        return found + self._listed_in(call, self.zones.learn(self.project, self.region, zones))

    def _list_method(self, path: str, **query: Any) -> ListMethod:
        path = f"{_VERSION}/projects/{self.project}/{path}"
        query = {"filter": self._filter, **query}
        return ListMethod(google=self.google, path=path, query=query, needs=scopes_in(self.region))

    @property
    def _filter(self) -> str:
        if self.name_pattern is not None:
            return f"name eq {pattern_expression(self.name_pattern)}"
        return " ".join(f'labels.{key} = "{value}"' for key, value in self.labels.items())

    def _matches(self, instance: Instance) -> bool:
        """Return whether a listed instance matches the fleet's ID.

        The filter ignores the region, and does not distinguish a missing label from an empty one. Raises
        MalformedResponse for an instance that the filter excludes: to leave it out could be to forget it.
        """
        if region_of(instance) != self.region:
            return False
        pattern = self.name_pattern
        fits = pattern is None or re.fullmatch(pattern_expression(pattern), instance["name"]) is not None
        labels: dict[str, str] = instance.get("labels", {})
        if not fits or any(labels.get(key, "") != value for key, value in self.labels.items()):
            raise MalformedResponse(f"Google's list has an instance that does not fit its filter: {self._filter}")
        return self.labels.keys() <= labels.keys()


def _without_zones(region: str, zones: set[str]) -> ProviderError:
    """Return the error of a list that has no zone of a region.

    With all scopes included, the zones are on the list even if nothing is in them.
    """
    if zones:
        return NotFound(f"The resource '{region}' was not found")
    return MalformedResponse("Google's list of instances has no zones, so it is not complete")


def _contradiction(error: NotFound) -> ServerError:
    return ServerError(f"{error.message.rstrip('.')}, although it is in the list of instances", status=error.status)


def checked_instance(found: Instance, zone: str) -> Instance:
    """Return an instance of a list of a zone; raise MalformedResponse if what identifies it is not valid.

    An instance that is left out because it cannot be read, or that seems to be elsewhere, would be taken for deleted.
    """
    texts = [found.get(name) for name in ("name", "zone", "status", "selfLink")]
    is_valid = is_id(found.get("id")) and all(isinstance(text, str) and text for text in texts)
    if not is_valid or not _is_text_map(found.get("labels", {})) or not _is_in(found, zone):
        raise MalformedResponse("Google's list has an instance without a valid name, ID, zone, status, link or labels")
    return found


def _is_in(found: Instance, zone: str) -> bool:
    """Return whether an instance's own zone and link say that it is in a zone."""
    link: str = found["selfLink"]
    return name_of(found["zone"]) == zone and link.endswith(f"/zones/{zone}/instances/{found['name']}")


def _is_text_map(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def region_of(instance: Instance) -> str:
    """Return the name of the region that an instance's zone is in."""
    return name_of(instance["zone"]).rpartition("-")[0]


def name_order(name: str) -> tuple[str, int, str]:
    """Return a sort key that orders names by the last number in them.

    >>> sorted(["web-10", "web-9"], key=name_order)
    ['web-9', 'web-10']
    """
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", name)
    return (found[1], int(found[2]), found[3]) if found else (name, -1, "")
