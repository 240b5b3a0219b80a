"""Verification of Pub/Sub pushes: a verifier, an ASGI middleware, and a function for any other server.

    verifier = PushVerifier("https://example.com/push", "pusher@my-project.iam.gserviceaccount.com")
    app = PushMiddleware(app, verifier)  # only verified pushes reach the application

Source: "Authentication for push subscriptions" in the Pub/Sub documentation.
"""

from gcpx_push.certificates import Certificates
from gcpx_push.claims import Claims
from gcpx_push.errors import BodyTooLong, CertificatesError, InvalidToken, MalformedRequest, PushError, WrongMethod
from gcpx_push.issuer import GOOGLE, IAP, Issuer
from gcpx_push.message import PushMessage
from gcpx_push.middleware import PushMiddleware
from gcpx_push.receiver import Answer, receive, receive_head
from gcpx_push.verifier import PushVerifier

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
    "receive_head",
]
