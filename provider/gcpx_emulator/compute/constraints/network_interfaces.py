"""Network interfaces: addresses, and how they are reached from outside."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any, Final

from gcpx_emulator.core.constraints import Rule, at_least, between, like
from gcpx_emulator.core.discovery import Json

_NIC: Final = "NetworkInterface"
_LONGEST_PREFIX: Final = 128
_PREFIX_WORDS: Final = "Must be a prefix length, 0 to 128."
_NETMASK: Final = re.compile(r"/(?:\d|[1-9]\d|1[01]\d|12[0-8])")
_ATTACHMENT: Final = r"(?:https://[^/]+/compute/\w+/)?projects/[^/]+/regions/[^/]+/networkAttachments/[^/]+"


def _is_address(version: int) -> Callable[[Any], bool]:
    """Take an address; a URL is that of a reserved one."""

    def holds(given: Any) -> bool:
        try:
            return "/" in given or ipaddress.ip_address(given).version == version
        except ValueError:
            return False

    return holds


def _is_range(given: Any) -> bool:
    try:
        return _NETMASK.fullmatch(given) is not None or bool(ipaddress.ip_network(given, strict=False))
    except ValueError:
        return False


def _one_at_most(configs: Any) -> bool:
    return len(configs) <= 1


def _is_not_given(_value: Any) -> bool:
    """Refuse any value: the field belongs to the other kind of access config."""
    return False


def _ptr_is_switched_on(config: Json) -> bool:
    return bool(config.get("setPublicPtr")) or not config.get("publicPtrDomainName")


def _access(owner: str, kind: str, foreign: tuple[str, ...]) -> tuple[Rule, ...]:
    """Write the rules of one kind of access from outside."""
    tiers = "Must be PREMIUM or STANDARD."
    return (
        Rule(schema=_NIC, field=owner, words="At most one access config is supported.", holds=_one_at_most),
        Rule(schema=_NIC, field=f"{owner}[].type", words=f"Must be {kind}.", holds=like(kind)),
        Rule(schema=_NIC, field=f"{owner}[].networkTier", words=tiers, holds=like("PREMIUM|STANDARD")),
        *(
            Rule(schema=_NIC, field=f"{owner}[].{name}", words=f"Does not belong in {owner}.", holds=_is_not_given)
            for name in foreign
        ),
    )


RULES: Final = (
    *_access("accessConfigs", "ONE_TO_ONE_NAT", ("externalIpv6", "externalIpv6PrefixLength")),
    *_access("ipv6AccessConfigs", "DIRECT_IPV6", ("natIP",)),
    Rule(
        schema=_NIC,
        field="ipv6AccessConfigs[].externalIpv6PrefixLength",
        words=_PREFIX_WORDS,
        holds=between(0, _LONGEST_PREFIX),
    ),
    Rule(
        schema=_NIC,
        field="accessConfigs[]",
        words="Must have setPublicPtr where it has publicPtrDomainName.",
        holds=_ptr_is_switched_on,
    ),
    Rule(
        schema=_NIC,
        field="ipv6AccessConfigs",
        words="Conflicts with stackType IPV4_ONLY.",
        holds=lambda nic: not (nic.get("stackType") == "IPV4_ONLY" and nic.get("ipv6AccessConfigs")),
        across=True,
    ),
    Rule(schema=_NIC, field="networkIP", words="Must be an IPv4 address.", holds=_is_address(4)),
    Rule(schema=_NIC, field="ipv6Address", words="Must be an IPv6 address.", holds=_is_address(6)),
    Rule(schema=_NIC, field="internalIpv6PrefixLength", words=_PREFIX_WORDS, holds=between(0, _LONGEST_PREFIX)),
    Rule(schema=_NIC, field="queueCount", words="Must not be negative.", holds=at_least(0)),
    Rule(schema=_NIC, field="vlan", words="Must be between 2 and 255.", holds=between(2, 255)),
    Rule(
        schema=_NIC,
        field="networkAttachment",
        words="Must be written projects/PROJECT_NUMBER/regions/REGION/networkAttachments/NAME.",
        holds=like(_ATTACHMENT),
    ),
    Rule(
        schema="AliasIpRange",
        field="ipCidrRange",
        words="Must be one address, a netmask such as /24, or a range such as 10.1.2.0/24.",
        holds=_is_range,
    ),
)
