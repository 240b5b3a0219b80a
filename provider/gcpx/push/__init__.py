"""Receivers of authenticated Pub/Sub pushes: a verifier, an ASGI middleware, and a plain function.

    verifier = PushVerifier(audience="https://example.com/push", service_account_email="pusher@my-project.iam...")
    app = PushMiddleware(app, verifier)  # guards all of it; routing is the framework's

Source: Google's documentation of authentication for push subscriptions, section 5.2. Needs nothing of Pulumi.
"""

from gcpx.push.certificates import Certificates, CertificatesError
from gcpx.push.errors import BodyTooLong, InvalidToken, MalformedRequest, PushError, WrongMethod
from gcpx.push.message import PushMessage
from gcpx.push.middleware import PushMiddleware
from gcpx.push.receiver import Answer, receive
from gcpx.push.verifier import GOOGLE, IAP, Claims, Issuer, PushVerifier

__all__ = [
    "GOOGLE",
    "IAP",
    "Answer",
    "BodyTooLong",
    "Certificates",
    "CertificatesError",
    "Claims",
    "InvalidToken",
    "Issuer",
    "MalformedRequest",
    "PushError",
    "PushMessage",
    "PushMiddleware",
    "PushVerifier",
    "WrongMethod",
    "receive",
]
