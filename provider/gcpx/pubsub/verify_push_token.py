"""`pubsub:verifyPushToken`: checks the token of a push with `gcpx_push`.

Source: "Authentication for push subscriptions" in the Pub/Sub documentation.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.errors import UserError
from gcpx.gcp.attempt import Attempt, Response
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.request import OAUTH2, Request
from gcpx.gcp.retries import RetryableError
from gcpx.gcp.settings import public_page_url
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Record, field, object_type, output_field, record, requirement, text
from gcpx.model.function import Function
from gcpx_push import GOOGLE, IAP, Certificates, CertificatesError, InvalidToken, PushVerifier

if TYPE_CHECKING:
    from gcpx.pubsub.value_types import PushTokenQueryValues

_VERIFIER: Final = "[PushVerifier: {}](../../provider/gcpx_push/verifier.py)"


@requirement(
    "audience",
    "must be the service behind the proxy, such as /projects/NUMBER/global/backendServices/ID or "
    "/projects/NUMBER/apps/PROJECT, if identityAwareProxy is true",
    "[Securing your app with signed headers](https://cloud.google.com/iap/docs/signed-headers-howto)",
    about="identityAwareProxy",
)
def _audience_behind_a_proxy_is_a_service(values: PushTokenQueryValues) -> bool:
    audience = text(values, "audience")
    return values.get("identityAwareProxy") is not True or not audience or audience.startswith(IAP.audience_prefix)


@record
class PushTokenQuery(Record):
    """A token, and the subscription's settings that it must match."""

    RULES = (_audience_behind_a_proxy_is_a_service,)

    audience: str = field(
        "The audience that the subscription sets, such as `https://example.com/push`. If the subscription sets none, its push endpoint. Behind Identity-Aware Proxy, the service, such as `/projects/NUMBER/global/backendServices/ID`.",
        required=True,
        source=_VERIFIER.format("audience"),
    )
    certificates: dict[str, str] = field(
        "The issuer's certificates or public keys, to verify without network access: PEM by key ID, such as `{KEY_ID: PEM}`. Default: they are fetched from Google."
    )
    clock_skew_seconds: int = field(
        "The number of seconds by which the clocks of the issuer and of this machine may differ, such as `30`: 0 to 300. Default: 10.",
        minimum=0,
        maximum=300,
        source=_VERIFIER.format("clock_skew"),
    )
    identity_aware_proxy: bool = field(
        "Whether the token is the assertion of an Identity-Aware Proxy, from the header `x-goog-iap-jwt-assertion`, and not a token of Pub/Sub itself. Default: false."
    )
    service_account_email: str = field(
        "The e-mail address of the service account that the subscription uses for push authentication, such as `pusher@my-project.iam.gserviceaccount.com`.",
        required=True,
        source=_VERIFIER.format("service_account_email"),
    )
    token: str = field(
        "The token to verify, an OpenID Connect JWT. It is a secret.",
        required=True,
        secret=True,
        source=_VERIFIER.format("verify"),
    )


@record
class PushTokenClaims(Record):
    """The claims of a valid token."""

    aud: str = output_field("The audience that the token is for.", always=True)
    azp: str = output_field("The authorized party: the numeric ID of the account that the token was issued to.")
    email: str = output_field("The e-mail address of the account.", always=True)
    email_verified: bool = output_field("Whether the e-mail address is verified.", wire="email_verified")
    exp: int = output_field("The time at which the token expires, in seconds since 1970.", always=True)
    iat: int = output_field("The time at which the token was issued, in seconds since 1970.")
    iss: str = output_field("The issuer, such as `https://accounts.google.com`.", always=True)
    sub: str = output_field("The numeric ID of the account.")


@record
class PushTokenVerdict(Record):
    """Whether a token is valid."""

    claims: PushTokenClaims = output_field("The claims of a valid token.")
    reason: str = output_field("Why the token is not valid; missing if it is valid.")
    valid: bool = output_field("Whether the token is valid.", always=True)


class VerifyPushToken(Function):
    """The verifier of `gcpx_push`, as a function."""

    token = "gcpx:pubsub:verifyPushToken"
    description = (
        "Verifies the token of an authenticated push: its signature, issuer, audience, service account and times. A "
        "token that is not valid is a result, not an error."
    )
    arguments = PushTokenQuery
    result = PushTokenVerdict

    def __init__(self, google: GoogleClient) -> None:
        self._google = google
        self._fetched: dict[bool, Certificates] = {}

    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Verify the token; raises UserError if the issuer's certificates cannot be fetched, trusted or read."""
        given = cast("PushTokenQueryValues", arguments)
        proxied = bool(given.get("identityAwareProxy"))
        verifier = PushVerifier(
            audience=given["audience"],
            service_account_email=given["serviceAccountEmail"],
            issuer=IAP if proxied else GOOGLE,
            certificates=self._certificates(given.get("certificates"), proxied=proxied),
            clock_skew=float(given.get("clockSkewSeconds", 10)),
        )
        try:
            claims = self._verified(context, verifier, given["token"])
        except InvalidToken as error:
            return {"valid": False, "reason": str(error)}
        except (CertificatesError, RetryableError) as error:
            raise UserError(
                f"the token cannot be verified: {error}; run again, or set certificates to verify it offline"
            ) from error
        return {"valid": True, "claims": codec.from_body(object_type(PushTokenClaims), claims)}

    def _verified(self, context: Context, verifier: PushVerifier, token: str) -> dict[str, Any]:
        """Return the claims of a valid token; a cancellation, or the end of the time, abandons the verification.

        It is an `Attempt`, because it may wait for the issuer's certificates.
        """
        limit = min(self._google.settings.timeout_seconds, max(0.001, context.seconds_left(reading=True)))
        request = Request(api=OAUTH2, method="GET", path="oauth2/v1/certs")
        attempt = Attempt(request, context, limit, limit)
        return cast("dict[str, Any]", attempt.response(_Verification(verifier, token)).body)

    def _certificates(self, given: dict[str, str] | None, *, proxied: bool) -> Certificates:
        """Read the given certificates, or else use the issuer's, which are fetched and cached."""
        if given:
            try:
                return Certificates.given(given)
            except ValueError:
                raise UserError("certificates must contain PEM certificates or public keys by key ID") from None
        if proxied not in self._fetched:
            url = (IAP if proxied else GOOGLE).certificates_url
            settings = self._google.settings
            try:
                page = public_page_url(settings, url)
            except UserError as error:
                raise UserError(f"{error}, or set certificates to verify the token offline") from None
            self._fetched[proxied] = Certificates(page, settings.timeout_seconds)
        return self._fetched[proxied]


@attrs.frozen
class _Verification:
    """Verifies a token, as the sender of an attempt."""

    verifier: PushVerifier
    token: str

    def send(self, attempt: Attempt) -> Response:
        """Return the claims as a response."""
        attempt.begin()
        return Response(HTTPStatus.OK, {}, dict(self.verifier.verify(self.token).claims))
