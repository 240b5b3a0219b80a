"""Constraints of network interfaces: addresses and external access."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final

from gcpx_emulator.core.constraints import Accepts, Constraint, at_least, between, matches
from gcpx_emulator.core.json_data import Json

_NIC: Final = "NetworkInterface"
_PREFIX_LENGTH: Final = between(0, 128)
_PREFIX_MESSAGE: Final = "Must be a prefix length, 0 to 128."
_NETMASK: Final = re.compile(r"/(?:\d|[1-9]\d|1[01]\d|12[0-8])")
_ATTACHMENT: Final = r"(?:https://[^/]+/compute/\w+/)?projects/[^/]+/regions/[^/]+/networkAttachments/[^/]+"


def _is_address(version: int) -> Accepts:
    """Accept addresses of an IP version, and the URLs of reserved addresses."""

    def accepts(address: Any) -> bool:
        try:
            return "/" in address or ipaddress.ip_address(address).version == version
        except ValueError:
            return False

    return accepts


def _is_range(text: Any) -> bool:
    try:
        return _NETMASK.fullmatch(text) is not None or bool(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return False


def _is_single(configs: Any) -> bool:
    return len(configs) <= 1


def _is_foreign(_value: Any) -> bool:
    """Accept nothing, because the field belongs to the other kind of access config."""
    return False


def _has_ptr_enabled(config: Json) -> bool:
    return bool(config.get("setPublicPtr")) or not config.get("publicPtrDomainName")


def _fits_stack_type(nic: Json) -> bool:
    return not (nic.get("stackType") == "IPV4_ONLY" and nic.get("ipv6AccessConfigs"))


def _access_configs(field: str, kind: str, foreign: tuple[str, ...]) -> tuple[Constraint, ...]:
    """Return the constraints of one kind of access configs; `foreign` are the fields that only the other kind has."""
    return (
        Constraint(_NIC, field, "At most one access config is supported.", _is_single),
        Constraint(_NIC, f"{field}[].type", f"Must be {kind}.", matches(kind)),
        Constraint(_NIC, f"{field}[].networkTier", "Must be PREMIUM or STANDARD.", matches("PREMIUM|STANDARD")),
        *(Constraint(_NIC, f"{field}[].{name}", f"Does not belong in {field}.", _is_foreign) for name in foreign),
    )


CONSTRAINTS: Final = (
    *_access_configs("accessConfigs", "ONE_TO_ONE_NAT", ("externalIpv6", "externalIpv6PrefixLength")),
    *_access_configs("ipv6AccessConfigs", "DIRECT_IPV6", ("natIP",)),
    Constraint(_NIC, "ipv6AccessConfigs[].externalIpv6PrefixLength", _PREFIX_MESSAGE, _PREFIX_LENGTH),
    Constraint(_NIC, "accessConfigs[]", "publicPtrDomainName requires setPublicPtr.", _has_ptr_enabled),
    Constraint(_NIC, "ipv6AccessConfigs", "Conflicts with stackType IPV4_ONLY.", _fits_stack_type, of_object=True),
    Constraint(_NIC, "networkIP", "Must be an IPv4 address.", _is_address(4)),
    Constraint(_NIC, "ipv6Address", "Must be an IPv6 address.", _is_address(6)),
    Constraint(_NIC, "internalIpv6PrefixLength", _PREFIX_MESSAGE, _PREFIX_LENGTH),
    Constraint(_NIC, "queueCount", "Must not be negative.", at_least(0)),
    Constraint(_NIC, "vlan", "Must be between 2 and 255.", between(2, 255)),
    Constraint(
        _NIC,
        "networkAttachment",
        "Must be written projects/PROJECT_NUMBER/regions/REGION/networkAttachments/NAME.",
        matches(_ATTACHMENT),
    ),
    Constraint(
        "AliasIpRange",
        "ipCidrRange",
        "Must be one address, a netmask such as /24, or a range such as 10.1.2.0/24.",
        _is_range,
    ),
)
