"""The names that a name pattern gives: one for each number from 1 to the highest with as many digits as it has #.

Google numbers new instances after the highest number in use in the zones of a request, and refuses a creation that
needs higher numbers than the pattern has, even if lower ones are free.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from gcpx.compute.bulk_instances.capacity import FleetSize, Places, zones_of
from gcpx.compute.bulk_instances.fleet import Fleet, Instance, instances_in_region, pattern_expression
from gcpx.errors import ProviderError
from gcpx.gcp.errors import ApiError, Conflict, Rejected
from gcpx.model.context import Context
from gcpx.model.fields import text
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues


class NamesExhaustedError(ProviderError):
    """A name pattern has too few names for the instances to create."""

    def __init__(self, pattern: str, in_use: Collection[str], missing: int, others: str = "") -> None:
        """Say which names are in use; `others` names instances that are no members and have such names."""
        highest = max(fitting_names(pattern, in_use), default="none")
        super().__init__(
            f"namePattern: {pattern} has too few names for {counted(missing, 'more instance')}: it gives at most "
            f"{number_of_names(pattern):,}, new instances are numbered after those that exist, and the highest name in "
            f"use is {highest}{f'; {others}' if others else ''}. If this is a replacement, set the resource option deleteBeforeReplace; otherwise choose "
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


def _names_in_use(context: Context, fleet: Fleet, expression: str) -> set[str]:
    """List the names in the fleet's region that fit a regular expression; raises `ApiError`."""
    found = instances_in_region(context, fleet, "name,zone", f"name eq {expression}", "v1")
    return {item["name"] for item in found}


def _are_no_members(names: Collection[str]) -> str:
    """Name instances that are no members; empty if there are none."""
    are = "is not a member" if len(names) == 1 else "are not members"
    return f"{names_in_words(sorted(names))} {are} of this fleet" if names else ""


def names_beside_others(
    context: Context,
    fleet: Fleet,
    inputs: BulkInstancesValues,
    wanted: list[str],
    count: int,
    members: Iterable[Instance],
    refusal: ApiError,
) -> list[str]:
    """Return free names for a creation that Google refused because others have the names; none if that is not why.

    Args:
        context: the engine's call.
        fleet: the fleet that the instances were to join.
        inputs: its inputs.
        wanted: the names of the request; empty if Google was to give them.
        count: how many instances it asked for.
        members: the members of the fleet.
        refusal: Google's answer.

    Raises:
        NamesExhaustedError: the fleet's name pattern has too few.
        ApiError: the same refusal with the instances that have the names, if the fleet names its members.
    """
    pattern = text(inputs, "namePattern")
    if context.is_blocked and isinstance(refusal, Conflict):
        raise refusal.with_hint(how_to_manage(context, fleet.resource_id, "choose other names"))
    if not isinstance(refusal, (Conflict, Rejected) if pattern else Conflict):
        return []
    try:
        in_use = _names_in_use(
            context, fleet, pattern_expression(pattern) if pattern else "|".join(map(re.escape, wanted))
        )
    except ApiError:
        return []
    others = _are_no_members(in_use - {member["name"] for member in members})
    kept = [name for name in wanted if name not in in_use]
    if pattern and (len(kept) < len(wanted) or (not wanted and runs_out(pattern, in_use, count))):
        try:
            return kept + free_names(pattern, in_use | {*kept}, count - len(kept))
        except NamesExhaustedError:
            raise NamesExhaustedError(pattern, in_use, count, others) from None
    if others and isinstance(refusal, Conflict):
        raise refusal.with_hint(
            f"perInstanceProperties: {others}; choose other names, or delete or import these instances"
        )
    return []


def names_across_zones(inputs: BulkInstancesValues, members: Iterable[Instance], count: int) -> list[str]:
    """Return the names of new instances if members are in zones that a request cannot use; otherwise none.

    Args:
        inputs: the inputs that the request is written from.
        members: the members that exist.
        count: the number of new instances.
    """
    pattern, members = text(inputs, "namePattern"), list(members)
    places = Places.of(inputs)
    if not pattern or all(map(places.allows, zones_of(members))):
        return []
    in_use = {member["name"] for member in members}
    return next_names(pattern, in_use, count)
