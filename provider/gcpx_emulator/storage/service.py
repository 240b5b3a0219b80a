"""Cloud Storage: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import MERGE_PATCH, Api, methods_of, serve, serve_page
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.storage import (
    access_controls,
    buckets,
    hmac_keys,
    notification_configs,
    objects,
    permissions,
    signed_urls,
)


def _amend(content: Json) -> None:
    """Declare patches to be JSON Merge Patches, in which null removes a field, and accept what clients send."""
    for method in methods_of(content):
        if method["id"] in {"storage.buckets.patch", "storage.objects.patch"}:
            method["request"][MERGE_PATCH] = True
        if method["id"] == "storage.buckets.delete":
            # Ansible sends the `projection` of its reads with its deletions, too.
            method["parameters"]["projection"] = {"location": "query", "type": "string"}


serve(
    Api(
        "storage.v1",
        prefixes=("storage/v1", "upload/storage/v1", "resumable/upload/storage/v1", "download/storage/v1"),
        amend=_amend,
        errors=ErrorForm.REASONS,
        ignores_unknown=True,
    )
)
_GENERATION: Json = {"location": "query", "type": "string", "format": "int64"}
serve_page("{bucket}/{object}", objects.READ_CONTENT, {"generation": _GENERATION, **signed_urls.PARAMETERS})
