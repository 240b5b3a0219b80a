"""What a fleet is declared by: the request of a bulk creation, and what is told of its members.

Source: Compute API, `BulkInsertInstanceResource` and the objects below it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_instances import bulk_rules
from gcpx.compute.bulk_instances.membership_rules import label_stays, names_stay, tracking_label_is_ours
from gcpx.compute.bulk_instances.overrides import labels_are_removed_one_by_one, overrides_hold_something
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.compute.instance_properties.encryption_keys import no_customer_keys
from gcpx.compute.names import NAME
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer
from gcpx.model.places import PROJECT, REGION, ZONE
from gcpx.model.rules import Failure, nested, one_required, rule

_LONGEST_RUN: Final = 18
_LONGEST_NAME: Final = 63
_HOSTNAME: Final = (
    re.compile(r"(?=.{1,253}$)[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+"),
    "a fully qualified domain name of lower-case labels, each 1 to 63 characters (RFC 1035)",
)
FLEET_ID: Final = (
    re.compile(r"[a-z0-9][-_a-z0-9]{0,62}|labels/[a-z][-_a-z0-9]{0,62}=[-_a-z0-9]{0,63}|namePattern/[-a-z0-9#]{1,63}"),
    "a label value of lower-case letters, digits, hyphens and underscores, labels/KEY=VALUE or namePattern/PATTERN",
)


@record
class PerInstanceProperties(Record):
    """What is an instance's own."""

    hostname: str = field(
        "The host name, fully qualified (RFC 1035). Default: derived from the instance's name.",
        pattern=_HOSTNAME,
        source="compute 4.3",
    )
    name: str = field("Temporary in Google's API, and never set.", output=True)


@record
class LocationConstraints(Record):
    """Bounds of a location."""

    max_count: int = field(
        "The maximum number of instances in the location, at least 0.", minimum=0, source="compute 4.3"
    )


@record
class LocationPolicyLocation(Record):
    """One location."""

    constraints: LocationConstraints = field("Bounds of the location.")
    preference: str = field("`ALLOW` or `DENY`.", enum=("ALLOW", "DENY"), closed=True, source="compute 4.3")


@record
class LocationPolicyZone(Record):
    """One zone to choose from."""

    zone: str = field("The zone, as a URL or `zones/Z`.", required=True, pattern=ZONE, normalize=name_of)


@rule("keys of locations are zones, written zones/ZONE", "compute 4.3")
def _locations_are_zones(values: dict[str, Any]) -> list[Failure]:
    wrong = (name for name in nested(values, "locations") if "zones/" not in name or not ZONE[0].fullmatch(name))
    return [(("locations", name), "must be written zones/ZONE") for name in wrong]


@record
class LocationPolicy(Record):
    """Where instances may be made."""

    RULES = (_locations_are_zones,)

    locations: dict[str, LocationPolicyLocation] = field("Preferences by zone, written `zones/ZONE`.")
    target_shape: str = field(
        "How instances are spread over zones. Default: `ANY_SINGLE_ZONE`.",
        enum=("ANY", "ANY_SINGLE_ZONE", "BALANCED"),
        default="ANY_SINGLE_ZONE",
        source="compute 4.3",
    )
    zones: list[LocationPolicyZone] = field("The zones to choose from.", identity=("zone",))


@record
class InstanceSelection(Record):
    """One choice of machine types."""

    disks: list[AttachedDisk] = field("Disks of instances created with this selection, instead of the other disks.")
    machine_types: list[str] = field("Machine types by name.", identity="set")
    min_cpu_platform: str = field("The oldest processor platform.")
    rank: int = field("The rank of the selection; lower comes first.", int64=True)


@record
class InstanceFlexibilityPolicy(Record):
    """Other machine types to use when the first is not available."""

    instance_selections: dict[str, InstanceSelection] = field("Selections by name.")


@record
class Member(Record):
    """One instance of the fleet."""

    external_address: str = field("The external IPv4 address, if there is one.", output=True)
    id: str = field("The numeric ID that Google assigned to the instance.", output=True, always=True)
    internal_address: str = field("The internal IPv4 address.", output=True)
    name: str = field("The instance's name.", output=True, always=True)
    self_link: str = field("The instance's URL.", output=True, always=True)
    status: str = field("The instance's state, such as `RUNNING`.", output=True, always=True)
    zone: str = field("The zone's name.", output=True, always=True)


@record
class LocationStatus(Record):
    """What the last creation came to in one location."""

    created_vm_count: int = field("Instances created.", output=True)
    deleted_vm_count: int = field("Instances deleted again.", output=True)
    failed_to_create_vm_count: int = field("Instances that could not be created.", output=True)
    status: str = field("`CREATING`, `ROLLING_BACK` or `DONE`.", output=True)
    target_vm_count: int = field("Instances that were requested.", output=True)


@rule("either namePattern with count, or perInstanceProperties", "compute 4.3")
def _names_or_pattern(values: dict[str, Any]) -> list[Failure]:
    names, pattern = values.get("perInstanceProperties"), values.get("namePattern")
    if names and pattern:
        return [("namePattern", "conflicts with perInstanceProperties: set only one of them")]
    if not names and not pattern:
        return [("", "needs one of namePattern or perInstanceProperties")]
    return [("count", "is required with namePattern")] if pattern and values.get("count") is None else []


@rule("keys of perInstanceProperties are instance names: 1 to 63 characters (RFC 1035)", "compute 2.1, 4.3")
def _names_are_names(values: dict[str, Any]) -> list[Failure]:
    names = nested(values, "perInstanceProperties")
    wrong = (name for name in names if not NAME[0].fullmatch(name))
    return [(("perInstanceProperties", name), f"must be an instance name: {NAME[1]}") for name in wrong]


@rule("minCount is at most count, and count is the number of perInstanceProperties", "compute 4.3")
def _counts_fit(values: dict[str, Any]) -> list[Failure]:
    names = values.get("perInstanceProperties")
    count, least = as_integer(values.get("count")), as_integer(values.get("minCount"))
    failures: list[Failure] = []
    if names and isinstance(names, dict) and count is not None and count != len(names):
        failures.append(("count", f"must be the number of perInstanceProperties, {len(names)}, or left out"))
    total = count if count is not None else len(names) if isinstance(names, dict) else None
    if total is not None and least is not None and least > total:
        failures.append(("minCount", f"must be at most count, {total}"))
    return failures


@rule(
    "namePattern has one run of at most 18 #, enough for count, and gives names of 1 to 63 characters (RFC 1035)",
    "compute 4.3, 8",
)
def _pattern_serves(values: dict[str, Any]) -> list[Failure]:
    pattern, count = values.get("namePattern"), as_integer(values.get("count"))
    if not isinstance(pattern, str):
        return []
    runs = re.findall("#+", pattern)
    if len(runs) != 1:
        return [("namePattern", f"must have one run of #, as long as the number of digits, not {len(runs)} runs")]
    if len(runs[0]) > _LONGEST_RUN:
        return [("namePattern", f"must have at most {_LONGEST_RUN} #, not {len(runs[0])}")]
    if not re.fullmatch(r"[a-z]([-a-z0-9#]*[a-z0-9#])?", pattern) or len(pattern) > _LONGEST_NAME:
        return [("namePattern", "must give names of 1 to 63 lower-case letters, digits and hyphens (RFC 1035)")]
    if count is not None and count > 10 ** len(runs[0]) - 1:
        most = 10 ** len(runs[0]) - 1
        return [
            ("namePattern", f"must have more #: {len(runs[0])} # give at most {most:,} names, but count is {count:,}")
        ]
    return []


@rule("bulk creation does not support customer-supplied keys", "compute 2.2")
def _keys_are_googles(values: dict[str, Any]) -> list[Failure]:
    return no_customer_keys("instanceProperties", values)


@record
class BulkInstancesModel(Record):
    """A fleet of alike instances in one region, made in one call (`bulkInsert`) and kept at its size.

    A higher `count` makes the difference in one more call; a lower one deletes the highest-numbered instances. With
    `perInstanceProperties` just the named ones are added and removed. Labels, tags and metadata change on the running
    instances. Any other change of what instances are made of replaces the fleet. Members carry the label `gcpx-bulk`;
    one that is lost shows as drift of `count` and is made again by the next `up`. When fewer than `count` but no less
    than `minCount` can be made, the fleet is created with a warning, and `createdCount` says how many there are.
    """

    RULES = (
        one_required("instanceProperties", "sourceInstanceTemplate"),
        _names_or_pattern,
        _names_are_names,
        _counts_fit,
        _pattern_serves,
        _keys_are_googles,
        labels_are_removed_one_by_one,
        overrides_hold_something,
        tracking_label_is_ours,
        label_stays,
        names_stay,
        bulk_rules.boots_from_no_snapshot,
        bulk_rules.is_on_no_node,
        bulk_rules.machine_is_a_bare_name,
        bulk_rules.needs_a_boot_disk,
        bulk_rules.template_is_of_the_region,
    )

    count: int = field(
        "The number of instances to create. Default: the number of `perInstanceProperties`.",
        int64=True,
        minimum=1,
        source="compute 4.3",
    )
    created_count: int = field("The number of instances that exist.", output=True, volatile=True, always=True)
    fleet_id: str = field(
        "How gcpx finds the members: the value of their label `gcpx-bulk`, or for an imported fleet `labels/KEY=VALUE` or `namePattern/PATTERN`. Default: generated from the resource's name.",
        always=True,
        param=True,
        pattern=FLEET_ID,
    )
    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Other machine types to use when the first is not available.", write_only=True
    )
    instance_properties: InstanceProperties = field(
        "The properties of the instances, merged into those of `sourceInstanceTemplate` by JSON Merge Patch (RFC 7396), so that a null in them removes what the template has. Python programs write nulls in a dict; the typed classes and YAML programs drop nulls.",
        write_only=True,
        patches="sourceInstanceTemplate",
    )
    location_policy: LocationPolicy = field(
        "Where instances may be created; a change applies to instances created from then on.", write_only=True
    )
    members: list[Member] = field("The instances, ordered by name.", output=True, volatile=True, always=True)
    min_count: int = field(
        "The minimum number of instances: if fewer can be created, all are deleted again. 0 accepts any number, but at least one. Default: `count`.",
        int64=True,
        minimum=0,
        write_only=True,
        source="compute 4.3",
    )
    name_pattern: str = field(
        "The name pattern, with one run of at most 18 # for the number, such as `web-####`. Numbering continues after the highest number in use.",
        write_only=True,
    )
    operation_group_id: str = field("The operation group of the last creation.", output=True, volatile=True)
    per_instance_properties: dict[str, PerInstanceProperties] = field(
        "Properties of single instances, by instance name."
    )
    per_location_status: dict[str, LocationStatus] = field(
        "The result of the last creation, by location.", output=True, volatile=True
    )
    project: str = field("The project. Default: the provider's.", always=True, param=True, pattern=PROJECT)
    region: str = field(
        "The region. Default: the provider's.", always=True, param=True, pattern=REGION, normalize=name_of
    )
    source_instance_template: str = field(
        "The template to create instances from, as a full or partial URL, also with `?uniqueId=`.",
        url="global/instanceTemplates",
        write_only=True,
    )


@record
class BulkInstancesQuery(Record):
    """Which fleets to list."""

    project: str = field("The project. Default: the provider's.", pattern=PROJECT)
    region: str = field("Only fleets in this region. Default: in all regions.", pattern=REGION)
