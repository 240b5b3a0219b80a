"""Names of the places where Google documents what a rule requires, so that every `source` has the same form.

A source is something that a reader can open: a resource or method of the Compute Engine REST reference
(https://cloud.google.com/compute/docs/reference/rest), with the field in question, or a page of Google's documentation.
"""

from __future__ import annotations

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
