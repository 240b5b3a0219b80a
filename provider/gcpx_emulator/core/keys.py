"""Keys that sign tokens. Few emulators sign any, and what this needs takes long to load."""

from __future__ import annotations

import functools
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs
import jwt
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID
from jwt.types import Options

from gcpx_emulator.core.json_data import Json

_UNTIMED: Final[Options] = {"verify_aud": False, "verify_exp": False, "verify_iat": False, "verify_nbf": False}


@attrs.frozen(slots=False)
class Key:
    """A private key of Google accounts (RSA) or of Identity-Aware Proxy (elliptic curve)."""

    private: Any
    is_proxy: bool

    @classmethod
    def new(cls, *, iap: bool) -> Key:
        """Create a key, which takes time."""
        return cls(ec.generate_private_key(ec.SECP256R1()) if iap else rsa.generate_private_key(65537, 2048), iap)

    @property
    def _public(self) -> Any:
        return self.private.public_key()

    @property
    def _algorithm(self) -> str:
        return "ES256" if self.is_proxy else "RS256"

    @functools.cached_property
    def id(self) -> str:
        """The ID by which tokens name the key."""
        public = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(public).hexdigest()[:40]

    @functools.cached_property
    def certificate(self) -> str:
        """The self-signed certificate, in PEM."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "federated-signon.system.gserviceaccount.com")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(subject, subject, self._public, 1, now, now + timedelta(days=7))
        return builder.sign(self.private, hashes.SHA256()).public_bytes(Encoding.PEM).decode()

    @property
    def pem(self) -> str:
        """The public key, in PEM."""
        pem: bytes = self._public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return pem.decode()

    @property
    def private_pem(self) -> str:
        """The private key, in PEM."""
        pem: bytes = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem.decode()

    def has_signed(self, signature: bytes, content: bytes) -> bool:
        """Return whether a signature of content (RSA with SHA-256) is of this key."""
        try:
            self._public.verify(signature, content, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True

    @property
    def jwk(self) -> Json:
        """The public key as a JSON Web Key."""
        written = jwt.algorithms.ECAlgorithm if self.is_proxy else jwt.algorithms.RSAAlgorithm
        return {**written.to_jwk(self._public, as_dict=True), "kid": self.id, "alg": self._algorithm, "use": "sig"}

    def signed(self, payload: bytes) -> str:
        """Sign the claims of a token; return a JWT."""
        return jwt.PyJWS().encode(payload, self.private, self._algorithm, headers={"kid": self.id})

    def verified(self, token: str) -> Json:
        """Return the header and the claims of a token that this key has signed, in one object.

        Raises:
            ValueError: when it did not.
        """
        try:
            claims: Json = jwt.decode(token, self._public, [self._algorithm], _UNTIMED)
            return {**jwt.get_unverified_header(token), **claims}
        except jwt.PyJWTError as error:
            raise ValueError(str(error)) from None


def claims_of(token: str) -> Json:
    """Return the claims of a token, whoever has signed it.

    Raises:
        ValueError: when it is no token.
    """
    try:
        return dict(jwt.decode(token, options={"verify_signature": False}))
    except jwt.PyJWTError as error:
        raise ValueError(str(error)) from None
