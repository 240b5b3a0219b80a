"""JSON Web Tokens: the header, the signature, and the signed claims."""

from __future__ import annotations

import base64
import re
from typing import Any, Final

import jwt

from gcpx_push import strict_json
from gcpx_push.errors import InvalidToken

_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""Header, claims and signature, each base64url without padding."""


def key_id(token: str, algorithm: str) -> str:
    """Check the header of a token, and return the ID of the key that signed it.

    Raises:
        InvalidToken: if the header is malformed, or names another algorithm.
    """
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        raise InvalidToken("the token must have three parts in base64url")
    try:
        decoded = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except ValueError:
        decoded = b""
    header = _object(decoded, "header")
    if header.get("alg") != algorithm:
        raise InvalidToken(f"the token is not signed with {algorithm}")
    if "crit" in header or header.get("typ", "JWT") != "JWT":
        raise InvalidToken("the token's header must not have crit, and its typ, if any, must be JWT")
    if not isinstance(header.get("kid"), str):
        raise InvalidToken("the token's header must name a key (kid)")
    return str(header["kid"])


def signed_claims(token: str, key: Any, algorithm: str) -> dict[str, Any]:
    """Check the signature of a token with a public key, and return its unchecked claims.

    PyJWT checks only the signature. The caller checks the claims, so that each refusal has its own reason.

    Raises:
        InvalidToken: if the signature is wrong, or the claims are not a JSON object.
    """
    try:
        payload = jwt.PyJWS().decode(token, key, algorithms=[algorithm])
    except (jwt.PyJWTError, ValueError, TypeError):
        raise InvalidToken("the token's signature does not match the issuer's key") from None
    return _object(payload, "claims")


def _object(text: bytes, name: str) -> dict[str, Any]:
    try:
        document = strict_json.parse(text)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InvalidToken(f"the token's {name} must be a JSON object in UTF-8")
    return document
