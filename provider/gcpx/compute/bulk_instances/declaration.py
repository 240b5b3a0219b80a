"""The properties of a fleet: the inputs of a bulk creation, the settings of updates, and outputs about the members.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from gcpx.compute.bulk_instances import rules
from gcpx.compute.bulk_instances.capacity import (
    Fallback,
    InstanceFlexibilityPolicy,
    Placement,
    placement_groups_stay_in_one_zone,
    placement_has_room_for_all,
    zones_have_room_for_all,
)
from gcpx.compute.bulk_instances.member import FLEET_ID, FLEET_ID_SOURCE
from gcpx.compute.bulk_instances.rules import (
    least_action_is_not_above_the_most,
    names_are_kept_without_surge,
    replacing_needs_an_instance_to_spare,
)
from gcpx.compute.bulk_instances.shortfalls import Shortfall
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.compute.operations import LocationStatus
from gcpx.compute.reference import INSTANCE_TEMPLATE, rest
from gcpx.model.fields import Failure, Record, field, nested, one_required, output_field, record, rule
from gcpx.model.links import name_of
from gcpx.model.numbers import as_integer_or_percentage
from gcpx.model.patterns import PROJECT, REGION, ZONE, Form

if TYPE_CHECKING:
    from gcpx.compute.value_types import LocationPolicyValues


@record
class RemovedKeys(Record):
    """The keys of the settings of instances that an unfinished update is removing."""

    guest_accelerators: list[str] = output_field("The types of accelerators.")
    labels: list[str] = output_field("The keys of labels.")
    machine_type: list[str] = output_field("`machineType` if it is removed.")
    metadata: list[str] = output_field("The keys of metadata.")
    min_cpu_platform: list[str] = output_field("`minCpuPlatform` if it is removed.")
    scheduling: list[str] = output_field("The options of `scheduling`.")
    service_accounts: list[str] = output_field("The parts of a service account.")
    tags: list[str] = output_field("The network tags.")


@record
class Member(Record):
    """One instance of the fleet."""

    differs: list[str] = output_field(
        "The settings that somebody has changed on the instance, as the last refresh found it: `labels`, `machineType`, `metadata` and `tags`; missing if it has what the program sets."
    )
    external_address: str = output_field(
        "The external IPv4 address of the first network interface; missing if the interface has none."
    )
    fallback: int = output_field(
        "The index of the element of `fallbacks` that the instance was created with, such as `0`; missing if it was created without one."
    )
    fallback_hash: str = output_field(
        "A hash of what the fallback changes, which identifies it if the list `fallbacks` is edited; missing if the instance was created without one."
    )
    generation: str = output_field(
        "The instance's generation, which stands for the properties that it was created with or last changed to; missing if the fleet was imported, and not changed since."
    )
    hostname: str = output_field(
        "The instance's host name; missing if it has the one that Google derives from its name."
    )
    id: str = output_field("The numeric ID that Google assigned to the instance.", always=True)
    internal_address: str = output_field("The internal IPv4 address of the first network interface.")
    local_ssds: int = output_field(
        "The number of local SSDs of the instance, including those that come with its machine type. An instance with local SSDs is not restarted but replaced, because a stop erases them.",
        always=True,
    )
    machine_type: str = output_field("The name of the instance's machine type, such as `e2-small`.", always=True)
    name: str = output_field("The instance's name.", always=True)
    own: list[str] = output_field(
        "What differed from `instanceProperties` when the fleet was imported, such as `machineType` or `labels.team`; the instance keeps it until the program changes that very property, label, tag or item of the metadata. `generation` stands for the label of another fleet, which the first update replaces. Missing if there are none."
    )
    rolling_action: str = output_field(
        "A hash of the `rollingAction.trigger` for which the instance was last restarted or created; missing if there was none."
    )
    self_link: str = output_field("The instance's URL.", always=True)
    status: str = output_field("The instance's state, such as `RUNNING`.", always=True)
    stop_reason: str = output_field(
        "Why the instance is stopped: `PREEMPTED` if Google preempted it, `RUN_LIMIT` if it reached the end of its run time, `HOST_ERROR` if its host machine failed, `GUEST` if its own operating system shut it down, `REQUESTED` if someone stopped or suspended it; missing if it is not stopped, or if Google does not say why.",
        enum=("GUEST", "HOST_ERROR", "PREEMPTED", "REQUESTED", "RUN_LIMIT"),
    )
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)


_BULK_INSERT: Final = "regionInstances.bulkInsert"


@record
class LocationConstraints(Record):
    """Limits of one location."""

    max_count: int = field(
        "The maximum number of members in the location, such as `10`. Must be at least 0.",
        minimum=0,
        source=rest(_BULK_INSERT, "locationPolicy.locations.constraints.maxCount"),
    )


@record
class LocationPolicyLocation(Record):
    """Whether, and how many, instances may be created in one location."""

    constraints: LocationConstraints = field("The limits of the location.")
    preference: str = field(
        "Whether instances may be created in the location: `ALLOW` or `DENY`.",
        enum=("ALLOW", "DENY"),
        closed=True,
        source=rest(_BULK_INSERT, "locationPolicy.locations.preference"),
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


@rule("", "the keys of locations must be written zones/ZONE", rest(_BULK_INSERT, "locationPolicy.locations"))
def _locations_are_zones(values: LocationPolicyValues) -> list[Failure]:
    invalid = (name for name in nested(values, "locations") if "zones/" not in name or not ZONE.pattern.fullmatch(name))
    return [Failure(("locations", name), "must be written zones/ZONE") for name in invalid]


@record
class LocationPolicy(Record):
    """The zones in which instances may be created. A change applies to instances that are created later."""

    RULES = (_locations_are_zones,)

    locations: dict[str, LocationPolicyLocation] = field(
        "Preferences and limits of zones, by zone, such as `{zones/us-east1-b: {preference: DENY}}`. Zones that are missing here are allowed: to allow only some zones, list them in `zones`."
    )
    target_shape: str = field(
        "How the instances are spread over zones: `ANY` prefers zones with unused reservations, `ANY_SINGLE_ZONE` uses one zone for all, `BALANCED` spreads them as evenly as possible. New members are placed beside those that exist. Default: `ANY_SINGLE_ZONE`.",
        enum=("ANY", "ANY_SINGLE_ZONE", "BALANCED"),
        default="ANY_SINGLE_ZONE",
        source=rest(_BULK_INSERT, "locationPolicy.targetShape"),
    )
    zones: list[LocationPolicyZone] = field(
        "The zones to choose from, such as `[{zone: zones/us-east1-b}]`; `locations` may hold preferences for them. Google's AI zones are used only if they are listed here.",
        identity=("zone",),
    )


_NAME_OR_ID: Final = Form(
    r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?|[0-9]{1,20}", "a name, such as web-0007, or a numeric ID, such as 4815162342"
)
_GUEST_ATTRIBUTE: Final = Form(
    r"[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+(?:=.*)?", "NAMESPACE/KEY or NAMESPACE/KEY=VALUE, such as app/state=ready"
)


@record
class Readiness(Record):
    """When a created, restarted or started member is ready, so that the next batch may begin: when it runs and meets the conditions below."""

    guest_attribute: str = field(
        "The guest attribute that the member's own software sets when it is ready, as `NAMESPACE/KEY`, with any value, or `NAMESPACE/KEY=VALUE`, such as `app/state=ready`. The instance must also be running, and its metadata must have `enable-guest-attributes: TRUE`. Guest attributes survive a restart, so the software should clear the attribute when it stops.",
        unsent=True,
        pattern=_GUEST_ATTRIBUTE,
    )
    stable_for: int = field(
        "How many seconds the members of a batch are observed after they are ready, such as `60`, at most 3,600. The next batch begins if they are still ready then. Default: `0`.",
        unsent=True,
        minimum=0,
        maximum=3600,
        default=0,
    )
    within: int = field(
        "How many seconds the members of a batch, or of a new fleet, have to become ready, such as `300`; if they take longer, the rollout or the creation fails. Default: `600`.",
        unsent=True,
        minimum=1,
        default=600,
    )


@record
class UpdatePolicy(Record):
    """How changes of `instanceProperties` and `sourceInstanceTemplate` reach the members."""

    HINTS: ClassVar = {
        "minReadySec": "must be written `ready: {stableFor: SECONDS}` here",
        "replacementMethod": "must be written `keepNames` here: true for RECREATE, false for SUBSTITUTE",
    }
    RULES = (replacing_needs_an_instance_to_spare, names_are_kept_without_surge, least_action_is_not_above_the_most)

    keep_names: bool = field(
        "Give a member that replaces another one the same name, and the same zone if `locationPolicy` or a fallback still allows it. The old one is then deleted first, so `maxSurge` must be 0. Fleets with `perInstanceProperties` always keep names. Default: false.",
        unsent=True,
    )
    max_surge: int | str = field(
        "How many members beyond `count` may exist during a rollout: a number, such as `2`, or a percentage of `count`, such as `20%`, rounded up. Default: `0` if `maxUnavailable` is set; otherwise `10%`, at least 1, as far as the names, addresses and `placement` of the fleet allow it.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    max_unavailable: int | str = field(
        "How many members may be missing, stopped or not ready during a rollout: a number, such as `1`, or a percentage of `count`, such as `20%`, rounded down, but at least 1 without `maxSurge`. Default: `0` if `maxSurge` is above 0; otherwise `10%`, at least 1. Without both settings, only members that are restarted, or that cannot be replaced by a new one first, become unavailable.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    minimal_action: str = field(
        "The least that is done to every member that does not have the new properties yet: `REFRESH` changes it while it runs, `RESTART` stops, changes and starts it, `REPLACE` deletes it and creates another one. Default: `REFRESH`.",
        unsent=True,
        enum=("REFRESH", "RESTART", "REPLACE"),
        closed=True,
        default="REFRESH",
    )
    most_disruptive_action: str = field(
        "The most that may be done to a member: `REFRESH`, `RESTART` or `REPLACE`. A change that needs more is refused. Default: `REPLACE`.",
        unsent=True,
        enum=("REFRESH", "RESTART", "REPLACE"),
        closed=True,
        default="REPLACE",
    )
    on_failure: str = field(
        "What happens after a failure. With `STOP`, the rollout goes on if a change fails for one member, and ends if a whole batch fails; the next `pulumi up` goes on from there. With `ROLL_BACK`, the rollout ends, and members that were already changed get their previous properties again. Default: `STOP`.",
        unsent=True,
        enum=("STOP", "ROLL_BACK"),
        closed=True,
        default="STOP",
    )
    pause_after: int | str = field(
        "Pause a rollout when this many members have the new properties: a number, such as `1`, or a percentage of `count`, rounded up. The rollout goes on when this number is raised or removed. Default: no pause.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    ready: Readiness = field(
        "When a member counts as ready, such as `{guestAttribute: app/state=ready, within: 300, stableFor: 60}`. Default: when it runs, within 600 seconds.",
        unsent=True,
    )


@record
class RollingAction(Record):
    """Members to restart or to replace, although none of their properties changes."""

    action: str = field(
        "What is done to the members, in the batches of `updatePolicy`: `RESTART` stops and starts them, `REPLACE` deletes them and creates others.",
        required=True,
        unsent=True,
        enum=("RESTART", "REPLACE"),
        closed=True,
    )
    members: list[str] = field(
        'The members, by name or by numeric ID, as in the output `members`, such as `["web-0007", "4815162342"]`. A member that no longer exists is left out. A member that replaces another one under the same name counts as done. An empty list chooses none. Default: all members of the state.',
        unsent=True,
        pattern=_NAME_OR_ID,
        identity="set",
        keeps_empty=True,
    )
    trigger: str = field(
        "Any text, such as a time or the number of an incident. The action is done each time that this changes. A new fleet needs no action.",
        required=True,
        unsent=True,
    )


@record
class LostMember(Record):
    """A member that no longer exists, and that the next update creates again."""

    name: str = output_field("The name of the instance.", always=True)
    zone: str = output_field("The name of the instance's zone, such as `us-east1-b`.", always=True)


_METHOD: Final = "regionInstances.bulkInsert"
_HOSTNAME: Final = Form(
    r"(?=.{1,253}$)[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+",
    "a fully qualified domain name of lower-case labels, each 1 to 63 characters (RFC 1035)",
)


@record
class PerInstanceProperties(Record):
    """Properties of one instance. A change deletes the instance and creates it again."""

    HINTS: ClassVar = {"name": "must be left out: the key of these properties is the name of the instance"}

    hostname: str = field(
        "The instance's host name, fully qualified (RFC 1035), such as `web-a.example.com`. Default: a name that Google derives from the instance's name.",
        pattern=_HOSTNAME,
        source=rest("instances", "hostname"),
    )
    name: str = output_field("A temporary field of Google's API; do not use it.")


@record
class BulkInstancesModel(Record):
    """A fleet of similar instances in one region, created in one call (`bulkInsert`) and kept at a given number.

    `updatePolicy` decides how changes of the instances' properties reach the members, and `onStopped` what happens to
    stopped ones.

    `pulumi up` compares the program only with the state. To notice what happened to the members outside Pulumi, such as
    a preemption or a deletion, run `pulumi up --refresh`, or `pulumi refresh` before `pulumi up`. gcpx finds the
    members by their label `gcpx-bulk`, unless `fleetId` says otherwise. It leaves alone instances that have the label
    but that this resource has neither created nor imported, and lists them in a warning.
    """

    HINTS: ClassVar = {
        "allInstancesConfig": "must be written `instanceProperties` here",
        "allowStoppingForUpdate": "must be written `updatePolicy: {mostDisruptiveAction: RESTART}` here",
        "autoHealingPolicies": "must be left out: `onStopped` says what `pulumi up --refresh` does with stopped members",
        "baseInstanceName": "must be written `namePattern: NAME-####` here",
        "bootDisk": "must be written `instanceProperties: {disks: [{boot: true, autoDelete: true, initializeParams: {sourceImage: IMAGE}}]}` here",
        "desiredStatus": "must be written `onStopped` here: START, REPLACE or KEEP",
        "distributionPolicyTargetShape": "must be written `locationPolicy: {targetShape: SHAPE}` here",
        "distributionPolicyZones": "must be written `locationPolicy: {zones: [{zone: ZONE}]}` here",
        "hostname": "must be written `perInstanceProperties: {NAME: {hostname: HOSTNAME}}` here",
        "instanceLifecyclePolicy": "must be left out: `onStopped` says what `pulumi up --refresh` does with stopped members",
        "metadataStartupScript": "must be written `instanceProperties: {metadata: {items: [{key: startup-script, value: SCRIPT}]}}` here",
        "name": "must be written `namePattern: NAME-####`, or `perInstanceProperties: {NAME: {}}`, here",
        "serviceAccount": "must be written `instanceProperties: {serviceAccounts: [{email: EMAIL, scopes: [SCOPE]}]}` here",
        "targetSize": "must be written `count` here",
        "versions": "must be written `sourceInstanceTemplate: TEMPLATE` here, and for a canary `updatePolicy: {pauseAfter: NUMBER}`",
        "zone": "must be written `region: REGION` and `locationPolicy: {zones: [{zone: ZONE}]}` here",
    }
    RULES = (
        one_required("instanceProperties", "sourceInstanceTemplate", source=rest(_METHOD, "instanceProperties")),
        rules.names_come_from_a_pattern_or_a_list,
        rules.instance_names_are_valid,
        rules.count_is_the_number_of_names,
        rules.min_count_is_at_most_count,
        rules.name_pattern_is_valid,
        rules.name_pattern_has_enough_digits,
        rules.regional_template_is_in_the_region,
        rules.boot_disk_is_required,
        rules.template_labels_are_removed_one_by_one,
        rules.overrides_are_not_empty,
        rules.gcpx_labels_are_reserved,
        rules.membership_label_is_kept,
        rules.membership_names_are_kept,
        rules.surge_fits_the_name_pattern,
        rules.surge_fits_the_placement,
        rules.named_fleets_have_no_surge,
        rules.guest_attributes_are_enabled,
        rules.actions_are_allowed_by_the_policy,
        rules.chosen_members_exclude_a_pause,
        rules.boot_disks_are_not_from_snapshots,
        rules.sole_tenant_nodes_are_not_used,
        rules.customer_supplied_keys_are_not_used,
        rules.machine_type_is_a_bare_name,
        rules.flex_start_has_a_run_limit,
        rules.bound_instances_name_a_reservation,
        rules.fallbacks_fit_the_instance_properties,
        rules.fallbacks_differ,
        rules.fallback_zones_are_in_the_region,
        rules.zones_are_in_the_region,
        rules.links_are_in_the_region,
        rules.disks_are_in_allowed_zones,
        rules.addresses_are_for_one_instance,
        rules.network_interface_is_required,
        rules.fallback_labels_can_be_set,
        placement_has_room_for_all,
        zones_have_room_for_all,
        placement_groups_stay_in_one_zone,
    )

    count: int = field(
        "The number of instances, such as `3`. Required with `namePattern`. Default with `perInstanceProperties`: their number; the only other value allowed is `0`. A lower number deletes members: first stopped ones, then, with the target shape `BALANCED`, members in the zone that has the most, then members with the highest numbers in their names. The guide to fleets says which ones are deleted first during a rollout. The preview says how many are deleted, and names up to four. `0` parks the fleet: all instances are deleted, and the fleet stays in the state, with `minCount` and `perInstanceProperties` kept for later. Changes in place.",
        int64=True,
        minimum=0,
        measured=True,
        source=rest(_METHOD, "count"),
    )
    fallbacks: list[Fallback] = field(
        "What to try, in this order, for instances that could not be created, such as `[{zones: [us-east1-c]}, {provisioningModel: STANDARD}]`: each is used in one more creation of the instances that are still missing. Changes in place; applies only to instances that are created later.",
        unsent=True,
    )
    fleet_id: str = field(
        "The ID by which gcpx finds the members: the value of their label `gcpx-bulk`, such as `web-1a2b3c4`. Only imported fleets have another label, as `labels/KEY=VALUE`, or their names, as `namePattern/PATTERN`. Default: a label value generated from the resource's name.",
        always=True,
        in_url=True,
        pattern=FLEET_ID,
        source=FLEET_ID_SOURCE,
    )
    generation: str = output_field(
        "The generation that members have after the update: hashes of the instances' properties, which each member has as its label `gcpx-generation`.",
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
    last_machine_type: str = output_field(
        "The name of the machine type of the properties that `generation` stands for, perhaps from a template.",
        volatile=True,
        hidden=True,
    )
    last_rolling_action: str = output_field(
        "A hash of the last `rollingAction.trigger` for which all members were handled.", volatile=True, hidden=True
    )
    location_policy: LocationPolicy = field(
        "The zones in which instances may be created, such as `{zones: [{zone: zones/us-east1-b}]}`. Default: Google chooses one zone for all instances. Changes in place; applies only to instances that are created later.",
        write_only=True,
    )
    lost_members: list[LostMember] = output_field(
        "The members that no longer exist, in a fleet that keeps names. The next update creates them again under the same names.",
        volatile=True,
        hidden=True,
    )
    max_deleted: int | str = field(
        "How many members one update may delete, whether `count` is lowered or new members replace them: a number, such as `5`, or a percentage of the members that exist before the update, such as `20%`, rounded down. If it would delete more, the preview fails, and so does the update, before it changes anything. A rollback may delete what the update has created. A replacement of the whole fleet and `pulumi destroy` are not limited. Default: no limit.",
        unsent=True,
        normalize=as_integer_or_percentage,
    )
    member_count: int = output_field(
        "The number of instances that exist, whether they run or are stopped.", volatile=True, always=True
    )
    member_names: list[str] = output_field("The names of the instances, ordered.", volatile=True, always=True)
    members: list[Member] = output_field("The instances, ordered by name.", volatile=True, always=True)
    min_count: int = field(
        "The minimum number of instances, such as `2`: if fewer can be created, the creation fails, and Google deletes what the last request has created. With `fallbacks`, with `placement`, or with more than 5,000 instances, a creation has several requests, and what the earlier ones have created stays. With `0`, one instance is enough. A fleet that replaces another one must have at least as many instances as the old one or as `count`, whichever is less. Default: `count`, which is also the maximum. Changes in place.",
        int64=True,
        minimum=0,
        write_only=True,
        source=rest(_METHOD, "minCount"),
    )
    name_pattern: str = field(
        "The pattern of the instances' names, such as `web-####`: one run of at most 18 `#` stands for the number. New instances are numbered after the highest number in use; if no higher numbers are left, the lowest free ones are used. Requires `count`. Conflicts with `perInstanceProperties`.",
        write_only=True,
    )
    on_stopped: str = field(
        "What an update does with members that are stopped or suspended, whoever stopped them: `START` starts them, `REPLACE` deletes them and creates new ones, `KEEP` leaves them stopped, and they still count towards `count`. Even with `KEEP`, a lower `count` or a change that replaces members deletes them, and a change that restarts members stops suspended ones. Stopped members are noticed by `pulumi up --refresh` or `pulumi refresh`. Default: `START`. Changes in place.",
        enum=("START", "REPLACE", "KEEP"),
        closed=True,
        default="START",
        unsent=True,
        source="[Fleets: stopped and lost members](../fleets.md#stopped-and-lost-members)",
    )
    operation_group_id: str = output_field(
        "The ID of the operation group of the last creation.", volatile=True, hidden=True
    )
    per_instance_properties: dict[str, PerInstanceProperties] = field(
        "The instances to create, by name, with their own properties, such as `{web-a: {hostname: web-a.example.com}}`. Conflicts with `namePattern`. Changes in place: added instances are created, removed ones are deleted, and changed ones are deleted and created again.",
        measured=True,
    )
    per_location_status: dict[str, LocationStatus] = output_field(
        "The result of the last creation, by location, such as `zones/us-east1-b`.", volatile=True
    )
    placement: Placement = field(
        "Compact placement policies that the instances share in groups, such as `{policies: [rack-1, rack-2], membersPerPolicy: 22}`. Changes in place; applies only to instances that are created later.",
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
    removed_keys: RemovedKeys = output_field(
        "The keys of labels, metadata and other settings that an unfinished update is removing from members.",
        volatile=True,
        hidden=True,
    )
    rolling_action: RollingAction = field(
        'Restarts or replaces members, although none of their properties changes, such as `{action: RESTART, trigger: "2026-03-01"}` for all of them, each time that `trigger` changes. Changes in place.',
        unsent=True,
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
        pattern=INSTANCE_TEMPLATE,
        write_only=True,
    )
    update_policy: UpdatePolicy = field(
        "How changes of `instanceProperties` and `sourceInstanceTemplate` reach the members, such as `{maxUnavailable: 2}`. Default: a new member is created before the one that it replaces is deleted, and a tenth of the members are changed at a time, at least one. Changes in place.",
        unsent=True,
    )


@record
class BulkInstancesQuery(Record):
    """Which fleets to list."""

    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.", pattern=PROJECT
    )
    region: str = field(
        "List only the fleets in this region, such as `us-east1`. Default: the fleets of all regions.", pattern=REGION
    )
