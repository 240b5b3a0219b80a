"""Cloud Storage: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, serve
from gcpx_emulator.storage import buckets, notification_configs, objects, permissions

serve(
    Api(
        "storage.v1", prefixes=("storage/v1", "upload/storage/v1", "resumable/upload/storage/v1", "download/storage/v1")
    )
)
