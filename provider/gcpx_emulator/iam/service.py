"""Projects and service accounts: where their APIs are served, and the modules, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, serve
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.iam import projects, service_accounts

serve(
    Api("cloudresourcemanager.v1", prefixes=("v1",), errors=ErrorForm.STATUS),
    Api("iam.v1", prefixes=("v1",), errors=ErrorForm.STATUS),
)
