"""The properties of a disk attachment.

Source: REST reference, `instances.attachDisk` and `instances.setDiskAutoDelete`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.compute.disk_attachment.address import DISK, INSTANCE
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.disks import AttachedDisk
from gcpx.compute.list_query import ListQuery
from gcpx.model.fields import field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import PROJECT, ZONE
from gcpx.model.rules import Violation, rule

_REGIONAL_DISK: Final = re.compile(r"(?:.*/)?regions/[^/]+/disks/[^/]+")
_OF_THE_INSTANCE: Final = ("interface", "project", "zone")
_OF_THE_DISK: Final = ("diskEncryptionKey", "diskSizeGb", "guestOsFeatures", "userLicenses")


@rule("forceAttach requires a regional disk", rest("instances.attachDisk", "forceAttach"))
def force_attach_requires_regional_disk(values: dict[str, Any]) -> list[Violation]:
    """Refuse to force a zonal disk, which Google refuses too."""
    disk = values.get("disk")
    if values.get("forceAttach") is True and isinstance(disk, str) and not _REGIONAL_DISK.fullmatch(disk):
        return [("forceAttach", "must be left out unless disk is a regional disk, written regions/REGION/disks/NAME")]
    return []


@record
class DiskAttachmentModel(AttachedDisk):
    """An existing disk, zonal or regional, attached to an existing instance.

    gcpx attaches the disks of one instance one after another, and those of different instances in parallel.
    `autoDelete`, `diskSizeGb` and `forceAttach` change in place; every other change detaches the disk and attaches it
    again. What happens to the disk or to the instance, such as another size of the disk, is not a change of the
    attachment. If the instance or the disk is deleted, the attachment counts as deleted too.
    """

    OMIT = frozenset({"initializeParams", "source"})
    ALWAYS = frozenset({"deviceName", "index", "kind", "mode", "type"})
    RULES = (force_attach_requires_regional_disk,)

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that belong to the instance or the disk; the machine type decides which interface is possible."""
        return {name: values.get(name) for name in (*_OF_THE_INSTANCE, *_OF_THE_DISK)}

    disk: str = field(
        "The disk, such as `data` if it is in the instance's zone, `zones/us-east1-b/disks/data`, `regions/us-east1/disks/data`, or its URL.",
        required=True,
        pattern=DISK,
        url="zones/disks",
        wire="source",
    )
    disk_size_gb: int = field(
        "The disk's size in GB (2^30 bytes), such as `100`; at least 1. An attachment does not change the size of its disk: if the size in the program is not the disk's size, gcpx prints a warning, and the output `diskSizeGb` shows the disk's size. Default: the disk's current size. Changes in place.",
        unsent=True,
        int64=True,
        minimum=1,
    )
    force_attach: bool = field(
        "Attach the disk even if it is attached to another instance, which then loses it. Default: false. Requires a regional disk. Changes in place, and takes effect the next time that the disk is attached.",
        in_url=True,
    )
    instance: str = field(
        "The instance, such as `web` if it is in `zone`, `zones/us-east1-b/instances/web`, or its URL.",
        required=True,
        pattern=INSTANCE,
        in_url=True,
        url="zones/instances",
    )
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the project in `instance`, or the provider's.",
        always=True,
        in_url=True,
        pattern=PROJECT,
    )
    zone: str = field(
        "The instance's zone, such as `us-east1-b`. Default: the zone in `instance`, or the provider's.",
        always=True,
        in_url=True,
        pattern=ZONE,
        normalize=name_of,
    )


@record
class DiskAttachmentQuery(ListQuery):
    """Which instances' disks to list; `filter` applies to the instances."""

    zone: str = field(
        "List only disks on instances in this zone, such as `us-east1-b`. Default: all zones.", pattern=ZONE
    )
