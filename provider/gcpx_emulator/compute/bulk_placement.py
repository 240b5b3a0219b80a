"""What a bulk creation creates in each zone, and why it creates no more: capacity, quota or addresses."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from gcpx_emulator.compute.bulk_zones import room_by_zone, spread
from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.capacity import Hardware, Room, addresses_left, quota_left, room_in
from gcpx_emulator.compute.locations import region_in, region_of, zones_of
from gcpx_emulator.compute.shortages import addresses_exhausted, quota_exceeded, refuse_at_request, stock_out
from gcpx_emulator.core.json_data import Json


@attrs.frozen
class Placement:
    """Which instances are created in each zone, and which are not.

    Attributes:
        zones: every zone that may be used.
        wanted: how the target shape distributes the instances, whether there is room for all or not.
        placed: the hardware of those for which there is room.
        errors: one error for each instance for which there is no room.
    """

    zones: list[str]
    wanted: dict[str, int]
    placed: dict[str, list[Hardware]]
    errors: dict[str, list[Json]]

    @property
    def total(self) -> int:
        """The number of instances that were placed."""
        return sum(map(len, self.placed.values()))

    @property
    def causes(self) -> list[Json]:
        """The different errors."""
        found: list[Json] = []
        for error in (error for errors in self.errors.values() for error in errors):
            if error not in found:
                found.append(error)
        return found

    def failing_with(self, errors: list[Json]) -> Placement:
        """Return the same placement without any instance, because all of them fail with an error."""
        everywhere = {zone: errors[:1] * number for zone, number in self.wanted.items()}
        return attrs.evolve(self, placed={zone: [] for zone in self.wanted}, errors=everywhere)


def place(call: Call, kinds: list[Hardware], count: int) -> Placement:
    """Distribute this number of instances, as the location policy of the call says; preferred kinds come first.

    Raises:
        ApiError: 403, if quotas are checked at the request and this one does not allow the minimum.
    """
    rooms = room_by_zone(call, kinds)
    shape = (call.body.get("locationPolicy") or {}).get("targetShape", "ANY_SINGLE_ZONE")
    region, wanted = region_in(call), spread(count, rooms, shape)
    if quota_left(call, region) < int(call.body.get("minCount") or count):
        refuse_at_request(call, region)
    left, placed = min(quota_left(call, region), addresses_left(call, region)), {}
    for zone, number in wanted.items():
        placed[zone] = rooms[zone].fill(min(number, left))
        left -= len(placed[zone])
    errors = {zone: list(_errors(call, zone, rooms[zone], placed, wanted[zone])) for zone in wanted}
    return Placement(list(rooms), wanted, placed, errors)


def _errors(call: Call, zone: str, room: Room, placed: dict[str, list[Hardware]], wanted: int) -> Iterator[Json]:
    """Yield an error for each instance that a zone should get but does not, because the zone or the region is full."""
    missing = wanted - len(placed[zone])
    without_room = min(missing, wanted - min(wanted, room.free))
    if without_room:
        first = next(iter(room.by_hardware))
        yield from [stock_out(call, zone, first, _alternatives(call, zone, first, placed))] * without_room
    if missing > without_room:
        region = region_of(zone)
        of_quota = quota_left(call, region) <= addresses_left(call, region)
        error = quota_exceeded(call, region) if of_quota else addresses_exhausted(call, region)
        yield from [error] * (missing - without_room)


def _alternatives(call: Call, zone: str, hardware: Hardware, placed: dict[str, list[Hardware]]) -> list[str]:
    """Name the other zones of the region that have room for an instance after this bulk creation."""
    rooms = {other: room_in(call, other, [hardware]) for other in zones_of(region_of(zone)) if other != zone}
    return [
        other
        for other, room in rooms.items()
        if room.total > len(placed.get(other, ())) and room.free > placed.get(other, []).count(hardware)
    ]
