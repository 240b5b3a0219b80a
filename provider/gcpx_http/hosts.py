"""Hosts that are reached through no other machine, and URLs whose requests nobody else can read or change."""

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
"""With these environment variables, google-auth gets the tokens of a machine from another server."""


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine."""
    if host is None or host == "localhost":
        return host is not None
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_protected(url: str, *, metadata: bool = False) -> bool:
    """Return whether nobody else can read what is sent to a URL, or change what it answers: https, or this machine.

    Whatever is secret, and whatever must be trusted, goes only to such URLs.

    Args:
        url: any text; a malformed URL is not protected.
        metadata: whether the metadata server of the cloud that this machine runs in counts, too. It issues tokens.
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


@functools.lru_cache(maxsize=64)  # every request asks, and few hosts are asked about
def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
