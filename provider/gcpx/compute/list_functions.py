"""The functions that list templates, instances and regions: arguments, results, and the merging of pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from gcpx.compute.instance_properties.disks import CustomerEncryptionKey
from gcpx.compute.instance_properties.machines import Duration
from gcpx.compute.instance_properties.properties import InstanceProperties
from gcpx.compute.instance_template import SourceInstanceParams
from gcpx.compute.listing import ListQuery
from gcpx.compute.reference import rest
from gcpx.compute.responses import ApiObject, ApiWarning
from gcpx.gcp.in_project import InProjectFunction
from gcpx.gcp.list_method import ListMethod, any_scope, no_scope, unreached
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Record, exclusive, field, object_type, output_field, record
from gcpx.model.numbers import as_integer
from gcpx.model.patterns import Form
from gcpx.model.words import names_in_words

_QUERY: Final = ("filter", "orderBy", "returnPartialSuccess", "includeAllScopes", "serviceProjectNumber", "view")
"""Arguments that are query parameters of the same name, besides paging and field masks."""
_EMPTY_PAGE: Final = "NO_RESULTS_ON_PAGE"
_LIST_FIELDS: Final = ("kind", "id", "selfLink", "nextPageToken", "warning")
"""Fields of a response in addition to its items."""


@record
class ListResult(Record):
    """The properties that the results of all lists share."""

    id: str = output_field("The ID that Google assigned to the response.", always=True)
    kind: str = output_field("The kind of list, such as `compute#regionList`.", always=True)
    next_page_token: str = output_field(
        "The `pageToken` of the next page. Set only if `maxResults` is set and more items exist."
    )
    self_link: str = output_field("The list's URL.", always=True)
    warnings: list[ApiWarning] = output_field("Google's warnings about the whole list, from all pages.", always=True)


@record
class ScopedList(Record):
    """The properties that the lists of all scopes share."""

    warnings: list[ApiWarning] = output_field(
        "Google's warnings about the scope, such as that it is empty or cannot be reached.", always=True
    )


@record
class AggregatedListResult(ListResult):
    """The properties that the results of all aggregated lists share."""

    unreachables: list[str] = output_field(
        "The scopes that could not be reached. Empty unless `returnPartialSuccess` is set.", always=True
    )


class ListFunction(InProjectFunction):
    """A function that calls a list method of Compute.

    Attributes:
        version: the API version, `v1` or `beta`.
        path: the list's path below the project, such as `global/instanceTemplates`.
    """

    version: ClassVar[str]
    path: ClassVar[str]

    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read one page if `maxResults` is set, otherwise all pages."""
        size = as_integer(arguments.get("maxResults")) or 0
        token = arguments.get("pageToken") or ""
        method = ListMethod(
            google=self._google,
            path=f"{self.version}/projects/{self._project(arguments)}/{self.path}",
            query={name: arguments[name] for name in _QUERY if arguments.get(name) not in (None, "")},
            fields=self.fields(arguments),
            needs=no_scope if arguments.get("returnPartialSuccess") else any_scope,
        )
        merged = self.merged([method.page(context, token, size)] if size else method.pages(context, token))
        if merged.get("unreachables"):
            context.warn(f"the result is partial: {names_in_words(merged['unreachables'])} cannot be reached")
        return codec.from_body(self.result_type, merged)

    def fields(self, arguments: dict[str, Any]) -> str:
        """Return `itemFields` as a mask, with the fields of every item; empty for all fields."""
        fields = arguments.get("itemFields")
        return ",".join(dict.fromkeys(("name", "selfLink", *fields))) if fields else ""

    def merged(self, pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Merge pages (REST JSON) into one response with `warnings` instead of `warning`, and `unreachables`."""
        pages, warnings = [*pages], list[Any]()
        for page in pages:
            _add_once(warnings, page.get("warning"))
        return {
            **{name: pages[-1].get(name) for name in _LIST_FIELDS},
            "items": self.items_of(pages),
            "warnings": warnings,
            "unreachables": [*dict.fromkeys(place for page in pages for place in unreached(page))],
        }

    def items_of(self, pages: list[dict[str, Any]]) -> Any:
        """Return the items of all pages (REST JSON)."""
        return [item for page in pages for item in page.get("items", ())]


class AggregatedListFunction(ListFunction):
    """A function that calls an aggregated list method, with items grouped by scope.

    Attributes:
        collection: the name of the list of items in each scope, such as `instances`.
    """

    collection: ClassVar[str]

    def items_of(self, pages: list[dict[str, Any]]) -> Any:
        """Return the scopes, each with its items of all pages (REST JSON)."""
        scopes: dict[str, dict[str, Any]] = {}
        for page in pages:
            for name, group in page.get("items", {}).items():
                scope = scopes.setdefault(name, {self.collection: [], "warnings": []})
                scope[self.collection].extend(group.get(self.collection, ()))
                _add_once(scope["warnings"], group.get("warning"))
        for scope in scopes.values():
            if scope[self.collection]:  # that it has nothing on one page does not matter
                scope["warnings"] = [item for item in scope["warnings"] if item.get("code") != _EMPTY_PAGE]
        return scopes


def _add_once(items: list[Any], item: Any) -> None:
    """Add an item to a list, unless it is empty or already there."""
    if item and item not in items:
        items.append(item)


@record
class InstanceParams(Record):
    """Parameters of the creation of an instance, which Google does not store."""

    request_valid_for_duration: Duration = output_field("How long the creation may wait for capacity.")
    resource_manager_tags: dict[str, str] = output_field(
        "Resource Manager tags of the instance, such as `{tagKeys/123: tagValues/456}`."
    )


@record
class EffectiveInstanceMetadata(Record):
    """Values of metadata keys that Google defines, as the instance and its project together set them."""

    block_project_ssh_keys_metadata_value: bool = output_field("Whether the project's SSH keys are refused.")
    enable_guest_attributes_metadata_value: bool = output_field("Whether guest attributes are enabled.")
    enable_os_inventory_metadata_value: bool = output_field("Whether OS inventory management is enabled.")
    enable_osconfig_metadata_value: bool = output_field("Whether the OS Config agent is enabled.")
    enable_oslogin_metadata_value: bool = output_field("Whether OS Login is enabled.")
    gce_container_declaration_metadata_value: bool = output_field("Whether a container is declared.")
    serial_port_enable_metadata_value: bool = output_field("Whether the interactive serial console is enabled.")
    serial_port_logging_enable_metadata_value: bool = output_field("Whether the serial port's output is logged.")
    vm_dns_setting_metadata_value: str = output_field("Which kind of internal DNS names the instance has.")


@record
class TopologyAttributes(Record):
    """Additional IDs of a host's location."""

    accelerator_topology_ids: dict[str, str] = output_field("Location IDs by accelerator topology, such as `2x2x2`.")
    network_topology_ids: dict[str, str] = output_field("Location IDs by network topology.")


@record
class PhysicalHostTopology(Record):
    """The location of the host that the instance runs on."""

    additional_attributes: TopologyAttributes = output_field("Additional IDs of the location.")
    block: str = output_field("The ID of the block. The network latency within a block is low.")
    cluster: str = output_field("The name of the cluster.")
    host: str = output_field("The ID of the host.")
    machine: str = output_field("The ID of the machine, if it has several hosts.")
    subblock: str = output_field(
        "The ID of the sub-block. The network latency within a sub-block is lower than between sub-blocks."
    )


@record
class ReservationConsumptionInfo(Record):
    """The reservation that the instance uses."""

    consumed_reservation: str = output_field("The reservation's full resource name.")
    consumed_reservation_block: str = output_field("The full resource name of the reservation's block.")
    consumed_reservation_sub_block: str = output_field("The full resource name of the reservation's sub-block.")


@record
class ResourceStatusScheduling(Record):
    """The scheduling options that are in effect."""

    availability_domain: int = output_field("The availability domain, such as `1`.")
    graceful_shutdown_timestamp: str = output_field("When the graceful shutdown begins (RFC 3339).")
    termination_timestamp: str = output_field("When Google will terminate the instance (RFC 3339).")


@record
class ShutdownDetails(Record):
    """The shutdown that is in progress."""

    max_duration: Duration = output_field("The longest time that a graceful shutdown may take.")
    request_timestamp: str = output_field("When the current stop state began (RFC 3339).")
    stop_state: str = output_field(
        "`PENDING_STOP` during a graceful shutdown, then `STOPPING`.", enum=("PENDING_STOP", "STOPPING")
    )
    target_state: str = output_field("The state after the shutdown.", enum=("DELETED", "STOPPED"))


@record
class UpcomingMaintenance(Record):
    """The maintenance that is planned for the instance."""

    can_reschedule: bool = output_field("Whether you can start the maintenance at another time.")
    latest_window_start_time: str = output_field("The latest time that the maintenance window can start (RFC 3339).")
    maintenance_on_shutdown: bool = output_field("Whether the maintenance happens when the instance is shut down.")
    maintenance_reasons: list[str] = output_field("The reasons for the maintenance.")
    maintenance_status: str = output_field("Whether the maintenance has begun.", enum=("ONGOING", "PENDING", "UNKNOWN"))
    type: str = output_field(
        "Whether the maintenance is `SCHEDULED` or `UNSCHEDULED`, such as in an emergency.",
        enum=("MULTIPLE", "SCHEDULED", "UNKNOWN_TYPE", "UNSCHEDULED"),
    )
    window_end_time: str = output_field("When the maintenance window ends (RFC 3339).")
    window_start_time: str = output_field("When the maintenance window starts (RFC 3339).")


@record
class ResourceStatus(Record):
    """The instance's actual values, which can differ from its settings."""

    effective_instance_metadata: EffectiveInstanceMetadata = output_field(
        "Values of metadata keys that Google defines."
    )
    physical_host: str = output_field("The location of the host, as an opaque ID.")
    physical_host_topology: PhysicalHostTopology = output_field("The location of the host, by its parts.")
    reservation_consumption_info: ReservationConsumptionInfo = output_field("The reservation that the instance uses.")
    scheduling: ResourceStatusScheduling = output_field("The scheduling options that are in effect.")
    shutdown_details: ShutdownDetails = output_field("The shutdown that is in progress.")
    upcoming_maintenance: UpcomingMaintenance = output_field("The maintenance that is planned.")


@record
class ShieldedInstanceIntegrityPolicy(Record):
    """How the baseline of the boot integrity is updated."""

    update_auto_learn_policy: bool = output_field("Whether the most recent boot becomes the baseline.")


@record
class ShieldedVmIntegrityPolicy(ShieldedInstanceIntegrityPolicy):
    """How the baseline for boot integrity is updated, under its deprecated name."""


@record
class Instance(InstanceProperties, ApiObject):
    """An instance: a virtual machine."""

    OMIT = frozenset({"resourceManagerTags"})

    cpu_platform: str = output_field("The CPU platform that the instance uses.")
    deletion_protection: bool = output_field("Whether the instance is protected against deletion.")
    erase_windows_vss_signature: bool = output_field("Whether a Windows VSS signature is erased.")
    fingerprint: str = output_field("A hash of the instance, in base64, that prevents conflicting changes.")
    hostname: str = output_field("The host name, if it is not the default one.")
    instance_encryption_key: CustomerEncryptionKey = output_field(
        "The key that protects the data of the instance while it is suspended."
    )
    label_fingerprint: str = output_field("A hash of the labels, in base64, that prevents conflicting changes.")
    last_start_timestamp: str = output_field("When the instance was last started (RFC 3339).")
    last_stop_timestamp: str = output_field("When the instance was last stopped (RFC 3339).")
    last_suspended_timestamp: str = output_field("When the instance was last suspended (RFC 3339).")
    params: InstanceParams = output_field("Parameters of the creation.")
    resource_status: ResourceStatus = output_field("The instance's actual values, which can differ from its settings.")
    satisfies_pzi: bool = output_field("Reserved by Google.")
    satisfies_pzs: bool = output_field("Reserved by Google.")
    shielded_instance_integrity_policy: ShieldedInstanceIntegrityPolicy = output_field(
        "How the baseline of the boot integrity is updated."
    )
    shielded_vm_integrity_policy: ShieldedVmIntegrityPolicy = output_field(
        "How the baseline of the boot integrity is updated, under its deprecated name.",
        deprecated="use shieldedInstanceIntegrityPolicy",
    )
    source_machine_image: str = output_field("The URL of the machine image that the instance was created from.")
    source_machine_image_encryption_key: CustomerEncryptionKey = output_field("The key of `sourceMachineImage`.")
    start_restricted: bool = output_field(
        "Whether the instance cannot be started, because Google detected suspicious activity."
    )
    status: str = output_field(
        "The instance's state.",
        enum=(
            "DEPROVISIONING",
            "PENDING",
            "PENDING_STOP",
            "PROVISIONING",
            "REPAIRING",
            "RUNNING",
            "STAGING",
            "STOPPED",
            "STOPPING",
            "SUSPENDED",
            "SUSPENDING",
            "TERMINATED",
        ),
    )
    status_message: str = output_field("An explanation of the state.")
    zone: str = output_field("The URL of the instance's zone.")


@record
class ListedInstanceTemplate(ApiObject):
    """An instance template."""

    properties: InstanceProperties = output_field("The properties of the instances.")
    region: str = output_field("The URL of the region of a regional template.")
    source_instance: str = output_field("The URL of the instance that the template was created from.")
    source_instance_params: SourceInstanceParams = output_field("How the template was created from that instance.")


@record
class ListParameters(ListQuery):
    """Which items to list, in which order, and how many."""

    item_fields: list[str] = field(
        "The fields of each item to read, such as `[status, disks/source]`; fewer fields take less time. `name` and `selfLink` are always read. Default: all fields.",
        pattern=Form(r"[\w*/.-]+(\([\w*/.,()-]+\))?", "a field's name, with / before a nested one"),
    )
    max_results: int = field(
        "Read a single page of at most this many items, such as `100`: 1 to 500. `nextPageToken` then leads to the next page. Default: `0`, which reads all pages.",
        minimum=0,
        maximum=500,
        source=rest("instances.list", "maxResults"),
    )
    order_by: str = field("The order: `name`, or `creationTimestamp desc` for the newest first. Default: `name`.")
    page_token: str = field("The `nextPageToken` of an earlier call, to continue after it. Default: the first page.")
    return_partial_success: bool = field(
        "If a scope cannot be reached, return the rest, with a warning and the scope in `unreachables`. Default: false, so that the call fails."
    )


@record
class AggregatedListParameters(ListParameters):
    """Which items of all scopes to list, in which order, and how many."""

    include_all_scopes: bool = field(
        "Return every scope of the project, including kinds of scope that never contain such items. Default: false."
    )
    service_project_number: str = field(
        "The number of the service project whose items to list, such as `123456789012`, if `project` is a Shared VPC host project.",
        pattern=Form(r"\d{1,19}", "a project's number"),
        source=rest("instances.aggregatedList", "serviceProjectNumber"),
    )


@record
class InstanceTemplatesScopedList(ScopedList):
    """The instance templates of one scope."""

    instance_templates: list[ListedInstanceTemplate] = output_field("The templates of the scope.", always=True)


@record
class AggregatedInstanceTemplates(AggregatedListResult):
    """Instance templates by scope."""

    items: dict[str, InstanceTemplatesScopedList] = output_field(
        "The templates by scope, such as `global` or `regions/us-east1`.", always=True
    )


class AggregatedListInstanceTemplates(AggregatedListFunction):
    """Lists the instance templates of a project, by scope."""

    token = "gcpx:compute:aggregatedListInstanceTemplates"
    description = "Lists the global and regional instance templates of a project, by scope."
    arguments = AggregatedListParameters
    result = AggregatedInstanceTemplates
    version = "v1"
    path = "aggregated/instanceTemplates"
    collection = "instanceTemplates"


@record
class InstancesScopedList(ScopedList):
    """The instances of one scope."""

    instances: list[Instance] = output_field("The instances of the scope.", always=True)


@record
class AggregatedInstances(AggregatedListResult):
    """Instances by scope."""

    items: dict[str, InstancesScopedList] = output_field(
        "The instances by scope, such as `zones/europe-west1-b`.", always=True
    )


class AggregatedListInstances(AggregatedListFunction):
    """Lists the instances of a project, by scope."""

    token = "gcpx:compute:aggregatedListInstances"
    description = "Lists the instances of all zones of a project, by scope."
    arguments = AggregatedListParameters
    result = AggregatedInstances
    version = "beta"
    path = "aggregated/instances"
    collection = "instances"


@record
class InstanceTemplateListParameters(ListParameters):
    """Which templates to list, in which order, how many, and how much of each."""

    view: str = field(
        "How much of each template to return: `BASIC` leaves out partner metadata, `FULL` returns everything. Default: `BASIC`.",
        enum=("BASIC", "FULL"),
        closed=True,
        source=rest("instanceTemplates.list", "view"),
    )


@record
class InstanceTemplates(ListResult):
    """The global instance templates of a project."""

    items: list[ListedInstanceTemplate] = output_field("The templates.", always=True)


class ListInstanceTemplates(ListFunction):
    """Lists the global instance templates of a project."""

    token = "gcpx:compute:listInstanceTemplates"
    description = "Lists the global instance templates of a project."
    arguments = InstanceTemplateListParameters
    result = InstanceTemplates
    version = "beta"
    path = "global/instanceTemplates"


@record
class RegionListParameters(ListParameters):
    """Which regions to list, in which order, how many, and whether to read their quotas."""

    RULES = (*ListParameters.RULES, exclusive("itemFields", "omitQuotas"))

    omit_quotas: bool = field(
        "Leave out the quotas, which takes less time. Default: false. Conflicts with `itemFields`."
    )


@record
class Quota(Record):
    """One quota of a region."""

    limit: float = output_field("The limit.", always=True)
    metric: str = output_field("What the quota limits, such as `CPUS`.", always=True)
    owner: str = output_field("The resource that the quota applies to.")
    usage: float = output_field("The current usage.", always=True)


@record
class RolloutPolicy(Record):
    """When a deprecation takes effect in each zone."""

    default_rollout_time: str = output_field("When it takes effect in all other zones (RFC 3339).")
    location_rollout_policies: dict[str, str] = output_field(
        "When it takes effect, by zone such as `zones/europe-west1-b` (RFC 3339)."
    )


@record
class DeprecationStatus(Record):
    """Whether a resource is deprecated, and what is planned for it."""

    deleted: str = output_field("When the state is planned to become `DELETED` (RFC 3339).")
    deprecated: str = output_field("When the state is planned to become `DEPRECATED` (RFC 3339).")
    obsolete: str = output_field("When the state is planned to become `OBSOLETE` (RFC 3339).")
    replacement: str = output_field("The URL of the suggested replacement.")
    state: str = output_field(
        "The state. Using a `DEPRECATED` resource causes a warning; using an `OBSOLETE` or `DELETED` one is an error.",
        enum=("ACTIVE", "DELETED", "DEPRECATED", "OBSOLETE"),
    )
    state_override: RolloutPolicy = output_field("When the state takes effect in each zone.")


@record
class Region(ApiObject):
    """A region."""

    deprecated: DeprecationStatus = output_field("The deprecation state.")
    quota_status_warning: ApiWarning = output_field("Why `quotas` is missing, if Google could not read the quotas.")
    quotas: list[Quota] = output_field("The project's quotas in the region.")
    status: str = output_field("`UP` or `DOWN`.", enum=("DOWN", "UP"))
    supports_pzs: bool = output_field("Reserved by Google.")
    zones: list[str] = output_field("The URLs of the region's zones.")


@record
class Regions(ListResult):
    """The regions that a project can use."""

    items: list[Region] = output_field("The regions.", always=True)


class ListRegions(ListFunction):
    """Lists the regions that a project can use."""

    token = "gcpx:compute:listRegions"
    description = "Lists the regions that a project can use, with their zones and the project's quotas in them."
    arguments = RegionListParameters
    result = Regions
    version = "beta"
    path = "regions"

    def fields(self, arguments: dict[str, Any]) -> str:
        """Return the mask of each item's fields; with `omitQuotas`, every field except the quotas."""
        if arguments.get("omitQuotas"):
            kept = [prop.wire for prop in object_type(Region).properties.values() if prop.wire != "quotas"]
            return super().fields({"itemFields": kept})
        return super().fields(arguments)
