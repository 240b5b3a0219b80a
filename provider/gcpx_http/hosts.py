"""Nearby hosts, which are reached directly, and protected URLs, whose traffic nobody else can read or change."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import os
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

_METADATA_HOSTS: Final = frozenset({"metadata.google.internal", "169.254.169.254", "fd20:ce::254", "fd00:ec2::254"})
"""The metadata servers of Google Cloud, AWS and Azure: the cloud answers these itself."""
_METADATA_VARIABLES: Final = ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP")
"""Environment variables that make google-auth get this machine's tokens from another server."""


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine."""
    if host is None or host == "localhost":
        return host is not None
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_protected(url: str, *, metadata: bool = False) -> bool:
    """Return whether nobody else can read or change the traffic of a URL: it uses https, or leads to this machine.

    Secrets, and requests with answers that must be trusted, go only to such URLs.

    Args:
        url: any text; a malformed URL is not protected.
        metadata: whether the cloud's metadata server, which issues tokens, counts as this machine.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (is_nearby(host) if metadata else is_loopback(host)))


def is_nearby(host: str | None) -> bool:
    """Return whether a host is this machine, or the metadata server of the cloud that it runs in.

    No other machine sees what is sent to such a host, so it may be sent over plain http, and not through a proxy.
    """
    return is_loopback(host) or host in _METADATA_HOSTS or (host is not None and host in _named_metadata_hosts())


def _named_metadata_hosts() -> Iterator[str | None]:
    for value in filter(None, map(os.environ.get, _METADATA_VARIABLES)):
        with contextlib.suppress(ValueError):  # a malformed one names no host
            yield urlsplit(f"//{value}").hostname


@functools.lru_cache(maxsize=64)  # called for every request, with few different hosts
def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
