"""Google's hosts, and those among them that the emulator answers for."""

from __future__ import annotations

from typing import Final

_DOMAIN: Final = "googleapis.com"
_EMULATED: Final = ("compute", "iamcredentials", "oauth2", "oslogin", "pubsub", "storage", "www")
METADATA_SERVERS: Final = frozenset({"metadata.google.internal", "169.254.169.254"})
"""The hosts whose calls the emulator answers without TLS."""
_ACCOUNTS: Final = "accounts.google.com"
SERVED: Final = frozenset(
    {*(f"{name}.{_DOMAIN}" for name in _EMULATED), *(f"{name}.mtls.{_DOMAIN}" for name in _EMULATED), _ACCOUNTS}
)
"""The hosts whose calls the emulator answers with https; it does not have all of their methods."""


def is_of_google(host: str) -> bool:
    """Return whether Google's APIs, sign-in or metadata are at a host."""
    name = host.lower().removesuffix(".")
    return name in METADATA_SERVERS or name in {_DOMAIN, _ACCOUNTS, "metadata"} or name.endswith(f".{_DOMAIN}")
