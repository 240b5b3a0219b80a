"""What Google refuses late about network interfaces: said at preview. `instance_rules` says how to read these."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from gcpx.model.rules import Failure, elements, rule, text
from gcpx.model.values import UNKNOWN


@rule("publicPtrDomainName of an IPv4 access config needs setPublicPtr: true", "compute 2.2")
def ptr_needs_its_switch(values: dict[str, Any]) -> list[Failure]:
    """Miss the switch; IPv6 has a PTR record anyway."""
    return [
        (("accessConfigs", index, "publicPtrDomainName"), "needs setPublicPtr: true")
        for index, item in elements(values, "accessConfigs")
        if item.get("publicPtrDomainName") and item.get("setPublicPtr") not in (True, UNKNOWN)
    ]


_FOR_IPV4 = ("natIP",)
_FOR_IPV6 = ("externalIpv6", "externalIpv6PrefixLength")
_CONFIGS = (("accessConfigs", "ONE_TO_ONE_NAT", _FOR_IPV6), ("ipv6AccessConfigs", "DIRECT_IPV6", _FOR_IPV4))


@rule("accessConfigs are ONE_TO_ONE_NAT with natIP, ipv6AccessConfigs are DIRECT_IPV6 with externalIpv6", "compute 2.2")
def access_configs_are_of_their_version(values: dict[str, Any]) -> list[Failure]:
    """Keep IPv4 and IPv6 apart."""
    failures: list[Failure] = []
    for owner, kind, foreign in _CONFIGS:
        for index, item in elements(values, owner):
            given = text(item, "type")
            if given and given != kind:
                failures.append(((owner, index, "type"), f"must be {kind} in {owner}"))
            names = (name for name in foreign if item.get(name) is not None)
            failures += [((owner, index, name), f"must be left out: it does not belong in {owner}") for name in names]
    return failures


@rule("IPV4_ONLY assigns no IPv6 address, so it has no ipv6AccessConfigs", "compute 2.2")
def ipv4_only_means_it(values: dict[str, Any]) -> list[Failure]:
    """Refuse IPv6 access beside IPV4_ONLY."""
    if values.get("stackType") == "IPV4_ONLY" and values.get("ipv6AccessConfigs"):
        return [("ipv6AccessConfigs", "must be left out with stackType: IPV4_ONLY; use IPV4_IPV6 or IPV6_ONLY")]
    return []


@rule("networkIP is an IPv4 address, ipv6Address an IPv6 address", "compute 2.2")
def addresses_are_addresses(values: dict[str, Any]) -> list[Failure]:
    """Read both addresses."""
    failures: list[Failure] = []
    for name, version in (("networkIP", 4), ("ipv6Address", 6)):
        given = text(values, name)
        # A partial or full URL of a reserved address is taken, too.
        if given and "/" not in given and _version(given) != version:
            failures.append((name, f"must be an IPv{version} address"))
    return failures


def _version(given: str) -> int:
    try:
        return ipaddress.ip_address(given).version
    except ValueError:
        return 0


@rule("ipCidrRange is one address, a netmask such as /24, or a range such as 10.1.2.0/24", "compute 2.2")
def ranges_are_ranges(values: dict[str, Any]) -> list[Failure]:
    """Read the range."""
    given = text(values, "ipCidrRange")
    if not given or re.fullmatch(r"/(?:\d|[1-9]\d|1[01]\d|12[0-8])", given) or _is_network(given):
        return []
    return [("ipCidrRange", "must be one address, a netmask such as /24, or a range such as 10.1.2.0/24")]


def _is_network(given: str) -> bool:
    try:
        ipaddress.ip_network(given, strict=False)
    except ValueError:
        return False
    return True
