"""The capacity of zones and the quotas of regions, as set at `/_emulator/limits`."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.locations import REGIONS, ZONES
from gcpx_emulator.core.control_bodies import ControlBody, numbers_by
from gcpx_emulator.core.settings import setting
from gcpx_emulator.core.store import Store

_BODY: Final = ControlBody("limits", {"instances": numbers_by("region", REGIONS), "zones": numbers_by("zone", ZONES)})
_LIMITS: Final = setting("limits", _BODY.check)


def instance_quota(store: Store, region: str) -> int | None:
    """Return the number of instances that a project may have in a region, if it is limited."""
    quota: int | None = _LIMITS.read(store).get("instances", {}).get(region)
    return quota


def zone_capacity(store: Store, zone: str) -> int | None:
    """Return the number of instances that a zone has room for, if it is limited."""
    capacity: int | None = _LIMITS.read(store).get("zones", {}).get(zone)
    return capacity
