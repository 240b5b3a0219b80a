"""Identity: keys, the tokens that they sign, and what may be asked about both."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID
from jwt.types import Options
from starlette.responses import JSONResponse

from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.store import Json

ISSUER: Final = "https://accounts.google.com"
IAP_ISSUER: Final = "https://cloud.google.com/iap"
LIFE: Final = 3600
_SHARED: Final = 300
"""Seconds in which one token serves all pushes to one audience."""
_UNTIMED: Final[Options] = {"verify_aud": False, "verify_exp": False, "verify_iat": False, "verify_nbf": False}
_KEPT: Final = 20_000
"""Seconds that clients may keep certificates."""


@attrs.frozen(slots=False)
class _Key:
    """One key, with what is published of it."""

    private: Any

    @functools.cached_property
    def id(self) -> str:
        public = self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(public).hexdigest()[:40]

    @functools.cached_property
    def certificate(self) -> str:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "federated-signon.system.gserviceaccount.com")])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder(subject, subject, self.private.public_key(), 1, now, now + timedelta(days=7))
            .sign(self.private, hashes.SHA256())
        )  # fmt: skip
        return made.public_bytes(Encoding.PEM).decode()


@attrs.define
class Signer:
    """The keys of accounts (RSA) and of Identity-Aware Proxy (elliptic curve); a rotation takes new ones.

    A key is made when it is first needed, since that takes its time.

    Attributes:
        clock: gives the time.
    """

    clock: Callable[[], float] = time.time
    _keys: dict[str, _Key] = attrs.Factory(dict)
    _shared: dict[tuple[str, str], tuple[float, str]] = attrs.Factory(dict)

    @property
    def _account(self) -> _Key:
        if "account" not in self._keys:
            self._keys["account"] = _Key(rsa.generate_private_key(public_exponent=65537, key_size=2048))
        return self._keys["account"]

    @property
    def _proxy(self) -> _Key:
        if "proxy" not in self._keys:
            self._keys["proxy"] = _Key(ec.generate_private_key(ec.SECP256R1()))
        return self._keys["proxy"]

    def rotate(self) -> None:
        """Sign with other keys from now on, and publish those alone."""
        self._keys.clear()
        self._shared.clear()

    def token(self, claims: Json, *, iap: bool = False) -> str:
        """Sign claims of any types."""
        key, algorithm = (self._proxy, "ES256") if iap else (self._account, "RS256")
        payload = json.dumps(claims).encode()
        return jwt.PyJWS().encode(payload, key.private, algorithm=algorithm, headers={"kid": key.id})

    def identity(self, email: str, audience: str) -> str:
        """Sign a token for an account, or give the one of a moment ago."""
        now = self.clock()
        made, token = self._shared.get((email, audience), (-math.inf, ""))
        if not 0 <= now - made <= _SHARED:
            made, token = now, self.token(claims(email, audience, now))
            self._shared[email, audience] = (made, token)
        return token

    def certificates(self) -> Json:
        """Give certificates by key ID."""
        return {self._account.id: self._account.certificate}

    def proxy_keys(self) -> Json:
        """Give the proxy's public keys by key ID."""
        pem = self._proxy.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return {self._proxy.id: pem.decode()}

    def key_set(self) -> Json:
        """Give the same as a JSON Web Key Set."""
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self._account.private.public_key(), as_dict=True)
        return {"keys": [{**key, "kid": self._account.id, "alg": "RS256", "use": "sig"}]}

    def read(self, token: str) -> Json:
        """Read a token that these keys signed, with its header; whatever is wrong with it is a ValueError."""
        try:
            body: Json = jwt.decode(token, self._account.private.public_key(), ["RS256"], _UNTIMED)
            found = {**jwt.get_unverified_header(token), **body}
        except jwt.PyJWTError as error:
            raise ValueError(str(error)) from None
        if not isinstance(found.get("exp"), int | float) or found["exp"] <= self.clock():
            raise ValueError("the token has expired")
        return found

    def caller(self, authorization: str) -> str:
        """Name the account whose token a request carries; nobody where these keys did not sign it."""
        if "account" not in self._keys:
            return ""
        try:
            email = self.read(authorization.removeprefix("Bearer ")).get("email")
        except ValueError:
            return ""
        return email if isinstance(email, str) else ""


def claims(email: str, audience: str, now: float) -> Json:
    """Write the claims of an account's token that is issued now."""
    number = str(10**20 + int(hashlib.sha256(email.encode()).hexdigest()[:16], 16))
    issued = int(now)
    person = {"azp": number, "sub": number, "email": email, "email_verified": True}
    return {"aud": audience, "iss": ISSUER, "iat": issued, "exp": issued + LIFE, **person}


def _kept(document: Json) -> JSONResponse:
    return JSONResponse(document, headers={"Cache-Control": f"public, max-age={_KEPT}, must-revalidate"})


@handles("oauth2.certs")
def certificates(call: Call) -> JSONResponse:
    """Publish the certificates that tokens are checked with."""
    return _kept(call.signer.certificates())


@handles("oauth2.keys")
def key_set(call: Call) -> JSONResponse:
    """Publish the same as a JSON Web Key Set."""
    return _kept(call.signer.key_set())


@handles("iap.publicKeys")
def proxy_keys(call: Call) -> JSONResponse:
    """Publish the keys of Identity-Aware Proxy."""
    return _kept(call.signer.proxy_keys())


@handles("oauth2.tokeninfo")
def token_info(call: Call) -> Any:
    """Say what a token holds, every value as text."""
    token = call.query.get("id_token")
    try:
        found = call.signer.read(token or "")
    except ValueError:
        description = "Invalid Value" if token else "Either access_token, id_token, or token_handle required."
        return JSONResponse({"error": "invalid_token", "error_description": description}, 400)
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


@handles("iamcredentials.projects.serviceAccounts.generateIdToken")
def generate_id_token(call: Call) -> Json:
    """Sign a token for a service account."""
    email = call.path["serviceAccountsId"]
    if not call.body.get("audience"):
        raise ApiError(400, "The request's audience is required.")
    made = claims(email, call.body["audience"], call.now())
    if not call.body.get("includeEmail"):
        made = {name: value for name, value in made.items() if not name.startswith("email")}
    return {"token": call.signer.token(made)}
