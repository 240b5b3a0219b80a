"""An instance, as lists show it.

Source: Compute API, `Instance` (documentation section 2.4).
"""

from __future__ import annotations

from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_properties.encryption_keys import CustomerEncryptionKey
from gcpx.compute.instance_properties.scheduling import Duration
from gcpx.model.fields import Record, answer, record


@record
class InstanceParams(Record):
    """What an instance is created with and does not keep."""

    request_valid_for_duration: Duration = answer("How long the request to create it stays valid.")
    resource_manager_tags: dict[str, str] = answer("Resource Manager tags: `tagKeys/ID` to `tagValues/ID`.")


@record
class EffectiveInstanceMetadata(Record):
    """Metadata that Google itself heeds, as it counts after project and organization."""

    block_project_ssh_keys_metadata_value: bool = answer("Whether SSH keys of the project are refused.")
    enable_guest_attributes_metadata_value: bool = answer("Whether guest attributes are on.")
    enable_os_inventory_metadata_value: bool = answer("Whether OS inventory is on.")
    enable_osconfig_metadata_value: bool = answer("Whether OS Config is on.")
    enable_oslogin_metadata_value: bool = answer("Whether OS Login is on.")
    gce_container_declaration_metadata_value: bool = answer("Whether a container is declared.")
    serial_port_enable_metadata_value: bool = answer("Whether the serial port can be reached.")
    serial_port_logging_enable_metadata_value: bool = answer("Whether the serial port's output is logged.")
    vm_dns_setting_metadata_value: str = answer("Which internal DNS names the instance has.")


@record
class TopologyAttributes(Record):
    """Further IDs of the place a host stands in."""

    accelerator_topology_ids: dict[str, str] = answer("IDs in the accelerators' network.")
    network_topology_ids: dict[str, str] = answer("IDs in the network.")


@record
class PhysicalHostTopology(Record):
    """Where the instance's physical host stands."""

    additional_attributes: TopologyAttributes = answer("Further IDs.")
    block: str = answer("The block.")
    cluster: str = answer("The cluster.")
    host: str = answer("The host.")
    machine: str = answer("The machine.")
    subblock: str = answer("The sub-block.")


@record
class ReservationConsumptionInfo(Record):
    """Which reservation the instance uses."""

    consumed_reservation: str = answer("The reservation, as a URL.")
    consumed_reservation_block: str = answer("The reservation's block.")
    consumed_reservation_sub_block: str = answer("The reservation's sub-block.")


@record
class ResourceStatusScheduling(Record):
    """Scheduling, as it is at present."""

    availability_domain: int = answer("The availability domain.")
    graceful_shutdown_timestamp: str = answer("When the graceful shutdown began (RFC 3339).")
    termination_timestamp: str = answer("When the instance is ended (RFC 3339).")


@record
class ShutdownDetails(Record):
    """A graceful shutdown under way."""

    max_duration: Duration = answer("The maximum duration.")
    request_timestamp: str = answer("When the shutdown was requested (RFC 3339).")
    stop_state: str = answer("The status.", enum=("PENDING_STOP", "STOPPING"))
    target_state: str = answer("What happens after the shutdown.", enum=("DELETED", "STOPPED"))


@record
class UpcomingMaintenance(Record):
    """Maintenance that is planned."""

    can_reschedule: bool = answer("Whether it can be moved.")
    latest_window_start_time: str = answer("The latest time that it can be moved to (RFC 3339).")
    maintenance_on_shutdown: bool = answer("Whether it is done when the instance stops.")
    maintenance_reasons: list[str] = answer("Why it is done.")
    maintenance_status: str = answer("Whether it has begun.", enum=("ONGOING", "PENDING", "UNKNOWN"))
    type: str = answer("Its kind.", enum=("MULTIPLE", "SCHEDULED", "UNKNOWN_TYPE", "UNSCHEDULED"))
    window_end_time: str = answer("The end of its window (RFC 3339).")
    window_start_time: str = answer("The beginning of its window (RFC 3339).")


@record
class ResourceStatus(Record):
    """What is so at present, and no setting."""

    effective_instance_metadata: EffectiveInstanceMetadata = answer("Metadata that Google interprets.")
    physical_host: str = answer("An opaque ID of the physical host.")
    physical_host_topology: PhysicalHostTopology = answer("The location of the host.")
    reservation_consumption_info: ReservationConsumptionInfo = answer("Which reservation is used.")
    scheduling: ResourceStatusScheduling = answer("The current scheduling settings.")
    shutdown_details: ShutdownDetails = answer("A graceful shutdown under way.")
    upcoming_maintenance: UpcomingMaintenance = answer("Maintenance that is planned.")


@record
class ShieldedInstanceIntegrityPolicy(Record):
    """How the integrity baseline follows the instance."""

    update_auto_learn_policy: bool = answer("Take the current boot as the new baseline.")


@record
class ShieldedVmIntegrityPolicy(Record):
    """How the integrity baseline follows the instance, by its old name."""

    update_auto_learn_policy: bool = answer("Take the current boot as the new baseline.")


@record
class Instance(InstanceProperties):
    """A virtual machine."""

    OMIT = frozenset({"resourceManagerTags"})

    cpu_platform: str = answer("The processor platform that it runs on.")
    creation_timestamp: str = answer("When the instance was created (RFC 3339).")
    deletion_protection: bool = answer("Whether it is protected against deletion.")
    erase_windows_vss_signature: bool = answer("Whether a Windows VSS signature is erased.")
    fingerprint: str = answer("A hash of the instance, base64.")
    hostname: str = answer("The host name, where it is not the default one.")
    id: str = answer("The numeric ID that Google assigned.")
    instance_encryption_key: CustomerEncryptionKey = answer("The key of data that a suspended instance keeps.")
    kind: str = answer("Always `compute#instance`.")
    label_fingerprint: str = answer("A hash of the labels, base64.")
    last_start_timestamp: str = answer("When it last started (RFC 3339).")
    last_stop_timestamp: str = answer("When it last stopped (RFC 3339).")
    last_suspended_timestamp: str = answer("When it was last suspended (RFC 3339).")
    name: str = answer("The name.", always=True)
    params: InstanceParams = answer("Settings that were given at creation.")
    resource_status: ResourceStatus = answer("The current state of the resource.")
    satisfies_pzi: bool = answer("Reserved by Google.")
    satisfies_pzs: bool = answer("Reserved by Google.")
    self_link: str = answer("The instance's URL.", always=True)
    shielded_instance_integrity_policy: ShieldedInstanceIntegrityPolicy = answer(
        "How the integrity baseline is updated."
    )
    shielded_vm_integrity_policy: ShieldedVmIntegrityPolicy = answer(
        "How the integrity baseline is updated, by its old name.", deprecated="use shieldedInstanceIntegrityPolicy"
    )
    source_machine_image: str = answer("The machine image that the instance was created from, as a URL.")
    source_machine_image_encryption_key: CustomerEncryptionKey = answer("The key of that image.")
    start_restricted: bool = answer("Whether Google stopped it for suspicious activity, so that it cannot be started.")
    status: str = answer(
        "The state.",
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
    status_message: str = answer("A description of the state.")
    zone: str = answer("The zone, as a URL.")
