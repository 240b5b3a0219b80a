"""The disks of instances, and how new ones are created: their declaration. Their rules are in `disk_rules`."""

from __future__ import annotations

import re
from typing import ClassVar

from gcpx.compute import image_names as images
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties import disk_rules
from gcpx.compute.instance_properties.encryption_keys import CustomerEncryptionKey
from gcpx.compute.instance_properties.labels_and_tags import labels_are_valid, resource_manager_tags_have_a_known_form
from gcpx.compute.name_pattern import NAME
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.links import name_of
from gcpx.model.rules import Rule, exclusive


@record
class GuestOsFeature(Record):
    """A feature of the guest operating system."""

    type: str = field(
        "The feature, such as `GVNIC`.",
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
    """How to create a new disk together with its instance."""

    HINTS: ClassVar = {
        "image": "must be written `sourceImage` here",
        "size": "must be written `diskSizeGb` here",
        "type": "must be written `diskType` here",
    }

    RULES = (
        exclusive(
            "sourceImage",
            "sourceSnapshot",
            "sourceInstantSnapshot",
            source=rest("instances", "disks[].initializeParams.sourceImage"),
        ),
        images.image_name_form("sourceImage"),
        disk_rules.persistent_disks_have_at_least_10_gb,
        disk_rules.other_disks_have_at_least_10_gb,
        disk_rules.pd_extreme_iops_are_in_range,
        disk_rules.other_iops_are_in_range,
        disk_rules.replica_zones_differ_within_one_region,
        labels_are_valid,
        resource_manager_tags_have_a_known_form,
    )

    architecture: str = field(
        "The processor architecture that the disk is for: `ARM64` or `X86_64`. Google does not return it.",
        enum=("ARM64", "X86_64"),
        write_only=True,
    )
    description: str = field("A description of the disk.")
    disk_name: str = field(
        "The disk's name, such as `web-data`: 1 to 63 lower-case letters, digits and hyphens (RFC 1035). If a disk of that name exists in the region, it is attached, and no new disk is created. Default: the instance's name.",
        pattern=NAME,
        source=rest("instances", "disks[].initializeParams.diskName"),
    )
    disk_size_gb: int = field(
        "The size in GB (2^30 bytes), such as `100`; at least 10 for the disk types `pd-*`. Default: the size of the image, or 500 without one.",
        int64=True,
        minimum=1,
    )
    disk_type: str = field(
        "The disk type, such as `pd-ssd`. Instance templates accept only its name. Default: `pd-standard` on machine series of the first and second generation, such as N1 and N2; `pd-balanced` or `hyperdisk-balanced` on newer ones.",
        normalize=name_of,
        default="pd-standard",
    )
    enable_confidential_compute: bool = field(
        "Create the disk in confidential compute mode. Default: false.", default=False
    )
    guest_os_features: list[GuestOsFeature] = field(
        "Features of the guest operating system, such as `[{type: GVNIC}]`, in addition to those of the disk. For bootable images only.",
        beta=True,
        identity=("type",),
    )
    labels: dict[str, str] = field(
        "Labels of the disk, such as `{team: web}`: at most 64, with at most 63 characters in keys and values. For persistent disks only."
    )
    licenses: list[str] = field(
        "Licenses of the disk, as URLs. Reserved for Google's own use.", identity="set", url="global/licenses"
    )
    multi_writer: bool = field("Let several instances attach the disk for reading and writing.", beta=True)
    on_update_action: str = field(
        "What an update of the instance does with the disk: `USE_EXISTING_DISK` keeps it, `RECREATE_DISK` replaces it, `RECREATE_DISK_IF_SOURCE_CHANGED` replaces it if its image or snapshot changes. Default: `USE_EXISTING_DISK`.",
        enum=("RECREATE_DISK", "RECREATE_DISK_IF_SOURCE_CHANGED", "USE_EXISTING_DISK"),
    )
    provisioned_iops: int = field(
        "I/O operations per second to provision, such as `20000`; at least 1. `pd-extreme` takes 10,000 to 120,000; other disk types have limits of their own.",
        int64=True,
        minimum=1,
    )
    provisioned_throughput: int = field(
        "Throughput to provision in MB per second, such as `500`; at least 1.",
        int64=True,
        minimum=1,
        source=rest("instances", "disks[].initializeParams.provisionedThroughput"),
    )
    replica_zones: list[str] = field(
        "The two zones of a regional disk, such as `[zones/us-east1-b, zones/us-east1-c]`; one of them must be the instance's zone. Required for a regional disk.",
        min_items=2,
        max_items=2,
        identity="set",
        normalize=name_of,
        source=rest("instances", "disks[].initializeParams.replicaZones"),
    )
    resource_manager_tags: dict[str, str] = field(
        "Resource Manager tags of the disk, such as `{tagKeys/123: tagValues/456}` or `{my-project/env: prod}`. Google does not return them.",
        write_only=True,
    )
    resource_policies: list[str] = field(
        "Policies for automatic snapshots of the disk, such as `[regions/us-east1/resourcePolicies/daily]`. Instance templates accept only names: `[daily]`.",
        identity="set",
        url="regions/resourcePolicies",
    )
    source_image: str = field(
        "The image to create the disk from, such as `projects/my-project/global/images/web-1`, or `projects/my-project/global/images/family/web` for the newest image of a family. Short names are completed: `debian-12`, `family/debian-12` and `debian-cloud/debian-12` stand for that family of the public project `debian-cloud`, and other names for images of your own project. Conflicts with `sourceSnapshot` and `sourceInstantSnapshot`.",
        url="global/images",
        resolve=images.resolve,
        forgotten=True,
    )
    source_image_encryption_key: CustomerEncryptionKey = field(
        "The key of `sourceImage`, if it is encrypted with a key of your own. Instance templates do not store customer-supplied keys.",
        write_only=True,
    )
    source_instant_snapshot: str = field(
        "The instant snapshot to create the disk from, such as `zones/us-east1-b/instantSnapshots/backup`. Bulk creation does not create boot disks from it. Conflicts with `sourceImage` and `sourceSnapshot`.",
        beta=True,
        url="zones/instantSnapshots",
        forgotten=True,
    )
    source_snapshot: str = field(
        "The snapshot to create the disk from, such as `global/snapshots/backup`. Bulk creation does not create boot disks from it. Conflicts with `sourceImage` and `sourceInstantSnapshot`.",
        url="global/snapshots",
        forgotten=True,
    )
    source_snapshot_encryption_key: CustomerEncryptionKey = field(
        "The key of `sourceSnapshot`, if it is encrypted with a key of your own. Instance templates do not store customer-supplied keys.",
        write_only=True,
    )
    storage_pool: str = field(
        "The storage pool to create the disk in, such as `zones/us-east1-b/storagePools/my-pool`.",
        url="zones/storagePools",
    )


@record
class FileContentBuffer(Record):
    """One of the key files of a Shielded VM."""

    content: str = output_field("The file's content, in base64.")
    file_type: str = output_field("The file's type: `X509`, `BIN` or `UNDEFINED`.", enum=("BIN", "UNDEFINED", "X509"))


@record
class InitialStateConfig(Record):
    """The UEFI keys that a Shielded VM starts with."""

    pk: FileContentBuffer = output_field("The platform key (PK).")
    keks: list[FileContentBuffer] = output_field("The key exchange keys (KEK).")
    dbs: list[FileContentBuffer] = output_field("The key database (db).")
    dbxs: list[FileContentBuffer] = output_field("The database of forbidden keys (dbx).")


@record
class AttachedDisk(Record):
    """A disk of an instance: an existing one (`source`), or a new one (`initializeParams`)."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        exclusive("source", "initializeParams", source=rest("instances", "disks[].initializeParams")),
        disk_rules.boot_disks_have_a_source,
        disk_rules.scratch_disks_are_local_ssds,
        disk_rules.local_ssds_are_blank,
        disk_rules.large_local_ssds_require_nvme,
        disk_rules.local_ssds_have_a_known_size,
    )

    architecture: str = output_field(
        "The processor architecture that the disk is for: `ARM64` or `X86_64`.", enum=("ARM64", "X86_64")
    )
    auto_delete: bool = field(
        "Delete the disk when its instance is deleted, but not when it is detached. Default: false.", default=False
    )
    boot: bool = field(
        "Boot from this disk, whose first partition holds the root file system. Only the first disk of an instance can be the boot disk. Default: false.",
        default=False,
    )
    device_name: str = field(
        "The disk's name on the instance, such as `data`, which a Linux guest sees as `/dev/disk/by-id/google-data`: at most 63 characters, and different for each disk of an instance. Default: chosen by Google, such as `persistent-disk-1`.",
        default=re.compile(r"(persistent|local-ssd)-disk-\d+"),
        max_length=63,
    )
    disk_encryption_key: CustomerEncryptionKey = field(
        "The key that encrypts a new disk, or that an attached disk is encrypted with. Default: a key that Google generates."
    )
    disk_size_gb: int = field(
        "The disk's size in GB (2^30 bytes), such as `100`; at least 1. Default: the disk's current size.",
        computed=True,
        int64=True,
        minimum=1,
    )
    force_attach: bool = field(
        "Attach a regional disk even if it is attached to another instance. Google refuses it for a zonal disk, and does not return it.",
        write_only=True,
    )
    guest_os_features: list[GuestOsFeature] = field(
        "Features of the guest operating system, such as `[{type: GVNIC}]`. For bootable images only. Default: chosen by Google.",
        computed=True,
        identity=("type",),
    )
    index: int = output_field("The disk's index on the instance; 0 is the boot disk.")
    initialize_params: AttachedDiskInitializeParams = field(
        "How to create a new disk together with its instance. Conflicts with `source`."
    )
    interface: str = field(
        "The interface that the disk is attached by: `SCSI` or `NVME`. A local SSD of more than 375 GB requires `NVME`. Default: `SCSI` for most machine types.",
        enum=("NVME", "SCSI"),
        default="SCSI",
    )
    kind: str = output_field("Always `compute#attachedDisk`.")
    licenses: list[str] = output_field("Licenses of the disk, as URLs.", url="global/licenses")
    locked: bool = output_field(
        "Whether the disk is locked: it cannot be detached, and snapshots and images cannot be created from it.",
        beta=True,
    )
    mode: str = field(
        "How the disk is attached: `READ_WRITE`, or `READ_ONLY`, which lets several instances attach it at the same time. Default: `READ_WRITE`.",
        enum=("READ_ONLY", "READ_WRITE"),
        closed=True,
        default="READ_WRITE",
        source=rest("instances", "disks[].mode"),
    )
    saved_state: str = output_field(
        "`PRESERVED` if the data of a local SSD was saved when the instance was stopped or suspended.",
        enum=("PRESERVED",),
    )
    shielded_instance_initial_state: InitialStateConfig = output_field(
        "The UEFI keys that are stored on the disk, for Shielded VMs."
    )
    source: str = field(
        "The existing disk to attach, such as `zones/us-east1-b/disks/data` or `regions/us-east1/disks/data`. In an instance template, write only the name of a zonal disk: `data`. Conflicts with `initializeParams`.",
        url="zones/disks",
    )
    type: str = field(
        "The type of disk: `PERSISTENT`, or `SCRATCH` for a local SSD. Default: `PERSISTENT`.",
        enum=("PERSISTENT", "SCRATCH"),
        closed=True,
        default="PERSISTENT",
    )
    user_licenses: list[str] = field(
        "Licenses of your own for the disk, as URLs, such as `[projects/my-project/global/licenses/my-license]`.",
        beta=True,
        identity="set",
        url="global/licenses",
    )
