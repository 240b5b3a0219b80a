"""ID tokens: issues and inspects them, publishes the keys that verify them, and declares the permissions."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.permissions import declare_needs, need
from gcpx_emulator.core.signing import id_token_claims

declare_needs(
    {
        "iamcredentials.projects.serviceAccounts.generateIdToken": (
            need(
                lambda call: [call.path["serviceAccountsId"]],
                "iam.serviceAccounts.getOpenIdToken on the service account",
            ),
        )
    }
)


_MAX_AGE: Final = 20_000
"""The time for which clients may cache the keys, in seconds."""


def _cacheable(keys: Json) -> JSONResponse:
    return JSONResponse(keys, headers={"Cache-Control": f"public, max-age={_MAX_AGE}, must-revalidate"})


@handles("oauth2.certs")
def get_certificates(call: Call) -> JSONResponse:
    """Publish the certificates of Google accounts."""
    return _cacheable(call.cloud.signer.certificates())


@handles("oauth2.keys")
def get_key_set(call: Call) -> JSONResponse:
    """Publish the same keys as a JSON Web Key Set."""
    return _cacheable(call.cloud.signer.key_set())


@handles("iap.publicKeys")
def get_proxy_keys(call: Call) -> JSONResponse:
    """Publish the keys of Identity-Aware Proxy."""
    return _cacheable(call.cloud.signer.proxy_keys())


@handles("iap.publicKeySet")
def get_proxy_key_set(call: Call) -> JSONResponse:
    """Publish the same keys as a JSON Web Key Set."""
    return _cacheable(call.cloud.signer.key_set(iap=True))


@handles("oauth2.tokeninfo")
def get_token_info(call: Call) -> Any:
    """Return the content of a token, with every value as a string."""
    token = call.query.get("id_token")
    try:
        content = call.cloud.signer.read(token or "")
    except ValueError:
        description = "Invalid Value" if token else "Either access_token, id_token, or token_handle required."
        return JSONResponse({"error": "invalid_token", "error_description": description}, 400)
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in content.items()}


@handles("iamcredentials.projects.serviceAccounts.generateIdToken")
def generate_id_token(call: Call) -> Json:
    """Sign a token for a service account."""
    audience = call.body.get("audience")
    if not audience:
        raise ApiError(400, "The request's audience is required.")
    if call.body.get("organizationNumberIncluded"):
        raise ApiError(501, f"{call.method.id} with 'organizationNumberIncluded' is not emulated")
    claims = id_token_claims(call.path["serviceAccountsId"], audience, call.cloud.now())
    if not call.body.get("includeEmail"):
        claims = {name: value for name, value in claims.items() if not name.startswith("email")}
    return {"token": call.cloud.signer.token(claims)}
