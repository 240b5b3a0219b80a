"""Hosts that no other machine lies before."""

from __future__ import annotations

import functools
import ipaddress
from typing import Final

_METADATA_HOSTS: Final = frozenset({"metadata.google.internal", "fd00:ec2::254"})
"""The metadata servers of Google Cloud and AWS that do not have a link-local address."""


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine."""
    if host is None or host == "localhost":
        return host is not None
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


@functools.lru_cache(maxsize=64)  # every request asks, and few hosts are asked about
def is_nearby(host: str | None) -> bool:
    """Return whether a host is this machine, or the metadata server of the cloud that it runs in.

    No other machine sees what is sent to such a host, so it may be sent over plain http, and not through a proxy.
    """
    if is_loopback(host) or host in _METADATA_HOSTS:
        return True
    address = _address(host or "")
    return address is not None and address.is_link_local


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
