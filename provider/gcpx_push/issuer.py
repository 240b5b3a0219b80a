"""The issuers of the tokens of pushes."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen
class Issuer:
    """The issuer of tokens, and the form of its tokens.

    Attributes:
        headers: the names of the request header with the token, in lower case; the first that a request has counts.
        scheme: the word before the token in that header; empty if there is none.
        names: the accepted values of the claim `iss`.
        algorithm: the signature algorithm, as in the token's `alg`.
        certificates_url: the URL of the issuer's public keys.
        verifies_email: whether its tokens have the claim `email_verified`, which must then be true.
        audience_prefix: the beginning of its tokens' audience; empty if the audience may be any text.
    """

    headers: tuple[str, ...]
    scheme: str
    names: frozenset[str]
    algorithm: str
    certificates_url: str
    verifies_email: bool
    audience_prefix: str = ""


GOOGLE: Final = Issuer(
    headers=("authorization",),
    scheme="Bearer",
    names=frozenset({"accounts.google.com", "https://accounts.google.com"}),
    algorithm="RS256",
    certificates_url="https://www.googleapis.com/oauth2/v1/certs",
    verifies_email=True,
)
"""Google Accounts, which signs the tokens that Pub/Sub sends."""

IAP: Final = Issuer(
    headers=("x-goog-iap-jwt-assertion", "x-svc-iap-jwt-assertion"),
    scheme="",
    names=frozenset({"https://cloud.google.com/iap"}),
    algorithm="ES256",
    certificates_url="https://www.gstatic.com/iap/verify/public_key",
    verifies_email=False,
    audience_prefix="/projects/",
)
"""Identity-Aware Proxy, which checks the token of Pub/Sub itself and adds its own assertion.

It removes headers that begin with `x-goog-` from clients' requests. The second name of the header is for proxies with
another prefix; the signature decides in both cases.

Source: "Securing your app with signed headers" in the documentation of Identity-Aware Proxy.
"""
