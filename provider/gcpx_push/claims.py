"""The claims of a verified token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from gcpx_push.errors import InvalidToken

_OPTIONAL_STRINGS: Final = ("sub", "azp", "jti")
_LATEST: Final = 1 << 40
"""Seconds since 1970: later than any date in use, and small enough to calculate with."""


@attrs.frozen
class Claims:
    """The claims of a verified token. Times are in seconds since 1970.

    Attributes:
        email: the e-mail address of the service account (`email`).
        audience: the receiver that the token is meant for (`aud`).
        issuer: who signed the token (`iss`).
        subject: the numeric ID of the account (`sub`), or an empty string.
        issued_at: when the token was issued (`iat`).
        expires_at: when the token expires (`exp`).
        claims: all claims of the token, by their own names.
        not_before: when the token becomes valid (`nbf`), or None.
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
        """Check the types of claims whose `email`, `aud` and `iss` are known to be right.

        Raises:
            InvalidToken: if a claim is missing or has the wrong type.
        """
        _check_types(claims)
        return cls(
            email=claims["email"],
            audience=claims["aud"],
            issuer=claims["iss"],
            subject=claims.get("sub", ""),
            issued_at=_seconds(claims, "iat"),
            expires_at=_seconds(claims, "exp"),
            claims=claims,
            not_before=_seconds(claims, "nbf") if "nbf" in claims else None,
        )


def _check_types(claims: Mapping[str, Any]) -> None:
    for name in _OPTIONAL_STRINGS:
        if not isinstance(claims.get(name, ""), str):
            raise InvalidToken(f"the token's {name} must be a string")
    if not isinstance(claims.get("email_verified", False), bool):
        raise InvalidToken("the token's email_verified must be true or false")


def _seconds(claims: Mapping[str, Any], name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LATEST:
        raise InvalidToken(f"the token's {name} must be a time in whole seconds since 1970")
    return value
