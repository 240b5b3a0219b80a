"""The names that a name pattern gives: one for each number from 1 to the highest with as many digits as it has #.

Google numbers new instances after the highest number in use in the zones of a request, and refuses a creation that
needs higher numbers than the pattern has, even if lower ones are free.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

import attrs

from gcpx.compute.bulk_instances.capacity import Demand, FleetSize
from gcpx.compute.bulk_instances.fleet import Fleet, Instance, pattern_expression, region_of
from gcpx.compute.bulk_instances.zones import Places, zones_of
from gcpx.compute.listing import ImportableResources
from gcpx.errors import ProviderError
from gcpx.gcp.errors import ApiError, Conflict, Rejected
from gcpx.gcp.list_method import scopes_in
from gcpx.model.fields import text
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import name_of
from gcpx.model.resource import Context

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues


_NAMED: Final = 3


class NamesExhaustedError(ProviderError):
    """A name pattern has too few names for the instances to create."""

    def __init__(self, pattern: str, in_use: Collection[str], missing: int, others: str = "") -> None:
        """Say which names are in use; `others` names instances that are no members and have such names."""
        highest = max(fitting_names(pattern, in_use), default="none")
        super().__init__(
            f"namePattern: {pattern} has too few names for {missing:,} more {'instance' if missing == 1 else 'instances'}: it gives at most "
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


@attrs.frozen
class NamesInUse:
    """The names that the instances of a region have, as far as a creation that Google refused could use them.

    Attributes:
        pattern: the fleet's name pattern; empty if it names each member.
        wanted: the names of the request; empty if Google was to give them.
        found: the names in use.
        others: those of them that are not names of members.
    """

    pattern: str
    wanted: list[str]
    found: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(
        cls, context: Context, fleet: Fleet, inputs: BulkInstancesValues, wanted: list[str], members: Iterable[Instance]
    ) -> NamesInUse:
        """List the instances whose names fit; raises `ApiError` if they cannot be listed."""
        pattern = text(inputs, "namePattern")
        expression = pattern_expression(pattern) if pattern else "|".join(map(re.escape, wanted))
        instances = ImportableResources(
            google=fleet.google,
            project=fleet.project,
            version="v1",
            collection="instances",
            fields="name,zone",
            filter=f"name eq {expression}",
            needs=scopes_in(fleet.region),
        )
        found = {item["name"] for item in instances.read_all(context) if region_of(item) == fleet.region}
        known = {member["name"] for member in members}
        return cls(pattern, wanted, frozenset(found), frozenset(found - known))

    def free(self, missing: int) -> list[str]:
        """Return names for the missing instances that nobody has; none if other names would not help.

        Raises:
            NamesExhaustedError: the pattern has too few.
        """
        taken = self.found.intersection(self.wanted)
        if not self.pattern or not (taken or (not self.wanted and runs_out(self.pattern, self.found, missing))):
            return []
        kept = [name for name in self.wanted if name not in taken]
        try:
            return kept + free_names(self.pattern, self.found | {*kept}, missing - len(kept))
        except NamesExhaustedError:
            raise NamesExhaustedError(self.pattern, self.found, missing, self.others_in_words) from None

    @property
    def others_in_words(self) -> str:
        """Name the instances that are no members, if there are any."""
        named = sorted(self.others)
        more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
        are = "is not a member" if len(named) == 1 else "are not members"
        return f"{', '.join(named[:_NAMED])}{more} {are} of this fleet" if named else ""


def names_beside_others(
    context: Context,
    fleet: Fleet,
    inputs: BulkInstancesValues,
    demand: Demand,
    members: Iterable[Instance],
    refusal: ApiError,
) -> list[str]:
    """Return free names for a creation that Google refused because others have the names; none if that is not why.

    Raises:
        NamesExhaustedError: the fleet's name pattern has too few.
        ApiError: the same refusal with the instances that have the names, if the fleet names its members.
    """
    if context.is_blocked and isinstance(refusal, Conflict):
        raise refusal.with_hint(how_to_manage(context, fleet.resource_id, "choose other names"))
    if not isinstance(refusal, Conflict | Rejected):
        return []
    if not text(inputs, "namePattern") and not isinstance(refusal, Conflict):
        return []
    try:
        names = NamesInUse.of(context, fleet, inputs, demand.names, members)
    except ApiError:
        return []
    free = names.free(demand.count)
    if not free and names.others and isinstance(refusal, Conflict):
        raise refusal.with_hint(
            f"perInstanceProperties: {names.others_in_words}; choose other names, or delete or import these instances"
        )
    return free


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
