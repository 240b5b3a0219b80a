"""Compute Engine: the modules with its methods, permissions and settings, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.compute import (
    api,
    bulk_insert,
    capacity_advice,
    disk_attachments,
    disks,
    guest_attributes,
    images,
    instance_lifecycle,
    instance_machine_settings,
    instance_settings,
    instance_templates,
    instances,
    interruptions,
    machine_images,
    method_permissions,
    network_interfaces,
    operations,
    permissions,
    predefined_resources,
    rate_quotas,
    reservations,
    resource_policies,
)
