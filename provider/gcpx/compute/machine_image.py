"""MachineImage: an image of a whole instance, made from one that exists. Its labels change in place.

Source: Compute API, `machineImages`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from gcpx.compute.collection import Collection
from gcpx.compute.instance_properties import instance_rules as rules
from gcpx.compute.instance_properties.declaration import (
    NAME,
    AcceleratorConfig,
    CustomerEncryptionKey,
    GuestOsFeature,
    InstanceProperties,
    Metadata,
    NetworkInterface,
    Scheduling,
    ServiceAccount,
    Tags,
)
from gcpx.compute.instance_properties.label_rules import labels_are_plain
from gcpx.compute.lists.parameters import Filtered
from gcpx.compute.lists.resource_ids import listing
from gcpx.gcp.in_project import InProject
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, field, record
from gcpx.model.links import path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.patterns import form
from gcpx.model.places import LINK_PARTS, PROJECT
from gcpx.model.resource import Found, InvalidId, Live, Page
from gcpx.model.rules import Failure, exclusive, text

_TIMEOUT = 1200.0
_INSTANCE = form(
    "projects/PROJECT/zones/ZONE/instances/NAME",
    "zones/ZONE/instances/NAME",
    words="zones/ZONE/instances/NAME, projects/PROJECT/zones/ZONE/instances/NAME or the instance's URL",
    before="https?://.+/",
    **LINK_PARTS,
)


@record
class SourceDiskEncryptionKey(Record):
    """The key of one protected disk of the source instance."""

    disk_encryption_key: CustomerEncryptionKey = field("The key that opens the disk.")
    source_disk: str = field("The disk, as a full or partial URL.", url="zones/disks")


@record
class MachineImageParams(Record):
    """What is asked for with the request and not kept."""

    RULES = (exclusive("excludedDisks", "includedDisks"), rules.tags_are_of_a_known_form)

    excluded_disks: list[str] = field(
        "Device names of disks to exclude. Conflicts with `includedDisks`.", identity="set"
    )
    included_disks: list[str] = field(
        "Device names of the only disks to include. Conflicts with `excludedDisks`.", identity="set"
    )
    resource_manager_tags: dict[str, str] = field("Resource Manager tags: `tagKeys/ID` to `tagValues/ID`.")


@record
class SavedDisk(Record):
    """A disk in the image."""

    architecture: str = field("The processor architecture.", output=True, enum=("ARM64", "X86_64"))
    kind: str = field("Always `compute#savedDisk`.", output=True)
    source_disk: str = field("The disk that was saved, as a URL.", output=True, always=True)
    storage_bytes: int = field("The storage that it uses, in bytes.", output=True, int64=True)
    storage_bytes_status: str = field("Whether `storageBytes` is final.", output=True, enum=("UPDATING", "UP_TO_DATE"))


@record
class SavedAttachedDisk(Record):
    """A disk of the source instance, as it was attached."""

    auto_delete: bool = field("Whether the disk goes with its instance.")
    boot: bool = field("Whether it is the boot disk.")
    device_name: str = field("The device name.")
    disk_encryption_key: CustomerEncryptionKey = field("The disk's key.")
    disk_size_gb: int = field("Size in GB (base 2).", int64=True)
    disk_type: str = field("The disk type, as a URL.", output=True)
    guest_os_features: list[GuestOsFeature] = field("Features of the guest operating system.")
    index: int = field("The disk's index.", output=True)
    interface: str = field("How the disk was attached.", enum=("NVME", "SCSI"))
    kind: str = field("Always `compute#attachedDisk`.", output=True)
    licenses: list[str] = field("Licenses that the disk carries.", output=True)
    mode: str = field("`READ_WRITE` or `READ_ONLY`.", enum=("READ_ONLY", "READ_WRITE"))
    source: str = field("The disk, as a URL.")
    storage_bytes: int = field("The storage that it uses, in bytes.", output=True, int64=True)
    storage_bytes_status: str = field("Whether `storageBytes` is final.", output=True, enum=("UPDATING", "UP_TO_DATE"))
    type: str = field("`PERSISTENT` or `SCRATCH`.", enum=("PERSISTENT", "SCRATCH"))


@record
class SourceInstanceProperties(Record):
    """The source instance, in the form of earlier versions of the API."""

    can_ip_forward: bool = field("Whether it forwarded packets.")
    deletion_protection: bool = field("Whether it was protected against deletion.")
    description: str = field("Its description.")
    disks: list[SavedAttachedDisk] = field("Its disks.")
    guest_accelerators: list[AcceleratorConfig] = field("Its GPUs.")
    key_revocation_action_type: str = field("What the revocation of a disk's key does.", enum=("NONE", "STOP"))
    labels: dict[str, str] = field("Its labels.")
    machine_type: str = field("Its machine type.")
    metadata: Metadata = field("Its metadata.")
    min_cpu_platform: str = field("Its minimum processor platform.")
    network_interfaces: list[NetworkInterface] = field("Its network interfaces.")
    post_key_revocation_action_type: str = field(
        "What happens when a disk's key is revoked.", enum=("NOOP", "SHUTDOWN")
    )
    scheduling: Scheduling = field("Its scheduling.")
    service_accounts: list[ServiceAccount] = field("Its identity.")
    tags: Tags = field("Its network tags.")


@record
class MachineImageModel(Record):
    """A machine image: everything of an instance, from its properties to the contents of its disks.

    Making one takes minutes; the timeout is 20 minutes unless `customTimeouts` say otherwise. Labels change in place,
    every other change replaces the image.
    """

    RULES = (labels_are_plain,)

    creation_timestamp: str = field("When the image was created (RFC 3339).", output=True, always=True)
    description: str = field("A description of the image.", max_length=2048)
    guest_flush: bool = field(
        "Ask the guest to bring its applications into a consistent state first. Not read back.", write_only=True
    )
    instance_properties: InstanceProperties = field("The properties of the source instance.", output=True)
    kind: str = field("Always `compute#machineImage`.", output=True, always=True)
    label_fingerprint: str = field("A hash of the labels, base64.", output=True, volatile=True, always=True)
    labels: dict[str, str] = field(
        "Labels of the image; they change in place.",
        merge_keys=frozenset({"goog-pulumi-provisioned", "goog-terraform-provisioned"}),
    )
    machine_image_encryption_key: CustomerEncryptionKey = field(
        "The key that protects the image; with one of your own, every use of the image needs it. Default: a key of Google's.",
        write_only=True,
    )
    name: str = field(
        "The name: 1 to 63 characters (RFC 1035). Default: generated from the resource's name.",
        always=True,
        pattern=NAME,
        source="compute 2.1, 2.6",
    )
    numeric_id: str = field("The numeric ID that Google assigned to the image.", output=True, wire="id", always=True)
    params: MachineImageParams = field("Which disks to include, and tags. Not read back.", write_only=True)
    project: str = field("The project. Default: the provider's.", always=True, param=True, pattern=PROJECT)
    satisfies_pzi: bool = field("Reserved by Google.", output=True)
    satisfies_pzs: bool = field("Reserved by Google.", output=True)
    saved_disks: list[SavedDisk] = field("The disks in the image.", output=True)
    self_link: str = field("The image's URL.", output=True, always=True)
    source_disk_encryption_keys: list[SourceDiskEncryptionKey] = field(
        "Keys of the source instance's disks that are protected by customer-supplied ones. Not read back.",
        write_only=True,
        identity=("sourceDisk",),
    )
    source_instance: str = field(
        "The instance to create the image from: `zones/Z/instances/I`, `projects/P/zones/Z/instances/I` or its URL.",
        required=True,
        url="zones/instances",
        pattern=_INSTANCE,
    )
    source_instance_properties: SourceInstanceProperties = field(
        "The source instance in an earlier format; `instanceProperties` has more detail.", output=True
    )
    status: str = field(
        "The state of the image.",
        output=True,
        enum=("CREATING", "DELETING", "INVALID", "READY", "UPLOADING"),
        always=True,
    )
    storage_locations: list[str] = field(
        "The region or multi-region that holds the image. Default: nearest to the source.",
        computed=True,
        identity="set",
    )
    total_storage_bytes: int = field("The storage that the image uses, in bytes.", output=True, int64=True, always=True)


@record
class MachineImageQuery(Filtered):
    """Which images to list."""


class MachineImage(InProject):
    """Images by name in `global/machineImages`."""

    token = "gcpx:compute:MachineImage"
    model = MachineImageModel
    query = MachineImageQuery
    autoname = Autoname(property="name", pattern=NAME[0], max_length=63)
    in_place = frozenset({("labels",)})
    id_forms = ("projects/PROJECT/global/machineImages/NAME", "PROJECT/NAME", "NAME", "a self link")

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up the project, and the source's zone; the instance itself may be made in the same run."""
        del olds
        source = path_of(text(inputs, "sourceInstance"))
        found = re.fullmatch(r"(?:projects/([^/]+)/)?zones/([^/]+)/.*", source)
        checks = OnlineChecks(self._lookups, call, (found and found[1]) or self.home(inputs, {}).project)
        return checks.run(inputs, [partial(checks.check_zone, found[2], ("sourceInstance",))] if found else [])

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Tell images apart by project and name."""
        return None if inputs.get(AUTONAMED) else (self._project(inputs), inputs.get("name"))

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name what is certain."""
        return {"project": self._project(inputs), "kind": "compute#machineImage"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Insert, wait as long as it takes, and read back."""
        project, name = self._project(inputs), inputs["name"]
        query = {"sourceInstance": inputs["sourceInstance"]}
        images, known = self._images(project), partial(self._unread, _id(project, name), {**inputs, "project": project})
        with keeping_state(known) as creation:
            operation = images.insert(call, codec.to_body(self.type, inputs), name, query)
            creation.created(operation)
            return self._live(project, images.made(call, name, operation))

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Get by name; another image that took the name in the meantime is not ours."""
        del inputs
        project, name = self._parse(resource_id)
        found = self._images(project).get(name, call)
        if found is None or self._is_another(call, found):
            return None
        return self._live(project, found)

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Set the labels, keeping those that other tools add."""
        project, name = self._parse(resource_id)
        if old.get("labels") != new.get("labels"):
            self._images(project).edit(call, name, "setLabels", lambda found: self._labels(found, new))
        return super().update(call, resource_id, old, new)

    def _labels(self, found: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        foreign = self.type.properties["labels"].traits.merge_keys
        kept = {key: value for key, value in found.get("labels", {}).items() if key in foreign}
        return {"labels": kept | (new.get("labels") or {}), "labelFingerprint": found.get("labelFingerprint")}

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by name, after making sure that the name still stands for our image."""
        project, name = self._parse(resource_id)
        if self.read(call, resource_id, None) is not None:
            self._images(project).delete(call, name)

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List a project's images."""
        path = "beta/projects/{}/global/machineImages"
        page = listing(self._google, query, path, "items(selfLink,name)").page(call, token, size)
        found = [Found(path_of(item["selfLink"]), item["name"]) for item in page.get("items", ())]
        return Page(found, page.get("nextPageToken", ""))

    def _live(self, project: str, found: dict[str, Any]) -> Live:
        return Live(_id(project, found["name"]), {**codec.from_body(self.type, found), "project": project})

    def _images(self, project: str) -> Collection:
        return Collection(
            google=self._google, version="beta", project=project, path="global/machineImages", timeout=_TIMEOUT
        )

    def _parse(self, resource_id: str) -> tuple[str, str]:
        path = path_of(resource_id)
        found = re.fullmatch(r"projects/([^/]+)/global/machineImages/([^/]+)", path) or re.fullmatch(
            r"([^/]+)/([^/]+)", path
        )
        if found:
            return found[1], found[2]
        if self._google.settings.project and NAME[0].fullmatch(path):
            return self._google.settings.project, path
        raise InvalidId(self.token, resource_id, self.id_forms)


def _id(project: str, name: str) -> str:
    return f"projects/{project}/global/machineImages/{name}"
