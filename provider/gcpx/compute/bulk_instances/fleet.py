"""Many instances as one: find them, make more in one call, change and delete them side by side."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import attrs

from gcpx.compute.collection import Collection
from gcpx.compute.creation import Creation
from gcpx.compute.operations import Operations, Outcome
from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.client import Google
from gcpx.gcp.errors import ApiError, NotFound
from gcpx.gcp.list_method import Listing
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import name_of, path_of

TRACKING_LABEL: Final = "gcpx-bulk"
_NAMESPACE: Final = uuid.UUID("0b9d4f5a-58f7-5a4d-8e67-5a1a9d0d7c11")
_SIDE_BY_SIDE: Final = 16
_PACE: Final = 1.0
"""Seconds between two lines of progress, which a log keeps."""
_TIMEOUT: Final = 1200.0


@attrs.frozen
class Fleet:
    """The instances of one region that belong together: by tracking label, by another label, or by name.

    Attributes:
        id: a value of the tracking label, `labels/KEY=VALUE` or `namePattern/PATTERN`.
    """

    google: Google
    project: str
    region: str
    id: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels that make an instance one of the fleet."""
        return labels_of(self.id)

    @property
    def _filter(self) -> str:
        for key, value in self.labels.items():
            return f'labels.{key} = "{value}"'
        return f"name eq {names_of(self.id)}"

    def members(self, call: Call) -> list[dict[str, Any]]:
        """Find every member by one filtered list of all zones, page by page, in order of their names."""
        return sorted(filter(self._holds, self._listed(call)), key=lambda item: natural(item["name"]))

    def _holds(self, item: dict[str, Any]) -> bool:
        """Tell whether an instance is a member, independently of the filter: a missing label is not an empty one."""
        names = names_of(self.id)
        return (
            name_of(item["zone"]).rpartition("-")[0] == self.region
            and self.labels.items() <= item.get("labels", {}).items()
            and (names is None or re.fullmatch(names, item["name"]) is not None)
        )

    def _listed(self, call: Call) -> Iterator[dict[str, Any]]:
        path = f"beta/projects/{self.project}/aggregated/instances"
        for page in Listing(google=self.google, path=path, query={"filter": self._filter}).pages(call):
            for scope in page.get("items", {}).values():
                yield from scope.get("instances", ())

    def image_of(self, call: Call, disk: str) -> str | None:
        """Say what image a disk was made from, if it was and is still there."""
        try:
            found = self.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path_of(disk)}"), call)
        except NotFound:
            return None
        return found.get("sourceImage")

    def properties_of(self, call: Call, template: str) -> dict[str, Any]:
        """Read a template's properties; if they cannot be read, warn and give none."""
        path = path_of(template).partition("?")[0]
        path = path if path.startswith("projects/") else f"projects/{self.project}/{path}"
        try:
            found = self.google.send(Request(api=COMPUTE, method="GET", path=f"beta/{path}"), call)
        except ApiError as error:
            call.warn(f"labels, tags and metadata of {template} stay unchanged on the instances: {error}")
            return {}
        properties: dict[str, Any] = found.get("properties", {})
        return properties

    def grow(self, call: Call, body: dict[str, Any], before: list[dict[str, Any]]) -> Outcome:
        """Make instances in one call.

        The request ID follows from what is asked and what was there, so that a retry makes nothing twice and a later
        creation of as many is another request.
        """
        return self._creation(call, body, before).run()

    def was_made(self, call: Call, body: dict[str, Any]) -> bool:
        """Tell whether an earlier run requested these very instances, and Google did not refuse."""
        scope, request_ids = f"regions/{self.region}", self._creation(call, body, []).derived
        return any(self._operations.requested(call, scope, request_id) is not None for request_id in request_ids)

    @property
    def _operations(self) -> Operations:
        return Operations(google=self.google, version="beta", project=self.project)

    def _creation(self, call: Call, body: dict[str, Any], before: list[dict[str, Any]]) -> Creation:
        there = hashlib.sha256(",".join(sorted(str(item["id"]) for item in before)).encode()).hexdigest()
        return Creation(
            namespace=_NAMESPACE,
            content=[call.urn, self.project, self.region, self.id, body, there],
            send=lambda request_id: self._insert(call, body, request_id),
            follow=lambda operation: self._operations.outcome(operation, call, "bulk insert", _TIMEOUT, progress_of),
            there=lambda outcome: _made_some(outcome) and len(self.members(call)) > len(before),
        )

    def _insert(self, call: Call, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        request = Request(
            api=COMPUTE,
            method="POST",
            path=f"beta/projects/{self.project}/regions/{self.region}/instances/bulkInsert",
            query={"requestId": request_id},
            body=body,
            patience=call.timeout or _TIMEOUT,
        )
        return self.google.send(request, call)

    def delete(self, call: Call, members: Iterable[dict[str, Any]]) -> None:
        """Delete members side by side; those that are gone are no matter."""
        self.each(call, list(members), "deleted", lambda zone, item: zone.delete(call, item["name"]))

    def each(
        self, call: Call, members: list[dict[str, Any]], done: str, work: Callable[[Collection, dict[str, Any]], None]
    ) -> None:
        """Do something to every member, some at once; raises what went wrong, when all have had their turn."""
        if not members:
            return
        failures, shown = [], time.monotonic()
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            for number, failure in enumerate(pool.map(lambda item: self._try(call, item, done, work), members), 1):
                if failure is not None:
                    failures.append(failure)
                if time.monotonic() - shown >= _PACE:
                    shown = time.monotonic()
                    call.progress(f"{number:,}/{len(members):,} VMs {done}")
        if failures:
            raise failures[0]

    def _try(
        self, call: Call, item: dict[str, Any], done: str, work: Callable[[Collection, dict[str, Any]], None]
    ) -> ProviderError | None:
        """Do it to one member; gives what went wrong. One that is gone is no matter."""
        if call.cancelled.is_set():
            return CancelledError(f"cancelled before {item['name']} was {done}")
        try:
            work(self._zone(name_of(item["zone"])), item)
        except NotFound:
            return None
        except ProviderError as error:
            return error
        return None

    def _zone(self, zone: str) -> Collection:
        return Collection(
            google=self.google, version="beta", project=self.project, path=f"zones/{zone}/instances", timeout=_TIMEOUT
        )


def labels_of(fleet_id: str) -> dict[str, str]:
    """Read the labels that make an instance one of a fleet from the fleet's ID."""
    kind, _, rest = fleet_id.partition("/")
    if kind == "labels" and rest:
        key, _, value = rest.partition("=")
        return {key: value}
    return {} if rest else {TRACKING_LABEL: fleet_id}


def pattern_of(fleet_id: str) -> str | None:
    """Read the pattern that the names of a fleet's instances have, where it is found by them."""
    kind, _, pattern = fleet_id.partition("/")
    return pattern if kind == "namePattern" else None


def names_of(fleet_id: str) -> str | None:
    """Write that pattern as a regular expression."""
    pattern = pattern_of(fleet_id)
    if pattern is None:
        return None
    runs = re.findall(r"#+|[^#]+", pattern)
    return "".join(f"[0-9]{{{len(run)}}}" if run[0] == "#" else re.escape(run) for run in runs)


def natural(name: str) -> tuple[str, int, str]:
    """Order names by the number at their end."""
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", name)
    return (found[1], int(found[2]), found[3]) if found else (name, -1, "")


def progress_of(operation: dict[str, Any]) -> str:
    """Say how far a bulk creation has come: `140/200 VMs, zone us-east1-b rolling forward`."""
    zones = operation.get("instancesBulkInsertOperationMetadata", {}).get("perLocationStatus", {})
    if not zones:
        return f"{operation.get('progress', 0)}%"
    made = _made(zones)
    wanted = sum(zone.get("targetVmCount", 0) for zone in zones.values())
    ways = {"CREATING": "rolling forward", "ROLLING_BACK": "rolling back", "DONE": "done"}
    parts = [f"zone {name_of(name)} {ways.get(zone.get('status', ''), 'waiting')}" for name, zone in zones.items()]
    return f"{made:,}/{wanted:,} VMs, {', '.join(parts)}"


def shortfall(outcome: Outcome) -> str:
    """Say what could not be created, by location, and what Google said beside it; in parentheses, or empty."""
    failed = {name: status.get("failedToCreateVmCount", 0) for name, status in outcome.per_location.items()}
    said = [f"{name}: {number:,} could not be created" for name, number in failed.items() if number]
    said += [item.get("message") or item.get("code", "") for item in outcome.operation.get("warnings", ())]
    return f" ({'; '.join(said)})" if said else ""


def _made(zones: dict[str, Any]) -> int:
    """Count the instances that a bulk creation made and did not take back."""
    return sum(zone.get("createdVmCount", 0) - zone.get("deletedVmCount", 0) for zone in zones.values())


def _made_some(outcome: Outcome) -> bool:
    zones = outcome.per_location
    return _made(zones) > 0 if zones else outcome.error is None
