"""Hosts that are reached through no other machine, and URLs whose requests nobody else can read or change."""

from __future__ import annotations

import functools
import ipaddress
from typing import Final
from urllib.parse import urlsplit

_METADATA_HOSTS: Final = frozenset({"metadata.google.internal", "fd00:ec2::254"})
"""The metadata servers of Google Cloud and AWS that do not have a link-local address."""
_METADATA_NETWORK: Final = ipaddress.IPv4Network("169.254.0.0/16")
"""Where all others are: clouds answer these addresses themselves. fe80::/10 leads to other machines of the network."""


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


@functools.lru_cache(maxsize=64)  # every request asks, and few hosts are asked about
def is_nearby(host: str | None) -> bool:
    """Return whether a host is this machine, or the metadata server of the cloud that it runs in.

    No other machine sees what is sent to such a host, so it may be sent over plain http, and not through a proxy.
    """
    if is_loopback(host) or host in _METADATA_HOSTS:
        return True
    address = _address(host or "")
    return isinstance(address, ipaddress.IPv4Address) and address in _METADATA_NETWORK


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
