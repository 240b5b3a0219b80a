"""How a bulk creation distributes its instances over zones, within capacity and quota."""

from __future__ import annotations

from typing import Final

import attrs

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.limits import instance_quota, zone_capacity
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import region_in, zones_of
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json

_UNLIMITED: Final = 10**9


@attrs.frozen
class Placement:
    """Numbers of instances by zone.

    Attributes:
        zones: every zone that may be used.
        wanted: how the target shape distributes the instances, whether there is room for all or not.
        placed: those for which there is room.
        shortage: the error that says why there is not more room, if not all instances were placed.
    """

    zones: list[str]
    wanted: dict[str, int]
    placed: dict[str, int]
    shortage: Json | None

    @property
    def total(self) -> int:
        """The number of instances that were placed."""
        return sum(self.placed.values())


def place(call: Call, count: int) -> Placement:
    """Distribute this number of instances, as the location policy of the call says."""
    policy = call.body.get("locationPolicy") or {}
    room = _room(call, policy)
    quota = _quota_left(call)
    wanted = _spread(count, room, policy.get("targetShape", "ANY_SINGLE_ZONE"))
    left, placed = min(count, quota), {}
    for zone, number in wanted.items():
        placed[zone] = min(number, room[zone], left)
        left -= placed[zone]
    shortage = None
    if sum(placed.values()) < count:
        shortage = _quota_exceeded(call) if quota < count else _exhausted(wanted, room)
    return Placement(list(room), wanted, placed, shortage)


def _room(call: Call, policy: Json) -> dict[str, int]:
    """Return the number of instances for which there is room in each zone that may be used."""
    if "zone" in call.path:
        return {call.path["zone"]: _free_capacity(call, call.path["zone"])}
    locations = {last_part(link): location for link, location in (policy.get("locations") or {}).items()}
    zones = zones_of(call.path["region"])
    unknown = set(locations) - set(zones)
    if unknown:
        names = ", ".join(sorted(unknown))
        raise invalid("resource.locationPolicy.locations", names, "Not a zone of the region.")
    usable = _usable_zones(zones, locations, [item["zone"] for item in policy.get("zones") or ()])
    if not usable:
        raise invalid("resource.locationPolicy", "", "No zone is left.")
    caps = {zone: (locations.get(zone, {}).get("constraints") or {}).get("maxCount") for zone in usable}
    return {zone: min(_free_capacity(call, zone), _UNLIMITED if cap is None else cap) for zone, cap in caps.items()}


def _usable_zones(zones: list[str], locations: Json, links: list[str]) -> list[str]:
    """Leave out zones that are denied; if any are allowed or linked, leave out all others."""
    preferences = {zone: location.get("preference") for zone, location in locations.items()}
    chosen = {zone for zone, preference in preferences.items() if preference in (None, "ALLOW")}
    chosen |= {last_part(link) for link in links}
    return [zone for zone in zones if preferences.get(zone) != "DENY" and (not chosen or zone in chosen)]


def _free_capacity(call: Call, zone: str) -> int:
    capacity = zone_capacity(call.store, zone)
    return _UNLIMITED if capacity is None else max(0, capacity - _existing(call, [zone]))


def _existing(call: Call, zones: list[str]) -> int:
    """Count the instances in zones."""
    return sum(len(call.store.list(f"{call.project}/zones/{zone}/instances")) for zone in zones)


def _spread(count: int, room: dict[str, int], shape: str) -> dict[str, int]:
    """Distribute instances over zones as a target shape says, whether there is room for all or not."""
    if shape == "BALANCED":
        share, rest = divmod(count, len(room))
        return {zone: share + (index < rest) for index, zone in enumerate(room)}
    if shape == "ANY_SINGLE_ZONE":
        return {max(room, key=lambda zone: min(room[zone], count)): count}
    wanted: dict[str, int] = {}
    left = count
    for zone, free in room.items():
        wanted[zone] = min(left, free)
        left -= wanted[zone]
    last = next(reversed(wanted))
    wanted[last] += left
    return {zone: number for zone, number in wanted.items() if number}


def _quota_left(call: Call) -> int:
    """Return the number of instances that the region's quota still allows."""
    region = region_in(call)
    quota = instance_quota(call.store, region)
    return _UNLIMITED if quota is None else max(0, quota - _existing(call, zones_of(region)))


def _quota_exceeded(call: Call) -> Json:
    region = region_in(call)
    limit = float(instance_quota(call.store, region) or 0)
    info = {"metricName": "compute.googleapis.com/instances", "limitName": "INSTANCES-per-project-region"}
    details = [{"quotaInfo": info | {"limit": limit, "dimensions": {"region": region}}}]
    message = f"Quota 'INSTANCES' exceeded. Limit: {limit} in region {region}."
    return {"code": "QUOTA_EXCEEDED", "message": message, "errorDetails": details}


def _exhausted(wanted: dict[str, int], room: dict[str, int]) -> Json:
    zone = next(zone for zone, number in wanted.items() if number > room[zone])
    message = f"The zone '{zone}' does not have enough resources available to fulfill the request."
    return {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": message}
