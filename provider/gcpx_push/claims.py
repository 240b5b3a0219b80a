"""The claims of a token with a verified signature, and the checks of their values and times."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from gcpx_push.errors import InvalidToken
from gcpx_push.issuer import Issuer

_OPTIONAL_STRINGS: Final = ("sub", "azp", "jti")
_MAX_AGE: Final = 3600.0
"""The longest age of a token in seconds: a push may carry one that is an hour old."""
_LATEST: Final = 1 << 40
"""The latest accepted time in seconds since 1970, small enough to calculate with."""


@attrs.frozen
class Claims:
    """The claims of a verified token. Times are in seconds since 1970.

    Attributes:
        email: the e-mail address of the service account (`email`).
        audience: the receiver that the token is meant for (`aud`).
        issuer: the issuer of the token (`iss`).
        subject: the numeric ID of the account (`sub`), or an empty string.
        issued_at: the time of issue (`iat`).
        expires_at: the time of expiry (`exp`).
        claims: all claims of the token, by their own names; read-only, with tuples in place of lists.
        not_before: the time from which the token is valid (`nbf`), or None.
    """

    email: str
    audience: str
    issuer: str
    subject: str
    issued_at: int
    expires_at: int
    claims: Mapping[str, Any] = attrs.field(repr=False)
    not_before: int | None = None

    @classmethod
    def parse(cls, claims: Mapping[str, Any]) -> Claims:
        """Convert claims that `check_identity` accepted, and check their types.

        Raises:
            InvalidToken: if a claim is missing or has the wrong type.
        """
        for name in _OPTIONAL_STRINGS:
            if not isinstance(claims.get(name, ""), str):
                raise InvalidToken(f"the token's {name} must be a string")
        if not isinstance(claims.get("email_verified", False), bool):
            raise InvalidToken("the token's email_verified must be true or false")
        return cls(
            email=claims["email"],
            audience=claims["aud"],
            issuer=claims["iss"],
            subject=claims.get("sub", ""),
            issued_at=_seconds(claims, "iat"),
            expires_at=_seconds(claims, "exp"),
            claims=_read_only(claims),
            not_before=_seconds(claims, "nbf") if "nbf" in claims else None,
        )


def _read_only(value: Any) -> Any:
    """Return a value of JSON that no receiver can change, because pushes with the same token share it."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: _read_only(item) for name, item in value.items()})
    return tuple(map(_read_only, value)) if isinstance(value, list) else value


def check_identity(claims: Mapping[str, Any], issuer: Issuer, audience: str, email: str) -> None:
    """Check the issuer, the audience and the service account of a token.

    Raises:
        InvalidToken: if one of them is wrong.
    """
    if not any(_equal(claims.get("iss"), name) for name in issuer.names):
        raise InvalidToken("the token was issued by another issuer")
    if not _equal(claims.get("aud"), audience):
        raise InvalidToken("the token is for another audience")
    if not _equal(claims.get("email"), email):
        raise InvalidToken("the token belongs to another account")
    if issuer.verifies_email and claims.get("email_verified") is not True:
        raise InvalidToken("the account's e-mail address is not verified")


def check_times(claims: Claims, now: float, skew: float) -> None:
    """Check that a token is valid now; `now` is in seconds since 1970, `skew` is the clocks' difference in seconds.

    Raises:
        InvalidToken: if the token is not valid yet, or no longer.
    """
    if now < claims.issued_at - skew:
        raise InvalidToken("the token was issued in the future; check the clocks of issuer and receiver")
    if claims.not_before is not None and now < claims.not_before - skew:
        raise InvalidToken("the token is not valid yet; check the clocks of issuer and receiver")
    if now > claims.expires_at + skew:
        raise InvalidToken("the token has expired")
    if now > claims.issued_at + _MAX_AGE + skew:
        raise InvalidToken("the token is older than one hour")


def _seconds(claims: Mapping[str, Any], name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LATEST:
        raise InvalidToken(f"the token's {name} must be a time in whole seconds since 1970")
    return value


def _equal(value: Any, expected: str) -> bool:
    """Compare in constant time, so that the time does not reveal where the strings differ."""
    if not isinstance(value, str):
        return False
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), expected.encode())
