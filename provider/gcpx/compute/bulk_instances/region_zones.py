"""The zones of regions, learned from aggregated lists, so that later lists can be sent zone by zone."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import attrs


@attrs.define
class RegionZones:
    """The zones of the regions that were listed since the process began."""

    _zones: dict[tuple[str, str], tuple[str, ...]] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def of(self, project: str, region: str) -> tuple[str, ...]:
        """Return the names of a region's zones; empty if they are not known."""
        with self._lock:
            return self._zones.get((project, region), ())

    def learn(self, project: str, region: str, scopes: set[str]) -> None:
        """Take the zones of a region from the scopes of an aggregated list, such as `zones/us-east1-b`."""
        zones = sorted(scope.removeprefix("zones/") for scope in scopes if scope.startswith(f"zones/{region}-"))
        with self._lock:
            self._zones[project, region] = tuple(zones)

    def forget_unless_known(self, project: str, region: str, zones: Iterable[str]) -> None:
        """Drop the zones of a region if others turn out to be in it: a list left them out, or they are new."""
        if not set(zones) <= set(self.of(project, region)):
            self.forget(project, region)

    def forget(self, project: str, region: str) -> None:
        """Drop the zones of a region, so that the next list is an aggregated one again."""
        with self._lock:
            self._zones.pop((project, region), None)
