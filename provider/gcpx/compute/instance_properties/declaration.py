"""What a virtual machine is made from: the objects that templates, bulk creation and machine images share.

Source: Compute API, `InstanceProperties` and the objects below it.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from gcpx.compute import image_names as images
from gcpx.compute.instance_properties import disk_rules, instance_rules, label_rules, network_rules
from gcpx.model import forms
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of
from gcpx.model.patterns import form
from gcpx.model.places import LINK_PARTS
from gcpx.model.rules import Failure, Rule, elements, exclusive, nested

NAME = (
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
    "1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen",
)
ATTACHMENT = form(
    "projects/PROJECT/regions/REGION/networkAttachments/NAME",
    words="projects/NUMBER/regions/REGION/networkAttachments/NAME, or its URL",
    before=r"https?://[^/]+/(?:compute/)?(?:v1|beta)/",
    **LINK_PARTS,
)
MACHINE_TYPE = (
    re.compile(r"(?:[^\s]+/)?[a-z][-a-z0-9]*"),
    "a machine type's name, such as e2-small: lower-case letters, digits and hyphens",
)
MOMENT = (
    re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"),
    "a time in RFC 3339 format, such as 2026-12-31T23:59:59Z",
)


@record
class CustomerEncryptionKey(Record):
    """A key that protects a disk, an image or a snapshot."""

    RULES = (exclusive("kmsKeyName", "rawKey", "rsaEncryptedKey", source="compute 2.2"), disk_rules.keys_are_whole)

    kms_key_name: str = field(
        "The Cloud KMS key: `projects/P/locations/L/keyRings/R/cryptoKeys/K`, with or without `/cryptoKeyVersions/N`.",
        normalize=lambda name: str(name).partition("/cryptoKeyVersions/")[0],
    )
    kms_key_service_account: str = field(
        "The service account that uses the key. Default: the project's Compute Engine service agent."
    )
    raw_key: str = field(
        "A 256-bit customer-supplied key in base64 (RFC 4648). Never stored by a template.",
        secret=True,
        write_only=True,
        deprecated="Google takes no new customer-supplied keys; use kmsKeyName",
        normalize=forms.decoded,
    )
    rsa_encrypted_key: str = field(
        "A customer-supplied key wrapped with Google's RSA certificate, in base64 (RFC 4648). Never stored by a template.",
        secret=True,
        write_only=True,
        deprecated="Google takes no new customer-supplied keys; use kmsKeyName",
        normalize=forms.decoded,
    )
    sha256: str = field("The SHA-256 hash of the customer-supplied key, in base64.", output=True)


@record
class GuestOsFeature(Record):
    """A feature that the operating system on a disk supports."""

    type: str = field(
        "The feature's name.",
        required=True,
        enum=(
            "BARE_METAL_LINUX_COMPATIBLE",
            "BMSAI_CAPABLE",
            "CCA_CAPABLE",
            "GVNIC",
            "IDPF",
            "MULTI_IP_SUBNET",
            "SECURE_BOOT",
            "SEV_CAPABLE",
            "SEV_LIVE_MIGRATABLE",
            "SEV_LIVE_MIGRATABLE_V2",
            "SEV_SNP_CAPABLE",
            "SNP_SVSM_CAPABLE",
            "SUSPEND_RESUME_COMPATIBLE",
            "SUSPEND_SAFE_FPR",
            "TDX_CAPABLE",
            "UEFI_COMPATIBLE",
            "VIRTIO_SCSI_MULTIQUEUE",
            "WINDOWS",
        ),
    )


@record
class AttachedDiskInitializeParams(Record):
    """How a new disk is made."""

    HINTS: ClassVar = {
        "image": "must be written `sourceImage` here",
        "size": "must be written `diskSizeGb` here",
        "type": "must be written `diskType` here",
    }

    RULES = (
        exclusive("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", source="compute 2.2"),
        images.image_is_named("sourceImage"),
        disk_rules.persistent_disks_are_not_small,
        disk_rules.other_disks_are_seldom_small,
        disk_rules.extreme_disks_have_their_iops,
        disk_rules.other_disks_have_other_iops,
        disk_rules.replicas_are_apart,
        label_rules.labels_are_plain,
        instance_rules.tags_are_of_a_known_form,
    )

    architecture: str = field(
        "The processor architecture the disk's contents are for.", enum=("ARM64", "X86_64"), write_only=True
    )
    description: str = field("A text about the disk.")
    disk_name: str = field(
        "The disk's name. Default: the instance's name. If a disk of that name exists in the region, it is attached instead of created.",
        pattern=NAME,
        source="compute 2.1",
    )
    disk_size_gb: int = field(
        "Size in GB (base 2), at least 10 for persistent disks. Default: the size of the image, or 500 without one.",
        int64=True,
        minimum=1,
    )
    disk_type: str = field(
        "The disk type. Default: `pd-standard`. A template takes the bare name, such as `pd-ssd`.",
        normalize=name_of,
        default="pd-standard",
    )
    enable_confidential_compute: bool = field(
        "Encrypt the disk for confidential computing. Default: false.", default=False
    )
    guest_os_features: list[GuestOsFeature] = field(
        "Features of the guest operating system, added to those of the disk.", beta=True, identity=("type",)
    )
    labels: dict[str, str] = field("Labels of the disk.")
    licenses: list[str] = field("License URLs; reserved for Google's own use.", identity="set", url="global/licenses")
    multi_writer: bool = field("Let several instances write to the disk at once.", beta=True)
    on_update_action: str = field(
        "What an instance update does with the disk.",
        enum=("RECREATE_DISK", "RECREATE_DISK_IF_SOURCE_CHANGED", "USE_EXISTING_DISK"),
    )
    provisioned_iops: int = field(
        "I/O operations per second to provision. pd-extreme takes 10,000 to 120,000; other types have their own bounds.",
        int64=True,
        minimum=1,
    )
    provisioned_throughput: int = field(
        "Throughput to provision, in MB per second; at least 1.", int64=True, minimum=1, source="compute 2.2"
    )
    replica_zones: list[str] = field(
        "The two zones of a regional disk, one of them the instance's.",
        min_items=2,
        max_items=2,
        identity="set",
        normalize=name_of,
        source="compute 2.2, 8",
    )
    resource_manager_tags: dict[str, str] = field(
        "Resource Manager tags: `tagKeys/ID` to `tagValues/ID`. Not read back.", write_only=True
    )
    resource_policies: list[str] = field(
        "Resource policies of the disk, such as snapshot schedules; a template takes bare names.",
        identity="set",
        url="regions/resourcePolicies",
    )
    source_image: str = field(
        "The image: `projects/P/global/images/I`, or `projects/P/global/images/family/F` for the newest of a family. Short forms are resolved: `debian-12`, `family/debian-12` and `debian-cloud/debian-12` to the public family, other names to the project's own images.",
        url="global/images",
        resolve=images.resolved,
        forgotten=True,
    )
    source_image_encryption_key: CustomerEncryptionKey = field(
        "The key of a protected image. Never stored by a template.", write_only=True
    )
    source_instant_snapshot: str = field(
        "The instant snapshot to make the disk from.", beta=True, url="zones/instantSnapshots", forgotten=True
    )
    source_snapshot: str = field("The snapshot to make the disk from.", url="global/snapshots", forgotten=True)
    source_snapshot_encryption_key: CustomerEncryptionKey = field(
        "The key of a protected snapshot. Never stored by a template.", write_only=True
    )
    storage_pool: str = field("The storage pool the disk is made in, as a URL.", url="zones/storagePools")


@record
class FileContentBuffer(Record):
    """One key file of a Shielded VM."""

    content: str = field("The file's content, in base64.", output=True)
    file_type: str = field("`X509` or `BIN`.", output=True, enum=("BIN", "UNDEFINED", "X509"))


@record
class InitialStateConfig(Record):
    """The UEFI keys that a Shielded VM begins with."""

    pk: FileContentBuffer = field("The platform key.", output=True)
    keks: list[FileContentBuffer] = field("The key exchange keys.", output=True)
    dbs: list[FileContentBuffer] = field("The allowed signatures.", output=True)
    dbxs: list[FileContentBuffer] = field("The forbidden signatures.", output=True)


@record
class AttachedDisk(Record):
    """A disk of an instance: one that exists (`source`), or one to be made (`initializeParams`)."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        exclusive("source", "initializeParams", source="compute 2.2"),
        disk_rules.boot_disks_have_a_source,
        disk_rules.scratch_is_local_ssd,
        disk_rules.scratch_is_blank,
        disk_rules.large_local_ssds_are_nvme,
        disk_rules.local_ssds_have_their_sizes,
    )

    architecture: str = field("The processor architecture of the disk.", output=True, enum=("ARM64", "X86_64"))
    auto_delete: bool = field("Delete the disk together with its instance. Default: false.", default=False)
    boot: bool = field(
        "Boot from this disk; its first partition holds the root file system. Default: false.", default=False
    )
    device_name: str = field(
        "The name the guest sees below `/dev/disk/by-id/google-*`. Default: `persistent-disk-N`.",
        default=re.compile(r"(persistent|local-ssd)-disk-\d+"),
        max_length=63,
    )
    disk_encryption_key: CustomerEncryptionKey = field("The key that encrypts a new disk or opens an attached one.")
    disk_size_gb: int = field("Size in GB (base 2).", computed=True, int64=True, minimum=1)
    force_attach: bool = field(
        "Attach a regional disk even if it is attached to another instance. Not read back.", write_only=True
    )
    guest_os_features: list[GuestOsFeature] = field(
        "Features of the guest operating system.", computed=True, identity=("type",)
    )
    index: int = field("The disk's place; 0 is the boot disk.", output=True)
    initialize_params: AttachedDiskInitializeParams = field("How to make a new disk. Conflicts with `source`.")
    interface: str = field(
        "How the disk is attached. Default: `SCSI` for most machine types.", enum=("NVME", "SCSI"), default="SCSI"
    )
    kind: str = field("Always `compute#attachedDisk`.", output=True)
    licenses: list[str] = field("Licenses that the disk carries, as URLs.", output=True, url="global/licenses")
    locked: bool = field("Whether the disk is locked.", output=True, beta=True)
    mode: str = field(
        "`READ_WRITE` or `READ_ONLY`. Default: `READ_WRITE`.",
        enum=("READ_ONLY", "READ_WRITE"),
        closed=True,
        default="READ_WRITE",
        source="compute 2.2",
    )
    saved_state: str = field(
        "`PRESERVED` when the data of a local SSD was kept on request.", output=True, enum=("PRESERVED",)
    )
    shielded_instance_initial_state: InitialStateConfig = field("The UEFI keys stored on the disk.", output=True)
    source: str = field(
        "An existing disk. A template takes the name of a zonal disk or the URL of a regional one. Conflicts with `initializeParams`.",
        url="zones/disks",
    )
    type: str = field(
        "`PERSISTENT`, or `SCRATCH` for a local SSD. Default: `PERSISTENT`.",
        enum=("PERSISTENT", "SCRATCH"),
        closed=True,
        default="PERSISTENT",
    )
    user_licenses: list[str] = field(
        "License URLs given by the user.", beta=True, identity="set", url="global/licenses"
    )


@record
class AccessConfig(Record):
    """How an interface is reached from the internet."""

    external_ipv6: str = field(
        "IPv6 only: the first address of the external range; a static one is unused and in the same region.",
        normalize=forms.address,
    )
    external_ipv6_prefix_length: int = field(
        "IPv6 only: the length of the external range's prefix.", minimum=0, maximum=128
    )
    kind: str = field("Always `compute#accessConfig`.", output=True)
    name: str = field(
        "The configuration's name. Default and usual: `External NAT`; for IPv6 `External IPv6`.",
        default=re.compile(r"(?i)external[ -](nat|ipv6)"),
    )
    nat_ip: str = field(
        "IPv4 only: a reserved, unused external address of the region. Default: an ephemeral one.",
        name="natIP",
        normalize=forms.address,
    )
    network_tier: str = field(
        "The network tier; that of the address where one is given. Default: the project's.",
        computed=True,
        enum=("FIXED_STANDARD", "PREMIUM", "STANDARD", "STANDARD_OVERRIDES_FIXED_STANDARD"),
        source="compute 2.2",
    )
    public_ptr_domain_name: str = field(
        "The domain name of the reverse DNS record; needs `setPublicPtr`.", normalize=forms.domain
    )
    security_policy: str = field("The security policy of the configuration, as a URL.", output=True)
    set_public_ptr: bool = field(
        "Make a reverse DNS record; not for IPv6, which always has one. Default: false.", default=False
    )
    type: str = field(
        "`ONE_TO_ONE_NAT` for IPv4, `DIRECT_IPV6` for IPv6; the default fits either.",
        enum=("DIRECT_IPV6", "ONE_TO_ONE_NAT"),
        default=re.compile("DIRECT_IPV6|ONE_TO_ONE_NAT"),
    )


@record
class AliasIpRange(Record):
    """Further addresses of an interface."""

    RULES = (network_rules.ranges_are_ranges,)

    candidate_subnetwork_range_names: list[str] = field("Secondary ranges to choose from.", beta=True)
    effective_subnetwork_range_name: str = field("The range that was chosen.", output=True, beta=True)
    ip_cidr_range: str = field(
        "One address, a netmask such as `/24`, or a CIDR range; inside the subnetwork and free of addresses in use.",
        normalize=forms.address_range,
    )
    subnetwork_range_name: str = field("The secondary range to take it from. Default: the primary range.")


@record
class NetworkInterface(Record):
    """A network interface."""

    RULES = (
        network_rules.access_configs_are_of_their_version,
        network_rules.ptr_needs_its_switch,
        network_rules.ipv4_only_means_it,
        network_rules.addresses_are_addresses,
    )

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Infer the network: that of the subnetwork, and without either the default one."""
        if values.get("networkAttachment"):
            return {}
        return {"network": values.get("network") if values.get("subnetwork") else "global/networks/default"}

    access_configs: list[AccessConfig] = field(
        "IPv4 access from the internet; at most one. None means no external address.",
        max_items=1,
        source="compute 2.2, 8",
    )
    alias_ip_ranges: list[AliasIpRange] = field("Alias IPv4 ranges; VPC networks only.", identity=("ipCidrRange",))
    alias_ipv6_ranges: list[AliasIpRange] = field("Alias IPv6 ranges; VPC networks only.", identity=("ipCidrRange",))
    enable_vpc_scoped_dns: bool = field("Resolve names of the whole VPC network over this interface.")
    fingerprint: str = field(
        "A hash of the interface, base64; Google asks for it on updates and ignores it here.", output=True
    )
    igmp_query: str = field(
        "Whether the interface takes part in IGMP queries.", enum=("IGMP_QUERY_DISABLED", "IGMP_QUERY_V2")
    )
    internal_ipv6_prefix_length: int = field("The length of the internal IPv6 range's prefix.", minimum=0, maximum=128)
    ipv6_access_configs: list[AccessConfig] = field(
        "IPv6 access from the internet; at most one. None means no external address.",
        max_items=1,
        source="compute 2.2, 8",
    )
    ipv6_access_type: str = field(
        "`EXTERNAL` or `INTERNAL`, as the subnetwork has it.", output=True, enum=("EXTERNAL", "INTERNAL")
    )
    ipv6_address: str = field(
        "The internal IPv6 address; a static one is unused and in the region.", normalize=forms.address
    )
    kind: str = field("Always `compute#networkInterface`.", output=True)
    mac_address: str = field("The MAC address.", output=True, beta=True)
    name: str = field("`nic0` to `nic7`.", output=True)
    network: str = field(
        "The VPC network. Default: that of `subnetwork`, or else `global/networks/default`.", url="global/networks"
    )
    network_attachment: str = field(
        "The network attachment to connect to: `projects/NUMBER/regions/R/networkAttachments/A`.",
        url="regions/networkAttachments",
        pattern=ATTACHMENT,
        source="compute 2.2",
    )
    network_ip: str = field(
        "The internal IPv4 address. Default: an unused one.", name="networkIP", normalize=forms.address
    )
    nic_type: str = field(
        "The virtual network card.", enum=("GVNIC", "IDPF", "IRDMA", "MRDMA", "VIRTIO_NET"), source="compute 2.2"
    )
    parent_nic_name: str = field("The interface that a dynamic one (with `vlan`) belongs to.")
    queue_count: int = field("The number of receive and transmit queues.", minimum=0)
    service_class_id: str = field("The producer service's class.")
    stack_type: str = field(
        "Which IP versions are assigned.",
        computed=True,
        enum=("IPV4_IPV6", "IPV4_ONLY", "IPV6_ONLY"),
        source="compute 2.2",
    )
    subnetwork: str = field(
        "The subnetwork. Required in custom subnet mode, left out on legacy networks.", url="regions/subnetworks"
    )
    vlan: int = field("The VLAN tag of a dynamic interface, 2 to 255.", minimum=2, maximum=255)


@record
class MetadataItem(Record):
    """One metadata entry."""

    key: str = field(
        "The key: 1 to 128 letters, digits, hyphens and underscores.",
        required=True,
        pattern=(re.compile(r"[a-zA-Z0-9-_]{1,128}"), "1 to 128 letters, digits, hyphens and underscores"),
    )
    value: str = field("The value, at most 262,144 bytes.")


@record
class Metadata(Record):
    """Metadata that the guest can read; all keys and values together are under 512 KB."""

    RULES = (instance_rules.metadata_fits, instance_rules.metadata_keys_are_different)
    HINTS: ClassVar = {
        "": "must be written `{items: [{key: KEY, value: VALUE}]}`",
        "*": "must be written as an element of items here: `metadata: {items: [{key: KEY, value: VALUE}]}`",
    }

    fingerprint: str = field("A hash of the metadata, base64.", output=True)
    items: list[MetadataItem] = field("The entries, in any order.", identity=("key",))
    kind: str = field("Always `compute#metadata`.", output=True)


@record
class Tags(Record):
    """Network tags."""

    HINTS: ClassVar = {"": "must be written `{items: [TAG, ...]}`"}

    fingerprint: str = field("A hash of the tags, base64.", output=True)
    items: list[str] = field(
        "The tags, each 1 to 63 characters (RFC 1035), in any order.",
        identity="set",
        pattern=NAME,
        source="compute 2.1",
    )


@record
class ServiceAccount(Record):
    """The identity of the instances."""

    email: str = field("The service account's e-mail address, or `default`.")
    scopes: list[str] = field("OAuth 2.0 scopes of the tokens that instances get.", identity="set")


@record
class Duration(Record):
    """A length of time."""

    seconds: int = field(
        "Whole seconds, 0 to 315,576,000,000.", int64=True, minimum=0, maximum=315_576_000_000, source="compute 2.2, 8"
    )
    nanos: int = field(
        "Fractions of a second, 0 to 999,999,999 nanoseconds.",
        minimum=0,
        maximum=999_999_999,
        default=0,
        source="compute 2.2, 8",
    )


@record
class SchedulingGracefulShutdown(Record):
    """Time for the guest to shut down."""

    enabled: bool = field("Shut down gracefully.")
    max_duration: Duration = field("The longest time that it may take.")


@record
class SchedulingNodeAffinity(Record):
    """On which sole-tenant nodes instances may run."""

    key: str = field("The node's label key.")
    operator: str = field("`IN` or `NOT_IN`.", enum=("IN", "NOT_IN"), source="compute 2.2")
    values: list[str] = field("The node's label values.", identity="set")


@record
class SchedulingOnInstanceStopAction(Record):
    """What stopping an instance does."""

    discard_local_ssd: bool = field("Discard the data on local SSDs.")


@record
class Scheduling(Record):
    """When and where instances run, and how they are stopped."""

    RULES = (
        exclusive("maxRunDuration", "terminationTime", source="compute 2.2"),
        instance_rules.recovery_is_in_hours,
        instance_rules.spot_is_ended,
        instance_rules.an_end_needs_a_reason,
    )

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Spot and preemptible instances are ended, never moved or restarted, and Spot ones are shown as preemptible."""
        if values.get("provisioningModel") == "SPOT":
            return {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}
        return {"automaticRestart": False, "onHostMaintenance": "TERMINATE"} if values.get("preemptible") else {}

    automatic_restart: bool = field(
        "Restart an instance that Google ended. Default: true; false for preemptible and Spot ones.", default=True
    )
    availability_domain: int = field("The availability domain, 1 and up.", minimum=1)
    expose_host_topology: bool = field("Show the hashed ID of the physical host to the guest.")
    graceful_shutdown: SchedulingGracefulShutdown = field("Time for the guest to shut down.")
    host_error_timeout_seconds: int = field(
        "Seconds until a host error is acted on: 90 to 330, in steps of 30. Default: Google's own behaviour.",
        beta=True,
        minimum=90,
        maximum=330,
        multiple_of=30,
        source="compute 2.2, 8",
    )
    instance_termination_action: str = field(
        "What the end of a Spot instance, or of `maxRunDuration`, does.", enum=("DELETE", "STOP")
    )
    local_ssd_recovery_timeout: Duration = field(
        "How long to try to recover local SSDs: 0 to 168 hours, whole hours. Default: 1 hour."
    )
    location_hint: str = field("An opaque hint for placement.")
    maintenance_freeze_duration_hours: int = field(
        "Hours after creation without planned maintenance.", beta=True, minimum=0
    )
    maintenance_interval: str = field(
        "How often planned maintenance comes.",
        beta=True,
        enum=("AS_NEEDED", "PERIODIC", "RECURRENT"),
        source="compute 2.2",
    )
    max_run_duration: Duration = field(
        "How long an instance runs before it is ended. Conflicts with `terminationTime`.", beta=True
    )
    min_node_cpus: int = field(
        "The least number of virtual CPUs that an instance takes on a sole-tenant node.", minimum=0
    )
    node_affinities: list[SchedulingNodeAffinity] = field(
        "Sole-tenant nodes to run on, or to stay off.", identity=("key",)
    )
    on_host_maintenance: str = field(
        "Move the instance or end it during maintenance. Default: `MIGRATE`; `TERMINATE` with GPUs, Spot or preemptible.",
        enum=("MIGRATE", "TERMINATE"),
        default="MIGRATE",
    )
    on_instance_stop_action: SchedulingOnInstanceStopAction = field("What stopping an instance does.", beta=True)
    preemptible: bool = field("Run at Google's convenience, for at most 24 hours. Default: false.", default=False)
    preemption_notice_duration: Duration = field("How long before preemption the guest is told.")
    provisioning_model: str = field(
        "How capacity is provisioned. Default: `STANDARD`.",
        enum=("FLEX_START", "RESERVATION_BOUND", "SPOT", "STANDARD"),
        default="STANDARD",
    )
    skip_guest_os_shutdown: bool = field("End instances without telling the guest.")
    termination_time: str = field(
        "When an instance is ended (RFC 3339). Conflicts with `maxRunDuration`.",
        beta=True,
        pattern=MOMENT,
        source="compute 2.2",
        normalize=forms.moment,
    )


@record
class AcceleratorConfig(Record):
    """GPUs and other accelerators."""

    accelerator_count: int = field("The number of accelerators.", minimum=0)
    accelerator_type: str = field("The type, such as `nvidia-l4`; a template takes the bare name.", normalize=name_of)


@record
class ReservationAffinity(Record):
    """Which reservations instances use."""

    RULES = (instance_rules.reservations_are_named, instance_rules.reservations_have_the_known_key)

    consume_reservation_type: str = field(
        "Which kind of reservation. Default: `ANY_RESERVATION`.",
        enum=(
            "ANY_RESERVATION",
            "ANY_RESERVATION_THEN_FAIL",
            "NO_RESERVATION",
            "SPECIFIC_RESERVATION",
            "SPECIFIC_THEN_ANY_RESERVATION",
            "SPECIFIC_THEN_NO_RESERVATION",
        ),
        default="ANY_RESERVATION",
        source="compute 2.2",
    )
    key: str = field("The reservation's label key; `compute.googleapis.com/reservation-name` to choose by name.")
    values: list[str] = field(
        "The label's values: names, or `projects/P/reservations/R` for a shared one.", identity="set"
    )


@record
class ShieldedInstanceConfig(Record):
    """Shielded VM options."""

    RULES = (instance_rules.monitoring_needs_the_tpm,)

    enable_integrity_monitoring: bool = field("Watch the integrity of the boot. Default: true.", default=True)
    enable_secure_boot: bool = field("Boot signed software only. Default: false.", default=False)
    enable_vtpm: bool = field("Give a virtual TPM. Default: true.", default=True)


@record
class ShieldedVmConfig(Record):
    """Shielded VM options, by their old name."""

    enable_integrity_monitoring: bool = field("Watch the integrity of the boot.", beta=True)
    enable_secure_boot: bool = field("Boot signed software only.", beta=True)
    enable_vtpm: bool = field("Give a virtual TPM.", beta=True)


@record
class ConfidentialInstanceConfig(Record):
    """Confidential computing."""

    confidential_instance_type: str = field(
        "The technology.", beta=True, enum=("BMSAI", "CCA", "SEV", "SEV_SNP", "TDX")
    )
    enable_confidential_compute: bool = field("Run as confidential VMs.")


@record
class AdvancedMachineFeatures(Record):
    """Processor options."""

    RULES = (instance_rules.cores_have_two_threads,)

    enable_nested_virtualization: bool = field("Let instances run virtual machines. Default: false.", default=False)
    enable_uefi_networking: bool = field("Allow network boot by UEFI.")
    performance_monitoring_unit: str = field(
        "The performance counters that instances see.", enum=("ARCHITECTURAL", "ENHANCED", "STANDARD")
    )
    threads_per_core: int = field(
        "Threads on a physical core; 1 turns simultaneous multithreading off.", minimum=1, source="compute 2.2"
    )
    turbo_mode: str = field("The turbo frequency mode, such as `ALL_CORE_MAX`.")
    visible_core_count: int = field("Physical cores that an instance sees.", minimum=1)


@record
class NetworkPerformanceConfig(Record):
    """Bandwidth."""

    total_egress_bandwidth_tier: str = field(
        "The tier of outgoing bandwidth. Default: `DEFAULT`.", enum=("DEFAULT", "TIER_1"), default="DEFAULT"
    )


@record
class DisplayDevice(Record):
    """A virtual display."""

    enable_display: bool = field("Give the instances a display. Default: false.", default=False)


@record
class StructuredEntries(Record):
    """Partner metadata of one subdomain."""

    entries: dict[str, Any] = field("Entries of any JSON value.", beta=True)


@record
class WorkloadIdentityConfig(Record):
    """The workload identity of the instances."""

    identity: str = field("The identity.")
    identity_certificate_enabled: bool = field("Give instances a certificate of the identity.")
    identity_type: str = field("The kind of identity.", enum=("AGENT_IDENTITY", "SERVICE_ACCOUNT"))


def no_customer_keys(owner: str, values: dict[str, Any]) -> list[Failure]:
    """Refuse customer-supplied keys where Google stores or takes none: in templates and bulk creation."""
    return [
        (
            (owner, "disks", index, "diskEncryptionKey", name),
            "must be left out: customer-supplied keys cannot be used here; use kmsKeyName",
        )
        for index, disk in elements(nested(values, owner), "disks")
        for name in ("rawKey", "rsaEncryptedKey")
        if nested(disk, "diskEncryptionKey").get(name)
    ]


@record
class InstanceProperties(Record):
    """What instances are made of."""

    HINTS: ClassVar = {
        "metadataStartupScript": "must be written `metadata: {items: [{key: startup-script, value: SCRIPT}]}` here"
    }

    RULES = (
        instance_rules.custom_machines_fit,
        instance_rules.custom_families_mostly_fit,
        instance_rules.the_boot_disk_comes_first,
        instance_rules.devices_are_different,
        instance_rules.gpus_stay,
        instance_rules.confidential_instances_stay,
        instance_rules.confidential_instances_use_gvnic,
        instance_rules.tier_1_needs_gvnic,
        instance_rules.interfaces_are_few,
        instance_rules.e2_nests_nothing,
        label_rules.labels_are_plain,
        instance_rules.tags_are_of_a_known_form,
    )

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Instances with GPUs cannot be moved."""
        return {"scheduling": {"onHostMaintenance": "TERMINATE"}} if values.get("guestAccelerators") else {}

    advanced_machine_features: AdvancedMachineFeatures = field("Processor options.")
    can_ip_forward: bool = field(
        "Let instances send and receive packets for other addresses. Default: false.", default=False
    )
    confidential_instance_config: ConfidentialInstanceConfig = field("Confidential computing.")
    description: str = field("A text about the instances.")
    disks: list[AttachedDisk] = field(
        "The disks. Matched by device name, source or disk name, so reordering them is not a change.",
        identity=("deviceName", "source", "initializeParams.diskName"),
    )
    display_device: DisplayDevice = field("A virtual display.", beta=True)
    guest_accelerators: list[AcceleratorConfig] = field("GPUs and other accelerators.", identity=("acceleratorType",))
    key_revocation_action_type: str = field(
        "What the revocation of a disk's key does. Default: `NONE`.",
        enum=("NONE", "STOP"),
        default="NONE",
        source="compute 2.2",
    )
    labels: dict[str, str] = field(
        "Labels of the instances.", merge_keys=frozenset({"goog-pulumi-provisioned", "goog-terraform-provisioned"})
    )
    local_ssd_encryption_mode: str = field(
        "How local SSDs are encrypted.", enum=("CMEK_ENCRYPTION", "EPHEMERAL_KEY_ENCRYPTION", "STANDARD_ENCRYPTION")
    )
    machine_type: str = field(
        "The machine type, such as `e2-small` or `custom-4-8192`; the bare name.",
        pattern=MACHINE_TYPE,
        normalize=name_of,
    )
    metadata: Metadata = field("Metadata that the guest can read.")
    min_cpu_platform: str = field("The oldest processor platform, such as `Intel Ice Lake`.")
    network_interfaces: list[NetworkInterface] = field("The network interfaces, nic0 first.")
    network_performance_config: NetworkPerformanceConfig = field("Bandwidth.")
    partner_metadata: dict[str, StructuredEntries] = field("Partner metadata by subdomain.", beta=True)
    post_key_revocation_action_type: str = field(
        "What happens when a disk's key is revoked.", beta=True, enum=("NOOP", "SHUTDOWN")
    )
    private_ipv6_google_access: str = field(
        "How instances reach Google's services over IPv6. Default: `INHERIT_FROM_SUBNETWORK`.",
        enum=(
            "ENABLE_BIDIRECTIONAL_ACCESS_TO_GOOGLE",
            "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE",
            "INHERIT_FROM_SUBNETWORK",
        ),
        default="INHERIT_FROM_SUBNETWORK",
    )
    reservation_affinity: ReservationAffinity = field("Which reservations instances use.")
    resource_manager_tags: dict[str, str] = field(
        "Resource Manager tags: `tagKeys/ID` to `tagValues/ID`. Not read back.", write_only=True
    )
    resource_policies: list[str] = field("Names of resource policies.", identity="set", url="regions/resourcePolicies")
    scheduling: Scheduling = field("When and where instances run, and how they are stopped.")
    service_accounts: list[ServiceAccount] = field(
        "The identity of the instances; one at most.", identity=("email",), max_items=1
    )
    shielded_instance_config: ShieldedInstanceConfig = field("Shielded VM options.")
    shielded_vm_config: ShieldedVmConfig = field(
        "Shielded VM options, by their old name.",
        beta=True,
        deprecated="use shieldedInstanceConfig",
        source="compute 2.2, 9",
    )
    tags: Tags = field("Network tags.")
    workload_identity_config: WorkloadIdentityConfig = field("The workload identity of the instances.")
