"""Checks against Google at preview, where `validateOnline` asks for them: does what inputs name exist, and is there room.

Values that are not known yet are passed over, as are forms that only Google can read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import attrs

from gcpx.google.client import PUBSUB
from gcpx.google.compute import last_part, split_link
from gcpx.google.existing import Existing
from gcpx.model.resource import Call
from gcpx.model.rules import Failure, elements, nested, text
from gcpx.model.values import UNKNOWN, Path
from gcpx.resources.missing import close_to

Look = Callable[[], list[Failure]]
"""One question to Google, and what is wrong by its answer."""
_WHOLE: Final = re.compile(r"projects/[^/]+/(?:global|regions/[^/]+|zones/[^/]+)/\w+/(?:family/)?[^/]+")
_SIDE_BY_SIDE: Final = 8


@attrs.frozen
class Place:
    """Where a resource is to be, and who asks.

    Attributes:
        project: None where it is not known yet, so that only what names another project can be looked up.
        region: None for a global resource, whose zones are not known.
    """

    existing: Existing
    call: Call
    project: str | None
    region: str | None = None

    def told(self, inputs: dict[str, Any], looks: Iterable[Look]) -> list[Failure]:
        """Look for the project and the region first, and where they exist, for all else side by side."""
        for name in ("project", "region", "zone"):
            if inputs.get(name) is UNKNOWN:
                self.call.warn(f"validateOnline: {name} is not known yet, so nothing in it is checked")
        return self._project() or self.of_region(self.region or "", ("region",)) or _side_by_side(list(looks))

    def _project(self) -> list[Failure]:
        if not self.project or self._found(f"beta/projects/{self.project}") is not None:
            return []
        words = f"must be a project that exists; {self.project} does not exist: correct it, here or as gcpx:project"
        return [("project", words)]

    def of_region(self, name: str, path: Path) -> list[Failure]:
        """Look up a region."""
        return self._member("region", last_part(name), path)

    def zone(self, zone: str, path: Path) -> list[Failure]:
        """Look up a zone, of the region where there is one."""
        name = last_part(zone)
        wrong = self._member("zone", name, path)
        if wrong or not name or not self.region or name.startswith(f"{self.region}-"):
            return wrong
        return [(path, f"must be a zone of {self.region}; {name} is in another region")]

    def _member(self, kind: str, name: str, path: Path) -> list[Failure]:
        collection = f"beta/projects/{self.project}/{kind}s"
        if not name or not self.project or self._found(f"{collection}/{name}") is not None:
            return []
        there = self._found(collection, fields="items(name)") or {}
        hint = close_to(name, there) or f"gcpx:compute:listRegions lists regions and their {kind}s"
        return [(path, f"must be a {kind} of {self.project}; {name} does not exist: {hint}")]

    def instance(self, properties: dict[str, Any], path: Path) -> Iterator[Look]:
        """Look up what instance properties name: machine type, images, networks, subnetworks."""
        yield partial(self._machine, text(properties, "machineType"), (*path, "machineType"))
        for index, disk in elements(properties, "disks"):
            where = (*path, "disks", index, "initializeParams", "sourceImage")
            yield partial(self._link, text(nested(disk, "initializeParams"), "sourceImage"), "global/images", where)
        for index, nic in elements(properties, "networkInterfaces"):
            here = (*path, "networkInterfaces", index)
            yield partial(self._link, text(nic, "network"), "global/networks", (*here, "network"))
            scope = f"regions/{self.region}/subnetworks" if self.region else ""
            yield partial(self._link, text(nic, "subnetwork"), scope, (*here, "subnetwork"))

    def _machine(self, machine: str, path: Path) -> list[Failure]:
        """Look for a machine type in any zone, or in those of the region; custom ones are in no list."""
        name = last_part(machine)
        if not name or "custom-" in name or not self.project:
            return []
        listed = self._machines(name)
        zones = [scope for scope, group in listed.get("items", {}).items() if group.get("machineTypes")]
        if not listed or [zone for zone in zones if self.region is None or f"/{self.region}-" in zone]:
            return []
        return [(path, f"must be a machine type in {self.region or 'any zone'} of {self.project}; {name} is not")]

    def _machines(self, name: str) -> dict[str, Any]:
        path = f"beta/projects/{self.project}/aggregated/machineTypes"
        return self._found(path, filter=f'name = "{name}"', fields="items/*(machineTypes(name,guestCpus))") or {}

    def _link(self, link: str, collection: str, path: Path) -> list[Failure]:
        """Look up a link, partial ones in the project; `network: default` is a bare name."""
        given = split_link(link)
        if given and not given.startswith("projects/"):
            bare = given if given.startswith(("global/", "regions/")) else f"{collection}/{given}" if collection else ""
            given = f"projects/{self.project}/{bare}" if self.project else ""
        if not _WHOLE.fullmatch(given) or self._found(f"beta/{given}") is not None:
            return []
        return [(path, f"must name something that exists; {given} does not exist: correct it, or create it first")]

    def topic(self, topic: str, path: Path) -> list[Failure]:
        """Look up a topic by its full name."""
        if not topic or self.existing.found(self.call, f"v1/{topic}", api=PUBSUB) is not None:
            return []
        return [(path, f"must name a topic that exists; {topic} does not exist: correct it, or create it first")]

    def room(self, machine: str, count: int, least: int) -> list[Failure]:
        """Compare so many more instances with what is left of the region's quotas."""
        region = self._found(f"beta/projects/{self.project}/regions/{self.region}") or {}
        quotas = {item.get("metric"): item.get("limit", 0) - item.get("usage", 0) for item in region.get("quotas", ())}
        family = f"{last_part(machine).partition('-')[0].upper()}_CPUS"
        metric = family if family in quotas else "CPUS"
        failures: list[Failure] = []
        for name, each in (("INSTANCES", 1), (metric, self._processors(machine))):
            left = quotas.get(name)
            if left is None or count * each <= left:
                continue
            words = f"would need {count * each:,} of {name} in {self.region}, where only {left:,.0f} are left"
            if least * each > left:
                failures.append(("count", words))
            else:
                self.call.warn(f"count {words}; minCount can be met")
        return failures

    def _processors(self, machine: str) -> int:
        """Count a machine's CPUs, where a list tells."""
        for group in self._machines(last_part(machine)).get("items", {}).values():
            for item in group.get("machineTypes", ()):
                return int(item.get("guestCpus", 0))
        return 0

    def _found(self, path: str, **query: Any) -> dict[str, Any] | None:
        return self.existing.found(self.call, path, **query)


def _side_by_side(looks: list[Look]) -> list[Failure]:
    """Run all lookups in parallel; failures keep the order of the lookups."""
    if not looks:
        return []
    with ThreadPoolExecutor(min(len(looks), _SIDE_BY_SIDE)) as pool:
        return [failure for found in pool.map(lambda look: look(), looks) for failure in found]
