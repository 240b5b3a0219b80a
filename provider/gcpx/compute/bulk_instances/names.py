"""The names that a name pattern gives: one for each number from 1 to the highest with as many digits as it has #.

Google numbers new instances after the highest number in use in the zones of a request, and refuses a creation that
needs higher numbers than the pattern has, even if lower ones are free.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from gcpx.compute.bulk_instances.capacity import FleetSize
from gcpx.compute.bulk_instances.fleet import Fleet, Instance, pattern_expression, region_of
from gcpx.compute.listing import ImportableResources
from gcpx.errors import ProviderError
from gcpx.gcp.errors import ApiError, Conflict, Rejected
from gcpx.gcp.list_method import scopes_in
from gcpx.model.fields import elements, nested, text
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues


class NamesExhaustedError(ProviderError):
    """A name pattern has too few names for the instances to create."""

    def __init__(self, pattern: str, in_use: Collection[str], missing: int) -> None:
        highest = max(fitting_names(pattern, in_use), default="none")
        super().__init__(
            f"namePattern: {pattern} has too few names for {missing:,} more {'instance' if missing == 1 else 'instances'}: it gives at most "
            f"{number_of_names(pattern):,}, new instances are numbered after those that exist, and the highest name in "
            f"use is {highest}. If this is a replacement, set the resource option deleteBeforeReplace; otherwise choose "
            "a namePattern with more #, or a different one"
        )


def number_of_names(pattern: str) -> int:
    """Return how many names a pattern gives.

    >>> number_of_names("web-##")
    99
    """
    return int(10 ** pattern.count("#")) - 1


def fitting_names(pattern: str, names: Collection[str]) -> set[str]:
    """Return those names that fit a pattern; they sort by number, because all have the same length."""
    expression = re.compile(pattern_expression(pattern))
    return {name for name in names if expression.fullmatch(name)}


def runs_out(pattern: str, in_use: Collection[str], missing: int) -> bool:
    """Return whether the numbers after the highest one in use are too few for the missing instances."""
    return highest_number(pattern, in_use) + missing > number_of_names(pattern)


def highest_number(pattern: str, in_use: Collection[str]) -> int:
    """Return the highest number among the names that fit a pattern; 0 without any."""
    start = pattern.index("#")
    end = start + pattern.count("#")
    return max((int(name[start:end]) for name in fitting_names(pattern, in_use)), default=0)


def next_names(pattern: str, in_use: Collection[str], count: int) -> list[str]:
    """Return the names that follow the highest one in use; the lowest free ones if the pattern has too few numbers.

    Raises:
        NamesExhaustedError: the pattern has fewer free names.

    >>> next_names("web-##", {"web-01", "web-07"}, 2)
    ['web-08', 'web-09']
    """
    if runs_out(pattern, in_use, count):
        return free_names(pattern, in_use, count)
    width, highest = pattern.count("#"), highest_number(pattern, in_use)
    return [pattern.replace("#" * width, f"{highest + number:0{width}}") for number in range(1, count + 1)]


def free_names(pattern: str, in_use: Collection[str], count: int) -> list[str]:
    """Return the names of a pattern with the lowest numbers that are not in use.

    Raises:
        NamesExhaustedError: the pattern has fewer free names.

    >>> free_names("web-##", {"web-02", "web-99"}, 2)
    ['web-01', 'web-03']
    """
    width = pattern.count("#")
    names = (pattern.replace("#" * width, f"{number:0{width}}") for number in range(1, number_of_names(pattern) + 1))
    free = list(itertools.islice((name for name in names if name not in in_use), count))
    if len(free) < count:
        raise NamesExhaustedError(pattern, in_use, count)
    return free


def have_too_few_names(one: BulkInstancesValues, other: BulkInstancesValues) -> bool:
    """Return whether two fleets, by their inputs, take their names from one pattern that has too few for both."""
    pattern = text(one, "namePattern")
    places = [
        (values.get("project"), name_of(text(values, "region")), values.get("locationPolicy"))
        for values in (one, other)
    ]
    if not pattern or pattern != text(other, "namePattern") or places[0] != places[1]:
        return False
    return FleetSize.of(one).wanted + FleetSize.of(other).wanted > number_of_names(pattern)


def explained_refusal(
    context: Context, fleet: Fleet, inputs: BulkInstancesValues, missing: int, refusal: ApiError
) -> ProviderError:
    """Return the error of a creation that Google refused, with what to do about names that are in use or run out.

    Args:
        context: the engine's call.
        fleet: the fleet that the instances should have joined.
        inputs: the fleet's inputs.
        missing: the number of instances to create.
        refusal: Google's error.
    """
    if context.is_blocked and isinstance(refusal, Conflict):
        return refusal.with_hint(how_to_manage(context, fleet.resource_id, "choose other names"))
    pattern = text(inputs, "namePattern")
    if not pattern or not isinstance(refusal, Rejected):
        return refusal
    try:
        in_use = _names_in_use(context, fleet, pattern)
    except ApiError:
        return refusal
    return NamesExhaustedError(pattern, in_use, missing) if runs_out(pattern, in_use, missing) else refusal


def _names_in_use(context: Context, fleet: Fleet, pattern: str) -> set[str]:
    """List the names of all instances in the fleet's region that fit a pattern; raises `ApiError` if they cannot be listed."""
    instances = ImportableResources(
        google=fleet.google,
        project=fleet.project,
        version="v1",
        collection="instances",
        fields="name,zone",
        filter=f"name eq {pattern_expression(pattern)}",
        needs=scopes_in(fleet.region),
    )
    return {found["name"] for found in instances.read_all(context) if region_of(found) == fleet.region}


def names_across_zones(inputs: BulkInstancesValues, members: Iterable[Instance], count: int) -> list[str]:
    """Return the names of new instances if members are in zones that a request cannot use; otherwise none.

    Args:
        inputs: the inputs that the request is written from.
        members: the members that exist.
        count: the number of new instances.
    """
    pattern, members = text(inputs, "namePattern"), list(members)
    zones = {name_of(member["zone"]) for member in members}
    if not pattern or all(may_be_used(inputs, zone) for zone in zones):
        return []
    in_use = {member["name"] for member in members}
    return next_names(pattern, in_use, count)


def may_be_used(inputs: BulkInstancesValues, zone: str) -> bool:
    """Return whether the location policy of a request lets it create instances in a zone."""
    policy = nested(inputs, "locationPolicy")
    locations = nested(policy, "locations")
    preferences = {name_of(name): text(nested(locations, name), "preference") for name in locations}
    chosen = {name_of(item.get("zone", "")) for _, item in elements(policy, "zones")}
    chosen |= {name for name, preference in preferences.items() if preference == "ALLOW"}
    return preferences.get(zone) != "DENY" and (not chosen or zone in chosen)
