"""Shared parts of Compute declarations: links to Google's documentation, and the form of names."""

from __future__ import annotations

from typing import Final

from gcpx.model.patterns import Form


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
