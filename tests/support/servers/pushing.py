"""Pushes that are signed by an issuer made for the tests, and a receiver with a fixed time."""

from __future__ import annotations

import base64
import json

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gcpx_push import Certificates, PushVerifier

AUDIENCE = "https://example.com/push"
EMAIL = "pusher@demo-project.iam.gserviceaccount.com"
OWN = "my-verification-token"
NOW = 1_700_000_000
"""The time of the receiver and of every token, in seconds since 1970."""
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
BODY = json.dumps({"message": {"data": base64.b64encode(b"hello").decode(), "attributes": {"a": "b"}}}).encode()


def segment(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def claims(**changes):
    """Return valid claims with some changed; None removes a claim."""
    made = {"aud": AUDIENCE, "azp": "1", "sub": "1", "email": EMAIL, "email_verified": True,
            "iss": "https://accounts.google.com", "iat": NOW - 5, "exp": NOW + 3595}  # fmt: skip
    return {key: value for key, value in (made | changes).items() if value is not None}


def token(key=KEY, header=None, **changes):
    return jwt.encode(claims(**changes), key, algorithm="RS256", headers={"kid": "one", **(header or {})})


def signed(header, payload):
    """Sign a header and a payload as they are."""
    head = f"{segment(header)}.{segment(payload)}"
    return f"{head}.{segment(KEY.sign(head.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def verifier(**more):
    keys = Certificates.given({"one": PEM.decode()})
    return PushVerifier(AUDIENCE, EMAIL, certificates=keys, **{"now": lambda: NOW, **more})


def headers(authorization, kind="application/json"):
    return {
        name: value for name, value in (("Authorization", authorization), ("Content-Type", kind)) if value is not None
    }


GOOD = headers(f"Bearer {token()}")
"""The headers of a valid push."""
