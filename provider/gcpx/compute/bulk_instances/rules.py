"""Rules across the properties of a fleet."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from gcpx.compute.bulk_instances.capacity import (
    FALLBACKS,
    FleetSize,
    InstanceFlexibilityPolicy,
    Placement,
    Places,
    number_of_names,
    placement_room,
    with_fallback,
)
from gcpx.compute.bulk_instances.member import (
    FALLBACK_LABEL,
    FLEET_ID_SOURCE,
    RESERVED_LABELS,
    TRACKING_LABEL,
    Level,
    level_named,
    membership_labels,
    membership_pattern,
    pattern_expression,
)
from gcpx.compute.bulk_instances.plan import Policy
from gcpx.compute.instance_properties.disks import NO_CUSTOMER_KEYS, ZONAL_DISK, customer_keys
from gcpx.compute.instance_properties.network_interfaces import own_addresses
from gcpx.compute.instance_properties.properties import InstanceProperties, boot_disk_is_missing
from gcpx.compute.reference import BULK_CREATION, FLEX_START_VMS, NAME, NAMES, PLACEMENT_POLICIES, rest
from gcpx.model.check import check
from gcpx.model.fields import (
    Failure,
    Finder,
    ListOf,
    MapOf,
    ObjectType,
    Scalar,
    Type,
    elements,
    nested,
    number,
    object_type,
    requirement,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer, as_integer_or_percentage
from gcpx.model.values import UNKNOWN, Path, format_path, has_unknown

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AttachedDiskValues,
        BulkInstancesValues,
        FallbackValues,
        InstancePropertiesValues,
        InstanceSelectionValues,
        LocationPolicyValues,
        SchedulingValues,
        UpdatePolicyValues,
    )

_SNAPSHOTS: Final = ("sourceSnapshot", "sourceInstantSnapshot")


@requirement_of_each(
    "initializeParams.sourceSnapshot and sourceInstantSnapshot",
    "must not be set on a boot disk of a fleet, because bulk creation does not support it: use sourceImage",
    BULK_CREATION,
)
def boot_disks_are_not_from_snapshots(values: BulkInstancesValues) -> Iterator[Path]:
    for path, disk in _disks(values):
        for name in _SNAPSHOTS if disk.get("boot") is True else ():
            if nested(disk, "initializeParams").get(name) is not None:
                yield (*path, "initializeParams", name)


def _disks(values: BulkInstancesValues) -> Iterator[tuple[Path, AttachedDiskValues]]:
    """Yield the disks of the instance properties and of each selection of machine types, with their paths."""
    selections = nested(nested(values, "instanceFlexibilityPolicy"), "instanceSelections")
    owners: list[tuple[Path, InstancePropertiesValues | InstanceSelectionValues]] = [
        (("instanceProperties",), nested(values, "instanceProperties")),
        *((("instanceFlexibilityPolicy", "instanceSelections", name), nested(selections, name)) for name in selections),
    ]
    for path, owner in owners:
        for index, disk in elements(owner, "disks"):
            yield (*path, "disks", index), disk


@requirement(
    "instanceProperties.scheduling.nodeAffinities",
    "must be left out of a fleet: bulk creation does not support sole-tenant nodes",
    BULK_CREATION,
)
def sole_tenant_nodes_are_not_used(values: BulkInstancesValues) -> bool:
    return not nested(nested(values, "instanceProperties"), "scheduling").get("nodeAffinities")


@requirement_of_each("instanceProperties.disks[].diskEncryptionKey", NO_CUSTOMER_KEYS, BULK_CREATION)
def customer_supplied_keys_are_not_used(values: BulkInstancesValues) -> Iterator[Path]:
    return customer_keys("instanceProperties", values)


@requirement(
    "instanceProperties.machineType",
    "must be a bare name, not a URL: write only the part after the last slash",
    rest("regionInstances.bulkInsert", "instanceProperties.machineType"),
)
def machine_type_is_a_bare_name(values: BulkInstancesValues) -> bool:
    return "/" not in text(nested(values, "instanceProperties"), "machineType")


_MAX_DIGITS: Final = 18
_MAX_NAME_LENGTH: Final = 63
_PATTERN: Final = rest("regionInstances.bulkInsert", "namePattern")


@rule("", "either namePattern with count, or perInstanceProperties, must be set", _PATTERN)
def names_come_from_a_pattern_or_a_list(values: BulkInstancesValues) -> list[Failure]:
    names, pattern = values.get("perInstanceProperties"), values.get("namePattern")
    if names and pattern:
        return [Failure("namePattern", "conflicts with perInstanceProperties: set only one of them")]
    if not names and not pattern:
        return [Failure("", "needs one of namePattern or perInstanceProperties")]
    return [Failure("count", "is required with namePattern")] if pattern and values.get("count") is None else []


@requirement_of_each(
    "each key of perInstanceProperties", f"must be an instance name: {NAME.words}", NAMES, about="perInstanceProperties"
)
def instance_names_are_valid(values: BulkInstancesValues) -> Iterator[Path]:
    for name in nested(values, "perInstanceProperties"):
        if not NAME.pattern.fullmatch(name):
            yield ("perInstanceProperties", name)


@rule(
    "count",
    "must be the number of perInstanceProperties, 0, or left out",
    rest("regionInstances.bulkInsert", "count"),
    about="perInstanceProperties",
)
def count_is_the_number_of_names(values: BulkInstancesValues) -> list[Failure]:
    names, count = nested(values, "perInstanceProperties"), as_integer(values.get("count"))
    if not names or count in {None, 0, len(names)}:
        return []
    return [Failure("count", f"must be the number of perInstanceProperties, {len(names)}, or 0, or left out")]


@rule("minCount", "must be at most count", rest("regionInstances.bulkInsert", "minCount"), about="minCount")
def min_count_is_at_most_count(values: BulkInstancesValues) -> list[Failure]:
    """Refuse a minimum that the fleet never reaches; a parked fleet, with count 0, may keep its minimum for later."""
    size = FleetSize.of(values)
    if not size.wanted or size.minimum <= size.wanted:
        return []
    return [Failure("minCount", f"must be at most count, {size.wanted}")]


@rule("namePattern", "must have one run of at most 18 #, and give names of 1 to 63 characters (RFC 1035)", _PATTERN)
def name_pattern_is_valid(values: BulkInstancesValues) -> list[Failure]:
    pattern = values.get("namePattern")
    if not isinstance(pattern, str):
        return []
    runs = re.findall("#+", pattern)
    if len(runs) != 1:
        return [Failure("namePattern", "must have one run of #, one # for each digit, such as web-####")]
    if len(runs[0]) > _MAX_DIGITS:
        return [Failure("namePattern", f"must have at most {_MAX_DIGITS} #, not {len(runs[0])}")]
    if not re.fullmatch(r"[a-z]([-a-z0-9#]*[a-z0-9#])?", pattern) or len(pattern) > _MAX_NAME_LENGTH:
        return [Failure("namePattern", "must give names of 1 to 63 lower-case letters, digits and hyphens (RFC 1035)")]
    return []


@rule("namePattern", "must have enough # for count", _PATTERN)
def name_pattern_has_enough_digits(values: BulkInstancesValues) -> list[Failure]:
    """Refuse a pattern with fewer numbers than the fleet has instances; numbers begin at 1."""
    count, runs = FleetSize.of(values).wanted, re.findall("#+", text(values, "namePattern"))
    most = number_of_names(runs[0]) if len(runs) == 1 else count
    if count <= most:
        return []
    words = f"must have more #: {runs[0]} gives at most {most:,} names, but count is {count:,}"
    return [Failure("namePattern", words)]


_LABELS: Final = ("instanceProperties", "labels")


@rule(
    "",
    f"instanceProperties.labels and fleetId must not name the labels {', '.join(sorted(RESERVED_LABELS))}, which are reserved for gcpx",
    FLEET_ID_SOURCE,
)
def gcpx_labels_are_reserved(values: BulkInstancesValues) -> list[Failure]:
    words = "must not be set, because gcpx sets this label: remove it"
    labels = nested(nested(values, "instanceProperties"), "labels")
    failures: list[Failure] = [Failure((*_LABELS, name), words) for name in sorted(RESERVED_LABELS & labels.keys())]
    fleet_id = text(values, "fleetId")
    for name, value in membership_labels(fleet_id).items():
        if fleet_id.startswith("labels/") and name in RESERVED_LABELS:
            better = f"must be {value}, without labels/{name}=, which is the default"
            other = f"must not be labels/{name}=VALUE, because gcpx sets this label: choose another label"
            failures.append(Failure("fleetId", better if name == TRACKING_LABEL else other))
    return failures


@rule(
    "", "a fleet whose fleetId is labels/KEY=VALUE must have this label in instanceProperties.labels", FLEET_ID_SOURCE
)
def membership_label_is_kept(values: BulkInstancesValues) -> list[Failure]:
    """Require the label of `fleetId`; labels that are not known yet are checked once they are known."""
    properties, fleet_id = values.get("instanceProperties"), text(values, "fleetId")
    labels = properties.get("labels") if isinstance(properties, dict) else properties
    if labels is UNKNOWN or not fleet_id.startswith("labels/"):
        return []
    labels = labels if isinstance(labels, dict) else {}
    words = "gcpx finds the members by this label; to use another label, change fleetId, which replaces the fleet"
    return [
        Failure((*_LABELS, key), f"must be {value or 'empty'}: {words}")
        for key, value in membership_labels(fleet_id).items()
        if key not in RESERVED_LABELS and labels.get(key) not in {value, UNKNOWN}
    ]


@rule("", "a fleet whose fleetId is namePattern/PATTERN must keep names that match it", FLEET_ID_SOURCE)
def membership_names_are_kept(values: BulkInstancesValues) -> list[Failure]:
    wanted, pattern = membership_pattern(text(values, "fleetId")), values.get("namePattern")
    if wanted is None:
        return []
    words = "gcpx finds the members by their names; to change the names, change fleetId, which replaces the fleet"
    names = nested(values, "perInstanceProperties")
    failures: list[Failure] = [
        Failure(("perInstanceProperties", name), f"must fit {wanted}: {words}")
        for name in names
        if not re.fullmatch(pattern_expression(wanted), name)
    ]
    if isinstance(pattern, str) and pattern != wanted:
        failures.append(Failure("namePattern", f"must be {wanted}: {words}"))
    return failures


_INSTANCE: Final = "instanceProperties"
_MOST_SECONDS: Final = 604_800
"""Seven days."""


def _of_all_alternatives(find: Callable[[BulkInstancesValues], list[Failure]]) -> Finder:
    """Let a rule also find what is wrong with the properties that result from each fallback."""

    @functools.wraps(find)
    def find_in_all(values: BulkInstancesValues) -> list[Failure]:
        own = find(values)
        return own + [
            Failure(("fallbacks", index), f"does not fit: {format_path(failure.path)} {failure.reason}")
            for index, fallback in elements(values, "fallbacks")
            for failure in find(with_fallback(values, fallback))
            if failure not in own
        ]

    return find_in_all


@rule(
    "",
    "FLEX_START requires maxRunDuration of at most 7 days, and excludes SPECIFIC_RESERVATION and MIGRATE",
    FLEX_START_VMS,
)
@_of_all_alternatives
def flex_start_has_a_run_limit(values: BulkInstancesValues) -> list[Failure]:
    properties = nested(values, "instanceProperties")
    scheduling = nested(properties, "scheduling")
    if scheduling.get("provisioningModel") != "FLEX_START":
        return []
    failures = _missing_run_limit(values, scheduling)
    if nested(properties, "reservationAffinity").get("consumeReservationType") == "SPECIFIC_RESERVATION":
        words = "must not be SPECIFIC_RESERVATION with FLEX_START, which does not use reservations"
        failures.append(Failure(f"{_INSTANCE}.reservationAffinity.consumeReservationType", words))
    if scheduling.get("onHostMaintenance") == "MIGRATE":
        failures.append(Failure(f"{_INSTANCE}.scheduling.onHostMaintenance", "must be TERMINATE with FLEX_START"))
    return failures


def _missing_run_limit(values: BulkInstancesValues, scheduling: SchedulingValues) -> list[Failure]:
    """Find a missing run limit, which a template may have, or one that is too long."""
    limits = [scheduling.get(name) for name in ("maxRunDuration", "terminationTime")]
    if values.get("sourceInstanceTemplate") is None and all(limit is None for limit in limits):
        words = "is required with FLEX_START: set how long the instances run, at most 7 days"
        return [Failure(f"{_INSTANCE}.scheduling.maxRunDuration", words)]
    seconds = number(nested(scheduling, "maxRunDuration"), "seconds")
    if seconds is None or seconds <= _MOST_SECONDS:
        return []
    words = f"must be at most {_MOST_SECONDS:,} (7 days) with FLEX_START"
    return [Failure(f"{_INSTANCE}.scheduling.maxRunDuration.seconds", words)]


@rule(
    "",
    "RESERVATION_BOUND requires reservationAffinity with SPECIFIC_RESERVATION",
    rest("instances", "scheduling.provisioningModel"),
)
@_of_all_alternatives
def bound_instances_name_a_reservation(values: BulkInstancesValues) -> list[Failure]:
    properties = nested(values, "instanceProperties")
    if nested(properties, "scheduling").get("provisioningModel") != "RESERVATION_BOUND":
        return []
    affinity = properties.get("reservationAffinity")
    named = nested(properties, "reservationAffinity").get("consumeReservationType")
    may_be_in_template = affinity is None and values.get("sourceInstanceTemplate") is not None
    if named in {"SPECIFIC_RESERVATION", UNKNOWN} or affinity is UNKNOWN or may_be_in_template:
        return []
    words = "must be SPECIFIC_RESERVATION with RESERVATION_BOUND, so that the reservation is known"
    return [Failure(f"{_INSTANCE}.reservationAffinity.consumeReservationType", words)]


_TEMPLATE: Final = rest("regionInstances.bulkInsert", "sourceInstanceTemplate")
_PROPERTIES: Final = rest("regionInstances.bulkInsert", "instanceProperties")


@rule("", "a regional sourceInstanceTemplate must be in the fleet's region", _TEMPLATE, about="sourceInstanceTemplate")
def regional_template_is_in_the_region(values: BulkInstancesValues) -> list[Failure]:
    link, region = text(values, "sourceInstanceTemplate"), name_of(text(values, "region"))
    found = re.search(r"(?:^|/)regions/([^/]+)/instanceTemplates/", link)
    if found is None or not region or found[1] == region:
        return []
    return [Failure("sourceInstanceTemplate", f"must be global or in the fleet's region {region}, not in {found[1]}")]


@rule("", "instanceProperties must have a boot disk, unless sourceInstanceTemplate has one", _PROPERTIES)
def boot_disk_is_required(values: BulkInstancesValues) -> list[Failure]:
    properties = values.get("instanceProperties")
    if values.get("sourceInstanceTemplate") is not None or not isinstance(properties, dict):
        return []
    return [failure.below("instanceProperties") for failure in boot_disk_is_missing(properties)]


@requirement(
    "instanceProperties.labels",
    "must not be null, because gcpx marks members with labels: to remove labels, set each of their keys to null",
    _TEMPLATE,
    about="sourceInstanceTemplate",
)
def template_labels_are_removed_one_by_one(values: BulkInstancesValues) -> bool:
    return nested(values, "instanceProperties").get("labels", {}) is not None


@rule(
    "",
    "objects in instanceProperties that override a template should not be empty",
    _TEMPLATE,
    about="sourceInstanceTemplate",
    warns=True,
)
def overrides_are_not_empty(values: BulkInstancesValues) -> list[Failure]:
    """Warn about an empty object, which usually remains after an SDK has dropped nulls."""
    words = (
        "is empty, so it changes nothing in the template: leave it out, or, if the program has a null here, write it "
        "in a Python dict, because YAML programs and the SDK's typed classes drop nulls"
    )
    return [Failure(path, words) for path in _empty_objects(values.get("instanceProperties"), ("instanceProperties",))]


def _empty_objects(value: Any, path: Path) -> Iterator[Path]:
    if value == {}:
        yield path
    for name, item in value.items() if isinstance(value, dict) else ():
        yield from _empty_objects(item, (*path, name))


_CAPACITY: Final = ("machineType", "minCpuPlatform", "reservationAffinity")


@rule(
    "",
    "a fallback must fit instanceProperties: merged with it, they must still follow their own rules",
    FALLBACKS,
    about="fallbacks",
)
def fallbacks_fit_the_instance_properties(values: BulkInstancesValues) -> list[Failure]:
    own = set(_own_failures(values))
    return [
        Failure(("fallbacks", index), f"does not fit instanceProperties: {format_path(failure.path)} {failure.reason}")
        for index, fallback in elements(values, "fallbacks")
        for failure in _own_failures(with_fallback(values, fallback))
        if failure not in own
    ]


def _own_failures(inputs: BulkInstancesValues) -> list[Failure]:
    properties = inputs.get("instanceProperties")
    return check(object_type(InstanceProperties), properties).failures if isinstance(properties, dict) else []


@rule(
    "",
    "a fallback must set something, and differ from the fleet and from the fallbacks before it",
    FALLBACKS,
    about="fallbacks",
)
def fallbacks_differ(values: BulkInstancesValues) -> list[Failure]:
    tried = [("the fleet itself", _capacity(values))]
    failures: list[Failure] = []
    for index, fallback in elements(values, "fallbacks"):
        capacity = _capacity(with_fallback(values, fallback))
        same = next((name for name, earlier in tried if earlier == capacity), None)
        if same is not None and not has_unknown(capacity):
            failures.append(Failure(("fallbacks", index), f"must differ from {same}, which asks for the same capacity"))
        tried.append((f"fallbacks[{index}]", capacity))
    return failures


def _capacity(inputs: BulkInstancesValues) -> dict[str, Any]:
    """Return what decides which capacity the instances use, in a form that can be compared."""
    properties = nested(inputs, "instanceProperties")
    scheduling = nested(properties, "scheduling")
    default = None if inputs.get("sourceInstanceTemplate") is not None else "STANDARD"
    policy = nested(inputs, "locationPolicy")
    return {
        **{name: properties.get(name) for name in _CAPACITY},
        "instanceFlexibilityPolicy": inputs.get("instanceFlexibilityPolicy"),
        "locations": policy.get("locations"),
        "provisioningModel": "SPOT" if scheduling.get("preemptible") else scheduling.get("provisioningModel", default),
        "zones": _zone_names(policy),
    }


def _zone_names(policy: LocationPolicyValues) -> Any:
    """Return the names of the zones of a location policy in one order; UNKNOWN if one of them is not known."""
    zones = [item.get("zone") for _, item in elements(policy, "zones")]
    if policy.get("zones") is UNKNOWN or not all(isinstance(zone, str) for zone in zones):
        return UNKNOWN
    return sorted(map(name_of, zones))


_METHOD_OF_ZONES: Final = rest("regionInstances.bulkInsert", "locationPolicy.locations")


@rule("", "zones of fallbacks must be in the fleet's region", FALLBACKS, about="fallbacks")
def fallback_zones_are_in_the_region(values: BulkInstancesValues) -> list[Failure]:
    region = name_of(text(values, "region"))
    return [
        Failure(("fallbacks", index, "zones", place), f"must be a zone of {region}, the fleet's region")
        for index, fallback in elements(values, "fallbacks")
        for place, zone in enumerate(_zones(fallback))
        if region and isinstance(zone, str) and not name_of(zone).startswith(f"{region}-")
    ]


@rule("", "zones of locationPolicy must be in the fleet's region", _METHOD_OF_ZONES, about="locationPolicy")
def zones_are_in_the_region(values: BulkInstancesValues) -> list[Failure]:
    region, policy = name_of(text(values, "region")), nested(values, "locationPolicy")
    named: list[tuple[Path, str]] = [
        *((("locationPolicy", "locations", name), name) for name in nested(policy, "locations")),
        *(
            (("locationPolicy", "zones", index, "zone"), text(item, "zone"))
            for index, item in elements(policy, "zones")
        ),
    ]
    return [
        Failure(path, f"must be a zone of {region}, the fleet's region")
        for path, zone in named
        if region and zone and not name_of(zone).startswith(f"{region}-")
    ]


_PLACED: Final = re.compile(r"(?:.*/)?(?:regions|zones)/([^/]+)/[^/]+/[^/]+")


@rule(
    "",
    "regional and zonal resources in instanceProperties, instanceFlexibilityPolicy and placement must be in the fleet's region",
    _PROPERTIES,
)
def links_are_in_the_region(values: BulkInstancesValues) -> list[Failure]:
    region = name_of(text(values, "region"))
    owners = object_type(InstanceProperties), object_type(InstanceFlexibilityPolicy), object_type(Placement)
    names = ("instanceProperties", "instanceFlexibilityPolicy", "placement")
    failures: list[Failure] = []
    for name, owner in zip(names, owners, strict=True) if region else ():
        for path, link in _links(owner, values.get(name), (name,)):
            place = _PLACED.fullmatch(link)
            if place and place[1] != region and not place[1].startswith(f"{region}-"):
                failures.append(Failure(path, f"must be in {region}, the fleet's region, not in {place[1]}"))
    return failures


def _links(kind: Type, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the links in a value, with their paths."""
    if isinstance(kind, ObjectType) and isinstance(value, dict):
        for name, item in value.items():
            prop = kind.inputs.get(name)
            if prop is not None and (prop.traits.url or not isinstance(prop.type, Scalar)):
                yield from _links(prop.type, item, (*path, name))
    elif isinstance(kind, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _links(kind.item, item, (*path, index))
    elif isinstance(kind, MapOf) and isinstance(value, dict):
        for key, item in value.items():
            yield from _links(kind.item, item, (*path, key))
    elif isinstance(value, str):
        yield path, value


@rule(
    "",
    "existing zonal disks must be in a zone that locationPolicy and fallbacks allow, and one of replicaZones must be such a zone",
    rest("instances", "disks[].initializeParams.replicaZones"),
    about="locationPolicy",
)
def disks_are_in_allowed_zones(values: BulkInstancesValues) -> list[Failure]:
    places = Places.of(values)
    others = [zone for _, fallback in elements(values, "fallbacks") for zone in _zones(fallback)]
    if _zone_names(nested(values, "locationPolicy")) is UNKNOWN or not all(isinstance(zone, str) for zone in others):
        return []
    also = set(map(name_of, others))

    def is_allowed(zone: str) -> bool:
        return zone in also or places.allows(zone)

    failures: list[Failure] = []
    for path, disk in _disks(values):
        zonal = ZONAL_DISK.fullmatch(text(disk, "source"))
        if zonal and not is_allowed(zonal[1]):
            failures.append(
                Failure((*path, "source"), f"must be in a zone that locationPolicy allows, which {zonal[1]} is not")
            )
        replicas = nested(disk, "initializeParams").get("replicaZones") or []
        is_known = isinstance(replicas, list) and all(isinstance(zone, str) for zone in replicas)
        if is_known and replicas and not any(map(is_allowed, map(name_of, replicas))):
            words = "must include a zone that locationPolicy allows, because one of them is the zone of the instance"
            failures.append(Failure((*path, "initializeParams", "replicaZones"), words))
    return failures


@requirement_of_each(
    "each networkIP, ipv6Address, natIP and externalIpv6",
    "must be left out of a fleet of at least two instances, because only one of them can have this address",
    rest("instances", "networkInterfaces[].networkIP"),
)
def addresses_are_for_one_instance(values: BulkInstancesValues) -> Iterator[Path]:
    if FleetSize.of(values).minimum > 1:
        for index, interface in elements(nested(values, "instanceProperties"), "networkInterfaces"):
            for path in own_addresses(interface):
                yield ("instanceProperties", "networkInterfaces", index, *path)


@requirement(
    "instanceProperties.networkInterfaces",
    "must have at least one element, such as one with the network `default`, or sourceInstanceTemplate must have one",
    _PROPERTIES,
)
def network_interface_is_required(values: BulkInstancesValues) -> bool:
    properties = values.get("instanceProperties")
    has_template = values.get("sourceInstanceTemplate") is not None
    return has_template or not isinstance(properties, dict) or bool(properties.get("networkInterfaces"))


@requirement(
    "instanceProperties.labels",
    f"must not be null with fallbacks, because their members get the label {FALLBACK_LABEL}: to remove labels, set each of their keys to null",
    FALLBACKS,
    about="fallbacks",
)
def fallback_labels_can_be_set(values: BulkInstancesValues) -> bool:
    return not values.get("fallbacks") or nested(values, "instanceProperties").get("labels", {}) is not None


def _zones(fallback: FallbackValues) -> list[Any]:
    zones = fallback.get("zones")
    return zones if isinstance(zones, list) else []


SOURCE: Final = "[Fleets: the settings of updatePolicy](../fleets.md#the-settings-of-updatepolicy)"
"""The source of rules about update policies, which gcpx defines itself, as a link from `docs/reference`."""


@requirement(
    "maxUnavailable", "must be at least 1 if maxSurge is 0, because no member could be changed otherwise", SOURCE
)
def replacing_needs_an_instance_to_spare(values: UpdatePolicyValues) -> bool:
    surge = values.get("maxSurge")
    return not _is_zero(values.get("maxUnavailable")) or not (surge is None or _is_zero(surge))


@requirement("maxSurge", "must be 0 with keepNames, because the old instance has to free its name first", SOURCE)
def names_are_kept_without_surge(values: UpdatePolicyValues) -> bool:
    return values.get("keepNames") is not True or not has_surge(values)


@rule("minimalAction", "must not be more disruptive than mostDisruptiveAction", SOURCE)
def least_action_is_not_above_the_most(values: UpdatePolicyValues) -> list[Failure]:
    most = level_named(text(values, "mostDisruptiveAction"), Level.REPLACE)
    if level_named(text(values, "minimalAction"), Level.REFRESH) <= most:
        return []
    return [Failure("minimalAction", f"must not be more disruptive than mostDisruptiveAction, which is {most.name}")]


def has_surge(policy: UpdatePolicyValues) -> bool:
    """Return whether an update policy allows more members than `count`; false if that is unknown or malformed."""
    surge = policy.get("maxSurge")
    return as_integer_or_percentage(surge) is not None and not _is_zero(surge)


def _is_zero(value: Any) -> bool:
    return as_integer_or_percentage(value) in {0, "0%"}


_ENABLING: Final = "enable-guest-attributes"
"""The metadata key that enables guest attributes."""


@rule("", "namePattern must have room for count and maxSurge", SOURCE, about="updatePolicy")
def surge_fits_the_name_pattern(values: BulkInstancesValues) -> list[Failure]:
    names = number_of_names(text(values, "namePattern"))
    if not names or has_unknown(values.get("updatePolicy")):
        return []
    policy = Policy.of(values)
    if not policy.surge or policy.wanted > names or policy.wanted + policy.surge <= names:
        return []
    words = f"must leave room in namePattern, which has {names:,} names: use at most {names - policy.wanted:,}, or a pattern with more #"
    return [Failure("updatePolicy.maxSurge", words)]


@rule("", "placement must have room for count and maxSurge", PLACEMENT_POLICIES, about="updatePolicy")
def surge_fits_the_placement(values: BulkInstancesValues) -> list[Failure]:
    if has_unknown(values.get("updatePolicy")):
        return []
    policy, room = Policy.of(values), placement_room(values)
    if room is None or not policy.surge or policy.wanted > room or policy.wanted + policy.surge <= room:
        return []
    words = f"must leave room in placement, which takes {room:,} members: use at most {room - policy.wanted:,}, or name more policies"
    return [Failure("updatePolicy.maxSurge", words)]


@requirement(
    "updatePolicy.maxSurge",
    "must be 0 with perInstanceProperties, which names every instance",
    SOURCE,
    about="updatePolicy",
)
def named_fleets_have_no_surge(values: BulkInstancesValues) -> bool:
    return not values.get("perInstanceProperties") or not has_surge(nested(values, "updatePolicy"))


_ACTIONS_SOURCE: Final = "[Fleets: restart or replace members](../fleets.md#restart-or-replace-members)"


@rule(
    "rollingAction.action",
    "must not need more than updatePolicy.mostDisruptiveAction",
    _ACTIONS_SOURCE,
    about="rollingAction",
)
def actions_are_allowed_by_the_policy(values: BulkInstancesValues) -> list[Failure]:
    most = level_named(text(nested(values, "updatePolicy"), "mostDisruptiveAction"), Level.REPLACE)
    if level_named(text(nested(values, "rollingAction"), "action"), Level.NONE) <= most:
        return []
    words = f"must not need more than updatePolicy.mostDisruptiveAction, which is {most.name}"
    return [Failure("rollingAction.action", words)]


@requirement(
    "rollingAction.members",
    "conflicts with updatePolicy.pauseAfter, which counts all members: remove one of them",
    _ACTIONS_SOURCE,
    about="rollingAction",
)
def chosen_members_exclude_a_pause(values: BulkInstancesValues) -> bool:
    given, pause = nested(values, "rollingAction"), nested(values, "updatePolicy").get("pauseAfter")
    return not given.get("members") or pause is None


@requirement(
    "updatePolicy.ready.guestAttribute",
    f"requires the metadata {_ENABLING}: TRUE, in instanceProperties or in the project",
    SOURCE,
    about="updatePolicy",
    warns=True,
)
def guest_attributes_are_enabled(values: BulkInstancesValues) -> bool:
    properties = nested(values, "instanceProperties")
    is_asked = text(nested(nested(values, "updatePolicy"), "ready"), "guestAttribute")
    if not is_asked or has_unknown(properties.get("metadata")) or values.get("sourceInstanceTemplate"):
        return True
    items = elements(nested(properties, "metadata"), "items")
    return any(item.get("key") == _ENABLING and text(item, "value").upper() == "TRUE" for _, item in items)
