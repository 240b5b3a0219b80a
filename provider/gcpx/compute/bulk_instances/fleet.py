"""The members of a fleet: find them, and change or delete them in parallel."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.fleet_id import membership_labels, membership_pattern, pattern_expression
from gcpx.compute.collection import Collection
from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import NotFound
from gcpx.gcp.list_method import ListMethod
from gcpx.model.call import Call
from gcpx.model.links import name_of

Instance = dict[str, Any]
"""An instance as the API returns it (REST JSON)."""
TIMEOUT: Final = 1200.0
"""Seconds that an operation may take if the user sets no custom timeout."""
_PARALLEL_CHANGES: Final = 16
_PROGRESS_INTERVAL: Final = 1.0
"""Seconds between lines of progress, so that logs, which keep all of them, stay short."""


@attrs.frozen
class Fleet:
    """The instances of one region that have the same label, or names of the same pattern.

    Attributes:
        project: the project's ID or number.
        region: the region's name, such as `us-east1`.
        id: the fleet ID, in one of the forms of `fleet_id`.
    """

    google: GoogleClient
    project: str
    region: str
    id: str

    @property
    def resource_id(self) -> str:
        """The resource's ID in Pulumi, by which it can also be imported."""
        place = self.id if "/" in self.id else f"bulkInstances/{self.id}"
        return f"projects/{self.project}/regions/{self.region}/{place}"

    @property
    def labels(self) -> dict[str, str]:
        """The label that every member has, as a map; empty if the members are found by their names."""
        return membership_labels(self.id)

    @property
    def name_pattern(self) -> str | None:
        """The pattern that the name of every member fits; None if the members are found by a label."""
        return membership_pattern(self.id)

    def members(self, call: Call) -> list[Instance]:
        """List the members, ordered by name and number; raises `ApiError` if they cannot be listed."""
        return sorted(filter(self._has_member, self._listed(call)), key=lambda member: name_order(member["name"]))

    def delete(self, call: Call, members: Iterable[Instance]) -> None:
        """Delete members in parallel; raises as `for_each`."""
        self.for_each(call, list(members), "deleted", lambda zone, member: zone.delete(call, member["name"]))

    def for_each(
        self, call: Call, members: list[Instance], done: str, work: Callable[[Collection, Instance], None]
    ) -> None:
        """Do something with members in parallel, and show the progress.

        Args:
            call: the engine's call; after a cancellation, the remaining members are skipped.
            members: the members to work on; one that does not exist any more is skipped.
            done: what happens to them, in messages, such as `deleted`.
            work: is called with the instances of the member's zone, and the member.

        Raises:
            ProviderError: the first error, once all members have been tried.
        """
        failures, shown = [], time.monotonic()
        with ThreadPoolExecutor(_PARALLEL_CHANGES) as pool:
            results = pool.map(lambda member: self._try(call, member, done, work), members)
            for number, failure in enumerate(results, 1):
                if failure is not None:
                    failures.append(failure)
                if time.monotonic() - shown >= _PROGRESS_INTERVAL:
                    shown = time.monotonic()
                    call.progress(f"{number:,}/{len(members):,} instances {done}")
        if failures:
            raise failures[0]

    def _try(
        self, call: Call, member: Instance, done: str, work: Callable[[Collection, Instance], None]
    ) -> ProviderError | None:
        """Work on one member; return the error, if there is one."""
        if call.cancelled.is_set():
            return CancelledError(f"cancelled before {member['name']} was {done}")
        try:
            work(self._instances_of(name_of(member["zone"])), member)
        except NotFound:
            return None
        except ProviderError as error:
            return error
        return None

    def _listed(self, call: Call) -> Iterator[Instance]:
        """List the instances of all zones that fit the filter, page by page."""
        path = f"beta/projects/{self.project}/aggregated/instances"
        for page in ListMethod(google=self.google, path=path, query={"filter": self._filter}).pages(call):
            for scope in page.get("items", {}).values():
                yield from scope.get("instances", ())

    @property
    def _filter(self) -> str:
        if self.name_pattern is not None:
            return f"name eq {pattern_expression(self.name_pattern)}"
        return " ".join(f'labels.{key} = "{value}"' for key, value in self.labels.items())

    def _has_member(self, instance: Instance) -> bool:
        """Return whether a listed instance is a member.

        The filter ignores the region, and does not tell a missing label from an empty one.
        """
        pattern = self.name_pattern
        fits = pattern is None or re.fullmatch(pattern_expression(pattern), instance["name"]) is not None
        has_labels = self.labels.items() <= instance.get("labels", {}).items()
        return fits and has_labels and region_of(instance) == self.region

    def _instances_of(self, zone: str) -> Collection:
        path = f"zones/{zone}/instances"
        return Collection(google=self.google, version="beta", project=self.project, path=path, timeout=TIMEOUT)


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
