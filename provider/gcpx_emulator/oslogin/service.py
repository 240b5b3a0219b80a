"""OS Login: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, serve
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.oslogin import ssh_public_keys

serve(
    Api("oslogin.v1", prefixes=("v1",), errors=ErrorForm.STATUS),
    Api("oslogin.v1beta", prefixes=("v1beta",), errors=ErrorForm.STATUS),
    Api("oslogin.v1alpha", prefixes=("v1alpha",), errors=ErrorForm.STATUS),
)
