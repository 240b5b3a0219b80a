"""The zones of regions, so that lists after the first, aggregated one can be sent zone by zone."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable

import attrs

_Region = tuple[str, str]
"""A project and the name of one of its regions."""


@attrs.define
class RegionZones:
    """The zones of regions that aggregated lists named since the process began, and those that members are known in."""

    _zones: dict[_Region, set[str]] = attrs.field(factory=lambda: defaultdict(set), init=False)
    _listed: set[_Region] = attrs.field(factory=set, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def of(self, project: str, region: str) -> list[str]:
        """Return the names of a region's zones; empty if the region was not listed."""
        with self._lock:
            return sorted(self._zones[project, region]) if (project, region) in self._listed else []

    def add(self, project: str, region: str, zones: Iterable[str]) -> None:
        """Take zones in which instances are, whatever lists say; those of other regions are left out."""
        with self._lock:
            self._zones[project, region].update(zone for zone in zones if zone.startswith(f"{region}-"))

    def learn(self, project: str, region: str, listed: set[str]) -> list[str]:
        """Take the zones of an aggregated list; return those of the region that it leaves out."""
        self.add(project, region, listed)
        with self._lock:
            self._listed.add((project, region))
            return sorted(self._zones[project, region] - listed)

    def forget(self, project: str, region: str) -> bool:
        """Drop the zones of a region, because one of them no longer exists; return whether there were any."""
        with self._lock:
            self._listed.discard((project, region))
            return bool(self._zones.pop((project, region), None))
