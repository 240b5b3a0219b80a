"""Identity: keys, the tokens that they sign, and what may be asked about both."""

from __future__ import annotations

import functools
import hashlib
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID
from starlette.responses import JSONResponse

from gcpx_emulator.errors import ApiError
from gcpx_emulator.handler import Call, handles
from gcpx_emulator.store import Json

ISSUER: Final = "https://accounts.google.com"
IAP_ISSUER: Final = "https://cloud.google.com/iap"
LIFE: Final = 3600
_SHARED: Final = 300
"""Seconds in which one token serves all pushes to one audience."""
_KEPT: Final = 20_000
"""Seconds that clients may keep certificates."""


@attrs.define
class Signer:
    """The keys of accounts (RSA) and of Identity-Aware Proxy (elliptic curve); a rotation takes new ones."""

    generation: int = 0
    _shared: dict[tuple[str, str, int], tuple[float, str]] = attrs.Factory(dict)

    def rotate(self) -> None:
        """Sign with other keys from now on, and publish those alone."""
        self.generation += 1

    def token(self, claims: Json, *, iap: bool = False) -> str:
        """Sign claims."""
        name = f"{'iap' if iap else 'accounts'}-{self.generation}"
        algorithm = "ES256" if iap else "RS256"
        return jwt.encode(claims, _key(name), algorithm=algorithm, headers={"kid": _key_id(name)})

    def identity(self, email: str, audience: str) -> str:
        """Sign a token for an account, or give the one of a moment ago."""
        known = (email, audience, self.generation)
        made, token = self._shared.get(known, (0.0, ""))
        if time.time() - made > _SHARED:
            made, token = time.time(), self.token(claims(email, audience))
            self._shared[known] = (made, token)
        return token

    def certificates(self) -> Json:
        """Give certificates by key ID."""
        name = f"accounts-{self.generation}"
        return {_key_id(name): _certificate(name)}

    def proxy_keys(self) -> Json:
        """Give the proxy's public keys by key ID."""
        name = f"iap-{self.generation}"
        pem = _key(name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return {_key_id(name): pem.decode()}

    def key_set(self) -> Json:
        """Give the same as a JSON Web Key Set."""
        name = f"accounts-{self.generation}"
        key = jwt.algorithms.RSAAlgorithm.to_jwk(_key(name).public_key(), as_dict=True)
        return {"keys": [{**key, "kid": _key_id(name), "alg": "RS256", "use": "sig"}]}

    def read(self, token: str) -> Json:
        """Read a token that these keys signed, with its header; whatever is wrong with it is a ValueError."""
        try:
            key = _key(f"accounts-{self.generation}").public_key()
            body: Json = jwt.decode(token, key, algorithms=["RS256"], options={"verify_aud": False})
            return {**jwt.get_unverified_header(token), **body}
        except jwt.PyJWTError as error:
            raise ValueError(str(error)) from None


def claims(email: str, audience: str) -> Json:
    """Write the claims of an account's token."""
    number = str(10**20 + int(hashlib.sha256(email.encode()).hexdigest()[:16], 16))
    now = int(time.time())
    person = {"azp": number, "sub": number, "email": email, "email_verified": True}
    return {"aud": audience, "iss": ISSUER, "iat": now, "exp": now + LIFE, **person}


@functools.lru_cache(maxsize=8)
def _key(name: str) -> Any:
    """Make a key once for the process, since that takes its time."""
    if name.startswith("iap"):
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _key_id(name: str) -> str:
    public = _key(name).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(public).hexdigest()[:40]


@functools.lru_cache(maxsize=8)
def _certificate(name: str) -> str:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "federated-signon.system.gserviceaccount.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, _key(name).public_key(), 1, now, now + timedelta(days=7))
        .sign(_key(name), hashes.SHA256())
    )  # fmt: skip
    return made.public_bytes(Encoding.PEM).decode()


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
    made = claims(email, call.body["audience"])
    if not call.body.get("includeEmail"):
        made = {name: value for name, value in made.items() if not name.startswith("email")}
    return {"token": call.signer.token(made)}
