"""An instance in the results of list functions.

Source: REST reference (beta), `instances`.
"""

from __future__ import annotations

from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_properties.encryption_keys import CustomerEncryptionKey
from gcpx.compute.instance_properties.scheduling import Duration
from gcpx.model.fields import Record, output_field, record


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
class ShieldedVmIntegrityPolicy(Record):
    """How the baseline for boot integrity is updated, under its deprecated name."""

    update_auto_learn_policy: bool = output_field("Whether the most recent boot becomes the baseline.")


@record
class Instance(InstanceProperties):
    """An instance: a virtual machine."""

    OMIT = frozenset({"resourceManagerTags"})

    cpu_platform: str = output_field("The CPU platform that the instance uses.")
    creation_timestamp: str = output_field("When the instance was created (RFC 3339).")
    deletion_protection: bool = output_field("Whether the instance is protected against deletion.")
    erase_windows_vss_signature: bool = output_field("Whether a Windows VSS signature is erased.")
    fingerprint: str = output_field("A hash of the instance, in base64, that prevents conflicting changes.")
    hostname: str = output_field("The host name, if it is not the default one.")
    id: str = output_field("The numeric ID that Google assigned to the instance.")
    instance_encryption_key: CustomerEncryptionKey = output_field(
        "The key that protects the data of the instance while it is suspended."
    )
    kind: str = output_field("Always `compute#instance`.")
    label_fingerprint: str = output_field("A hash of the labels, in base64, that prevents conflicting changes.")
    last_start_timestamp: str = output_field("When the instance was last started (RFC 3339).")
    last_stop_timestamp: str = output_field("When the instance was last stopped (RFC 3339).")
    last_suspended_timestamp: str = output_field("When the instance was last suspended (RFC 3339).")
    name: str = output_field("The instance's name.", always=True)
    params: InstanceParams = output_field("Parameters of the creation.")
    resource_status: ResourceStatus = output_field("The instance's actual values, which can differ from its settings.")
    satisfies_pzi: bool = output_field("Reserved by Google.")
    satisfies_pzs: bool = output_field("Reserved by Google.")
    self_link: str = output_field("The instance's URL.", always=True)
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
