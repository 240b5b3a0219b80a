"""Where the members of a fleet may be, and in which zones new ones are created beside those that exist.

Google spreads the instances of one request, and does not know of the members that exist already. So requests for a fleet
that has members name the zones, and how many instances each of them gets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize
from gcpx.compute.reference import rest
from gcpx.model.fields import Failure, elements, nested, rule, text
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.values import has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues

_SINGLE: Final = "ANY_SINGLE_ZONE"
_UNLIMITED: Final = 10**9


@attrs.frozen(kw_only=True)
class Places:
    """A location policy.

    Attributes:
        shape: the target shape.
        listed: the zones that it names; empty if all zones of the region may be used that it does not deny.
        denied: the zones that may not be used.
        most: how many members a zone may have, for zones with a limit.
    """

    shape: str = _SINGLE
    listed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    most: Mapping[str, int] = attrs.Factory(dict)

    @classmethod
    def of(cls, inputs: BulkInstancesValues) -> Places:
        """Read the location policy of a fleet's inputs; unknown and malformed values count as missing."""
        policy = nested(inputs, "locationPolicy")
        locations = nested(policy, "locations")
        preferences = {name_of(name): text(nested(locations, name), "preference") for name in locations}
        limits = {
            name_of(name): as_integer(nested(nested(locations, name), "constraints").get("maxCount"))
            for name in locations
        }
        chosen = {name_of(text(item, "zone")) for _, item in elements(policy, "zones")} - {""}
        return cls(
            shape=text(policy, "targetShape") or _SINGLE,
            listed=frozenset(chosen | {name for name, preference in preferences.items() if preference != "DENY"}),
            denied=frozenset(name for name, preference in preferences.items() if preference == "DENY"),
            most={name: limit for name, limit in limits.items() if limit is not None},
        )

    @property
    def is_balanced(self) -> bool:
        """Whether the members are spread as evenly as possible."""
        return self.shape == "BALANCED"

    @property
    def is_single(self) -> bool:
        """Whether all members are in one zone."""
        return self.shape == _SINGLE

    def allows(self, zone: str) -> bool:
        """Return whether members may be created in a zone."""
        return zone not in self.denied and (not self.listed or zone in self.listed)

    def spread(self, count: int, existing: Counter[str], staying: Counter[str], zones: Iterable[str]) -> Counter[str]:
        """Divide new members among zones: all members are balanced now, and the staying ones are in the end.

        Args:
            count: the number of new members; fewer are placed if no zone may have more.
            existing: the members of each zone.
            staying: the members that are not replaced.
            zones: the zones to choose from.
        """
        usable, placed = [zone for zone in zones if self.allows(zone)], Counter[str]()
        for _ in range(count):
            free = [zone for zone in usable if existing[zone] + placed[zone] < self.most.get(zone, _UNLIMITED)]
            if not free:
                break
            placed[min(free, key=lambda zone: (staying[zone] + placed[zone], existing[zone] + placed[zone], zone))] += 1
        return placed


@rule(
    "",
    "the maxCount of a locationPolicy's zones must leave room for count",
    rest("regionInstances.bulkInsert", "locationPolicy.locations.constraints.maxCount"),
    about="locationPolicy",
)
def zones_have_room_for_all(values: BulkInstancesValues) -> list[Failure]:
    places, count = Places.of(values), FleetSize.of(values).wanted
    usable = {zone for zone in places.listed if places.allows(zone)}
    fallbacks: Any = values.get("fallbacks") or ()
    are_elsewhere = has_unknown(fallbacks) or any(item.get("zones") for item in fallbacks)
    if not usable or not usable <= places.most.keys() or are_elsewhere:
        return []
    limits = [places.most[zone] for zone in usable]
    room = max(limits) if places.is_single else sum(limits)
    if count <= room:
        return []
    words = (
        f"must have room for {count:,} members, which is count: the maxCount of these zones leaves room for {room:,}"
    )
    return [Failure(("locationPolicy", "locations"), words)]


def in_zones(inputs: BulkInstancesValues, count: int, numbers: Mapping[str, int]) -> BulkInstancesValues:
    """Return the inputs of a request for `count` instances, with at most the given number in each zone."""
    zones = [zone for zone, number in sorted(numbers.items()) if number]
    if len(zones) == 1 and numbers[zones[0]] >= count:
        return {**inputs, "locationPolicy": {"zones": [{"zone": f"zones/{zones[0]}"}]}}
    locations: Any = {
        f"zones/{zone}": {"preference": "ALLOW", "constraints": {"maxCount": numbers[zone]}} for zone in zones
    }
    return {**inputs, "locationPolicy": {"locations": locations, "targetShape": "ANY"}}


def beside(inputs: BulkInstancesValues, existing: Counter[str]) -> BulkInstancesValues:
    """Return the inputs of a request, with the limits of zones reduced by the members that exist."""
    policy = nested(inputs, "locationPolicy")
    locations, most = nested(policy, "locations"), Places.of(inputs).most
    if not any(existing[zone] for zone in most):
        return inputs
    left: Any = {
        name: {**item, "constraints": {"maxCount": max(0, most[name_of(name)] - existing[name_of(name)])}}
        if name_of(name) in most
        else item
        for name, item in locations.items()
    }
    return {**inputs, "locationPolicy": {**policy, "locations": left}}


def zones_of(members: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count members by the names of their zones."""
    return Counter(name_of(member["zone"]) for member in members)
