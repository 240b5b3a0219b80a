"""How a disk attachment is addressed: forms of instances and disks in inputs, and the attachment's ID."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote

import attrs

from gcpx.gcp.settings import Settings
from gcpx.model.links import path_of
from gcpx.model.location_patterns import LINK_PARTS
from gcpx.model.patterns import Form
from gcpx.model.resource import InvalidId

_PREFIX: Final = r"(?:(?:https?:)?//[^/]+/(?:compute/)?(?:v1|beta)/)?(?:projects/([^/\s]+)/)?"
INSTANCE: Final = Form(
    re.compile(_PREFIX + r"(?:zones/([^/\s]+)/)?(?:instances/)?([^/\s?#]+)"),
    "NAME, zones/ZONE/instances/NAME, projects/PROJECT/zones/ZONE/instances/NAME or the instance's URL",
    ("projects/PROJECT/zones/ZONE/instances/NAME", "zones/ZONE/instances/NAME", "NAME"),
    LINK_PARTS,
)
"""An instance; the groups of the pattern are project, zone and name."""
DISK: Final = Form(
    re.compile(_PREFIX + r"(?:(?:zones|regions)/[^/\s]+/disks/)?[^/\s?#]+"),
    "NAME, zones/ZONE/disks/NAME, regions/REGION/disks/NAME, with projects/PROJECT/ before it, or the disk's URL",
    tuple(
        f"{project}{shape}"
        for project in ("projects/PROJECT/", "")
        for shape in ("zones/ZONE/disks/NAME", "regions/REGION/disks/NAME", "NAME")
    ),
    LINK_PARTS,
)
ID_FORMS: Final = (
    "projects/PROJECT/zones/ZONE/instances/INSTANCE/DEVICE",
    "PROJECT/ZONE/INSTANCE/DEVICE",
    "ZONE/INSTANCE/DEVICE",
    "an instance's self link with /DEVICE",
    "projects/PROJECT/zones/ZONE/instances/INSTANCE/projects/PROJECT/zones/ZONE/disks/DISK, for any device name",
)
_ID_BY_DISK: Final = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/(projects/.+/disks/[^/]+)")
_ID_BY_DEVICE: Final = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/([^/]+)")
_SHORT_ID: Final = re.compile(r"(?:([^/]+)/)?([^/]+)/([^/]+)/([^/]+)")


@attrs.frozen
class Address:
    """An instance, and a disk on it.

    Attributes:
        device: the disk's device name; empty if it is not known.
        disk: the disk's path from `projects/` on; empty if it is not known.
    """

    project: str
    zone: str
    instance: str
    device: str = ""
    disk: str = ""

    @property
    def path(self) -> str:
        """The instance's path."""
        return f"projects/{self.project}/zones/{self.zone}/instances/{self.instance}"

    @property
    def id(self) -> str:
        """The attachment's ID: by device name, or by disk until the device name is known."""
        return f"{self.path}/{quoted(self.device) if self.device else self.disk}"

    def path_of_disk(self, disk: str) -> str:
        """Complete a disk's name or link, from inputs, by the instance's project and zone."""
        path = path_of(disk)
        if "/" not in path:
            path = f"zones/{self.zone}/disks/{path}"
        return path if path.startswith("projects/") else f"projects/{self.project}/{path}"


def quoted(device: str) -> str:
    """Write a device name, which may contain any character, as one part of an ID."""
    return re.sub(r"[%/?#]", lambda found: f"%{ord(found[0]):02X}", device)


def instance_of(inputs: dict[str, Any], settings: Settings) -> Address:
    """Read project, zone and name of the instance in inputs; inputs or settings complete what it leaves out.

    Raises:
        InvalidId: `instance` is in no known form.
    """
    parts = INSTANCE.pattern.fullmatch(inputs["instance"])
    if parts is None:
        raise InvalidId("an instance", inputs["instance"], (INSTANCE.words,))
    project = parts[1] or inputs.get("project") or settings.project or ""
    zone = parts[2] or inputs.get("zone") or settings.zone or ""
    return Address(project, zone.rpartition("/")[2] if isinstance(zone, str) else "", parts[3])


def parsed(resource_id: str, settings: Settings) -> Address | None:
    """Read an attachment's ID, in any of `ID_FORMS`; None if it has another form."""
    path = path_of(resource_id)
    by_disk = _ID_BY_DISK.fullmatch(path)
    if by_disk:
        return Address(by_disk[1], by_disk[2], by_disk[3], disk=by_disk[4])
    parts = _ID_BY_DEVICE.fullmatch(path) or _SHORT_ID.fullmatch(path)
    project = (parts[1] or settings.project) if parts else None
    return Address(project, parts[2], parts[3], unquote(parts[4])) if parts and project else None
