"""The properties of a fleet: those of a bulk creation request, and outputs that describe the members.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`.
"""

from __future__ import annotations

import re
from typing import Final

from gcpx.compute.bulk_insert_status import LocationStatus
from gcpx.compute.bulk_instances import (
    bulk_insert_rules,
    count_and_name_rules,
    membership_rules,
    provisioning_rules,
    source_template_rules,
)
from gcpx.compute.bulk_instances.creation import fallback_rules
from gcpx.compute.bulk_instances.creation.fallbacks import Fallback
from gcpx.compute.bulk_instances.creation.placement import (
    Placement,
    placement_groups_stay_in_one_zone,
    placement_has_room_for_all,
)
from gcpx.compute.bulk_instances.creation.shortfalls import Shortfall
from gcpx.compute.bulk_instances.fleet_id import FLEET_ID, FLEET_ID_SOURCE
from gcpx.compute.bulk_instances.health import HEALTH_SOURCE
from gcpx.compute.bulk_instances.instance_flexibility import InstanceFlexibilityPolicy
from gcpx.compute.bulk_instances.location_policy import LocationPolicy
from gcpx.compute.bulk_instances.members import Member
from gcpx.compute.bulk_instances.rollout import fleet_rules
from gcpx.compute.bulk_instances.rollout.declaration import LostMember, UpdatePolicy
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import PROJECT, REGION
from gcpx.model.rules import one_required

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
class BulkInstancesModel(Record):
    """A fleet of similar instances in one region, created in one call (`bulkInsert`) and kept at a given number.

    A higher `count` creates the additional instances in one more call; a lower one deletes the instances with the
    highest numbers, and `0` parks the fleet: it has no instances, and stays in the state. With
    `perInstanceProperties`, the fleet has exactly the named instances. The inputs that say how gcpx manages the fleet
    (`count`, `minCount`, `perInstanceProperties`, `locationPolicy`, `fallbacks`, `placement`, `onStopped`,
    `updatePolicy`) change in place. A change of labels, tags or metadata in `instanceProperties` reaches the running
    members; `updatePolicy` decides what any other change of the instances' properties does. Every other
    change replaces the fleet.

    gcpx finds the members by their label `gcpx-bulk`, unless `fleetId` says otherwise. gcpx leaves alone
    instances that have the label but that this resource has neither created nor imported, and lists them in a warning.
    `pulumi up` alone compares the program with the state. What happens to the members outside Pulumi, such as a preemption or a deletion, is seen by
    `pulumi up --refresh`, or by `pulumi refresh` before `pulumi up`: deleted members are created again, and
    `onStopped` says what happens to stopped ones. If fewer than `count` but at least `minCount` instances can be
    created, the fleet is created with a warning, and `shortfalls` says why; instances that cannot be created with the
    fleet's own properties are created with its `fallbacks`, in their order. `createdCount` is the number of instances
    that exist, and `runningCount` is the number of those that are not stopped.
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
        membership_rules.gcpx_labels_are_reserved,
        membership_rules.membership_label_is_kept,
        membership_rules.membership_names_are_kept,
        fleet_rules.surge_fits_the_name_pattern,
        fleet_rules.named_fleets_have_no_surge,
        fleet_rules.rolling_fleets_keep_a_label,
        fleet_rules.guest_attributes_are_enabled,
        bulk_insert_rules.boot_disks_are_not_from_snapshots,
        bulk_insert_rules.sole_tenant_nodes_are_not_used,
        bulk_insert_rules.customer_supplied_keys_are_not_used,
        bulk_insert_rules.machine_type_is_a_bare_name,
        provisioning_rules.flex_start_has_a_run_limit,
        provisioning_rules.bound_instances_name_a_reservation,
        fallback_rules.fallbacks_fit_the_instance_properties,
        fallback_rules.fallbacks_differ,
        fallback_rules.fallback_zones_are_in_the_region,
        fallback_rules.fallback_labels_can_be_set,
        placement_has_room_for_all,
        placement_groups_stay_in_one_zone,
    )

    count: int = field(
        "The number of instances, such as `3`. Required with `namePattern`. Default with `perInstanceProperties`: their number; the only other value allowed is `0`. `0` parks the fleet: all instances are deleted, and the fleet stays in the state, with `minCount` and `perInstanceProperties` kept for later. Changes in place.",
        int64=True,
        minimum=0,
        source=rest(_METHOD, "count"),
    )
    created_count: int = output_field(
        "The number of instances that exist, whether they run or are stopped.", volatile=True, always=True
    )
    fallbacks: list[Fallback] = field(
        "What to try, in this order, for instances that could not be created, such as `[{zones: [us-east1-c]}, {provisioningModel: STANDARD}]`: each is used in one more creation of the instances that are still missing. Changes in place; applies only to instances that are created later.",
        unsent=True,
    )
    fleet_id: str = field(
        "The ID by which gcpx finds the members: the value of their label `gcpx-bulk`, such as `web-1a2b3c4`; another label, as `labels/KEY=VALUE`; or their names, as `namePattern/PATTERN`. With `labels/...` or `namePattern/...`, a refresh adds every matching instance to the fleet. Default: a label value generated from the resource's name.",
        always=True,
        in_url=True,
        pattern=FLEET_ID,
        source=FLEET_ID_SOURCE,
    )
    generation: str = output_field(
        "The generation that members of a fleet with `strategy: ROLLING` have after the update: hashes of the instances' properties, which each member has as its label `gcpx-generation`.",
        volatile=True,
    )
    instance_flexibility_policy: InstanceFlexibilityPolicy = field(
        "Alternative machine types, from which Google chooses by capacity and quota, such as `{instanceSelections: {small: {machineTypes: [e2-small]}}}`.",
        write_only=True,
    )
    instance_properties: InstanceProperties = field(
        "The properties of the instances. Required without `sourceInstanceTemplate`; with it, they override the template's properties by JSON Merge Patch (RFC 7396), so a null removes a property of the template. Nulls can be written in Python, in a dict; typed classes of the SDKs and programs in YAML drop them. `labels`, `tags` and `metadata` change in place.",
        write_only=True,
        patches="sourceInstanceTemplate",
    )
    location_policy: LocationPolicy = field(
        "The zones in which instances may be created, such as `{zones: [{zone: zones/us-east1-b}]}`. Default: Google chooses one zone for all instances. Changes in place; applies only to instances that are created later.",
        write_only=True,
    )
    lost_members: list[LostMember] = output_field(
        "The members that no longer exist, in a fleet that keeps names. The next update creates them again under the same names.",
        volatile=True,
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
        "The pattern of the instances' names, such as `web-####`: one run of at most 18 `#` stands for the number. New instances are numbered after the highest number in use; if no higher numbers are left when the fleet grows, the lowest free ones are used. Requires `count`. Conflicts with `perInstanceProperties`.",
        write_only=True,
    )
    on_stopped: str = field(
        "What an update does with members that are stopped or suspended, whoever stopped them: `START` starts them, `REPLACE` deletes them and creates new ones, `KEEP` leaves them stopped, and they still count towards `count`. Stopped members are noticed by `pulumi up --refresh` or `pulumi refresh`. Default: `START`. Changes in place.",
        enum=("START", "REPLACE", "KEEP"),
        closed=True,
        default="START",
        unsent=True,
        source=HEALTH_SOURCE,
    )
    operation_group_id: str = output_field("The ID of the operation group of the last creation.", volatile=True)
    per_instance_properties: dict[str, PerInstanceProperties] = field(
        "The instances to create, by name, with their own properties, such as `{web-a: {hostname: web-a.example.com}}`. Conflicts with `namePattern`. Changes in place: added instances are created, removed ones are deleted, and those whose properties change are deleted and created again."
    )
    per_location_status: dict[str, LocationStatus] = output_field(
        "The result of the last creation, by location, such as `zones/us-east1-b`.", volatile=True
    )
    placement: Placement = field(
        "Compact placement policies that the instances share in groups, such as `{policies: [rack-1, rack-2], size: 22}`. Changes in place; applies only to instances that are created later.",
        unsent=True,
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
    removed_keys: dict[str, list[str]] = output_field(
        "The keys of labels, metadata and other settings that an unfinished update is removing from members.",
        secret=True,
        volatile=True,
    )
    running_count: int = output_field(
        "The number of instances that are not stopped or suspended.", volatile=True, always=True
    )
    shortfalls: list[Shortfall] = output_field(
        "Why the last creation ended with fewer instances than wanted, one element for each cause and place; empty if it created all.",
        volatile=True,
    )
    source_instance_template: str = field(
        "The instance template to create instances from, such as `global/instanceTemplates/web`, or its URL, with or without `?uniqueId=`. A regional template must be in the fleet's region.",
        url="global/instanceTemplates",
        write_only=True,
    )
    update_policy: UpdatePolicy = field(
        "How changes of `instanceProperties` and `sourceInstanceTemplate` reach the members, such as `{strategy: ROLLING, maxUnavailable: 2}`. Default: such a change replaces the whole fleet. Changes in place.",
        unsent=True,
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
