"""Where Compute Engine's API is served, and what its published description lacks."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.discovery import MERGE_PATCH, Api, methods_of, serve
from gcpx_emulator.core.json_data import Json

_PARTIAL_SUCCESS: Final[Json] = {"returnPartialSuccess": {"location": "query", "type": "boolean"}}
"""A parameter that every list method has in the documentation, and only some have in the description of v1."""
_LARGEST_PAGE: Final = "500"
_PATCHES: Final = (
    "compute.instances.setScheduling",
    "compute.instances.updateDisplayDevice",
    "compute.instances.updateShieldedInstanceConfig",
)
"""Methods that merge their body into what exists, and remove values that are null in the body."""


def _amend(document: Json) -> None:
    for method in methods_of(document):
        parameters = method.setdefault("parameters", {})
        if "pageToken" in parameters:
            method["parameters"] = parameters = _PARTIAL_SUCCESS | parameters
        if "maxResults" in parameters:
            parameters["maxResults"].setdefault("maximum", _LARGEST_PAGE)
        if method["id"] in _PATCHES:
            method["request"][MERGE_PATCH] = True
    schemas = document["schemas"]
    schemas["GuestOsFeature"]["properties"]["type"]["enum"].append("SUSPEND_RESUME_COMPATIBLE")
    # These properties are merged into those of a template.
    schemas["BulkInsertInstanceResource"]["properties"]["instanceProperties"][MERGE_PATCH] = True


def _amend_beta(document: Json) -> None:
    _amend(document)
    licenses = {"type": "array", "items": {"type": "string"}}
    document["schemas"]["AttachedDisk"]["properties"]["userLicenses"] = licenses


serve(
    Api("compute.v1", prefixes=("compute/v1",), amend=_amend),
    Api("compute.beta", prefixes=("compute/beta",), amend=_amend_beta),
)
