"""Checks against Google at preview, where `validateOnline` asks for them: does what inputs name exist, and is there room.

Values that are not known yet are passed over, as are forms that only Google can read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from gcpx.google.client import PUBSUB
from gcpx.google.compute import last_part, split_link
from gcpx.google.existing import Existing
from gcpx.model.resource import Call
from gcpx.model.rules import Failure, elements, nested, text
from gcpx.model.values import Path
from gcpx.resources.missing import did_you_mean

_WHOLE = re.compile(r"projects/[^/]+/(?:global|regions/[^/]+|zones/[^/]+)/\w+/(?:family/)?[^/]+")


@attrs.frozen
class Place:
    """Where a resource is to be, and who asks.

    Attributes:
        region: None for a global resource, whose zones are not known.
    """

    existing: Existing
    call: Call
    project: str
    region: str | None = None

    def instance(self, properties: dict[str, Any], path: Path) -> Iterator[Failure]:
        """Look up what instance properties name: machine type, images, networks, subnetworks."""
        yield from self._machine(text(properties, "machineType"), (*path, "machineType"))
        for index, disk in elements(properties, "disks"):
            image = text(nested(disk, "initializeParams"), "sourceImage")
            yield from self._link(image, "global/images", (*path, "disks", index, "initializeParams", "sourceImage"))
        for index, nic in elements(properties, "networkInterfaces"):
            where = (*path, "networkInterfaces", index)
            yield from self._link(text(nic, "network"), "global/networks", (*where, "network"))
            scope = f"regions/{self.region}/subnetworks" if self.region else ""
            yield from self._link(text(nic, "subnetwork"), scope, (*where, "subnetwork"))

    def _machine(self, machine: str, path: Path) -> Iterator[Failure]:
        """Look for a machine type in any zone, or in those of the region; custom ones are in no list."""
        name = last_part(machine)
        if not name or "custom-" in name:
            return
        listed = self._machines(name)
        zones = [scope for scope, group in listed.get("items", {}).items() if group.get("machineTypes")]
        if listed and not [zone for zone in zones if self.region is None or f"/{self.region}-" in zone]:
            yield path, f"is no machine type in {self.region or 'any zone'} of {self.project}"

    def _machines(self, name: str) -> dict[str, Any]:
        path = f"beta/projects/{self.project}/aggregated/machineTypes"
        mask = "items/*(machineTypes(name,guestCpus))"
        return self.existing.found(self.call, path, filter=f'name = "{name}"', fields=mask) or {}

    def _link(self, link: str, collection: str, path: Path) -> Iterator[Failure]:
        """Look up a link, partial ones in the project; `network: default` is a bare name."""
        given = split_link(link)
        if not given:
            return
        if not given.startswith("projects/"):
            bare = given if given.startswith(("global/", "regions/")) else f"{collection}/{given}" if collection else ""
            given = f"projects/{self.project}/{bare}"
        if _WHOLE.fullmatch(given) and self.existing.found(self.call, f"beta/{given}") is None:
            yield path, f"names {given}, which does not exist: create it first, or correct it"

    def zone(self, zone: str, path: Path) -> Iterator[Failure]:
        """Look up a zone, of the region where there is one."""
        name = last_part(zone)
        if not name:
            return
        if self.existing.found(self.call, f"beta/projects/{self.project}/zones/{name}") is None:
            yield path, f"is no zone of {self.project}{self._close('zones', name)}"
        elif self.region and not name.startswith(f"{self.region}-"):
            yield path, f"is no zone of {self.region}"

    def topic(self, topic: str, path: Path) -> Iterator[Failure]:
        """Look up a topic by its full name."""
        if topic and self.existing.found(self.call, f"v1/{topic}", api=PUBSUB) is None:
            yield path, f"names {topic}, which does not exist: create it first, or correct it"

    def room(self, machine: str, count: int, least: int) -> Iterator[Failure]:
        """Compare so many more instances with what is left of the region's quotas."""
        region = self.existing.found(self.call, f"beta/projects/{self.project}/regions/{self.region}")
        if region is None:
            yield ("region",), f"is no region of {self.project}{self._close('regions', self.region or '')}"
            return
        quotas = {item.get("metric"): item.get("limit", 0) - item.get("usage", 0) for item in region.get("quotas", ())}
        family = f"{last_part(machine).partition('-')[0].upper()}_CPUS"
        metric = family if family in quotas else "CPUS"
        for name, each in (("INSTANCES", 1), (metric, self._processors(machine))):
            left = quotas.get(name)
            if left is None or count * each <= left:
                continue
            words = f"would take {count * each:,} of {name} in {self.region}, where {left:,.0f} are left"
            if least * each > left:
                yield ("count",), words
            else:
                self.call.warn(f"count {words}; minCount can be met")

    def _close(self, collection: str, name: str) -> str:
        return did_you_mean(self.existing.google, self.call, self.project, collection, name)

    def _processors(self, machine: str) -> int:
        """Count a machine's CPUs, where a list tells."""
        for group in self._machines(last_part(machine)).get("items", {}).values():
            for item in group.get("machineTypes", ()):
                return int(item.get("guestCpus", 0))
        return 0
