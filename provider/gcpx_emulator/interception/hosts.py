"""Google's hosts, and those among them that the emulator answers for."""

from __future__ import annotations

from typing import Final

_DOMAIN: Final = "googleapis.com"
_EMULATED: Final = ("compute", "iamcredentials", "oauth2", "oslogin", "pubsub", "storage", "www")
METADATA: Final = "metadata.google.internal"
_METADATA_SERVERS: Final = frozenset({METADATA, "metadata", "169.254.169.254"})
ACCOUNTS: Final = "accounts.google.com"
SERVED: Final = frozenset(
    {*(f"{name}.{_DOMAIN}" for name in _EMULATED), *(f"{name}.mtls.{_DOMAIN}" for name in _EMULATED), ACCOUNTS}
)
"""The hosts whose calls the emulator answers with https; it does not have all of their methods."""


def is_of_google(host: str) -> bool:
    """Return whether Google's APIs, sign-in or metadata are at a host."""
    name = host.lower().removesuffix(".")
    return name in _METADATA_SERVERS or name in {_DOMAIN, ACCOUNTS} or name.endswith(f".{_DOMAIN}")
