"""InstanceProperties: the properties of virtual machines in instance templates, fleets and machine images.

Rules across several subjects, such as GPUs and scheduling, are here; each subject has its own module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from gcpx.compute.instance_properties import machines, scopes
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.compute.instance_properties.labels_and_metadata import (
    Metadata,
    StructuredEntries,
    Tags,
    labels_are_valid,
    resource_manager_tags_have_a_known_form,
)
from gcpx.compute.instance_properties.machines import (
    AcceleratorConfig,
    AdvancedMachineFeatures,
    ConfidentialInstanceConfig,
    ReservationAffinity,
    Scheduling,
    ShieldedInstanceConfig,
    ShieldedVmConfig,
)
from gcpx.compute.instance_properties.network_interfaces import NetworkInterface, NetworkPerformanceConfig
from gcpx.compute.reference import (
    CONFIDENTIAL_VMS,
    HOST_MAINTENANCE,
    NESTED_VIRTUALIZATION,
    TIER_1_NETWORKING,
    page,
    rest,
)
from gcpx.model.fields import (
    Failure,
    Record,
    elements,
    field,
    nested,
    number,
    record,
    requirement,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.links import name_of
from gcpx.model.values import UNKNOWN, Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import InstancePropertiesValues


@record
class ServiceAccount(Record):
    """The service account that instances run as."""

    email: str = field("The service account's e-mail address, such as `name@my-project.iam.gserviceaccount.com`.")
    scopes: list[str] = field(
        "OAuth 2.0 scopes of the access tokens that the guest can get, such as `[https://www.googleapis.com/auth/cloud-platform]`, or gcloud's short names for them, such as `[cloud-platform]`.",
        identity="set",
        pattern=scopes.SCOPE,
        resolve=scopes.resolve,
        source=page("gcloud compute instances create: --scopes", "sdk/gcloud/reference/compute/instances/create"),
    )


@record
class WorkloadIdentityConfig(Record):
    """The workload identity of the instances."""

    identity: str = field("The identity of the instances.")
    identity_certificate_enabled: bool = field("Give instances a certificate for the identity.")
    identity_type: str = field(
        "The type of the identity: `AGENT_IDENTITY` or `SERVICE_ACCOUNT`.", enum=("AGENT_IDENTITY", "SERVICE_ACCOUNT")
    )


@requirement_of_each(
    "disks[].boot",
    "must be true only for the first disk: move the boot disk to disks[0]",
    rest("instances", "disks[].index"),
)
def boot_disk_is_the_first_disk(values: InstancePropertiesValues) -> Iterator[Path]:
    for index, disk in elements(values, "disks"):
        if index and disk.get("boot") is True:
            yield ("disks", index, "boot")


@rule("", "each of the disks of an instance must have a different deviceName", rest("instances", "disks[].deviceName"))
def device_names_are_unique(values: InstancePropertiesValues) -> list[Failure]:
    first: dict[str, int] = {}
    failures: list[Failure] = []
    for index, disk in elements(values, "disks"):
        name = text(disk, "deviceName")
        if name and first.setdefault(name, index) != index:
            failures.append(
                Failure(("disks", index, "deviceName"), f"must differ from the deviceName of disks[{first[name]}]")
            )
    return failures


def _migrates(values: InstancePropertiesValues) -> bool:
    return nested(values, "scheduling").get("onHostMaintenance") == "MIGRATE"


@requirement(
    "scheduling.onHostMaintenance",
    "must be TERMINATE with guestAccelerators",
    HOST_MAINTENANCE,
    about="guestAccelerators",
)
def gpus_require_terminate_on_maintenance(values: InstancePropertiesValues) -> bool:
    counts = [number(item, "acceleratorCount") for _, item in elements(values, "guestAccelerators")]
    return not any(counts) or not _migrates(values)


@requirement(
    "scheduling.onHostMaintenance",
    "must be TERMINATE with confidentialInstanceType: SEV_SNP or TDX",
    CONFIDENTIAL_VMS,
    about="confidentialInstanceConfig",
)
def confidential_types_require_terminate_on_maintenance(values: InstancePropertiesValues) -> bool:
    kind = nested(values, "confidentialInstanceConfig").get("confidentialInstanceType")
    return kind not in ("SEV_SNP", "TDX") or not _migrates(values)


def _virtio_interfaces(values: InstancePropertiesValues) -> list[Path]:
    return [
        ("networkInterfaces", index, "nicType")
        for index, interface in elements(values, "networkInterfaces")
        if interface.get("nicType") == "VIRTIO_NET"
    ]


@requirement_of_each(
    "networkInterfaces[].nicType",
    "should be GVNIC, which every confidential instance supports; it is sent unchanged",
    rest("instances", "networkInterfaces[].nicType"),
    about="confidentialInstanceConfig",
    warns=True,
)
def confidential_instances_use_gvnic(values: InstancePropertiesValues) -> list[Path]:
    config = nested(values, "confidentialInstanceConfig")
    is_confidential = (
        config.get("enableConfidentialCompute") is True or config.get("confidentialInstanceType") is not None
    )
    return _virtio_interfaces(values) if is_confidential else []


@requirement_of_each(
    "networkInterfaces[].nicType",
    "must be GVNIC with TIER_1 bandwidth",
    TIER_1_NETWORKING,
    about="networkPerformanceConfig",
)
def tier_1_bandwidth_requires_gvnic(values: InstancePropertiesValues) -> list[Path]:
    is_tier_1 = nested(values, "networkPerformanceConfig").get("totalEgressBandwidthTier") == "TIER_1"
    return _virtio_interfaces(values) if is_tier_1 else []


_MOST_INTERFACES: Final = 8


@requirement(
    "networkInterfaces",
    f"should have at most {_MOST_INTERFACES} elements, nic0 to nic7, the documented maximum; they are sent unchanged",
    rest("instances", "networkInterfaces[].name"),
    warns=True,
)
def network_interfaces_are_at_most_8(values: InstancePropertiesValues) -> bool:
    given = values.get("networkInterfaces")
    return not isinstance(given, list) or len(given) <= _MOST_INTERFACES


@requirement(
    "advancedMachineFeatures.enableNestedVirtualization",
    "should be left out with an e2 machine type: these do not support it; it is sent unchanged",
    NESTED_VIRTUALIZATION,
    about="advancedMachineFeatures",
    warns=True,
)
def e2_does_not_support_nested_virtualization(values: InstancePropertiesValues) -> bool:
    nests = nested(values, "advancedMachineFeatures").get("enableNestedVirtualization") is True
    return not nests or not text(values, "machineType").rpartition("/")[2].startswith("e2-")


def boot_disk_is_missing(properties: Mapping[str, Any]) -> list[Failure]:
    """Return a failure if instance properties have no boot disk, as creating an instance requires.

    Paths are relative to `properties`. Unknown disks may include the boot disk, so they are no failure.
    """
    disks = properties.get("disks")
    if disks in (None, []):
        return [
            Failure("disks", "must contain a boot disk: disks[0] with boot: true and the image that it is created from")
        ]
    if not isinstance(disks, list):
        return []
    if any(not isinstance(disk, dict) or disk.get("boot") in (True, UNKNOWN) for disk in disks):
        return []
    return [Failure("disks", "must contain a boot disk: set boot: true on disks[0]")]


@record
class DisplayDevice(Record):
    """A virtual display."""

    enable_display: bool = field("Give instances a virtual display, for remote display software. Default: false.")


@record
class InstanceProperties(Record):
    """The properties of virtual machine instances."""

    HINTS: ClassVar = {
        "metadataStartupScript": "must be written `metadata: {items: [{key: startup-script, value: SCRIPT}]}` here"
    }

    RULES = (
        machines.custom_machine_types_are_within_limits,
        machines.custom_machine_types_of_families_have_usual_sizes,
        boot_disk_is_the_first_disk,
        device_names_are_unique,
        gpus_require_terminate_on_maintenance,
        confidential_types_require_terminate_on_maintenance,
        confidential_instances_use_gvnic,
        tier_1_bandwidth_requires_gvnic,
        network_interfaces_are_at_most_8,
        e2_does_not_support_nested_virtualization,
        labels_are_valid,
        resource_manager_tags_have_a_known_form,
    )

    @staticmethod
    def implied(values: InstancePropertiesValues) -> dict[str, Any]:
        """Return Google's values: instances with GPUs cannot be migrated, and a deprecated field repeats its successor."""
        fixed = {"scheduling": {"onHostMaintenance": "TERMINATE"}} if values.get("guestAccelerators") else {}
        return {"shieldedVmConfig": values.get("shieldedInstanceConfig"), **fixed}

    advanced_machine_features: AdvancedMachineFeatures = field(
        "CPU and firmware options, such as `{threadsPerCore: 1}`."
    )
    can_ip_forward: bool = field(
        "Let instances send and receive packets whose source or destination is not their own address, as an IP gateway does. Default: false."
    )
    confidential_instance_config: ConfidentialInstanceConfig = field(
        "Confidential VM options, such as `{enableConfidentialCompute: true}`."
    )
    description: str = field("A description of the instances.")
    disks: list[AttachedDisk] = field(
        "The disks, with the boot disk first. They are compared by `deviceName`, `source` or `initializeParams.diskName`, so a different order of the others is not a change.",
        identity=("deviceName", "source", "initializeParams.diskName", "boot"),
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
        default="STANDARD_ENCRYPTION",
    )
    machine_type: str = field(
        "The name of the machine type, such as `e2-small`, or `custom-4-8192` for 4 CPUs and 8,192 MB of memory. `custom-CPUS-MEMORY` takes 1 CPU or an even number up to 32, and memory in multiples of 256 MB.",
        pattern=machines.MACHINE_TYPE,
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
