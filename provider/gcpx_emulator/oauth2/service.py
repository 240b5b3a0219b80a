"""Identity: where its pages and its API are served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, serve, serve_page
from gcpx_emulator.oauth2 import identity

serve(Api("iamcredentials.v1", prefixes=("v1",)))
serve_page("tokeninfo", "oauth2.tokeninfo", {"id_token": {"location": "query", "type": "string"}})
serve_page("oauth2/v1/certs", "oauth2.certs", {})
serve_page("oauth2/v3/certs", "oauth2.keys", {})
serve_page("iap/verify/public_key", "iap.publicKeys", {})
serve_page("iap/verify/public_key-jwk", "iap.publicKeySet", {})
