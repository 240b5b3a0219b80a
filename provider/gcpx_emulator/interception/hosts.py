"""Google's hosts, and those among them that the emulator answers for."""

from __future__ import annotations

import re
from typing import Final

_DOMAIN: Final = r"googleapis\.com"
_METADATA_SERVERS: Final = r"metadata\.google\.internal|169\.254\.169\.254"
_ACCOUNTS: Final = r"accounts\.google\.com"
_REGION: Final = r"[a-z]+-[a-z]+[0-9]+"
_STORAGE: Final = rf"storage(?:\.mtls|\.(?:{_REGION}|eu|us)\.rep)?"
_OTHERS: Final = (
    r"(?:cloudresourcemanager|compute|iam|iamcredentials|oauth2|oslogin|pubsub|www)(?:\.mtls)?",
    rf"(?:compute|pubsub)\.{_REGION}\.rep",
    rf"{_REGION}-pubsub",
)
OF_GOOGLE: Final = rf"(?:.*\.)?{_DOMAIN}|{_ACCOUNTS}|metadata|{_METADATA_SERVERS}"
"""The pattern of all hosts of Google, in lower case; JavaScript reads it, too."""
_WITHOUT_TLS: Final = re.compile(rf"{_STORAGE}\.{_DOMAIN}|{_METADATA_SERVERS}")
_WITH_TLS: Final = re.compile(rf"(?:{'|'.join((_STORAGE, *_OTHERS))})\.{_DOMAIN}|{_ACCOUNTS}")


def is_served(host: str) -> bool:
    """Return whether the emulator answers https calls to a host, in lower case; it does not have all of its methods."""
    return _WITH_TLS.fullmatch(host) is not None


def is_served_without_tls(host: str) -> bool:
    """Return whether the emulator answers http calls to a host of Google, in lower case."""
    return _WITHOUT_TLS.fullmatch(host) is not None


def is_of_google(host: str) -> bool:
    """Return whether Google's APIs, sign-in or metadata are at a host."""
    return re.fullmatch(OF_GOOGLE, host.lower().removesuffix(".")) is not None
