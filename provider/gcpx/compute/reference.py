"""Shared parts of Compute declarations: links to Google's documentation, and the form of names."""

from __future__ import annotations

from typing import Final

from gcpx.model.patterns import LINK_PARTS, SEGMENT, Form, form


def rest(resource: str, field: str = "") -> str:
    """Link to a resource or method of the REST reference, and name one of its fields or parameters.

    >>> rest("instances.attachDisk", "deviceName")
    '[instances.attachDisk: deviceName](https://cloud.google.com/compute/docs/reference/rest/v1/instances/attachDisk)'
    """
    path = f"docs/reference/rest/v1/{resource.replace('.', '/')}"
    return page(f"{resource}{': ' * bool(field)}{field}", f"compute/{path}")


def page(title: str, path: str) -> str:
    """Link to a page of Google's documentation by its title."""
    return f"[{title}](https://cloud.google.com/{path})"


_INSTANCES: Final = "compute/docs/instances"
BULK_CREATION: Final = page("About bulk creation of VMs", f"{_INSTANCES}/multiple/about-bulk-creation")
CONFIDENTIAL_VMS: Final = page(
    "Confidential VM: Supported configurations", "confidential-computing/confidential-vm/docs/supported-configurations"
)
FLEX_START_VMS: Final = page("About Flex-start VMs", f"{_INSTANCES}/about-flex-start-vms")
HOST_MAINTENANCE: Final = page(
    "Set the host maintenance policy for a compute instance", f"{_INSTANCES}/setting-instance-scheduling-options"
)
LABELS: Final = page("Labels overview", "resource-manager/docs/labels-overview")
LOCAL_SSDS: Final = page("About Local SSD disks", "compute/docs/disks/local-ssd")
NAMES: Final = page("Naming resources", "compute/docs/naming-resources")
NESTED_VIRTUALIZATION: Final = page("About nested virtualization", f"{_INSTANCES}/nested-virtualization/overview")
PLACEMENT_POLICIES: Final = page("Placement policies overview", f"{_INSTANCES}/placement-policies-overview")
SPOT_VMS: Final = page("Spot VMs", f"{_INSTANCES}/spot")
TIER_1_NETWORKING: Final = page(
    "Configure per VM Tier_1 networking performance",
    "compute/docs/networking/configure-vm-with-high-bandwidth-configuration",
)
NAME: Final = Form(
    r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
    "1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen",
)
"""The form of a name (RFC 1035), and the same in words; network tags have it, too."""

_URL: Final = r"(?:(?:https?:)?//[^/]+/(?:compute/)?(?:v1|beta)/)?"
_PREFIX: Final = _URL + rf"(?:projects/({SEGMENT})/)?"
INSTANCE: Final = Form(
    _PREFIX + rf"(?:zones/({SEGMENT})/)?(?:instances/)?({SEGMENT})",
    "NAME, zones/ZONE/instances/NAME, projects/PROJECT/zones/ZONE/instances/NAME or the instance's URL",
    ("projects/PROJECT/zones/ZONE/instances/NAME", "zones/ZONE/instances/NAME", "NAME"),
    LINK_PARTS,
)
"""An instance; the groups of the pattern are project, zone and name."""
INSTANCE_IN_ZONE: Final = form(
    "projects/PROJECT/zones/ZONE/instances/NAME",
    "zones/ZONE/instances/NAME",
    words="zones/ZONE/instances/NAME, projects/PROJECT/zones/ZONE/instances/NAME or the instance's URL",
    before=_URL,
    **LINK_PARTS,
)
"""An instance for a resource that has no zone, so that its name alone would not say which instance it is."""
DISK: Final = Form(
    _PREFIX + rf"(?:(?:zones|regions)/{SEGMENT}/disks/)?{SEGMENT}",
    "NAME, zones/ZONE/disks/NAME, regions/REGION/disks/NAME, with projects/PROJECT/ before it, or the disk's URL",
    tuple(
        f"{project}{shape}"
        for project in ("projects/PROJECT/", "")
        for shape in ("zones/ZONE/disks/NAME", "regions/REGION/disks/NAME", "NAME")
    ),
    LINK_PARTS,
)
INSTANCE_TEMPLATE: Final = Form(
    rf"{_PREFIX}(?:global|regions/{SEGMENT})/instanceTemplates/{SEGMENT}(?:\?uniqueId=\d+)?",
    "global/instanceTemplates/NAME or regions/REGION/instanceTemplates/NAME, with projects/PROJECT/ before it, or the template's URL",
    tuple(
        f"{project}{scope}/instanceTemplates/NAME"
        for project in ("projects/PROJECT/", "")
        for scope in ("global", "regions/REGION")
    ),
    LINK_PARTS,
)
