"""The zones that a bulk creation may use, and how its target shape distributes instances over them."""

from __future__ import annotations

from collections.abc import Iterable

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.capacity import Hardware, Room, room_in
from gcpx_emulator.compute.links import last_part
from gcpx_emulator.compute.locations import zones_of
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json


def room_by_zone(call: Call, kinds: Iterable[Hardware]) -> dict[str, Room]:
    """Return the room in each zone that may be used."""
    kinds = list(kinds)
    if "zone" in call.path:
        return {call.path["zone"]: room_in(call, call.path["zone"], kinds)}
    policy = call.body.get("locationPolicy") or {}
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
    return {zone: room_in(call, zone, kinds, most=caps[zone]) for zone in usable}


def _usable_zones(zones: list[str], locations: Json, links: list[str]) -> list[str]:
    """Leave out zones that are denied; if any are allowed or linked, leave out all others."""
    preferences = {zone: location.get("preference") for zone, location in locations.items()}
    chosen = {zone for zone, preference in preferences.items() if preference in (None, "ALLOW")}
    chosen |= {last_part(link) for link in links}
    return [zone for zone in zones if preferences.get(zone) != "DENY" and (not chosen or zone in chosen)]


def spread(count: int, rooms: dict[str, Room], shape: str) -> dict[str, int]:
    """Distribute instances over zones as a target shape says, whether there is room for all or not."""
    if shape == "BALANCED":
        share, rest = divmod(count, len(rooms))
        return {zone: share + (index < rest) for index, zone in enumerate(rooms)}
    if shape == "ANY_SINGLE_ZONE":
        return {max(rooms, key=lambda zone: _suitability(rooms[zone], count)): count}
    return _anywhere(count, rooms)


def _suitability(room: Room, count: int) -> list[int]:
    """Compare zones by how many instances fit, and then by how many get the hardware of each preference."""
    filled = room.fill(count)
    return [len(filled), *(filled.count(hardware) for hardware in room.by_hardware)]


def _anywhere(count: int, rooms: dict[str, Room]) -> dict[str, int]:
    """Use up the preferred hardware of all zones before the next; the last zone takes those that do not fit."""
    wanted, left = dict.fromkeys(rooms, 0), count
    kinds = next(iter(rooms.values())).by_hardware
    for hardware in kinds:
        for zone, room in rooms.items():
            taken = min(left, room.by_hardware[hardware], room.total - wanted[zone])
            wanted[zone] += taken
            left -= taken
    last = next(reversed(rooms))
    wanted[last] += left
    return {zone: number for zone, number in wanted.items() if number}
