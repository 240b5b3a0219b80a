"""The properties of a fleet: those of a bulk creation request, and outputs that describe the members.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.bulk_insert_status import LocationStatus
from gcpx.compute.bulk_instances import bulk_insert_rules, count_and_name_rules, membership_rules, source_template_rules
from gcpx.compute.bulk_instances.fleet_id import FLEET_ID, FLEET_ID_SOURCE
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import PROJECT, REGION, ZONE
from gcpx.model.rules import Violation, nested, one_required, rule

_METHOD: Final = "regionInstances.bulkInsert"
_HOSTNAME: Final = (
    re.compile(r"(?=.{1,253}$)[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+"),
    "a fully qualified domain name of lower-case labels, each 1 to 63 characters (RFC 1035)",
)


@record
class PerInstanceProperties(Record):
    """Properties of one instance. A change deletes the instance and creates it again."""

    hostname: str = field(
        "The instance's host name, fully qualified (RFC 1035), such as `web-a.example.com`. Default: a name that Google derives from the instance's name.",
        pattern=_HOSTNAME,
        source=rest("instances", "hostname"),
    )
    name: str = output_field("A temporary field of Google's API; do not use it.")


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


@record
class InstanceSelection(Record):
    """Machine types to choose from."""

    disks: list[AttachedDisk] = field(
        "The disks of instances that are created with this selection. Default: the disks of `instanceProperties`."
    )
    machine_types: list[str] = field("The names of the machine types, such as `[n2-standard-4]`.", identity="set")
    min_cpu_platform: str = field(
        "The oldest CPU platform to run on, such as `Intel Ice Lake`; instances may run on newer ones."
    )
    rank: int = field("The rank, such as `1`. Selections with lower ranks are tried first. Default: `0`.", int64=True)


@record
class InstanceFlexibilityPolicy(Record):
    """Alternative machine types, from which Google chooses by capacity and quota."""

    instance_selections: dict[str, InstanceSelection] = field(
        "Selections of machine types, each under a name of your choice (RFC 1035), such as `{small: {machineTypes: [e2-small]}}`."
    )


@record
class Member(Record):
    """One instance of the fleet."""

    external_address: str = output_field(
        "The external IPv4 address of the first network interface; missing if it has none."
    )
    id: str = output_field("The numeric ID that Google assigned to the instance.", always=True)
    internal_address: str = output_field("The internal IPv4 address of the first network interface.")
    name: str = output_field("The instance's name.", always=True)
    self_link: str = output_field("The instance's URL.", always=True)
    status: str = output_field("The instance's state, such as `RUNNING`.", always=True)
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)


@record
class BulkInstancesModel(Record):
    """A fleet of similar instances in one region, created in one call (`bulkInsert`) and kept at a given number.

    A higher `count` creates the additional instances in one more call; a lower one deletes the instances with the
    highest numbers. With `perInstanceProperties`, the fleet has exactly the named instances. `count`, `minCount`,
    `perInstanceProperties`, `locationPolicy`, and the labels, tags and metadata in `instanceProperties` change in
    place; every other change replaces the fleet.

    gcpx finds the members by their label `gcpx-bulk`, unless `fleetId` says otherwise. Lost members appear as drift in
    a refresh, and the next `pulumi up` creates new ones. If fewer than `count` but at least `minCount` instances can be
    created, the fleet is created with a warning. `createdCount` is the number of instances that exist.
    """

    RULES = (
        one_required("instanceProperties", "sourceInstanceTemplate", source=rest(_METHOD, "instanceProperties")),
        count_and_name_rules.names_come_from_a_pattern_or_a_list,
        count_and_name_rules.instance_names_are_valid,
        count_and_name_rules.count_is_the_number_of_names,
        count_and_name_rules.min_count_is_at_most_count,
        count_and_name_rules.name_pattern_is_valid,
        count_and_name_rules.name_pattern_has_enough_digits,
        source_template_rules.source_is_not_a_machine_image,
        source_template_rules.regional_template_is_in_the_region,
        source_template_rules.boot_disk_is_required,
        source_template_rules.template_labels_are_removed_one_by_one,
        source_template_rules.overrides_are_not_empty,
        membership_rules.tracking_label_is_reserved,
        membership_rules.membership_label_is_kept,
        membership_rules.membership_names_are_kept,
        bulk_insert_rules.boot_disks_are_not_from_snapshots,
        bulk_insert_rules.sole_tenant_nodes_are_not_used,
        bulk_insert_rules.customer_supplied_keys_are_not_used,
        bulk_insert_rules.machine_type_is_a_bare_name,
    )

    count: int = field(
        "The number of instances, such as `3`. Required with `namePattern`. Default with `perInstanceProperties`: their number, which is the only one allowed. Must be at least 1. Changes in place.",
        int64=True,
        minimum=1,
        source=rest(_METHOD, "count"),
    )
    created_count: int = output_field("The number of instances that exist.", volatile=True, always=True)
    fleet_id: str = field(
        "The ID by which gcpx finds the members: the value of their label `gcpx-bulk`, such as `web-1a2b3c4`; another label, as `labels/KEY=VALUE`; or their names, as `namePattern/PATTERN`. Default: a label value generated from the resource's name.",
        always=True,
        in_url=True,
        pattern=FLEET_ID,
        source=FLEET_ID_SOURCE,
    )
    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Alternative machine types, from which Google chooses by capacity and quota, such as `{instanceSelections: {small: {machineTypes: [e2-small]}}}`.",
        write_only=True,
    )
    instance_properties: InstanceProperties = field(
        "The properties of the instances. Required without `sourceInstanceTemplate`; with it, they override the template's properties by JSON Merge Patch (RFC 7396), so a null removes a property of the template. Write nulls in a Python dict, because typed classes and YAML programs drop them. `labels`, `tags` and `metadata` change in place.",
        write_only=True,
        patches="sourceInstanceTemplate",
    )
    location_policy: LocationPolicy = field(
        "The zones in which instances may be created, such as `{zones: [{zone: zones/us-east1-b}]}`. Default: Google chooses one zone for all instances. Changes in place, for instances that are created later.",
        write_only=True,
    )
    members: list[Member] = output_field("The instances, ordered by name.", volatile=True, always=True)
    min_count: int = field(
        "The minimum number of instances, such as `2`: if fewer can be created, the creation fails and is rolled back. With `0`, one instance is enough. Default: `count`, which is also the maximum. Changes in place.",
        int64=True,
        minimum=0,
        write_only=True,
        source=rest(_METHOD, "minCount"),
    )
    name_pattern: str = field(
        "The pattern of the instances' names, such as `web-####`: one run of at most 18 `#` stands for the number, which continues after the highest number in use. Requires `count`. Conflicts with `perInstanceProperties`.",
        write_only=True,
    )
    operation_group_id: str = output_field("The ID of the operation group of the last creation.", volatile=True)
    per_instance_properties: dict[str, PerInstanceProperties] = field(
        "The instances to create, by name, with their own properties, such as `{web-a: {hostname: web-a.example.com}}`. Conflicts with `namePattern`. Changes in place: added instances are created, removed ones are deleted, and those whose properties change are deleted and created again."
    )
    per_location_status: dict[str, LocationStatus] = output_field(
        "The result of the last creation, by location, such as `zones/us-east1-b`.", volatile=True
    )
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.",
        always=True,
        in_url=True,
        pattern=PROJECT,
    )
    region: str = field(
        "The region, such as `us-east1`. Default: the provider's region.",
        always=True,
        in_url=True,
        pattern=REGION,
        normalize=name_of,
    )
    source_instance_template: str = field(
        "The instance template to create instances from, such as `global/instanceTemplates/web`, or its URL, with or without `?uniqueId=`. A regional template must be in the fleet's region.",
        url="global/instanceTemplates",
        write_only=True,
    )


@record
class BulkInstancesQuery(Record):
    """Which fleets to list."""

    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.", pattern=PROJECT
    )
    region: str = field(
        "List only the fleets in this region, such as `us-east1`. Default: those of all regions.", pattern=REGION
    )
