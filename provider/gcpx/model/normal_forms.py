"""Normal forms: spellings that mean the same become equal. Other values stay unchanged."""

from __future__ import annotations

import base64
import binascii
import ipaddress
from datetime import UTC, datetime
from typing import Any


def address(given: Any) -> Any:
    """Shorten an IP address: `2600:0:0::1` is `2600::1`."""
    try:
        return str(ipaddress.ip_address(str(given)))
    except ValueError:
        return given


def address_range(given: Any) -> Any:
    """Write a range with its length: `10.1.2.3` is `10.1.2.3/32`."""
    try:
        return str(ipaddress.ip_network(str(given), strict=False))
    except ValueError:
        return given


def moment(given: Any) -> Any:
    """Write a time in UTC: `2027-01-31T01:00:00+01:00` is `2027-01-31T00:00:00Z`."""
    try:
        found = datetime.fromisoformat(str(given))
    except ValueError:
        return given
    return found.astimezone(UTC) if found.tzinfo else given


def decoded(given: Any) -> Any:
    """Decode base64, with or without line breaks."""
    try:
        return base64.b64decode("".join(str(given).split()), validate=True)
    except (binascii.Error, ValueError):
        return given


def domain(given: Any) -> Any:
    """Write a domain name in lower case and without a dot at the end."""
    return str(given).lower().rstrip(".")
