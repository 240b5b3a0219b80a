"""`oauth2:getTokenInfo`: the claims of an ID token, as Google reads them.

Source: Google Identity's token inspection endpoint, `GET https://oauth2.googleapis.com/tokeninfo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.request import OAUTH2, Request
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.function import Function

if TYPE_CHECKING:
    from gcpx.oauth2.value_types import TokenInfoQueryValues


@record
class TokenInfoQuery(Record):
    """The token to inspect."""

    id_token: str = field(
        "The ID token to inspect, an OpenID Connect JWT. It is a secret.",
        required=True,
        secret=True,
        source="[Calling the tokeninfo endpoint](https://developers.google.com/identity/sign-in/web/backend-auth#calling-the-tokeninfo-endpoint)",
    )


@record
class TokenInfo(Record):
    """The header and the claims of an ID token that Google issued and that has not expired."""

    alg: str = output_field("The algorithm of the signature, such as `RS256`.", always=True)
    aud: str = output_field("The audience that the token is for.", always=True)
    azp: str = output_field("The authorized party: the ID of the account or client that the token was issued to.")
    email: str = output_field("The e-mail address of the account.")
    email_verified: str = output_field("`true` if the e-mail address is verified.", wire="email_verified")
    exp: str = output_field("The time at which the token expires, in seconds since 1970.", always=True)
    iat: str = output_field("The time at which the token was issued, in seconds since 1970.", always=True)
    iss: str = output_field("The issuer, such as `https://accounts.google.com`.", always=True)
    kid: str = output_field("The ID of the key that signed the token.", always=True)
    sub: str = output_field("The numeric ID of the account.", always=True)
    typ: str = output_field("Always `JWT`.", always=True)


class GetTokenInfo(Function):
    """The answer of the token inspection endpoint."""

    token = "gcpx:oauth2:getTokenInfo"
    description = "Asks Google for the claims of an ID token. A token that is not valid is an error."
    arguments = TokenInfoQuery
    result = TokenInfo

    def __init__(self, google: GoogleClient) -> None:
        self._google = google

    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Inspect the token. The endpoint is public, so no credentials are sent."""
        token = cast("TokenInfoQueryValues", arguments)["idToken"]
        request = Request(api=OAUTH2, method="GET", path="tokeninfo", query={"id_token": token})
        return codec.from_body(self.result_type, self._google.send(request, context))
