"""Compact placement of a fleet: groups of members that are close to each other."""

from __future__ import annotations

from typing import Any, Final

from gcpx.compute.bulk_instances.creation.placement_groups import DEFAULT_SIZE, MOST_INSTANCES
from gcpx.compute.bulk_instances.size import FleetSize
from gcpx.compute.documentation import page
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.rules import Violation, elements, nested, rule, text

_SOURCE: Final = page("Placement policies overview")


@rule("policies must not repeat a policy", _SOURCE)
def placement_policies_differ(values: dict[str, Any]) -> list[Violation]:
    """Refuse a policy that is given twice, because each policy is one group."""
    given = values.get("policies")
    names = [name_of(item) if isinstance(item, str) else None for item in given] if isinstance(given, list) else []
    return [
        (("policies", index), "must differ from the policies before it: each policy is one group")
        for index, name in enumerate(names)
        if name is not None and name in names[:index]
    ]


@record
class Placement(Record):
    """Groups of members, each of which shares one compact placement policy."""

    RULES = (placement_policies_differ,)

    policies: list[str] = field(
        "The names of compact placement policies in the fleet's region, such as `[rack-1, rack-2]`. Each is one group; a group is filled before the next one begins. They are added to the `resourcePolicies` of `instanceProperties`, and replace those of a template.",
        required=True,
        url="regions/resourcePolicies",
        min_items=1,
    )
    size: int = field(
        f"The maximum number of members in one group, such as `22`: at least 1, at most {MOST_INSTANCES:,}. What Google allows depends on the policy's maximum distance (22 with 1, 256 with 2, {MOST_INSTANCES:,} with 3) and on the machine type. Default: {DEFAULT_SIZE}.",
        minimum=1,
        maximum=MOST_INSTANCES,
        source=_SOURCE,
    )


@rule("placement must have enough policies for count: each takes at most size members", _SOURCE)
def placement_has_room_for_all(values: dict[str, Any]) -> list[Violation]:
    """Refuse a fleet that does not fit into its groups."""
    placement, wanted = nested(values, "placement"), FleetSize.of(values).wanted
    policies, size = placement.get("policies"), placement.get("size")
    each = as_integer(size) if size is not None else DEFAULT_SIZE
    if not isinstance(policies, list) or not policies or each is None or wanted <= len(policies) * each:
        return []
    words = f"must name more policies: these have room for {len(policies) * each:,} members, but count is {wanted:,}"
    return [(("placement", "policies"), words)]


@rule("placement requires the targetShape ANY_SINGLE_ZONE and fallbacks without zones", _SOURCE)
def placement_groups_stay_in_one_zone(values: dict[str, Any]) -> list[Violation]:
    """Refuse what would spread a group over zones."""
    if not nested(values, "placement"):
        return []
    failures: list[Violation] = []
    if text(nested(values, "locationPolicy"), "targetShape") not in {"", "ANY_SINGLE_ZONE"}:
        words = "must be ANY_SINGLE_ZONE with placement, because the members of a group are in one zone"
        failures.append((("locationPolicy", "targetShape"), words))
    words = "must be left out with placement, because a group that has members stays in their zone"
    failures += [
        (("fallbacks", index, "zones"), words) for index, item in elements(values, "fallbacks") if item.get("zones")
    ]
    return failures
