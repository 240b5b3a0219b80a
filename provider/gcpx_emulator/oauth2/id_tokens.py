"""ID tokens: signed for service accounts, and inspected."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import handles
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.signing import id_token_claims


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
    claims = id_token_claims(call.path["serviceAccountsId"], audience, call.cloud.now())
    if not call.body.get("includeEmail"):
        claims = {name: value for name, value in claims.items() if not name.startswith("email")}
    return {"token": call.cloud.signer.token(claims)}
