"""The token of a push: who signed it, for whom, when, and for which receiver."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import jwt
from jwt.types import Options

from gcpx.push.certificates import Certificates
from gcpx.push.errors import InvalidToken, MalformedRequest

_MAX_AGE: Final = 3600.0
"""Seconds; a push may carry a token that is up to one hour old."""
_LONGEST_TOKEN: Final = 16_384
_REMEMBERED: Final = 1024
_PARTS: Final = 3
_SIGNATURE_ALONE: Final[Options] = {
    "verify_signature": True,
    "verify_aud": False,
    "verify_exp": False,
    "verify_iat": False,
    "verify_iss": False,
    "verify_jti": False,
    "verify_nbf": False,
    "verify_sub": False,
}


@attrs.frozen
class Issuer:
    """Who signs tokens, and how.

    Attributes:
        header: the request's header with the token, in lower case.
        scheme: the word before the token, if there is one.
        names: values of `iss`.
        algorithm: of the signature.
        certificates_url: where the public keys are.
        verifies_email: its tokens say whether the e-mail address is verified.
    """

    header: str
    scheme: str
    names: frozenset[str]
    algorithm: str
    certificates_url: str
    verifies_email: bool


GOOGLE: Final = Issuer(
    header="authorization",
    scheme="Bearer",
    names=frozenset({"accounts.google.com", "https://accounts.google.com"}),
    algorithm="RS256",
    certificates_url="https://www.googleapis.com/oauth2/v1/certs",
    verifies_email=True,
)
"""Google's accounts, which sign what Pub/Sub sends."""
IAP: Final = Issuer(
    header="x-svc-iap-jwt-assertion",
    scheme="",
    names=frozenset({"https://cloud.google.com/iap"}),
    algorithm="ES256",
    certificates_url="https://www.gstatic.com/iap/verify/public_key",
    verifies_email=False,
)
"""Identity-Aware Proxy, which checks the push's token itself and sends one of its own."""


@attrs.frozen
class Claims:
    """What a good token says. `claims` holds everything."""

    email: str
    audience: str
    issuer: str
    subject: str
    issued_at: int
    expires_at: int
    claims: Mapping[str, Any] = attrs.field(repr=False)


@attrs.define(eq=False)
class PushVerifier:
    """Checks tokens for one subscription.

    Attributes:
        audience: the audience that the subscription sets; by default it is the push endpoint's URL. Behind
            Identity-Aware Proxy it is the proxied service: `/projects/NUMBER/global/backendServices/ID`.
        service_account_email: the push authentication service account of the subscription.
        issuer: `GOOGLE`, or `IAP` behind Identity-Aware Proxy.
        certificates: the issuer's keys; by default they are fetched and kept. `Certificates.given(...)` needs no
            network.
        verification_token: a text of your own that the push carries as the query parameter or the attribute `token`.
        clock_skew: seconds by which the clocks of issuer and receiver may differ.
    """

    audience: str
    service_account_email: str
    issuer: Issuer = GOOGLE
    certificates: Certificates = attrs.field(
        default=attrs.Factory(lambda self: Certificates(self.issuer.certificates_url), takes_self=True)
    )
    verification_token: str | None = attrs.field(default=None, repr=False)
    clock_skew: float = 10.0
    _now: Callable[[], float] = attrs.field(default=time.time, alias="now")
    _verified: OrderedDict[bytes, Claims] = attrs.field(factory=OrderedDict, init=False, repr=False)

    def verify_headers(self, headers: Mapping[str, str]) -> Claims:
        """Check the token of a request's headers, whose names are in lower case.

        Raises:
            PushError: when it is to be refused.
            CertificatesError: when the issuer's keys cannot be had.
        """
        value = headers.get(self.issuer.header)
        if value is None:
            raise MalformedRequest(f"the header {self.issuer.header} is missing")
        if not self.issuer.scheme:
            return self.verify(value)
        scheme, _, token = value.partition(" ")
        if scheme != self.issuer.scheme or not token or " " in token:
            raise MalformedRequest(
                f"the header {self.issuer.header} is not the word {self.issuer.scheme}, one space, and a token"
            )
        return self.verify(token)

    def verify(self, token: str) -> Claims:
        """Check a token; one that was good before is only looked up, and its times are checked again."""
        if len(token) > _LONGEST_TOKEN:
            raise InvalidToken(f"the token is longer than {_LONGEST_TOKEN:,} characters")
        known = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        found = self._verified.get(known)
        if found is None:
            found = self._checked(token)
            self._remember(known, found)
        elif not self._is_in_time(found):
            self._verified.pop(known, None)
            self._check_times(found)
        return found

    def _remember(self, known: bytes, claims: Claims) -> None:
        self._verified[known] = claims
        while len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)

    def _checked(self, token: str) -> Claims:
        header = _header(token)
        if header.get("alg") != self.issuer.algorithm:
            raise InvalidToken(f"the token is not signed with {self.issuer.algorithm}")
        if "crit" in header or header.get("typ", "JWT") != "JWT":
            raise InvalidToken("the token's header asks for what no token of the issuer does")
        key_id = header.get("kid")
        if not isinstance(key_id, str):
            raise InvalidToken("the token names no key")
        key = self.certificates.key(key_id)
        if key is None:
            raise InvalidToken("the token is signed with a key that the issuer does not have")
        claims = self._read(token, key)
        self._check_identity(claims)
        made = Claims(
            email=claims["email"],
            audience=claims["aud"],
            issuer=claims["iss"],
            subject=str(claims.get("sub", "")),
            issued_at=_seconds(claims, "iat"),
            expires_at=_seconds(claims, "exp"),
            claims=claims,
        )
        self._check_times(made)
        return made

    def _read(self, token: str, key: Any) -> dict[str, Any]:
        """Check the signature; the claims are checked by ourselves, so that each has its own words."""
        try:
            found: dict[str, Any] = jwt.decode(token, key, algorithms=[self.issuer.algorithm], options=_SIGNATURE_ALONE)
        except (jwt.PyJWTError, ValueError, TypeError):
            raise InvalidToken("the token's signature is not the issuer's") from None
        return found

    def _check_identity(self, claims: dict[str, Any]) -> None:
        if claims.get("iss") not in self.issuer.names:
            raise InvalidToken("the token's issuer is another one")
        if not _equal(claims.get("aud"), self.audience):
            raise InvalidToken("the token is for another audience")
        if not _equal(claims.get("email"), self.service_account_email):
            raise InvalidToken("the token is of another account")
        if self.issuer.verifies_email and claims.get("email_verified") is not True:
            raise InvalidToken("the account's e-mail address is not verified")

    def _is_in_time(self, claims: Claims) -> bool:
        now, skew = self._now(), self.clock_skew
        return claims.issued_at - skew <= now <= min(claims.expires_at, claims.issued_at + _MAX_AGE) + skew

    def _check_times(self, claims: Claims) -> None:
        if self._is_in_time(claims):
            return
        now = self._now()
        if now < claims.issued_at - self.clock_skew:
            raise InvalidToken("the token was issued in the future; do the clocks agree?")
        if now > claims.expires_at + self.clock_skew:
            raise InvalidToken("the token has expired")
        raise InvalidToken("the token is older than one hour")


def _header(token: str) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) != _PARTS or not all(parts):
        raise InvalidToken("the token does not have three parts")
    try:
        text = base64.b64decode(parts[0] + "=" * (-len(parts[0]) % 4), altchars=b"-_", validate=True)
        found = json.loads(text)
    except (binascii.Error, ValueError, RecursionError):
        raise InvalidToken("the token's header cannot be read") from None
    if not isinstance(found, dict):
        raise InvalidToken("the token's header cannot be read")
    return found


def _seconds(claims: dict[str, Any], name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidToken(f"the token's {name} is no time")
    return value


def _equal(given: Any, wanted: str) -> bool:
    """Compare in a time that does not tell where the texts differ."""
    if not isinstance(given, str):
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
