"""The regions and zones, and how their names relate."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call
from gcpx_emulator.core.errors import not_found

# sorted by name, as in Google's lists
_ZONE_LETTERS: Final = {
    "africa-south1": ("a", "b", "c"),
    "asia-east1": ("a", "b", "c"),
    "asia-northeast1": ("a", "b", "c"),
    "asia-south1": ("a", "b", "c"),
    "asia-southeast1": ("a", "b", "c"),
    "australia-southeast1": ("a", "b", "c"),
    "europe-north1": ("a", "b", "c"),
    "europe-southwest1": ("a", "b", "c"),
    "europe-west1": ("b", "c", "d"),
    "europe-west2": ("a", "b", "c"),
    "europe-west3": ("a", "b", "c"),
    "europe-west4": ("a", "b", "c"),
    "europe-west9": ("a", "b", "c"),
    "northamerica-northeast1": ("a", "b", "c"),
    "southamerica-east1": ("a", "b", "c"),
    "us-central1": ("a", "b", "c", "f"),
    "us-east1": ("b", "c", "d"),
    "us-east4": ("a", "b", "c"),
    "us-west1": ("a", "b", "c"),
    "us-west2": ("a", "b", "c"),
    "us-west4": ("a", "b", "c"),
}
REGIONS: Final = tuple(_ZONE_LETTERS)


def zones_of(region: str) -> list[str]:
    """Name the zones of a region."""
    return [f"{region}-{letter}" for letter in _ZONE_LETTERS[region]]


ZONES: Final = tuple(zone for region in REGIONS for zone in zones_of(region))
REGIONAL: Final = tuple(f"regions/{region}" for region in REGIONS)
ZONAL: Final = tuple(f"zones/{zone}" for zone in ZONES)
SCOPES: Final = ("global", *REGIONAL, *ZONAL)
"""Every scope of a project."""


def region_of(zone: str) -> str:
    """Name the region of a zone."""
    return zone.rpartition("-")[0]


def region_in(call: Call) -> str:
    """Return the region of a call, which has a region or a zone."""
    return call.path.get("region") or region_of(call.path["zone"])


def check_location(call: Call) -> None:
    """Refuse a region or zone that does not exist."""
    for name, known in (("region", REGIONS), ("zone", ZONES)):
        if name in call.path and call.path[name] not in known:
            raise not_found(f"{call.project}/{name}s/{call.path[name]}")
