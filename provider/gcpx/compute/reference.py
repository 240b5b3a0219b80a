"""What the declarations of Compute resources refer to: Google's documentation, and the form of names."""

from __future__ import annotations

import re
from typing import Final


def rest(resource: str, field: str = "") -> str:
    """Name a resource or method of the REST reference, and one of its fields or parameters.

    >>> rest("instances", "disks[].deviceName"), rest("instances.bulkInsert")
    ('REST reference: instances, disks[].deviceName', 'REST reference: instances.bulkInsert')
    """
    return f"REST reference: {resource}{', ' * bool(field)}{field}"


def page(title: str) -> str:
    """Name a page of the Compute Engine documentation by its title."""
    return f"Compute Engine documentation: {title}"


BULK_CREATION: Final = page("About bulk creation of VMs")
CONFIDENTIAL_VMS: Final = "Confidential VM documentation: Supported configurations"
HOST_MAINTENANCE: Final = page("Set the host maintenance policy for a compute instance")
LABELS: Final = "Resource Manager documentation: Labels overview"
LOCAL_SSDS: Final = page("About Local SSD disks")
NAMES: Final = page("Naming resources")
NESTED_VIRTUALIZATION: Final = page("About nested virtualization")
SPOT_VMS: Final = page("Spot VMs")
TIER_1_NETWORKING: Final = page("Configure per VM Tier_1 networking performance")


NAME: Final = (
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
    "1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen",
)
"""The form of a name (RFC 1035), and the same in words; network tags have it, too."""
