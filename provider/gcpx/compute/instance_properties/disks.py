"""The disks of instances, the creation of new ones, and encryption keys: declarations and rules."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from gcpx.compute import image_names as images
from gcpx.compute.instance_properties.labels_and_metadata import (
    labels_are_valid,
    resource_manager_tags_have_a_known_form,
)
from gcpx.compute.reference import LOCAL_SSDS, NAME, rest
from gcpx.model import compare
from gcpx.model.fields import (
    Failure,
    Record,
    Rule,
    elements,
    exclusive,
    field,
    nested,
    number,
    output_field,
    record,
    requirement,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.links import name_of
from gcpx.model.patterns import Form
from gcpx.model.values import UNKNOWN, Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import (
        AttachedDiskInitializeParamsValues,
        AttachedDiskValues,
        CustomerEncryptionKeyValues,
    )

_KEY_SIZES: Final = (("rawKey", 32), ("rsaEncryptedKey", 256))
"""The number of bytes of each customer-supplied key, before base64."""
_UNSUPPORTED: Final = "Google no longer supports customer-supplied keys; use kmsKeyName"


@rule(
    "",
    "a customer-supplied key must be base64 (RFC 4648) of 32 bytes (rawKey) or 256 bytes (rsaEncryptedKey)",
    rest("instances", "disks[].diskEncryptionKey"),
)
def customer_supplied_keys_have_their_size(values: CustomerEncryptionKeyValues) -> list[Failure]:
    return [
        Failure(name, f"must be {size} bytes in base64 (RFC 4648)")
        for name, size in _KEY_SIZES
        if text(values, name) and _decoded_size(text(values, name)) != size
    ]


def _decoded_size(given: str) -> int:
    try:
        return len(base64.b64decode("".join(given.split()), validate=True))
    except (binascii.Error, ValueError):
        return -1


@record
class CustomerEncryptionKey(Record):
    """An encryption key of your own, used in place of Google's. Set one of `kmsKeyName`, `rawKey` and `rsaEncryptedKey`."""

    HINTS: ClassVar = {"kmsKeySelfLink": "must be written `kmsKeyName` here"}
    RULES = (
        exclusive(
            "kmsKeyName", "rawKey", "rsaEncryptedKey", source=rest("instances", "disks[].diskEncryptionKey.rawKey")
        ),
        customer_supplied_keys_have_their_size,
    )

    kms_key_name: str = field(
        "The Cloud KMS key, such as `projects/my-project/locations/us-east1/keyRings/my-ring/cryptoKeys/my-key`. A change of the version at the end, such as `/cryptoKeyVersions/1`, is not a change of the key.",
        normalize=lambda name: str(name).partition("/cryptoKeyVersions/")[0],
    )
    kms_key_service_account: str = field(
        "The service account that uses the Cloud KMS key, such as `name@my-project.iam.gserviceaccount.com`. Default: Compute Engine's default service account."
    )
    raw_key: str = field(
        "A customer-supplied key: 32 bytes (256 bits) in base64 (RFC 4648). Instance templates do not store such keys, and bulk creation does not accept them.",
        secret=True,
        write_only=True,
        deprecated=_UNSUPPORTED,
        normalize=compare.decoded,
    )
    rsa_encrypted_key: str = field(
        "A customer-supplied key, wrapped with the RSA public key of Google's certificate, `https://cloud-certs.storage.googleapis.com/google-cloud-csek-ingress.pem`: 256 bytes in base64 (RFC 4648). Instance templates do not store such keys, and bulk creation does not accept them.",
        secret=True,
        write_only=True,
        deprecated=_UNSUPPORTED,
        normalize=compare.decoded,
    )
    sha256: str = output_field("The SHA-256 hash of the customer-supplied key, in base64.")


NO_CUSTOMER_KEYS: Final = "must be left out: customer-supplied keys cannot be used here; use kmsKeyName"


def customer_keys(owner: str, values: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the paths of the customer-supplied keys of the disks below the property `owner`.

    Neither bulk creation nor a template takes them.
    """
    for index, disk in elements(nested(values, owner), "disks"):
        for name, _ in _KEY_SIZES:
            if nested(disk, "diskEncryptionKey").get(name):
                yield (owner, "disks", index, "diskEncryptionKey", name)


_DISK_TYPE: Final = Form(
    r"(?:[^\s]+/)?[a-z][-a-z0-9]*", "the name of a disk type, such as pd-ssd: lower-case letters, digits and hyphens"
)
_SIZE: Final = rest("instances", "disks[].initializeParams.diskSizeGb")
_LEAST_SIZE: Final = 10


def _disk_type(parameters: AttachedDiskInitializeParamsValues) -> str:
    """Return the bare disk type of initializeParams; empty if it is missing or unknown."""
    return text(parameters, "diskType").rpartition("/")[2]


@requirement("diskSizeGb", f"must be at least {_LEAST_SIZE} GB for a disk of type pd-* or without a type", _SIZE)
def persistent_disks_have_at_least_10_gb(values: AttachedDiskInitializeParamsValues) -> bool:
    disk_type, size = _disk_type(values) or "pd-standard", number(values, "diskSizeGb")
    is_persistent = values.get("diskType") is not UNKNOWN and disk_type.startswith("pd-")
    return not is_persistent or size is None or size >= _LEAST_SIZE


@requirement(
    "diskSizeGb",
    f"should be at least {_LEAST_SIZE} GB, the documented minimum, also for types other than pd-*; it is sent unchanged",
    _SIZE,
    warns=True,
)
def other_disks_have_at_least_10_gb(values: AttachedDiskInitializeParamsValues) -> bool:
    disk_type, size = _disk_type(values), number(values, "diskSizeGb")
    return not disk_type or disk_type.startswith("pd-") or size is None or size >= _LEAST_SIZE


_IOPS: Final = rest("instances", "disks[].initializeParams.provisionedIops")
_LEAST_IOPS: Final = 10_000
_MOST_IOPS: Final = 120_000


@requirement("provisionedIops", f"must be {_LEAST_IOPS:,} to {_MOST_IOPS:,} for a pd-extreme disk", _IOPS)
def pd_extreme_iops_are_in_range(values: AttachedDiskInitializeParamsValues) -> bool:
    return _disk_type(values) != "pd-extreme" or _is_usual(number(values, "provisionedIops"))


def _is_usual(iops: float | None) -> bool:
    return iops is None or _LEAST_IOPS <= iops <= _MOST_IOPS


@requirement(
    "provisionedIops",
    f"should be {_LEAST_IOPS:,} to {_MOST_IOPS:,}, the documented range, also for types other than pd-extreme; "
    "it is sent unchanged",
    _IOPS,
    warns=True,
)
def other_iops_are_in_range(values: AttachedDiskInitializeParamsValues) -> bool:
    is_other = values.get("diskType") is not UNKNOWN and _disk_type(values) != "pd-extreme"
    return not is_other or _is_usual(number(values, "provisionedIops"))


_REGIONAL_ZONES: Final = 2


@requirement(
    "replicaZones",
    "must be two different zones of the instance's region",
    rest("instances", "disks[].initializeParams.replicaZones"),
    about="replicaZones",
)
def replica_zones_differ_within_one_region(values: AttachedDiskInitializeParamsValues) -> bool:
    given = values.get("replicaZones")
    zones = [zone.rpartition("/")[2] for zone in given if isinstance(zone, str)] if isinstance(given, list) else []
    is_twice = len(zones) == _REGIONAL_ZONES and zones[0] == zones[1]
    return not is_twice and len({zone.rpartition("-")[0] for zone in zones}) <= 1


@requirement_of_each(
    "initializeParams.sourceImage",
    "is required: a boot disk is created from an image or a snapshot (initializeParams), or is an existing disk (source)",
    rest("instances", "disks[].source"),
)
def boot_disks_have_a_source(values: AttachedDiskValues) -> Iterator[str]:
    parameters = values.get("initializeParams")
    if values.get("boot") is not True or values.get("source") is not None or not isinstance(parameters, dict | None):
        return
    sources = ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "diskName")
    if parameters is None:
        yield "initializeParams"
    elif all(parameters.get(name) is None for name in sources):
        yield "initializeParams.sourceImage"


REGIONAL_DISK: Final = re.compile(r"(?:.*/)?regions/([^/]+)/disks/[^/]+")
ZONAL_DISK: Final = re.compile(r"(?:.*/)?zones/([^/]+)/disks/[^/]+")
"""Links to disks; the group is the region or the zone."""


def force_attach_requires_regional_disk(name: str, source: str) -> Rule:
    """Refuse to force a zonal disk, as Google does; `name` is the property that names the disk."""
    words = f"must be left out unless {name} is a regional disk, written regions/REGION/disks/NAME"

    @requirement("forceAttach", words, source)
    def force_attach_requires_regional_disk(values: AttachedDiskValues) -> bool:
        disk = values.get(name)
        is_zonal = isinstance(disk, str) and not REGIONAL_DISK.fullmatch(disk)
        return values.get("forceAttach") is not True or not is_zonal

    return force_attach_requires_regional_disk


def _is_local_ssd(values: AttachedDiskValues) -> bool:
    return _disk_type(nested(values, "initializeParams")) == "local-ssd"


@rule("", "type: SCRATCH and diskType: local-ssd must be set together", LOCAL_SSDS)
def scratch_disks_are_local_ssds(values: AttachedDiskValues) -> list[Failure]:
    kind, parameters = values.get("type"), values.get("initializeParams")
    is_known = parameters is not UNKNOWN and nested(values, "initializeParams").get("diskType") is not UNKNOWN
    if kind == "SCRATCH" and not _is_local_ssd(values) and is_known:
        return [Failure("initializeParams.diskType", "must be local-ssd if type is SCRATCH")]
    if _is_local_ssd(values) and kind not in ("SCRATCH", UNKNOWN):
        return [Failure("type", "must be SCRATCH if initializeParams.diskType is local-ssd")]
    return []


@requirement_of_each(
    "source, boot, and in initializeParams sourceImage, sourceSnapshot, sourceInstantSnapshot and replicaZones",
    "must be left out with type SCRATCH: a local SSD is blank",
    LOCAL_SSDS,
    about="type",
)
def local_ssds_are_blank(values: AttachedDiskValues) -> Iterator[str | Path]:
    if values.get("type") != "SCRATCH":
        return
    if values.get("source") is not None:
        yield "source"
    if values.get("boot") is True:
        yield "boot"
    for name in ("sourceImage", "sourceSnapshot", "sourceInstantSnapshot", "replicaZones"):
        if nested(values, "initializeParams").get(name) is not None:
            yield ("initializeParams", name)


_LOCAL_SSD_SIZES: Final = (375, 3000, 3500, 6000, 7000, 14_000)


@requirement("interface", f"must be NVME for a local SSD of more than {_LOCAL_SSD_SIZES[0]} GB", LOCAL_SSDS)
def large_local_ssds_require_nvme(values: AttachedDiskValues) -> bool:
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    is_large = _is_local_ssd(values) and size is not None and size > _LOCAL_SSD_SIZES[0]
    return not is_large or values.get("interface") != "SCSI"


@requirement(
    "initializeParams.diskSizeGb",
    f"should be a known size of a local SSD: {', '.join(map(str, _LOCAL_SSD_SIZES))}; it is sent unchanged",
    LOCAL_SSDS,
    warns=True,
)
def local_ssds_have_a_known_size(values: AttachedDiskValues) -> bool:
    size = number(nested(values, "initializeParams"), "diskSizeGb")
    return not _is_local_ssd(values) or size is None or size in _LOCAL_SSD_SIZES


@requirement(
    "deviceName",
    "should have no spaces, because it is part of a path on the instance; it is sent unchanged",
    rest("instances", "disks[].deviceName"),
    warns=True,
)
def device_names_have_no_spaces(values: AttachedDiskValues) -> bool:
    return not re.search(r"\s", text(values, "deviceName"))


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
        images.known_image_family("sourceImage"),
        persistent_disks_have_at_least_10_gb,
        other_disks_have_at_least_10_gb,
        pd_extreme_iops_are_in_range,
        other_iops_are_in_range,
        replica_zones_differ_within_one_region,
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
        pattern=_DISK_TYPE,
        normalize=name_of,
        default="pd-standard",
    )
    enable_confidential_compute: bool = field("Create the disk in confidential compute mode. Default: false.")
    guest_os_features: list[GuestOsFeature] = field(
        "Features of the guest operating system, such as `[{type: GVNIC}]`, in addition to the disk's own. For bootable images only.",
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
        default="USE_EXISTING_DISK",
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

    HINTS: ClassVar = {"architecture": "must be written `initializeParams: {architecture: ARCHITECTURE}` here"}
    RULES: ClassVar[tuple[Rule, ...]] = (
        exclusive("source", "initializeParams", source=rest("instances", "disks[].initializeParams")),
        boot_disks_have_a_source,
        force_attach_requires_regional_disk("source", rest("instances", "disks[].forceAttach")),
        scratch_disks_are_local_ssds,
        local_ssds_are_blank,
        large_local_ssds_require_nvme,
        local_ssds_have_a_known_size,
        device_names_have_no_spaces,
    )

    @staticmethod
    def implied(values: Any) -> dict[str, Any]:
        """Return the size that a local SSD has if none is given."""
        return {"initializeParams": {"diskSizeGb": _LOCAL_SSD_SIZES[0]}} if _is_local_ssd(values) else {}

    architecture: str = output_field(
        "The processor architecture that the disk is for: `ARM64` or `X86_64`.", enum=("ARM64", "X86_64")
    )
    auto_delete: bool = field(
        "Delete the disk when its instance is deleted, but not when it is detached. Default: false."
    )
    boot: bool = field(
        "Boot from this disk, whose first partition holds the root file system. Only the first disk of an instance can be the boot disk. Default: false."
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
