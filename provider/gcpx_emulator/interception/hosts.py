"""Google's hosts, and those among them that the emulator answers for."""

from __future__ import annotations

import re
from typing import Final

_DOMAIN: Final = "googleapis.com"
METADATA_SERVERS: Final = frozenset({"metadata.google.internal", "169.254.169.254"})
"""The hosts whose calls the emulator answers without TLS."""
_ACCOUNTS: Final = "accounts.google.com"
_REGION: Final = r"[a-z]+-[a-z]+[0-9]+"
_STORAGE: Final = rf"storage(?:\.mtls|\.(?:{_REGION}|eu|us)\.rep)?"
_OTHERS: Final = (
    r"(?:compute|iamcredentials|oauth2|oslogin|pubsub|www)(?:\.mtls)?",
    rf"(?:compute|pubsub)\.{_REGION}\.rep",
    rf"{_REGION}-pubsub",
)
_WITHOUT_TLS: Final = re.compile(rf"{_STORAGE}\.{_DOMAIN}")
_WITH_TLS: Final = re.compile(rf"(?:{'|'.join((_STORAGE, *_OTHERS))})\.{_DOMAIN}|{_ACCOUNTS}")


def is_served(host: str) -> bool:
    """Return whether the emulator answers https calls to a host, in lower case; it does not have all of its methods."""
    return _WITH_TLS.fullmatch(host) is not None


def is_served_without_tls(host: str) -> bool:
    """Return whether the emulator answers http calls to a host of Google, in lower case."""
    return host in METADATA_SERVERS or _WITHOUT_TLS.fullmatch(host) is not None


def is_of_google(host: str) -> bool:
    """Return whether Google's APIs, sign-in or metadata are at a host."""
    name = host.lower().removesuffix(".")
    return name in METADATA_SERVERS or name in {_DOMAIN, _ACCOUNTS, "metadata"} or name.endswith(f".{_DOMAIN}")
