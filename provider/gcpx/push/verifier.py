"""The token of a push: who signed it, for whom, when, and for which receiver."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import jwt

from gcpx.push import strict_json
from gcpx.push.certificates import Certificates
from gcpx.push.errors import InvalidToken, MalformedRequest

_MAX_AGE: Final = 3600.0
"""Seconds; a push may carry a token that is up to one hour old."""
_LONGEST_TOKEN: Final = 16_384
_REMEMBERED: Final = 1024
_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""Header, claims and signature, each base64url without padding."""
_LATEST: Final = 1 << 40
"""A time beyond every calendar that is in use, in seconds since 1970."""
_TEXTS: Final = ("sub", "azp", "jti")
"""Claims that may be left out, and otherwise are texts."""


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
    """What a good token says. `claims` holds everything, `not_before` is there where the token says so."""

    email: str
    audience: str
    issuer: str
    subject: str
    issued_at: int
    expires_at: int
    claims: Mapping[str, Any] = attrs.field(repr=False)
    not_before: int | None = None


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
        authenticated: False for a subscription without authentication. Its pushes carry no token of the issuer, so
            `verification_token` alone tells them from others'; set neither audience nor account then.
        clock_skew: seconds by which the clocks of issuer and receiver may differ.
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

    def __attrs_post_init__(self) -> None:
        """Refuse settings that would let anybody in."""
        expected = (self.audience, self.service_account_email)
        if self.verification_token == "":
            raise ValueError("verification_token must not be empty; omit it if the pushes carry no token")
        if self.authenticated and not all(expected):
            raise ValueError(
                "audience and service_account_email must be set, or authenticated=False with a verification_token"
            )
        if not self.authenticated and (self.verification_token is None or any(expected)):
            raise ValueError(
                "authenticated=False requires verification_token, without audience and service_account_email"
            )

    def verify_headers(self, headers: Mapping[str, str]) -> Claims | None:
        """Check the token of a request's headers, whose names are in lower case; None without authentication.

        Raises:
            PushError: when it is to be refused.
            CertificatesError: when the issuer's keys cannot be fetched.
        """
        value = headers.get(self.issuer.header)
        if not self.authenticated:
            if value is not None:
                raise MalformedRequest(f"the header {self.issuer.header} must be absent; no authentication is expected")
            return None
        if value is None:
            raise MalformedRequest(f"the header {self.issuer.header} is missing")
        if not self.issuer.scheme:
            return self.verify(value)
        scheme, _, token = value.partition(" ")
        if scheme != self.issuer.scheme or not token or " " in token:
            raise MalformedRequest(
                f"the header {self.issuer.header} must be the word {self.issuer.scheme}, one space, and a token"
            )
        return self.verify(token)

    def verify(self, token: str) -> Claims:
        """Check a token; one that was good before is only looked up, and its times are checked again."""
        if not self.authenticated:
            raise InvalidToken("no token is expected, because authenticated is False")
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
            raise InvalidToken("the token's header must have no crit, and no typ other than JWT")
        key_id = header.get("kid")
        if not isinstance(key_id, str):
            raise InvalidToken("the token's header must name a key (kid)")
        key = self.certificates.key(key_id)
        if key is None:
            raise InvalidToken("the token is signed with a key that the issuer does not have")
        claims = self._read(token, key)
        self._check_identity(claims)
        _check_types(claims)
        made = Claims(
            email=claims["email"],
            audience=claims["aud"],
            issuer=claims["iss"],
            subject=claims.get("sub", ""),
            issued_at=_seconds(claims, "iat"),
            expires_at=_seconds(claims, "exp"),
            claims=claims,
            not_before=_seconds(claims, "nbf") if "nbf" in claims else None,
        )
        self._check_times(made)
        return made

    def _read(self, token: str, key: Any) -> dict[str, Any]:
        """Check the signature; the claims are checked by ourselves, so that each has its own words."""
        try:
            payload = jwt.PyJWS().decode(token, key, algorithms=[self.issuer.algorithm])
        except (jwt.PyJWTError, ValueError, TypeError):
            raise InvalidToken("the token's signature does not match the issuer's key") from None
        return _object(payload, "claims")

    def _check_identity(self, claims: dict[str, Any]) -> None:
        if not any(_equal(claims.get("iss"), name) for name in self.issuer.names):
            raise InvalidToken("the token was issued by another issuer")
        if not _equal(claims.get("aud"), self.audience):
            raise InvalidToken("the token is for another audience")
        if not _equal(claims.get("email"), self.service_account_email):
            raise InvalidToken("the token belongs to another account")
        if self.issuer.verifies_email and claims.get("email_verified") is not True:
            raise InvalidToken("the account's e-mail address is not verified")

    def _is_in_time(self, claims: Claims) -> bool:
        now, skew = self._now(), self.clock_skew
        first = max(claims.issued_at, claims.not_before or 0)
        return first - skew <= now <= min(claims.expires_at, claims.issued_at + _MAX_AGE) + skew

    def _check_times(self, claims: Claims) -> None:
        if self._is_in_time(claims):
            return
        now = self._now()
        if now < claims.issued_at - self.clock_skew:
            raise InvalidToken("the token was issued in the future; do the clocks agree?")
        if now < (claims.not_before or 0) - self.clock_skew:
            raise InvalidToken("the token is not valid yet; do the clocks agree?")
        if now > claims.expires_at + self.clock_skew:
            raise InvalidToken("the token has expired")
        raise InvalidToken("the token is older than one hour")


def _header(token: str) -> dict[str, Any]:
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        raise InvalidToken("the token must have three parts in base64url")
    return _object(_decoded(parts[1]), "header")


def _decoded(part: str) -> bytes:
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


def _object(text: bytes, name: str) -> dict[str, Any]:
    try:
        found = strict_json.parse(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidToken(f"the token's {name} must be a JSON object in UTF-8")
    return found


def _check_types(claims: dict[str, Any]) -> None:
    for name in _TEXTS:
        if not isinstance(claims.get(name, ""), str):
            raise InvalidToken(f"the token's {name} must be a string")
    if not isinstance(claims.get("email_verified", False), bool):
        raise InvalidToken("the token's email_verified must be true or false")


def _seconds(claims: dict[str, Any], name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LATEST:
        raise InvalidToken(f"the token's {name} must be a time in whole seconds since 1970")
    return value


def _equal(given: Any, wanted: str) -> bool:
    """Compare in a time that does not tell where the texts differ."""
    if not isinstance(given, str):
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
