"""The zones of regions, learned from aggregated lists, so that later lists can be sent zone by zone."""

from __future__ import annotations

import threading

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

    def forget(self, project: str, region: str) -> None:
        """Drop the zones of a region, because one of them no longer exists."""
        with self._lock:
            self._zones.pop((project, region), None)
