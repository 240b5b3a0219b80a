"""`oauth2:getTokenInfo`: what Google says of an ID token.

Source: the token-inspection endpoint (documentation of push authentication, sections 2.4 and 4, row 2).
"""

from __future__ import annotations

from typing import Any

from gcpx.gcp.client import OAUTH2, Google, Request
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, answer, field, record
from gcpx.model.function import Function


@record
class TokenInfoQuery(Record):
    """Which token to ask about."""

    id_token: str = field("The ID token (an OpenID Connect JWT). It is kept secret.", required=True, secret=True)


@record
class TokenInfo(Record):
    """What Google reads in a token that it issued and that is still good."""

    alg: str = answer("The signature's algorithm.", always=True)
    aud: str = answer("The audience.", always=True)
    azp: str = answer("The authorized party.")
    email: str = answer("The e-mail address of the account.")
    email_verified: str = answer("`true` for a verified address.", wire="email_verified")
    exp: str = answer("When the token expires, in seconds since 1970.", always=True)
    iat: str = answer("When the token was issued, in seconds since 1970.", always=True)
    iss: str = answer("The issuer.", always=True)
    kid: str = answer("The ID of the key that signed it.", always=True)
    sub: str = answer("The numeric ID of the account.", always=True)
    typ: str = answer("Always `JWT`.", always=True)


class GetTokenInfo(Function):
    """What the token-inspection endpoint says."""

    token = "gcpx:oauth2:getTokenInfo"
    description = "Asks Google for the contents of an ID token; an invalid token is an error."
    example = "token-check"
    arguments = TokenInfoQuery
    result = TokenInfo

    def __init__(self, google: Google) -> None:
        self._google = google

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Ask once; the endpoint takes anyone's question, so no credentials go along."""
        request = Request(api=OAUTH2, method="GET", path="tokeninfo", query={"id_token": arguments["idToken"]})
        return codec.from_body(self.result_type, self._google.send(request, call))
