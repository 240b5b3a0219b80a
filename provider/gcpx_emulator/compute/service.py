"""Compute Engine: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from typing import Final

from gcpx_emulator.compute import (
    addresses,
    bulk_insert,
    capacity_advice,
    disk_replication,
    disks,
    guest_attributes,
    images,
    instance_changes,
    instance_group_managers,
    instance_groups,
    instance_lifecycle,
    instance_templates,
    instance_update,
    instances,
    interruptions,
    machine_images,
    machine_types,
    networks,
    operations,
    own_images,
    permissions,
    placement,
    predefined_resources,
    projects,
    routes,
    serial_port,
    snapshots,
    storage_pools,
)
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.discovery import MERGE_PATCH, SKIPS_NULLS, Api, methods_of, serve
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.core.json_data import Json

permissions.declare([method for method in HANDLERS if method.startswith("compute.")])

_PARTIAL_SUCCESS: Final[Json] = {"returnPartialSuccess": {"location": "query", "type": "boolean"}}
"""A parameter of every list method in the documentation, but only of some in the description of v1."""
_LARGEST_PAGE: Final = "500"
_PATCHES: Final = (
    "compute.firewalls.patch",
    "compute.images.patch",
    "compute.instances.setScheduling",
    "compute.instances.updateDisplayDevice",
    "compute.instances.updateShieldedInstanceConfig",
)
"""Methods that merge their body into the resource, and remove fields that are null in the body."""


def _amend(document: Json) -> None:
    for method in methods_of(document):
        parameters = method.setdefault("parameters", {})
        if "pageToken" in parameters:
            method["parameters"] = parameters = _PARTIAL_SUCCESS | parameters
        if "maxResults" in parameters:
            parameters["maxResults"].setdefault("maximum", _LARGEST_PAGE)
        if method["id"] == "compute.instances.update":
            # Terraform sends the `view` of its read with its update, too.
            parameters["view"] = {"location": "query", "type": "string"}
        if method["id"] in _PATCHES:
            method["request"][MERGE_PATCH] = True
    schemas = document["schemas"]
    schemas["GuestOsFeature"]["properties"]["type"]["enum"].append("SUSPEND_RESUME_COMPATIBLE")
    # Terraform sends `[null]` for Spot VMs.
    schemas["Scheduling"]["properties"]["nodeAffinities"][SKIPS_NULLS] = True
    # These properties are merged into those of a template.
    schemas["BulkInsertInstanceResource"]["properties"]["instanceProperties"][MERGE_PATCH] = True


def _amend_beta(document: Json) -> None:
    _amend(document)
    licenses = {"type": "array", "items": {"type": "string"}}
    document["schemas"]["AttachedDisk"]["properties"]["userLicenses"] = licenses


serve(
    Api("compute.v1", prefixes=("compute/v1",), amend=_amend, errors=ErrorForm.REASONS, ignores_unknown=True),
    Api("compute.beta", prefixes=("compute/beta",), amend=_amend_beta, errors=ErrorForm.REASONS, ignores_unknown=True),
)
