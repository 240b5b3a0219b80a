"""How many instances a fleet gets, and which: their names, machine types, fallbacks, placement, requests and zones.

A name pattern gives one name for each number from 1 to the highest with as many digits as it has #. Google numbers new
instances after the highest number in use in the zones of a request, and refuses a creation that needs higher numbers
than the pattern has, even if lower ones are free.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from gcpx.compute.bulk_instances.member import FALLBACK_LABEL, Instance, hash_for_label, name_order, pattern_expression
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.compute.instance_properties.machines import MACHINE_TYPE, ReservationAffinity
from gcpx.compute.reference import NAME, PLACEMENT_POLICIES, rest
from gcpx.errors import ProviderError
from gcpx.model.fields import (
    Failure,
    Record,
    chosen,
    elements,
    exclusive,
    field,
    nested,
    record,
    requirement,
    requirement_of_each,
    rule,
    text,
    without,
)
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.patterns import ZONE
from gcpx.model.values import Path, has_unknown
from gcpx.model.words import counted

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        BulkInstancesValues,
        FallbackValues,
        InstanceFlexibilityPolicyValues,
        InstanceSelectionValues,
        PlacementValues,
        SchedulingValues,
    )


@attrs.frozen
class FleetSize:
    """How many instances a fleet should have.

    Attributes:
        wanted: `count` or, without it, the number of `perInstanceProperties`; 0 for a parked fleet, or if the number is
            not known.
        minimum: `minCount`, the fewest instances that a creation may end with; the same as `wanted` without `minCount`,
            and for a parked fleet.
    """

    wanted: int
    minimum: int

    @classmethod
    def of(cls, inputs: BulkInstancesValues) -> FleetSize:
        """Read the size from a fleet's inputs; unknown and malformed values count as missing."""
        count, minimum = as_integer(inputs.get("count")), as_integer(inputs.get("minCount"))
        wanted = len(nested(inputs, "perInstanceProperties")) if count is None else count
        return cls(wanted, wanted if minimum is None or is_parked(inputs) else minimum)


def is_parked(inputs: BulkInstancesValues) -> bool:
    """Return whether a fleet's inputs ask for no instances: it exists in the state only, until its `count` is raised."""
    return as_integer(inputs.get("count")) == 0


def with_members(inputs: BulkInstancesValues, members: Iterable[Instance]) -> BulkInstancesValues:
    """Return a fleet's inputs, changed so that they ask for these members only: others may have been lost."""
    names, existing = inputs.get("perInstanceProperties"), [member["name"] for member in members]
    if names is None:
        return {**inputs, "count": len(existing)}
    named: BulkInstancesValues = {**inputs, "perInstanceProperties": {name: names.get(name) or {} for name in existing}}
    return {**named, "count": len(existing)} if inputs.get("count") is not None else named


def number_of_names(pattern: str) -> int:
    """Return how many names a pattern gives.

    >>> number_of_names("web-##")
    99
    """
    return int(10 ** pattern.count("#")) - 1


def fitting_names(pattern: str, names: Collection[str]) -> set[str]:
    """Return the names that fit a pattern; they sort by number, because all have the same length."""
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


def names_taken_over(free: Iterable[str], count: int) -> list[str]:
    """Return which free names new members take over, if the program keeps or lists names: the lowest numbers.

    >>> names_taken_over(["web-10", "web-9"], 1)
    ['web-9']
    """
    return sorted(free, key=name_order)[:count]


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


class NamesExhaustedError(ProviderError):
    """A name pattern has too few names for the instances to create."""

    def __init__(self, pattern: str, in_use: Collection[str], missing: int, others: str = "") -> None:
        """Say which names are in use; `others` names instances that are no members and have such names."""
        highest = max(fitting_names(pattern, in_use), default="none")
        super().__init__(
            f"namePattern: {pattern} has too few names for {counted(missing, 'more instance')}: it gives at most "
            f"{number_of_names(pattern):,}, new instances are numbered after the existing ones, and the highest name in "
            f"use is {highest}{f'; {others}' if others else ''}. If this is a replacement, set the resource option deleteBeforeReplace; otherwise choose "
            "a namePattern with more #, or a different one"
        )


@requirement_of_each(
    "machineTypes[]",
    "must be a bare name, not a URL: write only the part after the last slash",
    rest("regionInstances.bulkInsert", "instanceFlexibilityPolicy.instanceSelections.machineTypes[]"),
)
def selected_machine_types_are_bare_names(values: InstanceSelectionValues) -> Iterator[Path]:
    names = values.get("machineTypes")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and "/" in name:
            yield ("machineTypes", index)


@record
class InstanceSelection(Record):
    """Machine types to choose from."""

    RULES = (selected_machine_types_are_bare_names,)

    disks: list[AttachedDisk] = field(
        "The disks of instances that are created with this selection. Default: the disks of `instanceProperties`."
    )
    machine_types: list[str] = field("The names of the machine types, such as `[n2-standard-4]`.", identity="set")
    min_cpu_platform: str = field(
        "The oldest CPU platform to run on, such as `Intel Ice Lake`; instances may run on newer ones."
    )
    rank: int = field(
        "The rank, such as `1`. Selections with lower ranks are tried first. Default: `0`.", int64=True, default=0
    )


@requirement_of_each(
    "each key of instanceSelections",
    f"must be a name: {NAME.words}",
    rest("regionInstances.bulkInsert", "instanceFlexibilityPolicy.instanceSelections"),
)
def selections_have_names(values: InstanceFlexibilityPolicyValues) -> Iterator[Path]:
    for name in nested(values, "instanceSelections"):
        if not NAME.pattern.fullmatch(name):
            yield ("instanceSelections", name)


@record
class InstanceFlexibilityPolicy(Record):
    """Alternative machine types, from which Google chooses by capacity and quota."""

    RULES = (selections_have_names,)

    instance_selections: dict[str, InstanceSelection] = field(
        "Selections of machine types, each under a name of your choice (RFC 1035), such as `{small: {machineTypes: [e2-small]}}`."
    )


FALLBACKS: Final = "[Fleets: capacity](../fleets.md#capacity)"
"""The source of rules about fallbacks, which gcpx defines itself, as a link from `docs/reference`."""


@requirement(
    "machineType",
    "must be a bare name, not a URL: write only the part after the last slash",
    rest("regionInstances.bulkInsert", "instanceProperties.machineType"),
)
def fallback_machine_type_is_a_bare_name(values: FallbackValues) -> bool:
    return "/" not in text(values, "machineType")


@record
class Fallback(Record):
    """What is different for the instances that are created with this fallback; everything else is as in the fleet."""

    HINTS: ClassVar = {
        "*": "must be left out: a fallback changes only capacity; all other properties are the same for all instances, and are set in instanceProperties"
    }
    RULES = (
        fallback_machine_type_is_a_bare_name,
        exclusive("machineType", "instanceFlexibilityPolicy", source=FALLBACKS),
    )

    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Alternative machine types, from which Google chooses. They replace the fleet's. Conflicts with `machineType`."
    )
    machine_type: str = field(
        "The name of the machine type, such as `n2d-standard-4`. It also replaces the fleet's `instanceFlexibilityPolicy`.",
        pattern=MACHINE_TYPE,
    )
    min_cpu_platform: str = field("The oldest CPU platform to run on, such as `Intel Ice Lake`.")
    provisioning_model: str = field(
        "How capacity is provisioned: `STANDARD`, `SPOT`, `FLEX_START` or `RESERVATION_BOUND`, as in `scheduling`. Settings that apply only to the fleet's own model are left out: `preemptible`, `preemptionNoticeDuration`, and, with `STANDARD` and without a run limit, `instanceTerminationAction`.",
        enum=("FLEX_START", "RESERVATION_BOUND", "SPOT", "STANDARD"),
    )
    reservation_affinity: ReservationAffinity = field(
        "The reservations that the instances consume, such as `{consumeReservationType: NO_RESERVATION}`."
    )
    zones: list[str] = field(
        "The zones in which the instances may be created, such as `[us-east1-c]`. They replace `zones` and `locations` of the fleet's `locationPolicy`.",
        pattern=ZONE,
        identity="set",
        normalize=name_of,
    )


MOST_INSTANCES: Final = 1500
"""The most instances that Google allows in any compact placement policy."""
DEFAULT_SIZE: Final = 150
"""The size of groups if the user sets none; policies with a maximum distance of 1 allow fewer."""


@requirement_of_each(
    "policies[]", "must differ from the policies before it: each policy is one group", PLACEMENT_POLICIES
)
def placement_policies_differ(values: PlacementValues) -> Iterator[Path]:
    given = values.get("policies")
    names = [name_of(item) if isinstance(item, str) else None for item in given] if isinstance(given, list) else []
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield ("policies", index)


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
    members_per_policy: int = field(
        f"The maximum number of members that share one policy, such as `22`: at least 1, at most {MOST_INSTANCES:,}. What Google allows depends on the policy's maximum distance (22 with 1, 256 with 2, {MOST_INSTANCES:,} with 3) and on the machine type. Default: {DEFAULT_SIZE}.",
        minimum=1,
        maximum=MOST_INSTANCES,
        source=PLACEMENT_POLICIES,
    )


@rule(
    "",
    "placement must have enough policies for count: each takes at most membersPerPolicy members",
    PLACEMENT_POLICIES,
    about="placement",
)
def placement_has_room_for_all(values: BulkInstancesValues) -> list[Failure]:
    room, wanted = placement_room(values), FleetSize.of(values).wanted
    if room is None or wanted <= room:
        return []
    words = f"must name more policies: these have room for {room:,} members, but count is {wanted:,}"
    return [Failure(("placement", "policies"), words)]


def placement_room(values: BulkInstancesValues) -> int | None:
    """Return how many members fit into the groups of a fleet; None if it has none, or if that is not known."""
    placement = nested(values, "placement")
    policies, size = placement.get("policies"), placement.get("membersPerPolicy")
    each = as_integer(size) if size is not None else DEFAULT_SIZE
    return len(policies) * each if isinstance(policies, list) and policies and each is not None else None


MOST_OF_REQUEST: Final = 5000
"""The most instances that Google creates in one request."""


@attrs.frozen(kw_only=True)
class Batch:
    """The instances that one request creates.

    Attributes:
        count: how many.
        names: their names; empty if the fleet's name pattern gives them.
        later: how many instances later requests of the same attempt create.
        policy: the name of the placement policy that they share; empty without `placement`.
        zone: the name of the zone of the members that share it already; empty if there are none.
    """

    count: int
    names: list[str]
    later: int
    policy: str = ""
    zone: str = ""


def batches(inputs: BulkInstancesValues, members: list[Instance], missing: int, names: list[str]) -> Iterator[Batch]:
    """Divide missing instances into requests: as few as possible, and at least one for each placement policy.

    `members` already share the policies.
    """
    most = as_integer(nested(inputs, "placement").get("membersPerPolicy")) or DEFAULT_SIZE
    for policy in map(name_of, nested(inputs, "placement").get("policies") or [""]):
        zones = [
            name_of(item["zone"]) for item in members if policy in map(name_of, item.get("resourcePolicies") or ())
        ]
        room = min(missing, max(0, most - len(zones))) if policy else missing
        while room > 0:
            count = min(room, MOST_OF_REQUEST)
            room, missing = room - count, missing - count
            zone = zones[0] if zones else ""
            yield Batch(count=count, names=names[:count], later=missing, policy=policy, zone=zone)
            names = names[count:]


@rule(
    "",
    "placement requires the targetShape ANY_SINGLE_ZONE and fallbacks without zones",
    PLACEMENT_POLICIES,
    about="placement",
)
def placement_groups_stay_in_one_zone(values: BulkInstancesValues) -> list[Failure]:
    if not nested(values, "placement"):
        return []
    failures: list[Failure] = []
    if text(nested(values, "locationPolicy"), "targetShape") not in {"", "ANY_SINGLE_ZONE"}:
        words = "must be ANY_SINGLE_ZONE with placement, because the members of a group are in one zone"
        failures.append(Failure(("locationPolicy", "targetShape"), words))
    words = "must be left out with placement, because a group that has members stays in their zone"
    failures += [
        Failure(("fallbacks", index, "zones"), words)
        for index, item in elements(values, "fallbacks")
        if item.get("zones")
    ]
    return failures


OWN: Final = -1
"""The index of the fleet's own properties, in place of a fallback's index."""
_LABEL: Final = re.compile(r"(\d{1,9})(?:-[0-9a-f]+)?")
"""A fallback's index in the list when it was used, and a hash of what the fallback changes on its members."""


def index_of_fallback(label: str) -> int:
    """Return the index of the fallback that a member was created with, from its label; -1 without one.

    >>> index_of_fallback("2-99914b93"), index_of_fallback("")
    (2, -1)
    """
    found = _LABEL.fullmatch(label)
    return int(found[1]) if found else OWN


def _hash(fallback: FallbackValues) -> str:
    """Hash what a fallback changes on its members, which is everything but their zones."""
    changes = {name: value for name, value in fallback.items() if name != "zones" and value is not None}
    return hash_for_label(json.dumps(changes, sort_keys=True))


def labels_of_fallback(index: int, fallback: FallbackValues) -> dict[str, str]:
    """Return the labels that show which fallback a member was created with."""
    return {FALLBACK_LABEL: f"{index}-{_hash(fallback)}"}


def inputs_of_member(inputs: BulkInstancesValues, label: str) -> BulkInstancesValues | None:
    """Return the inputs with which a member was created, by its label of a fallback, which may be empty.

    None if its fallback is not in the list any more, so that it is not known what the fallback has changed.
    """
    if index_of_fallback(label) == OWN:
        return inputs
    unchanged: list[FallbackValues] = [{}]
    known = [*unchanged, *(inputs.get("fallbacks") or ())]
    used = next((item for item in known if label.endswith(f"-{_hash(item)}")), None)
    return None if used is None else with_fallback(inputs, used)


def with_fallback(inputs: BulkInstancesValues, fallback: FallbackValues) -> BulkInstancesValues:
    """Return the inputs of a fleet with what a fallback changes in them; both may hold unknowns."""
    properties, merged = nested(inputs, "instanceProperties"), inputs.copy()
    same = ("machineType", "minCpuPlatform", "reservationAffinity")
    changed: Any = chosen(fallback, [name for name in same if fallback.get(name) is not None])
    if fallback.get("provisioningModel") is not None:
        changed["scheduling"] = _provisioned(nested(properties, "scheduling"), fallback["provisioningModel"])
    if changed:
        merged["instanceProperties"] = {**properties, **changed}
    if fallback.get("machineType") is not None or fallback.get("instanceFlexibilityPolicy") is not None:
        policy: Any = fallback.get("instanceFlexibilityPolicy")
        merged["instanceFlexibilityPolicy"] = policy
    if fallback.get("zones"):
        zones: Any = fallback["zones"]
        if isinstance(zones, list):
            zones = [{"zone": f"zones/{name_of(zone)}" if isinstance(zone, str) else zone} for zone in zones]
        merged["locationPolicy"] = {**without(nested(inputs, "locationPolicy"), ("locations",)), "zones": zones}
    return merged


def _provisioned(scheduling: SchedulingValues, model: Any) -> SchedulingValues:
    """Return scheduling with another provisioning model, and without settings that only the previous one has.

    Removed settings are null, so that they are removed from a template's scheduling, too.
    """
    removed = [] if model == "SPOT" else ["preemptible", "preemptionNoticeDuration"]
    if model == "STANDARD" and not any(scheduling.get(name) for name in ("maxRunDuration", "terminationTime")):
        removed.append("instanceTerminationAction")
    nulls: Any = dict.fromkeys(removed)
    return {**scheduling, "provisioningModel": model, **nulls}


_SINGLE: Final = "ANY_SINGLE_ZONE"
_UNLIMITED: Final = 10**9


@attrs.frozen(kw_only=True)
class Places:
    """A location policy.

    Only `zones` excludes the zones that it does not list. A zone that `locations` allows excludes no other:
    gcloud's help of `--location-policy` and Google's Cluster Toolkit say so.

    Attributes:
        shape: the target shape.
        listed: the zones that `zones` lists; empty if it allows all zones of the region, except the denied ones.
        denied: the zones that may not be used.
        most: how many members a zone may have, for zones with a limit.
        named: all zones that it names.
    """

    shape: str = _SINGLE
    listed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    most: Mapping[str, int] = attrs.Factory(dict)
    named: frozenset[str] = frozenset()

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
        listed = frozenset(name_of(text(item, "zone")) for _, item in elements(policy, "zones")) - {""}
        return cls(
            shape=text(policy, "targetShape") or _SINGLE,
            listed=listed,
            denied=frozenset(name for name, preference in preferences.items() if preference == "DENY"),
            most={name: limit for name, limit in limits.items() if limit is not None},
            named=listed | preferences.keys(),
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
        """Divide new members among zones, so that all members are balanced now, and the staying ones in the end.

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
    usable = set(filter(places.allows, places.listed))
    fallbacks = elements(values, "fallbacks")
    are_elsewhere = has_unknown(values.get("fallbacks")) or any(item.get("zones") for _, item in fallbacks)
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
    only: Any = [{"zone": name} for name in locations]
    return {**inputs, "locationPolicy": {"zones": only, "locations": locations, "targetShape": "ANY"}}


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
