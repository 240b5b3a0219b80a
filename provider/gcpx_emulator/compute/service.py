"""Compute Engine: the modules with its methods, permissions and settings, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.compute import (
    addresses,
    bulk_insert,
    call,
    capacity_advice,
    disks,
    guest_attributes,
    images,
    instance_changes,
    instance_lifecycle,
    instance_templates,
    instance_update,
    instances,
    interruptions,
    labels,
    machine_images,
    machine_types,
    networks,
    operations,
    own_images,
    permissions,
    placement,
    predefined_resources,
    snapshots,
)
from gcpx_emulator.core.call import HANDLERS

permissions.declare([method for method in HANDLERS if method.startswith("compute.")])
