"""Verifies a push's token: its issuer, receiver, account and times."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from gcpx_push import tokens
from gcpx_push.certificates import Certificates
from gcpx_push.claims import Claims, check_identity, check_times
from gcpx_push.errors import InvalidToken, MalformedRequest
from gcpx_push.issuer import GOOGLE, Issuer

_MAX_TOKEN: Final = 16_384
"""Characters."""
_MOST_SKEW: Final = 300
"""Seconds; a larger value would accept tokens that expired long ago."""
_CACHE_SIZE: Final = 1024
"""Verified tokens to remember."""


@attrs.define(eq=False)
class PushVerifier:
    """Checks the tokens of one subscription's pushes. Several threads may use one instance.

    Attributes:
        audience: the audience that the subscription sets, by default the URL of the push endpoint. With Identity-Aware
            Proxy, it is the service that the proxy protects, such as `/projects/NUMBER/global/backendServices/ID` or
            `/projects/NUMBER/apps/PROJECT`.
        service_account_email: the service account that the subscription uses for push authentication.
        issuer: `GOOGLE`, or `IAP` behind Identity-Aware Proxy.
        certificates: the issuer's keys. By default they are fetched and cached; `Certificates.given(...)` needs no
            network access.
        verification_token: your own secret, which every push must carry in the query parameter `token` or, if it is
            authenticated, in the message attribute `token`.
        authenticated: False for a subscription without authentication. Its pushes have no signed token, so
            `verification_token` is required, in the query, and `audience` and `service_account_email` must not be set.
        clock_skew: the number of seconds by which the clocks of issuer and receiver may differ, 0 to 300.
    """

    audience: str = ""
    service_account_email: str = ""
    issuer: Issuer = GOOGLE
    certificates: Certificates = attrs.field(
        default=attrs.Factory(lambda self: Certificates(self.issuer.certificates_url), takes_self=True)
    )
    verification_token: str | None = attrs.field(default=None, repr=False)
    authenticated: bool = attrs.field(default=True, kw_only=True)
    clock_skew: float = 10.0
    _now: Callable[[], float] = attrs.field(default=time.time, alias="now")
    _verified: OrderedDict[bytes, Claims] = attrs.field(factory=OrderedDict, init=False, repr=False)
    """The claims of tokens whose signature is verified, by the hash of the token."""

    def __attrs_post_init__(self) -> None:
        """Refuse settings that would accept pushes from anybody."""
        if not 0 <= self.clock_skew <= _MOST_SKEW:  # this also refuses NaN, for which every comparison is false
            raise ValueError(f"clock_skew must be a number of seconds from 0 to {_MOST_SKEW}")
        identity = (self.audience, self.service_account_email)
        if not all(isinstance(text, str) for text in identity):
            raise TypeError("audience and service_account_email must be strings")
        if self.verification_token == "":
            raise ValueError("verification_token must not be empty; omit it if the pushes carry no token")
        if self.authenticated and not all(identity):
            raise ValueError(
                "audience and service_account_email must be set, or authenticated=False with a verification_token"
            )
        if self.authenticated and not self.audience.startswith(self.issuer.audience_prefix):
            raise ValueError(
                "audience must be the service behind the proxy, such as /projects/NUMBER/global/backendServices/ID or "
                "/projects/NUMBER/apps/PROJECT, and not the audience of the subscription"
            )
        if not self.authenticated and (self.verification_token is None or any(identity)):
            raise ValueError(
                "authenticated=False requires verification_token, without audience and service_account_email"
            )

    def verify_headers(self, headers: Mapping[str, str]) -> Claims | None:
        """Check the token in the headers of a request; return None for a subscription without authentication.

        Args:
            headers: values by name, with the names in lower case.

        Raises:
            PushError: if the push must be refused.
            CertificatesError: if the issuer's keys cannot be fetched.
        """
        name = next((name for name in self.issuer.headers if name in headers), None)
        if self.authenticated:
            if name is None:
                raise MalformedRequest(f"the header {self.issuer.headers[0]} is missing")
            return self.verify(self._token(name, headers[name]))
        if name is not None:
            raise MalformedRequest(f"the header {name} must be absent, because authenticated is False")
        return None

    def verify(self, token: str) -> Claims:
        """Check a token. The signature of a token is verified only once, but its times every time.

        Raises:
            InvalidToken: if the push must be refused.
            CertificatesError: if the issuer's keys cannot be fetched.
        """
        if not self.authenticated:
            raise InvalidToken("no token is expected, because authenticated is False")
        if len(token) > _MAX_TOKEN:
            raise InvalidToken(f"the token is longer than {_MAX_TOKEN:,} characters")
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        claims = self._verified.get(digest) or self._verify_signature(token)
        check_times(claims, self._now(), self.clock_skew)
        self._verified[digest] = claims
        while len(self._verified) > _CACHE_SIZE:
            self._verified.popitem(last=False)
        return claims

    def _token(self, name: str, value: str) -> str:
        """Read the token from the value of the issuer's header."""
        expected = self.issuer.scheme
        if not expected:
            return value
        scheme, _, token = value.partition(" ")
        if scheme != expected or not token or " " in token:
            raise MalformedRequest(f"the header {name} must be the word {expected}, one space, and a token")
        return token

    def _verify_signature(self, token: str) -> Claims:
        """Check everything but the times."""
        algorithm = self.issuer.algorithm
        key = self.certificates.key(tokens.key_id(token, algorithm))
        if key is None:
            raise InvalidToken("the token is signed with a key that the issuer does not have")
        claims = tokens.signed_claims(token, key, algorithm)
        check_identity(claims, self.issuer, self.audience, self.service_account_email)
        return Claims.parse(claims)
