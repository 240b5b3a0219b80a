"""The zones in which bulk creation may place instances.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, `locationPolicy`.
"""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.documentation import rest
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import ZONE
from gcpx.model.rules import Violation, nested, rule

_METHOD: Final = "regionInstances.bulkInsert"


@record
class LocationConstraints(Record):
    """Limits of one location."""

    max_count: int = field(
        "The maximum number of instances in the location, such as `10`. Must be at least 0.",
        minimum=0,
        source=rest(_METHOD, "locationPolicy.locations.constraints.maxCount"),
    )


@record
class LocationPolicyLocation(Record):
    """Whether, and how many, instances may be created in one location."""

    constraints: LocationConstraints = field("The limits of the location.")
    preference: str = field(
        "Whether instances may be created in the location: `ALLOW` or `DENY`.",
        enum=("ALLOW", "DENY"),
        closed=True,
        source=rest(_METHOD, "locationPolicy.locations.preference"),
    )


@record
class LocationPolicyZone(Record):
    """A zone in which instances may be created."""

    zone: str = field(
        "A zone of the fleet's region, such as `zones/us-east1-b` or its URL.",
        required=True,
        pattern=ZONE,
        normalize=name_of,
    )


@rule("the keys of locations must be written zones/ZONE", rest(_METHOD, "locationPolicy.locations"))
def _locations_are_zones(values: dict[str, Any]) -> list[Violation]:
    invalid = (name for name in nested(values, "locations") if "zones/" not in name or not ZONE[0].fullmatch(name))
    return [(("locations", name), "must be written zones/ZONE") for name in invalid]


@record
class LocationPolicy(Record):
    """The zones in which instances may be created. A change applies to instances that are created later."""

    RULES = (_locations_are_zones,)

    locations: dict[str, LocationPolicyLocation] = field(
        "Preferences and limits of zones, by zone, such as `{zones/us-east1-b: {preference: DENY}}`."
    )
    target_shape: str = field(
        "How the instances are spread over zones: `ANY` prefers zones with unused reservations, `ANY_SINGLE_ZONE` uses one zone for all, `BALANCED` spreads them as evenly as possible. Default: `ANY_SINGLE_ZONE`.",
        enum=("ANY", "ANY_SINGLE_ZONE", "BALANCED"),
        default="ANY_SINGLE_ZONE",
        source=rest(_METHOD, "locationPolicy.targetShape"),
    )
    zones: list[LocationPolicyZone] = field(
        "The zones to choose from, such as `[{zone: zones/us-east1-b}]`; `locations` may hold preferences for them. Google's AI zones are used only if they are listed here.",
        identity=("zone",),
    )
