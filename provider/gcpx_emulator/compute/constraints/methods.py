"""Groups of methods to which some constraints apply, by the beginnings of their IDs."""

from __future__ import annotations

from typing import Final

TEMPLATES: Final = ("compute.instanceTemplates.", "compute.regionInstanceTemplates.")
"""Methods whose properties are kept for instances of any zone."""
BULK_INSERT: Final = ("compute.instances.bulkInsert", "compute.regionInstances.bulkInsert")
NEW_DISKS: Final = ("compute.disks.", "compute.instances.", "compute.regionDisks.", "compute.regionInstances.")
"""Methods that create disks, and so read the images of disks; templates only name them."""
