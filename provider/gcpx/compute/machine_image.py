"""MachineImage: images of whole instances: create, read, relabel, delete, list.

Source: REST reference, `machineImages`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from gcpx.compute.collection import GoneError
from gcpx.compute.instance_properties.disks import CustomerEncryptionKey, GuestOsFeature
from gcpx.compute.instance_properties.labels_and_metadata import (
    Metadata,
    Tags,
    labels_are_valid,
    resource_manager_tags_have_a_known_form,
)
from gcpx.compute.instance_properties.machines import AcceleratorConfig, Scheduling
from gcpx.compute.instance_properties.network_interfaces import NetworkInterface
from gcpx.compute.instance_properties.properties import InstanceProperties, ServiceAccount
from gcpx.compute.listing import ListQuery
from gcpx.compute.named_resource import NamedResource
from gcpx.compute.reference import INSTANCE_IN_ZONE, NAME, rest
from gcpx.gcp.errors import PreconditionFailed
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Failure, Record, exclusive, field, output_field, record, text
from gcpx.model.patterns import PROJECT
from gcpx.model.resource import State

_KEY_OF_DISK: Final = "The key that the disk is encrypted with."
_STORAGE_BYTES: Final = "The storage that the disk uses in the image, in bytes."
_STORAGE_STATUS: Final = "Whether `storageBytes` is final (`UP_TO_DATE`) or still changing (`UPDATING`)."


@record
class SourceDiskEncryptionKey(Record):
    """The encryption key of one disk of the source instance."""

    disk_encryption_key: CustomerEncryptionKey = field(_KEY_OF_DISK)
    source_disk: str = field("The disk, such as `zones/us-east1-b/disks/data`, or its URL.", url="zones/disks")


@record
class MachineImageParams(Record):
    """Parameters of the creation, which Google does not store."""

    RULES = (exclusive("excludedDisks", "includedDisks"), resource_manager_tags_have_a_known_form)

    excluded_disks: list[str] = field(
        "Device names of the disks to leave out, such as `[persistent-disk-1]`. Default: none. Conflicts with `includedDisks`.",
        identity="set",
    )
    included_disks: list[str] = field(
        "Device names of the disks to include, such as `[persistent-disk-1]`. Default: all disks. Conflicts with `excludedDisks`.",
        identity="set",
    )
    resource_manager_tags: dict[str, str] = field(
        "Resource Manager tags of the image, such as `{tagKeys/123: tagValues/456}` or `{my-project/env: prod}`."
    )


@record
class SavedDisk(Record):
    """A disk in the image."""

    architecture: str = output_field("The processor architecture of the disk.", enum=("ARM64", "X86_64"))
    kind: str = output_field("Always `compute#savedDisk`.")
    source_disk: str = output_field("The URL of the disk that the image contains.", always=True)
    storage_bytes: int = output_field(_STORAGE_BYTES, int64=True)
    storage_bytes_status: str = output_field(_STORAGE_STATUS, enum=("UPDATING", "UP_TO_DATE"))


@record
class SavedAttachedDisk(Record):
    """A disk of the source instance, as it was attached."""

    auto_delete: bool = field("Whether the disk is deleted when its instance is deleted.")
    boot: bool = field("Whether it is the boot disk.")
    device_name: str = field("The disk's device name on the source instance.")
    disk_encryption_key: CustomerEncryptionKey = field(_KEY_OF_DISK)
    disk_size_gb: int = field("The disk's size in GB (2^30 bytes).", int64=True)
    disk_type: str = output_field("The URL of the disk type.")
    guest_os_features: list[GuestOsFeature] = field("Features that the disk's operating system supports.")
    index: int = output_field("The disk's index on the source instance; 0 is the boot disk.")
    interface: str = field("The interface by which the disk was attached.", enum=("NVME", "SCSI"))
    kind: str = output_field("Always `compute#attachedDisk`.")
    licenses: list[str] = output_field("URLs of the disk's licenses.")
    mode: str = field("How the disk was attached.", enum=("READ_ONLY", "READ_WRITE"))
    source: str = field("The URL of the disk.")
    storage_bytes: int = output_field(_STORAGE_BYTES, int64=True)
    storage_bytes_status: str = output_field(_STORAGE_STATUS, enum=("UPDATING", "UP_TO_DATE"))
    type: str = field("`SCRATCH` for a local SSD, otherwise `PERSISTENT`.", enum=("PERSISTENT", "SCRATCH"))


@record
class SourceInstanceProperties(Record):
    """The source instance's properties, in the format of earlier versions of the API."""

    can_ip_forward: bool = field("Whether the instance could send and receive packets for other addresses.")
    deletion_protection: bool = field("Whether the instance was protected against deletion.")
    description: str = field("The instance's description.")
    disks: list[SavedAttachedDisk] = field("The instance's disks.")
    guest_accelerators: list[AcceleratorConfig] = field("The instance's GPUs and other accelerators.")
    key_revocation_action_type: str = field(
        "What happens to the instance when the key of one of its disks is revoked.", enum=("NONE", "STOP")
    )
    labels: dict[str, str] = field("The instance's labels.")
    machine_type: str = field("The instance's machine type.")
    metadata: Metadata = field("The instance's metadata.")
    min_cpu_platform: str = field("The oldest CPU platform that the instance accepted.")
    network_interfaces: list[NetworkInterface] = field("The instance's network interfaces.")
    post_key_revocation_action_type: str = field(
        "What happens to the instance after the key of one of its disks is revoked.", enum=("NOOP", "SHUTDOWN")
    )
    scheduling: Scheduling = field("The instance's scheduling options.")
    service_accounts: list[ServiceAccount] = field("The instance's service accounts.")
    tags: Tags = field("The instance's network tags.")


@record
class MachineImageModel(Record):
    """A machine image: an instance's configuration and metadata, and the data of its disks.

    Creating an image takes minutes.
    """

    RULES = (labels_are_valid,)

    creation_timestamp: str = output_field("When the image was created (RFC 3339).", always=True)
    description: str = field("A description of the image, at most 2,048 characters.", max_length=2048)
    guest_flush: bool = field(
        "Ask the guest operating system to prepare its applications for the image, so that their data in it is consistent. Google does not return it.",
        write_only=True,
    )
    instance_properties: InstanceProperties = output_field("The properties of the source instance.")
    kind: str = output_field("Always `compute#machineImage`.", always=True)
    label_fingerprint: str = output_field(
        "A hash of the labels, in base64, that prevents conflicting changes.", volatile=True, always=True
    )
    labels: dict[str, str] = field(
        "Labels of the image, such as `{team: web}`: at most 64, with at most 63 characters in keys and values. Changes in place.",
        merge_keys=frozenset({"goog-pulumi-provisioned", "goog-terraform-provisioned"}),
    )
    machine_image_encryption_key: CustomerEncryptionKey = field(
        "The key to encrypt the image with. Using an image that is encrypted with a customer-supplied key requires the same key. Default: a key that Google generates. Google does not return it.",
        write_only=True,
    )
    name: str = field(
        "The image's name, such as `golden-1`: 1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen. Default: generated from the resource's name.",
        always=True,
        pattern=NAME,
        source=rest("machineImages", "name"),
    )
    numeric_id: str = output_field("The numeric ID that Google assigned to the image.", wire="id", always=True)
    params: MachineImageParams = field(
        "Which disks to include, such as `{excludedDisks: [data]}`, and Resource Manager tags. Google does not return it.",
        write_only=True,
    )
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.",
        always=True,
        in_url=True,
        pattern=PROJECT,
    )
    satisfies_pzi: bool = output_field("Reserved by Google.")
    satisfies_pzs: bool = output_field("Reserved by Google.")
    saved_disks: list[SavedDisk] = output_field("The disks in the image.")
    self_link: str = output_field("The image's URL.", always=True)
    source_disk_encryption_keys: list[SourceDiskEncryptionKey] = field(
        "Keys of the source instance's disks, such as `[{sourceDisk: zones/us-east1-b/disks/data, diskEncryptionKey: {rawKey: KEY}}]`. Required for each disk that is encrypted with a customer-supplied key. Google does not return them.",
        write_only=True,
        identity=("sourceDisk",),
    )
    source_instance: str = field(
        "The instance to create the image from, such as `zones/us-east1-b/instances/web`, `projects/my-project/zones/us-east1-b/instances/web`, or its URL.",
        required=True,
        url="zones/instances",
        pattern=INSTANCE_IN_ZONE,
        forgotten=True,
    )
    source_instance_properties: SourceInstanceProperties = output_field(
        "The properties of the source instance in an earlier format; `instanceProperties` is more complete."
    )
    status: str = output_field(
        "The image's state, `READY` once it can be used.",
        enum=("CREATING", "DELETING", "INVALID", "READY", "UPLOADING"),
        always=True,
    )
    storage_locations: list[str] = field(
        "The region or multi-region that stores the image, such as `[us-east1]`. Default: Google chooses it.",
        computed=True,
        identity="set",
    )
    total_storage_bytes: int = output_field("The storage that the image uses, in bytes.", int64=True, always=True)


@record
class MachineImageQuery(ListQuery):
    """Which images to list."""


class MachineImage(NamedResource):
    """Machine images, identified by name in `global/machineImages`."""

    token = "gcpx:compute:MachineImage"
    model = MachineImageModel
    query = MachineImageQuery
    collection = "machineImages"
    version = "beta"
    in_place = frozenset({("labels",)})
    id_forms = ("projects/PROJECT/global/machineImages/NAME", "PROJECT/NAME", "NAME", "a self link")
    operation_timeout = 1200.0

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Check the project and, unless the image exists already, the source instance."""
        checks = OnlineChecks(self._lookups, context, self.location(inputs, {}).project)
        source = partial(checks.check_link, text(inputs, "sourceInstance"), "", ("sourceInstance",))
        return checks.run(inputs, [source] if self.creates(olds, inputs) else [])

    def deleted_first(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> str:
        """Say that the data in the image is lost, and that the source instance may be gone."""
        del old, new
        return (
            f"the image {outputs.get('name')} and its data are deleted before sourceInstance is read for the new image; "
            "if that instance is gone, no image remains. To keep this image until the new one exists, give the new one "
            "another name"
        )

    def parameters(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the source instance, which Google takes from the query."""
        return {"sourceInstance": inputs["sourceInstance"]}

    def update(self, context: Context, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> State:
        """Set the labels, and keep the labels of other tools."""
        before, wanted = (codec.to_body(self.type, inputs).get("labels", {}) for inputs in (old, new))
        if before != wanted:
            address = self._parse(resource_id)
            added_by_tools = self.type.properties["labels"].traits.merge_keys
            collection = self._collection(address)
            for is_last in (
                False,
                True,
            ):  # with the fingerprint, the call fails if somebody has changed the image meanwhile
                image = collection.get_own(context, address.name)
                if image is None:
                    raise GoneError.of(f"{address.path}/{address.name}")
                kept = {key: value for key, value in image.get("labels", {}).items() if key in added_by_tools}
                body = {"labels": kept | wanted, "labelFingerprint": image.get("labelFingerprint")}
                try:
                    collection.invoke(context, image, "setLabels", body)
                    break
                except PreconditionFailed:
                    if is_last:
                        raise
        return super().update(context, resource_id, old, new)
