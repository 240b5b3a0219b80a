"""`pubsub:verifyPushToken`: checks the token of a push with `gcpx_push`.

Source: documentation of push authentication, section 5.2.
"""

from __future__ import annotations

from typing import Any

from gcpx.errors import UserError
from gcpx.gcp.client import Google
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, answer, field, object_type, record
from gcpx.model.function import Function
from gcpx_push import GOOGLE, IAP, Certificates, CertificatesError, InvalidToken, PushVerifier


@record
class PushTokenQuery(Record):
    """A token, and what it has to be."""

    audience: str = field("The audience that the subscription sets, by default the push endpoint.", required=True)
    certificates: dict[str, str] = field(
        "The issuer's certificates or public keys (PEM) by key ID, to verify without network access. Default: fetched."
    )
    clock_skew_seconds: int = field("Seconds by which clocks may differ. Default: 10.", minimum=0, maximum=300)
    identity_aware_proxy: bool = field(
        "The token is the assertion of Identity-Aware Proxy (`x-svc-iap-jwt-assertion`). Default: false."
    )
    service_account_email: str = field("The push authentication service account of the subscription.", required=True)
    token: str = field("The token. It is kept secret.", required=True, secret=True)


@record
class PushTokenClaims(Record):
    """What a good token says."""

    aud: str = answer("The audience.", always=True)
    azp: str = answer("The authorized party.")
    email: str = answer("The e-mail address of the account.", always=True)
    email_verified: bool = answer("Whether the address is verified.", wire="email_verified")
    exp: int = answer("When the token expires, in seconds since 1970.", always=True)
    iat: int = answer("When the token was issued, in seconds since 1970.")
    iss: str = answer("The issuer.", always=True)
    sub: str = answer("The numeric ID of the account.")


@record
class PushTokenVerdict(Record):
    """Whether a token is good."""

    claims: PushTokenClaims = answer("The claims, if the token is valid.")
    reason: str = answer("Why the token is not valid.")
    valid: bool = answer("Whether the token is valid.", always=True)


class VerifyPushToken(Function):
    """The verifier of `gcpx_push`, as a function."""

    token = "gcpx:pubsub:verifyPushToken"
    description = (
        "Verifies the token of an authenticated push by every rule for receivers. A token that is refused is a result, "
        "not an error."
    )
    example = "token-check"
    arguments = PushTokenQuery
    result = PushTokenVerdict

    def __init__(self, google: Google) -> None:
        self._google = google
        self._fetched: dict[bool, Certificates] = {}

    def invoke(self, call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        """Check it."""
        del call
        proxied = bool(arguments.get("identityAwareProxy"))
        verifier = _verifier(arguments, self._certificates(arguments.get("certificates"), proxied=proxied))
        try:
            found = verifier.verify(arguments["token"])
        except InvalidToken as error:
            return {"valid": False, "reason": str(error)}
        except CertificatesError as error:
            raise UserError(
                f"the token cannot be checked: {error}; give certificates to check without the network"
            ) from error
        return {"valid": True, "claims": codec.from_body(object_type(PushTokenClaims), dict(found.claims))}

    def _certificates(self, given: dict[str, str] | None, *, proxied: bool) -> Certificates:
        """Use what is given, or what is fetched once and kept."""
        if given:
            return _read(given)
        if proxied not in self._fetched:
            url = (IAP if proxied else GOOGLE).certificates_url
            self._fetched[proxied] = Certificates(self._google.relocated(url))
        return self._fetched[proxied]


def _verifier(arguments: dict[str, Any], certificates: Certificates) -> PushVerifier:
    try:
        return PushVerifier(
            audience=arguments["audience"],
            service_account_email=arguments["serviceAccountEmail"],
            issuer=IAP if arguments.get("identityAwareProxy") else GOOGLE,
            certificates=certificates,
            clock_skew=float(arguments.get("clockSkewSeconds", 10)),
        )
    except ValueError:
        raise UserError("audience and serviceAccountEmail must not be empty") from None


def _read(given: dict[str, str]) -> Certificates:
    try:
        return Certificates.given(given)
    except ValueError:
        raise UserError("certificates must contain PEM certificates or public keys by key ID") from None
