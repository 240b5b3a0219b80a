"""InstanceProperties: what instance templates, fleets and machine images say about virtual machines.

What belongs to one subject is declared in the module of that name beside this one, with its rules: `disks` (its rules
are in `disk_rules`), `encryption_keys`, `instance_identities`, `labels_and_tags`, `machine_types`, `metadata`,
`network_interfaces`, `reservations`, `scheduling` and `shielded_and_confidential_vms`. Rules across several subjects
are in `instance_rules`.

Descriptions here must hold wherever the properties are used. Each resource says what a change does, because that
differs between them.

Source: REST reference of Compute Engine, `instanceTemplates`, `properties`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties import instance_rules, machine_types
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.compute.instance_properties.instance_identities import ServiceAccount, WorkloadIdentityConfig
from gcpx.compute.instance_properties.labels_and_tags import (
    Tags,
    labels_are_valid,
    resource_manager_tags_have_a_known_form,
)
from gcpx.compute.instance_properties.machine_types import AcceleratorConfig, AdvancedMachineFeatures
from gcpx.compute.instance_properties.metadata import Metadata, StructuredEntries
from gcpx.compute.instance_properties.network_interfaces import NetworkInterface, NetworkPerformanceConfig
from gcpx.compute.instance_properties.reservations import ReservationAffinity
from gcpx.compute.instance_properties.scheduling import Scheduling
from gcpx.compute.instance_properties.shielded_and_confidential_vms import (
    ConfidentialInstanceConfig,
    ShieldedInstanceConfig,
    ShieldedVmConfig,
)
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of


@record
class DisplayDevice(Record):
    """A virtual display."""

    enable_display: bool = field(
        "Give instances a virtual display, for remote display software. Default: false.", default=False
    )


@record
class InstanceProperties(Record):
    """The properties of virtual machine instances."""

    HINTS: ClassVar = {
        "metadataStartupScript": "must be written `metadata: {items: [{key: startup-script, value: SCRIPT}]}` here"
    }

    RULES = (
        machine_types.custom_machine_types_are_within_limits,
        machine_types.custom_machine_types_of_families_have_usual_sizes,
        instance_rules.boot_disk_is_the_first_disk,
        instance_rules.device_names_are_unique,
        instance_rules.gpus_require_terminate_on_maintenance,
        instance_rules.confidential_types_require_terminate_on_maintenance,
        instance_rules.confidential_instances_use_gvnic,
        instance_rules.tier_1_bandwidth_requires_gvnic,
        instance_rules.network_interfaces_are_at_most_8,
        instance_rules.e2_does_not_support_nested_virtualization,
        labels_are_valid,
        resource_manager_tags_have_a_known_form,
    )

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Return what Google sets for instances with GPUs: they cannot be migrated."""
        return {"scheduling": {"onHostMaintenance": "TERMINATE"}} if values.get("guestAccelerators") else {}

    advanced_machine_features: AdvancedMachineFeatures = field(
        "CPU and firmware options, such as `{threadsPerCore: 1}`."
    )
    can_ip_forward: bool = field(
        "Let instances send and receive packets whose source or destination is not their own address, as an IP gateway does. Default: false.",
        default=False,
    )
    confidential_instance_config: ConfidentialInstanceConfig = field(
        "Confidential VM options, such as `{enableConfidentialCompute: true}`."
    )
    description: str = field("A description of the instances.")
    disks: list[AttachedDisk] = field(
        "The disks, with the boot disk first. They are compared by `deviceName`, `source` or `initializeParams.diskName`, so a different order of the others is not a change.",
        identity=("deviceName", "source", "initializeParams.diskName"),
    )
    display_device: DisplayDevice = field("A virtual display, such as `{enableDisplay: true}`.", beta=True)
    guest_accelerators: list[AcceleratorConfig] = field(
        "GPUs and other accelerators, such as `[{acceleratorType: nvidia-l4, acceleratorCount: 1}]`. Instances with GPUs need `onHostMaintenance: TERMINATE`, which is then the default.",
        identity=("acceleratorType",),
    )
    key_revocation_action_type: str = field(
        "What happens to instances when the key of one of their disks is revoked: `STOP` shuts them down, `NONE` does nothing. Default: `NONE`.",
        enum=("NONE", "STOP"),
        default="NONE",
        source=rest("instances", "keyRevocationActionType"),
    )
    labels: dict[str, str] = field(
        "Labels of the instances, such as `{team: web}`: at most 64, with at most 63 characters in keys and values.",
        merge_keys=frozenset({"goog-pulumi-provisioned", "goog-terraform-provisioned"}),
    )
    local_ssd_encryption_mode: str = field(
        "How local SSDs are encrypted: `STANDARD_ENCRYPTION` with keys that Google manages, `EPHEMERAL_KEY_ENCRYPTION` with keys that are lost in a crash, together with the data, `CMEK_ENCRYPTION` with customer-managed keys. Default: `STANDARD_ENCRYPTION`.",
        enum=("CMEK_ENCRYPTION", "EPHEMERAL_KEY_ENCRYPTION", "STANDARD_ENCRYPTION"),
    )
    machine_type: str = field(
        "The name of the machine type, such as `e2-small`, or `custom-4-8192` for 4 CPUs and 8,192 MB of memory. `custom-CPUS-MEMORY` takes 1 CPU or an even number up to 32, and memory in multiples of 256 MB.",
        pattern=machine_types.MACHINE_TYPE,
        normalize=name_of,
    )
    metadata: Metadata = field(
        "Metadata that the guest can read, such as `{items: [{key: startup-script, value: SCRIPT}]}`."
    )
    min_cpu_platform: str = field(
        "The oldest CPU platform to run on, such as `Intel Ice Lake`; instances may run on newer ones."
    )
    network_interfaces: list[NetworkInterface] = field(
        "The network interfaces in order, such as `[{network: global/networks/my-network}]`; the first is `nic0`."
    )
    network_performance_config: NetworkPerformanceConfig = field(
        "The bandwidth of the instances, such as `{totalEgressBandwidthTier: TIER_1}`."
    )
    partner_metadata: dict[str, StructuredEntries] = field(
        "Partner metadata by subdomain, such as `{partner.example.com: {entries: {mode: fast}}}`.", beta=True
    )
    post_key_revocation_action_type: str = field(
        "What happens to instances after the key of one of their disks is revoked: `SHUTDOWN` shuts them down, `NOOP` does nothing.",
        beta=True,
        enum=("NOOP", "SHUTDOWN"),
    )
    private_ipv6_google_access: str = field(
        "How instances and Google services reach each other over IPv6: `ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE` from the instances only, `ENABLE_BIDIRECTIONAL_ACCESS_TO_GOOGLE` in both directions, `INHERIT_FROM_SUBNETWORK` as the subnetwork is configured. Default: `INHERIT_FROM_SUBNETWORK`.",
        enum=(
            "ENABLE_BIDIRECTIONAL_ACCESS_TO_GOOGLE",
            "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE",
            "INHERIT_FROM_SUBNETWORK",
        ),
        default="INHERIT_FROM_SUBNETWORK",
    )
    reservation_affinity: ReservationAffinity = field(
        "The reservations that instances consume, such as `{consumeReservationType: NO_RESERVATION}`. Default: any that fits."
    )
    resource_manager_tags: dict[str, str] = field(
        "Resource Manager tags of the instances, such as `{tagKeys/123: tagValues/456}` or `{my-project/env: prod}`. Google does not return them.",
        write_only=True,
    )
    resource_policies: list[str] = field(
        "The names of the instances' resource policies, such as `[my-placement]`.",
        identity="set",
        url="regions/resourcePolicies",
    )
    scheduling: Scheduling = field(
        "When and where instances run, and how they are stopped, such as `{provisioningModel: SPOT}`."
    )
    service_accounts: list[ServiceAccount] = field(
        "The service account that instances run as, such as `[{email: name@my-project.iam.gserviceaccount.com}]`: at most one.",
        identity=("email",),
        max_items=1,
    )
    shielded_instance_config: ShieldedInstanceConfig = field("Shielded VM options, such as `{enableSecureBoot: true}`.")
    shielded_vm_config: ShieldedVmConfig = field(
        "Shielded VM options in their deprecated form; use `shieldedInstanceConfig`.",
        beta=True,
        deprecated="use shieldedInstanceConfig",
        source=rest("instances", "shieldedVmConfig"),
    )
    tags: Tags = field("Network tags, such as `{items: [web]}`, by which firewall rules select instances.")
    workload_identity_config: WorkloadIdentityConfig = field("The workload identity of the instances.")
