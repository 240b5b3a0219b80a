"""Signing keys, and the tokens that are signed and verified with them."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import attrs

from gcpx_emulator.core.json_data import Json

if TYPE_CHECKING:
    from gcpx_emulator.core.keys import Key

_ISSUER: Final = "https://accounts.google.com"
_LIFETIME: Final = 3600
"""Seconds until a token expires."""
_PROXY_ISSUER: Final = "https://cloud.google.com/iap"
_PROXY_LIFETIME: Final = 600
"""Seconds until an assertion of Identity-Aware Proxy expires."""
_REUSE: Final = 300
"""Seconds during which `id_token` returns the same token."""


@attrs.define
class Signer:
    """The signing keys of Google accounts (RSA) and of Identity-Aware Proxy (elliptic curve).

    Creating a key takes time, so each is created when it is first needed.

    Attributes:
        clock: gives the time in seconds since 1970.
    """

    clock: Callable[[], float] = time.time
    _keys: dict[bool, Key] = attrs.Factory(dict)
    """The keys that exist, by whether they are those of Identity-Aware Proxy."""
    _id_tokens: dict[tuple[str, str], tuple[float, str]] = attrs.Factory(dict)
    _of_programs: Key | None = None
    """The key of the service account of intercepted programs, which sign URLs with it."""

    def key_of_programs(self) -> str:
        """Return the private key of the service account of intercepted programs, in PEM."""
        if self._of_programs is None:
            from gcpx_emulator.core.keys import Key  # noqa: PLC0415 - takes long to load

            self._of_programs = Key.new(iap=False)
        return self._of_programs.private_pem

    @property
    def knows_programs(self) -> bool:
        """Whether a program may have the key of their service account."""
        return self._of_programs is not None

    def has_signed(self, signature: bytes, content: bytes) -> bool:
        """Return whether the service account of intercepted programs has signed content."""
        return self._of_programs is not None and self._of_programs.has_signed(signature, content)

    def _key(self, *, iap: bool = False) -> Key:
        if iap not in self._keys:
            from gcpx_emulator.core.keys import Key  # noqa: PLC0415 - takes long to load

            self._keys[iap] = Key.new(iap=iap)
        return self._keys[iap]

    def rotate(self) -> None:
        """Replace the keys with new ones; the old ones are no longer published."""
        self._keys.clear()
        self._id_tokens.clear()

    def token(self, claims: Json, *, iap: bool = False) -> str:
        """Sign claims of any form, as a Google account or as Identity-Aware Proxy; return a JWT."""
        return self._key(iap=iap).signed(json.dumps(claims).encode())

    def id_token(self, email: str, audience: str) -> str:
        """Return an ID token of an account; the same one for five minutes."""
        now = self.clock()
        issued, token = self._id_tokens.get((email, audience), (-math.inf, ""))
        if not 0 <= now - issued <= _REUSE:
            issued, token = now, self.token(id_token_claims(email, audience, now))
            self._id_tokens[email, audience] = (issued, token)
        return token

    def certificates(self) -> Json:
        """Return the certificates of accounts by key ID, in PEM."""
        return {self._key().id: self._key().certificate}

    def key_set(self, *, iap: bool = False) -> Json:
        """Return the public keys of accounts or of Identity-Aware Proxy as a JSON Web Key Set."""
        return {"keys": [self._key(iap=iap).jwk]}

    def proxy_keys(self) -> Json:
        """Return the public keys of Identity-Aware Proxy by key ID, in PEM."""
        key = self._key(iap=True)
        return {key.id: key.pem}

    def read(self, token: str) -> Json:
        """Verify a token of an account; return its header and claims in one object.

        Raises:
            ValueError: when these keys did not sign it, or when it has expired.
        """
        content = self._key().verified(token)
        if not isinstance(content.get("exp"), int | float) or content["exp"] <= self.clock():
            raise ValueError("the token has expired")
        return content

    def caller(self, authorization: str) -> str:
        """Return the e-mail address in the token of an Authorization header; empty without a token."""
        if False not in self._keys:  # no token of an account can be of this emulator
            return ""
        try:
            email = self.read(authorization.removeprefix("Bearer ")).get("email")
        except ValueError:
            return ""
        return email if isinstance(email, str) else ""


def id_token_claims(email: str, audience: str, now: float) -> Json:
    """Write the claims of an account's ID token; `now` is the time of issue in seconds since 1970."""
    number = _account_number(email)
    issued = int(now)
    account = {"azp": number, "sub": number, "email": email, "email_verified": True}
    return {"aud": audience, "iss": _ISSUER, "iat": issued, "exp": issued + _LIFETIME, **account}


def proxy_claims(email: str, audience: str, now: float) -> Json:
    """Write the claims of Identity-Aware Proxy's assertion about an account, for a service behind the proxy.

    Source: "Securing your app with signed headers" in the documentation of Identity-Aware Proxy.
    """
    issued = int(now)
    account = {"azp": audience, "sub": f"accounts.google.com:{_account_number(email)}", "email": email}
    return {"aud": audience, "iss": _PROXY_ISSUER, "iat": issued, "exp": issued + _PROXY_LIFETIME, **account}


def _account_number(email: str) -> str:
    return str(10**20 + int(hashlib.sha256(email.encode()).hexdigest()[:16], 16))
