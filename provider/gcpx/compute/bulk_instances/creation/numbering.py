"""Names for instances for which Google would begin the numbers again.

Google continues a name pattern after the highest number in the zones of a request. A fleet whose other members are
elsewhere, such as in a fallback's zones, would get some names twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gcpx.compute.bulk_instances.fleet import Instance
from gcpx.compute.bulk_instances.names import next_names
from gcpx.model.links import name_of
from gcpx.model.rules import elements, nested, text


def names_across_zones(inputs: dict[str, Any], members: Iterable[Instance], count: int) -> list[str]:
    """Return the names of new instances if members are in zones that a request cannot use; otherwise none.

    Args:
        inputs: the inputs that the request is written from.
        members: the members that exist.
        count: the number of new instances.
    """
    pattern, members = text(inputs, "namePattern"), list(members)
    zones = {name_of(member["zone"]) for member in members}
    if not pattern or all(_may_be_used(inputs, zone) for zone in zones):
        return []
    in_use = {member["name"] for member in members}
    return next_names(pattern, in_use, count)


def _may_be_used(inputs: dict[str, Any], zone: str) -> bool:
    """Return whether the location policy of a request lets it create instances in a zone."""
    policy = nested(inputs, "locationPolicy")
    locations = nested(policy, "locations")
    preferences = {name_of(name): text(nested(locations, name), "preference") for name in locations}
    chosen = {name_of(item.get("zone", "")) for _, item in elements(policy, "zones")}
    chosen |= {name for name, preference in preferences.items() if preference == "ALLOW"}
    return preferences.get(zone) != "DENY" and (not chosen or zone in chosen)
