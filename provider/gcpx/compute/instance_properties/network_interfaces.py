"""Network interfaces and their addresses: their declaration and rules."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from gcpx.compute.reference import rest
from gcpx.model import compare
from gcpx.model.fields import (
    Failure,
    Record,
    elements,
    exclusive,
    field,
    output_field,
    record,
    requirement,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.patterns import LINK_PARTS, form, ip_version
from gcpx.model.values import UNKNOWN, Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import AliasIpRangeValues, NetworkInterfaceValues

_NETWORK_ATTACHMENT: Final = form(
    "projects/PROJECT/regions/REGION/networkAttachments/NAME",
    words="projects/NUMBER/regions/REGION/networkAttachments/NAME, or its URL",
    before=r"https?://[^/]+/(?:compute/)?(?:v1|beta)/",
    **LINK_PARTS,
)
_NETMASK: Final = re.compile(r"/(?:\d|[1-9]\d|1[01]\d|12[0-8])")
_ACCESS_CONFIGS: Final = (
    ("accessConfigs", "ONE_TO_ONE_NAT", ("externalIpv6", "externalIpv6PrefixLength")),
    ("ipv6AccessConfigs", "DIRECT_IPV6", ("natIP",)),
)
"""The lists of access configs: the type of their elements, and the properties of the other IP version."""


@requirement_of_each(
    "accessConfigs[].publicPtrDomainName",
    "requires setPublicPtr: true",
    rest("instances", "networkInterfaces[].accessConfigs[].publicPtrDomainName"),
    about="accessConfigs",
)
def ptr_domain_name_requires_set_public_ptr(values: NetworkInterfaceValues) -> Iterator[Path]:
    for index, item in elements(values, "accessConfigs"):  # IPv6 always has a PTR record
        if item.get("publicPtrDomainName") and item.get("setPublicPtr") not in (True, UNKNOWN):
            yield ("accessConfigs", index, "publicPtrDomainName")


@rule(
    "",
    "accessConfigs must have type ONE_TO_ONE_NAT and may have natIP; ipv6AccessConfigs must have type DIRECT_IPV6 and "
    "may have externalIpv6",
    rest("instances", "networkInterfaces[].accessConfigs[].type"),
)
def access_configs_match_their_ip_version(values: NetworkInterfaceValues) -> list[Failure]:
    failures: list[Failure] = []
    for owner, kind, foreign in _ACCESS_CONFIGS:
        for index, item in elements(values, owner):
            given = text(item, "type")
            if given and given != kind:
                failures.append(Failure((owner, index, "type"), f"must be {kind} in {owner}"))
            names = (name for name in foreign if item.get(name) is not None)
            failures += [
                Failure((owner, index, name), f"must be left out of {owner}: it is for the other IP version")
                for name in names
            ]
    return failures


@requirement(
    "ipv6AccessConfigs",
    "must be left out with stackType: IPV4_ONLY; use IPV4_IPV6 or IPV6_ONLY",
    rest("instances", "networkInterfaces[].stackType"),
)
def ipv4_only_excludes_ipv6_access(values: NetworkInterfaceValues) -> bool:
    return values.get("stackType") != "IPV4_ONLY" or not values.get("ipv6AccessConfigs")


@requirement_of_each(
    "each of enableVpcScopedDns and serviceClassId",
    "requires networkAttachment",
    rest("instances", "networkInterfaces[].serviceClassId"),
)
def attachment_settings_require_an_attachment(values: NetworkInterfaceValues) -> Iterator[str]:
    if values.get("networkAttachment") is None:
        if values.get("enableVpcScopedDns") is True:
            yield "enableVpcScopedDns"
        if text(values, "serviceClassId"):
            yield "serviceClassId"


@rule(
    "",
    "networkIP must be an IPv4 address, and ipv6Address an IPv6 address",
    rest("instances", "networkInterfaces[].networkIP"),
)
def internal_addresses_are_valid(values: NetworkInterfaceValues) -> list[Failure]:
    failures: list[Failure] = []
    for name, version in (("networkIP", 4), ("ipv6Address", 6)):
        given = text(values, name)
        # The partial or full URL of a reserved address is also allowed.
        if given and "/" not in given and ip_version(given) != version:
            failures.append(Failure(name, f"must be an IPv{version} address"))
    return failures


@requirement(
    "ipCidrRange",
    "must be one address, a netmask such as /24, or a range such as 10.1.2.0/24",
    rest("instances", "networkInterfaces[].aliasIpRanges[].ipCidrRange"),
)
def alias_ranges_are_valid(values: AliasIpRangeValues) -> bool:
    given = text(values, "ipCidrRange")
    return not given or _NETMASK.fullmatch(given) is not None or _is_network(given)


def _is_network(given: str) -> bool:
    try:
        ipaddress.ip_network(given, strict=False)
    except ValueError:
        return False
    return True


@record
class AccessConfig(Record):
    """An external address of a network interface."""

    external_ipv6: str = field(
        "In `ipv6AccessConfigs`: the first address of the external IPv6 range, such as `2600:1900:4000::`. A static address must be unused and in the instance's region. Default: assigned from the subnetwork.",
        normalize=compare.address,
    )
    external_ipv6_prefix_length: int = field(
        "In `ipv6AccessConfigs`: the prefix length of the external IPv6 range, such as `96`; 0 to 128.",
        minimum=0,
        maximum=128,
    )
    kind: str = output_field("Always `compute#accessConfig`.")
    name: str = field(
        "The name of the configuration, which may be any string. Default: `External NAT`. In `ipv6AccessConfigs`, `External IPv6` is usual.",
        default=re.compile(r"(?i)external[ -](nat|ipv6)"),
    )
    nat_ip: str = field(
        "In `accessConfigs`: the external IPv4 address, such as `203.0.113.10`. It must be a static address that is unused and in the instance's region. Default: an ephemeral address.",
        name="natIP",
        normalize=compare.address,
    )
    network_tier: str = field(
        "The network tier, such as `PREMIUM` or `STANDARD`; with a static address, the tier of that address. Default: the project's default tier.",
        computed=True,
        enum=("FIXED_STANDARD", "PREMIUM", "STANDARD", "STANDARD_OVERRIDES_FIXED_STANDARD"),
        source=rest("instances", "networkInterfaces[].accessConfigs[].networkTier"),
    )
    public_ptr_domain_name: str = field(
        "The domain name of the reverse DNS (PTR) record, such as `web.example.com`. In `accessConfigs`, it requires `setPublicPtr: true`.",
        normalize=compare.domain,
    )
    security_policy: str = output_field(
        "The security policy of the configuration, as a URL.", url="regions/securityPolicies"
    )
    set_public_ptr: bool = field(
        "In `accessConfigs`: create a reverse DNS (PTR) record for the address. IPv6 always has one. Default: false."
    )
    type: str = field(
        "The type of the configuration: `ONE_TO_ONE_NAT` in `accessConfigs`, `DIRECT_IPV6` in `ipv6AccessConfigs`. Default: the one that the list requires.",
        enum=("DIRECT_IPV6", "ONE_TO_ONE_NAT"),
        default=re.compile("DIRECT_IPV6|ONE_TO_ONE_NAT"),
    )


@record
class AliasIpRange(Record):
    """A range of additional internal addresses of a network interface."""

    RULES = (
        alias_ranges_are_valid,
        exclusive(
            "subnetworkRangeName",
            "candidateSubnetworkRangeNames",
            source=rest("instances", "networkInterfaces[].aliasIpRanges[].candidateSubnetworkRangeNames"),
        ),
    )

    candidate_subnetwork_range_names: list[str] = field(
        "Names of secondary ranges of the subnetwork, such as `[pods-1, pods-2]`; the addresses come from one that has enough of them. Conflicts with `subnetworkRangeName`.",
        beta=True,
    )
    effective_subnetwork_range_name: str = output_field(
        "The name of the subnetwork's range that the addresses come from.", beta=True
    )
    ip_cidr_range: str = field(
        "One address such as `10.1.2.3`, a netmask such as `/24`, or a range such as `10.1.2.0/24`. The addresses must belong to the subnetwork and be unused.",
        normalize=compare.address_range,
    )
    subnetwork_range_name: str = field(
        "The name of the subnetwork's secondary range that the addresses come from, such as `pods`. Default: the primary range."
    )


@record
class NetworkInterface(Record):
    """A network interface of an instance."""

    HINTS: ClassVar = {
        "subnetworkProject": "must be written `subnetwork: projects/PROJECT/regions/REGION/subnetworks/NAME` here"
    }
    RULES = (
        access_configs_match_their_ip_version,
        ptr_domain_name_requires_set_public_ptr,
        ipv4_only_excludes_ipv6_access,
        attachment_settings_require_an_attachment,
        internal_addresses_are_valid,
    )

    @staticmethod
    def implied(values: NetworkInterfaceValues) -> dict[str, Any]:
        """Return the network that Google sets: the network of the subnetwork, or the default one."""
        if values.get("networkAttachment"):
            return {}
        return {"network": values.get("network") if values.get("subnetwork") else "global/networks/default"}

    access_configs: list[AccessConfig] = field(
        "The external IPv4 address, as a list of at most one element: `[{}]` gives an ephemeral address. Default: no external IPv4 address.",
        max_items=1,
        source=rest("instances", "networkInterfaces[].accessConfigs"),
    )
    alias_ip_ranges: list[AliasIpRange] = field(
        "Ranges of additional internal IPv4 addresses, such as `[{ipCidrRange: /24}]`. Only VPC networks support them.",
        identity=("ipCidrRange",),
    )
    alias_ipv6_ranges: list[AliasIpRange] = field(
        "Ranges of additional internal IPv6 addresses, such as `[{ipCidrRange: /96}]`. Only VPC networks support them.",
        identity=("ipCidrRange",),
    )
    enable_vpc_scoped_dns: bool = field("Resolve DNS names over this interface. Requires `networkAttachment`.")
    fingerprint: str = output_field("A hash of the interface, in base64.")
    igmp_query: str = field(
        "Which IGMP queries are enabled on the interface: queries of version 2 (`IGMP_QUERY_V2`) or none (`IGMP_QUERY_DISABLED`).",
        enum=("IGMP_QUERY_DISABLED", "IGMP_QUERY_V2"),
    )
    internal_ipv6_prefix_length: int = field(
        "The prefix length of the primary internal IPv6 range, such as `96`; 0 to 128.", minimum=0, maximum=128
    )
    ipv6_access_configs: list[AccessConfig] = field(
        "The external IPv6 address, as a list of at most one element: `[{}]` gives an address from the subnetwork. Default: no external IPv6 address.",
        max_items=1,
        source=rest("instances", "networkInterfaces[].ipv6AccessConfigs"),
    )
    ipv6_access_type: str = output_field(
        "Whether the IPv6 address can be reached from the internet: `EXTERNAL` or `INTERNAL`, as the subnetwork is configured.",
        enum=("EXTERNAL", "INTERNAL"),
    )
    ipv6_address: str = field(
        "The internal IPv6 address, such as `fd20::1`. A static address must be unused and in the instance's region. Default: assigned from the subnetwork.",
        normalize=compare.address,
    )
    kind: str = output_field("Always `compute#networkInterface`.")
    mac_address: str = output_field("The MAC address.", beta=True)
    name: str = output_field("The interface's name, `nic0` to `nic7`.")
    network: str = field(
        "The VPC network, such as `global/networks/my-network`. Default: the network of `subnetwork`, or `global/networks/default` without a subnetwork.",
        url="global/networks",
    )
    network_attachment: str = field(
        "The network attachment to connect to, such as `projects/123456/regions/us-east1/networkAttachments/my-attachment`, with the project's number.",
        url="regions/networkAttachments",
        pattern=_NETWORK_ATTACHMENT,
        source=rest("instances", "networkInterfaces[].networkAttachment"),
    )
    network_ip: str = field(
        "The internal IPv4 address, such as `10.0.0.2`. Default: an unused address of the subnetwork.",
        name="networkIP",
        normalize=compare.address,
        url="regions/addresses",
    )
    nic_type: str = field(
        "The type of the virtual network card, such as `GVNIC`. `TIER_1` bandwidth does not work with `VIRTIO_NET`.",
        enum=("GVNIC", "IDPF", "IRDMA", "MRDMA", "VIRTIO_NET"),
        source=rest("instances", "networkInterfaces[].nicType"),
    )
    parent_nic_name: str = field("The name of the parent of a dynamic interface (one with `vlan`), such as `nic0`.")
    queue_count: int = field(
        "The number of receive queues, which is also the number of transmit queues, such as `2`; at least 0.", minimum=0
    )
    service_class_id: str = field("The ID of the producer's service class. Requires `networkAttachment`.")
    stack_type: str = field(
        "The IP versions of the addresses that are assigned: `IPV4_ONLY`, `IPV4_IPV6` or `IPV6_ONLY`. Default: `IPV4_ONLY`.",
        computed=True,
        enum=("IPV4_IPV6", "IPV4_ONLY", "IPV6_ONLY"),
        default="IPV4_ONLY",
        source=rest("instances", "networkInterfaces[].stackType"),
    )
    subnetwork: str = field(
        "The subnetwork, such as `regions/us-east1/subnetworks/web`. Required in networks with custom subnet mode; legacy networks have no subnetworks.",
        url="regions/subnetworks",
    )
    vlan: int = field("The VLAN tag of a dynamic interface, such as `5`; 2 to 255.", minimum=2, maximum=255)


@record
class NetworkPerformanceConfig(Record):
    """The bandwidth of the instances."""

    total_egress_bandwidth_tier: str = field(
        "The tier of outgoing bandwidth: `DEFAULT`, or `TIER_1` for more. `TIER_1` does not work with `nicType: VIRTIO_NET`. Default: `DEFAULT`.",
        enum=("DEFAULT", "TIER_1"),
        default="DEFAULT",
    )


def own_addresses(interface: NetworkInterfaceValues) -> Iterator[Path]:
    """Yield the paths of a network interface's addresses, which only one instance can have."""
    for name in ("networkIP", "ipv6Address"):
        if text(interface, name):
            yield (name,)
    for owner, name in (("accessConfigs", "natIP"), ("ipv6AccessConfigs", "externalIpv6")):
        for index, config in elements(interface, owner):
            if text(config, name):
                yield owner, index, name
