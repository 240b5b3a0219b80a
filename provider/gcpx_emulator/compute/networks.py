"""Networks with their subnetworks and firewall rules; every project has the network `default` in auto mode."""

from __future__ import annotations

import functools
import ipaddress
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gcpx_emulator.compute.call import Call, existing, fixed_id, handles, last_part, path_of
from gcpx_emulator.compute.collection import USUAL, Collection, given, in_use
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.lists import show
from gcpx_emulator.compute.locations import REGIONS, region_in, zones_of
from gcpx_emulator.compute.predefined_resources import predefined_resource
from gcpx_emulator.compute.work import Work
from gcpx_emulator.core.errors import ApiError, check_given, invalid, misused, required, stale
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.operations import Effect, delete, put
from gcpx_emulator.core.projects import project_number

_DEFAULT: Final = "default"
_AUTO_RANGES: Final = {
    "africa-south1": "10.218.0.0/20",
    "asia-east1": "10.140.0.0/20",
    "asia-northeast1": "10.146.0.0/20",
    "asia-south1": "10.160.0.0/20",
    "asia-southeast1": "10.148.0.0/20",
    "australia-southeast1": "10.152.0.0/20",
    "europe-north1": "10.166.0.0/20",
    "europe-southwest1": "10.204.0.0/20",
    "europe-west1": "10.132.0.0/20",
    "europe-west2": "10.154.0.0/20",
    "europe-west3": "10.156.0.0/20",
    "europe-west4": "10.164.0.0/20",
    "europe-west9": "10.200.0.0/20",
    "northamerica-northeast1": "10.162.0.0/20",
    "southamerica-east1": "10.158.0.0/20",
    "us-central1": "10.128.0.0/20",
    "us-east1": "10.142.0.0/20",
    "us-east4": "10.150.0.0/20",
    "us-west1": "10.138.0.0/20",
    "us-west2": "10.168.0.0/20",
    "us-west4": "10.182.0.0/20",
}
"""The ranges of the subnetworks of networks in auto mode.

Source: the table "IPv4 subnet ranges of auto mode VPC networks" of Google's documentation.
"""
_OF_AUTO_MODE: Final = ipaddress.IPv4Network("10.128.0.0/9")
"""The range that contains these ranges, and those of future regions."""
_ROUTING: Final = {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"}
_OF_NETWORKS: Final = {"networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL"}
_OF_SUBNETWORKS: Final = {
    "allowSubnetCidrRoutesOverlap": False,
    "enableFlowLogs": False,
    "logConfig": {"enable": False},
    "privateIpGoogleAccess": False,
    "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
    "purpose": "PRIVATE",
    "stackType": "IPV4_ONLY",
}
_OF_FIREWALLS: Final = {"direction": "INGRESS", "priority": 1000, "disabled": False, "logConfig": {"enable": False}}
_MAY_SHARE: Final = {("network", "MRDMA")}
"""What network interfaces of a type may share with the instance's other interfaces.

Source: the page "Create VMs with multiple network interfaces", which makes an exception for RDMA network profiles.
"""
_SOURCES: Final = ("sourceRanges", "sourceServiceAccounts", "sourceTags")
_PATCHED_IN_NETWORKS: Final = frozenset({"mtu", "networkFirewallPolicyEnforcementOrder", "routingConfig"})
"""The fields that a patch of a network can change.

Source: Terraform's provider; the description of the method has `routingConfig` only.
"""
_PATCHED_IN_SUBNETWORKS: Final = frozenset(
    {"allowSubnetCidrRoutesOverlap", "enableFlowLogs", "ipv6AccessType", "logConfig", "privateIpv6GoogleAccess",
     "purpose", "role", "secondaryIpRanges", "stackType"}
)  # fmt: skip
"""The fields that a patch of a subnetwork can change.

Source: the descriptions of the fields, and Terraform's provider.
"""


def network_path(call: Call, link: str) -> str:
    """Return the path of the network that a name or link refers to; the link may have its numeric ID."""
    path = call.resolve(link if "/" in link else f"global/networks/{link}")
    default = f"{path.rpartition('/')[0]}/{_DEFAULT}"
    return default if last_part(path) == fixed_id(default) else path


def subnetwork_path(call: Call, link: str) -> str:
    """Return the path of the subnetwork that a link, or a name in the call's region, refers to.

    Templates that are global have no region; the emulator then takes the first.
    """
    region = region_in(call) if {"region", "zone"} & call.path.keys() else REGIONS[0]
    return call.resolve(link if "/" in link else f"regions/{region}/subnetworks/{link}")


def find_network(call: Call, path: str) -> Json | None:
    """Read the network at a path; None if it does not exist."""
    project, _, name = path.partition("/global/networks/")
    return call.store.get(path) or (_default_network(call, project) if name == _DEFAULT else None)


def find_subnetwork(call: Call, path: str) -> Json | None:
    """Read the subnetwork at a path; None if it does not exist."""
    parent, _, name = path.rpartition("/subnetworks/")
    is_default = name == _DEFAULT and last_part(parent) in REGIONS
    return call.store.get(path) or (_default_subnetwork(call, parent) if is_default else None)


def linked_network(call: Call, field: str, link: str) -> tuple[str, Json]:
    """Return the path of the network that a field refers to, and the network, which must exist."""
    path = network_path(call, link)
    found = existing("network", field, link, find_network(call, path))
    _check_shared(call, field, link, path)
    return path, found


def _check_shared(call: Call, field: str, link: str, path: str) -> None:
    """Refuse what another project has from the start; what it has created counts as shared with all projects."""
    if call.store.get(path) is None and not is_of_project(call, path):
        raise invalid(field, link, "Cross-project references for this resource are not allowed.")


def is_of_project(call: Call, path: str) -> bool:
    """Return whether the resource at a path belongs to the project of a call; a path may have the project's number."""
    return project_number(path.split("/")[1]) == project_number(call.path["project"])


def own_network(call: Call, link: str) -> tuple[str, Json]:
    """Return the network of a new firewall rule or subnetwork, as `linked_network` does; it is of the same project."""
    path = network_path(call, link)
    if not is_of_project(call, path):
        raise invalid("resource.network", path, "Cross project referencing is not allowed for this resource.")
    return linked_network(call, "resource.network", link)


def linked_subnetwork(call: Call, field: str, link: str) -> tuple[str, Json]:
    """Return the path of the subnetwork that a field refers to, and the subnetwork, which must exist."""
    path = subnetwork_path(call, link)
    found = existing("subnetwork", field, link, find_subnetwork(call, path))
    _check_shared(call, field, link, path)
    return path, found


def _default_network(call: Call, project: str) -> Json:
    fields = {
        "autoCreateSubnetworks": True,
        "description": "Default network for the project",
        "routingConfig": _ROUTING,
        **_OF_NETWORKS,
    }
    network = predefined_resource(call, "network", f"{project}/global/networks", _DEFAULT, **fields)
    return network | {"selfLinkWithId": call.url(f"{project}/global/networks/{network['id']}")}


def _default_subnetwork(call: Call, parent: str) -> Json:
    project, _, region = parent.rpartition("/regions/")
    network = f"{project}/global/networks/{_DEFAULT}"
    fields = _subnetwork_fields(call.url(network), _AUTO_RANGES[region]) | {"region": call.url(parent)}
    return predefined_resource(call, "subnetwork", f"{parent}/subnetworks", _DEFAULT, **fields)


@functools.lru_cache(maxsize=1024)  # each call about an instance reads its subnetwork several times
def _subnetwork_fields(network: str, cidr_range: str | None) -> Json:
    """Return fields of a subnetwork in the network with this URL; they must not be changed."""
    own = {"network": network}
    if cidr_range:
        own |= {"ipCidrRange": cidr_range, "gatewayAddress": str(ipaddress.ip_network(cidr_range)[1])}
    return {**_OF_SUBNETWORKS, **own, "fingerprint": fingerprint(own)}


def _create_network(call: Call, path: str, head: Json) -> Json:
    """Create a network, in auto mode with a subnetwork in each region."""
    if "autoCreateSubnetworks" not in call.body:
        raise required("resource.autoCreateSubnetworks")
    ranges = _AUTO_RANGES if call.body["autoCreateSubnetworks"] else {}
    subnetworks = [_auto_subnetwork(call, path, region, own) for region, own in ranges.items()]
    network = {
        **_OF_NETWORKS,
        **given(call),
        **head,
        "routingConfig": _ROUTING | (call.body.get("routingConfig") or {}),
        "selfLinkWithId": call.url(f"{call.parent}/networks/{head['id']}"),
    }
    return call.insert(path, network, *subnetworks)


def _auto_subnetwork(call: Call, network: str, region: str, cidr_range: str) -> Effect:
    """Return the effect that creates the subnetwork of a network in auto mode in a region."""
    parent, name = f"{call.project}/regions/{region}", last_part(network)
    path = f"{parent}/subnetworks/{name}"
    own = {**SUBNETWORKS.head(call, path), "name": name, "region": call.url(parent)}
    return put(path, _subnetwork_fields(call.url(network), cidr_range) | own)


def _with_subnetworks(call: Call) -> Callable[[Json], Json]:
    """Return what adds the links to its subnetworks to a network."""
    links: defaultdict[str, list[str]] = defaultdict(list)
    for _, item in _subnetworks(call):
        links[path_of(item["network"], "")].append(item["selfLink"])

    def complete(network: Json) -> Json:
        own = links[path_of(network["selfLink"], "")]
        return network | ({"subnetworks": own} if own else {})

    return complete


def _subnetworks(call: Call) -> Iterator[tuple[str, Json]]:
    """Yield the paths and resources of all subnetworks of the project."""
    for region in REGIONS:
        parent = f"{call.project}/regions/{region}"
        default = {f"{parent}/subnetworks/{_DEFAULT}": _default_subnetwork(call, parent)}
        yield from (default | dict(call.store.scan([f"{parent}/subnetworks"]))).items()


def _subnetworks_of(call: Call, network: str) -> Iterator[tuple[str, Json]]:
    """Yield the paths and resources of the subnetworks in a network."""
    return ((path, item) for path, item in _subnetworks(call) if is_in(item, network))


def is_in(resource: Json, network: str) -> bool:
    """Return whether a resource, which links to its network, is in the network at a path."""
    return path_of(resource["network"], "") == network


NETWORKS: Final = Collection(
    name="networks",
    singular="network",
    create=_create_network,
    predefined=lambda call: [_default_network(call, call.project)],
    complete=_with_subnetworks,
)
NETWORKS.register("get", "insert", "list")


@handles("compute.networks.delete")
def delete_network(call: Call) -> Json:
    """Delete a network; the operation fails if something uses it. In auto mode, its subnetworks go with it."""
    path = NETWORKS.deletable(call)
    network, subnetworks = call.read(path), [item for item, _ in _subnetworks_of(call, path)]
    owners = [f"{call.parent}/{kind}" for kind in ("firewalls", "routes")]
    users = [item for item, owner in call.store.scan(owners) if is_in(owner, path)]
    addresses = call.store.scan([f"{call.parent}/addresses"])
    users += [item for item, address in addresses if path_of(address.get("network", ""), "") == path]
    if network["autoCreateSubnetworks"]:
        users += [user for subnetwork in subnetworks for user in _users_of_subnetwork(call, subnetwork)]
    else:
        users += subnetworks
    if not users:
        return call.delete(path, *map(delete, subnetworks))
    error = {"code": "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "message": in_use("network", path, users[0])}
    return call.start(Work(kind="delete", target=path, target_id=network["id"], failure={"errors": [error]}))


@handles("compute.networks.patch")
def patch_network(call: Call) -> Json:
    """Change a network; omitted fields stay."""
    _, found = NETWORKS.find(call)
    network = _with_subnetworks(call)(found)
    _check_patched("network", call.body, network, _PATCHED_IN_NETWORKS)
    changed = {name: call.body[name] for name in _PATCHED_IN_NETWORKS & call.body.keys()}
    routing = network["routingConfig"] | (changed.get("routingConfig") or {})
    return NETWORKS.change(call, "patch", changed | {"routingConfig": routing})


def _check_patched(kind: str, body: Json, current: Json, patched: frozenset[str]) -> None:
    """Refuse a patch that changes anything but the fields that can be patched; links may be partial."""
    for name in body.keys() - patched:
        if last_part(str(body[name])) != last_part(str(current.get(name))):
            raise invalid(f"resource.{name}", "", f"A patch of a {kind} cannot change it.")


@handles("compute.networks.switchToCustomMode")
def switch_to_custom_mode(call: Call) -> Json:
    """Let a network in auto mode keep its subnetworks, and get no others by itself."""
    return NETWORKS.change(call, "switchToCustomMode", {"autoCreateSubnetworks": False})


def _create_subnetwork(call: Call, path: str, head: Json) -> Json:
    """Create a subnetwork; the operation fails if one of its ranges overlaps another range of the network.

    One for IPv6 only needs no range of IPv4 addresses.
    """
    check_given(call.body, "network", *(() if call.body.get("stackType") == "IPV6_ONLY" else ("ipCidrRange",)))
    network, found = own_network(call, call.body["network"])
    cidr_range = call.body.get("ipCidrRange")
    primary = [_range("resource.ipCidrRange", cidr_range)] if cidr_range else []
    if found["autoCreateSubnetworks"] and any(map(_OF_AUTO_MODE.overlaps, primary)):
        why = f"Extended subnetworks in auto subnet mode networks cannot overlap with {_OF_AUTO_MODE}."
        raise invalid("resource.ipCidrRange", cidr_range, why)
    ranges = [*primary, *(item for _, item in _secondary_ranges(call.body))]
    conflict = next(filter(None, (_conflict(call, network, path, item) for item in ranges)), None)
    failure = {"errors": [{"code": "INVALID_USAGE", "message": conflict}]} if conflict else None
    own = _subnetwork_fields(call.url(network), cidr_range)
    fixed: Json = {name: own[name] for name in ("fingerprint", "gatewayAddress", "network") if name in own}
    return call.insert(path, {**own, **given(call), **head, **fixed}, failure=failure)


def _range(field: str, text: str) -> ipaddress.IPv4Network:
    """Read a range of addresses."""
    try:
        return ipaddress.IPv4Network(text)
    except ValueError:
        raise invalid(field, text, "Must be a CIDR address range.") from None


def _secondary_ranges(body: Json) -> Iterable[tuple[str, ipaddress.IPv4Network]]:
    """List the secondary ranges of a subnetwork, each with its field in the request."""
    for index, item in enumerate(body.get("secondaryIpRanges") or ()):
        field = f"resource.secondaryIpRanges[{index}].ipCidrRange"
        yield field, _range(field, item.get("ipCidrRange", ""))


def _conflict(call: Call, network: str, own: str, wanted: ipaddress.IPv4Network) -> str | None:
    """Name the subnetwork that a range conflicts with; `own` is the path of the subnetwork that gets the range."""
    for path, item in _subnetworks_of(call, network):
        if path != own and any(map(wanted.overlaps, _ranges_of(item))):
            where = f"'{item['name']}' in region '{last_part(item['region'])}'"
            return f"Invalid IPCidrRange: {wanted} conflicts with existing subnetwork {where}."
    return None


def ranges_in(call: Call, network: str) -> Iterator[ipaddress.IPv4Network]:
    """Yield the ranges of the subnetworks in a network, which is given by its path."""
    for _, item in _subnetworks_of(call, network):
        yield from _ranges_of(item)


def _ranges_of(subnetwork: Json) -> list[ipaddress.IPv4Network]:
    secondary = (item for _, item in _secondary_ranges(subnetwork))
    primary = [ipaddress.IPv4Network(subnetwork["ipCidrRange"])] if has_range(subnetwork) else []
    return [*primary, *secondary]


def has_range(subnetwork: Json) -> bool:
    """Return whether a subnetwork has a range of IPv4 addresses; one for IPv6 only has none."""
    return bool(subnetwork.get("ipCidrRange"))


def _check_range(call: Call, field: str, network: str, own: str, wanted: ipaddress.IPv4Network) -> None:
    """Refuse to give the subnetwork at the path `own` a range that conflicts with another one of its network."""
    if conflict := _conflict(call, network, own, wanted):
        raise invalid(field, wanted, conflict)


@handles("compute.subnetworks.patch")
def patch_subnetwork(call: Call) -> Json:
    """Change a subnetwork; the request must have its fingerprint, and omitted fields stay."""
    path, subnetwork = SUBNETWORKS.find(call)
    body = {name: value for name, value in call.body.items() if name != "fingerprint"}
    if call.body.get("fingerprint") != subnetwork["fingerprint"]:
        raise stale("subnetwork")
    _check_patched("subnetwork", body, subnetwork, _PATCHED_IN_SUBNETWORKS)
    for field, wanted in _secondary_ranges(body):
        _check_range(call, field, path_of(subnetwork["network"], ""), path, wanted)
    changed = {name: body[name] for name in _PATCHED_IN_SUBNETWORKS & body.keys()}
    return _change_subnetwork(call, "compute.subnetworks.patch", subnetwork, changed)


def _change_subnetwork(call: Call, kind: str, subnetwork: Json, fields: Json) -> Json:
    """Set fields of a subnetwork, which gets another fingerprint; `kind` is the operation's type."""
    content = {name: value for name, value in (subnetwork | fields).items() if name != "fingerprint"}
    return SUBNETWORKS.change(call, kind, fields | {"fingerprint": fingerprint(content)})


@handles("compute.subnetworks.expandIpCidrRange")
def expand_range(call: Call) -> Json:
    """Give a subnetwork a larger range, which must contain its current one."""
    path, subnetwork = SUBNETWORKS.find(call)
    cidr_range = call.body.get("ipCidrRange")
    if not cidr_range:
        raise required("ipCidrRange")
    if not has_range(subnetwork):
        raise invalid("ipCidrRange", cidr_range, "The subnetwork has no range of IPv4 addresses.")
    wanted, current = _range("ipCidrRange", cidr_range), ipaddress.IPv4Network(subnetwork["ipCidrRange"])
    if wanted == current or not current.subnet_of(wanted):
        raise invalid("ipCidrRange", cidr_range, f"The new range must contain the present one, {current}.")
    _check_range(call, "ipCidrRange", path_of(subnetwork["network"], ""), path, wanted)
    fields = {"ipCidrRange": cidr_range, "gatewayAddress": str(wanted[1])}
    return _change_subnetwork(call, "expandIpCidrRange", subnetwork, fields)


@handles("compute.subnetworks.setPrivateIpGoogleAccess")
def set_private_access(call: Call) -> Json:
    """Set whether instances of a subnetwork reach Google's services without an external address."""
    _, subnetwork = SUBNETWORKS.find(call)
    access = {"privateIpGoogleAccess": call.body.get("privateIpGoogleAccess", False)}
    return _change_subnetwork(call, "setPrivateIpGoogleAccess", subnetwork, access)


def _users_of_subnetwork(call: Call, path: str) -> list[str]:
    """Return the paths of the instances and the reserved addresses in a subnetwork."""
    project, _, rest = path.partition("/regions/")
    region = rest.partition("/")[0]
    zones = [f"{project}/zones/{zone}/instances" for zone in zones_of(region)]
    instances = [
        user
        for user, instance in call.store.scan(zones)
        if any(path_of(nic.get("subnetwork", ""), "") == path for nic in instance["networkInterfaces"])
    ]
    addresses = call.store.scan([f"{project}/regions/{region}/addresses"])
    return [*instances, *(user for user, item in addresses if path_of(item.get("subnetwork", ""), "") == path)]


SUBNETWORKS: Final = Collection(
    name="subnetworks",
    singular="subnetwork",
    create=_create_subnetwork,
    predefined=lambda call: [_default_subnetwork(call, call.parent)],
    users=_users_of_subnetwork,
)
SUBNETWORKS.register("aggregatedList", "get", "insert", "list")


@handles("compute.subnetworks.delete")
def delete_subnetwork(call: Call) -> Json:
    """Delete a subnetwork that nothing uses; a network in auto mode keeps those that it created itself."""
    _, subnetwork = SUBNETWORKS.find(call)
    _, network = linked_network(call, "network", subnetwork["network"])
    if network["autoCreateSubnetworks"] and any(map(_OF_AUTO_MODE.overlaps, _ranges_of(subnetwork)[:1])):
        raise misused("Cannot delete auto subnetwork from an auto subnet mode network.")
    return SUBNETWORKS.delete(call)


def _firewall(call: Call, body: Json) -> Json:
    """Write the stored form of a firewall rule."""
    network, _ = own_network(call, body.get("network") or f"global/networks/{_DEFAULT}")
    if bool(body.get("allowed")) == bool(body.get("denied")):
        raise required("resource.allowed")
    is_open = body.get("direction") != "EGRESS" and not any(body.get(source) for source in _SOURCES)
    sources = {"sourceRanges": ["0.0.0.0/0"]} if is_open else {}
    return {**_OF_FIREWALLS, **sources, **body, "network": call.url(network)}


FIREWALLS: Final = Collection(
    name="firewalls",
    singular="firewall",
    create=lambda call, path, head: call.insert(path, _firewall(call, given(call)) | head),
)
FIREWALLS.register(*USUAL)


@handles("compute.firewalls.patch")
def patch_firewall(call: Call) -> Json:
    """Change a firewall rule; omitted fields stay, and null removes a field (RFC 7396)."""
    _, current = FIREWALLS.find(call)
    return _change_firewall(call, "patch", current, merge(current, given(call)))


@handles("compute.firewalls.update")
def update_firewall(call: Call) -> Json:
    """Replace a firewall rule; omitted fields get their defaults."""
    _, current = FIREWALLS.find(call)
    kept = {name: current[name] for name in ("kind", "id", "creationTimestamp")}
    return _change_firewall(call, "update", current, given(call) | kept)


@handles("compute.networks.getEffectiveFirewalls")
def effective_firewalls(call: Call) -> Json:
    """List the firewall rules of a network; no firewall policies are emulated."""
    path, _ = NETWORKS.find(call)
    rules = [show(call, rule) for _, rule in call.store.scan([f"{call.parent}/firewalls"]) if is_in(rule, path)]
    return {"firewalls": rules} if rules else {}


def _change_firewall(call: Call, kind: str, current: Json, body: Json) -> Json:
    """Replace all of a firewall rule but its name and its network."""
    own = {name: current[name] for name in ("name", "network", "selfLink")}
    changed = _firewall(call, body | own)
    return FIREWALLS.change(call, kind, {name: changed.get(name) for name in current | changed})


def all_connected(call: Call, field: str, interfaces: list[Json]) -> list[Json]:
    """Give the network interfaces of new instances their networks and subnetworks, which must exist.

    `field` is the place of the list in the request.
    """
    found = [connected(call, f"{field}[{index}]", interface) for index, interface in enumerate(interfaces)]
    for index, interface in enumerate(found):
        check_distinct(f"{field}[{index}]", interface, found[:index], interfaces[index])
    return found


def check_distinct(field: str, interface: Json, others: list[Json], sent: Json) -> None:
    """Refuse an interface in the same subnetwork or network as others of the instance; `sent` is the client's value."""
    for name in ("subnetwork", "network"):
        link = path_of(interface.get(name, ""), "")
        is_shared = any(name in other and path_of(other[name], "") == link for other in others)
        if is_shared and (name, interface.get("nicType")) not in _MAY_SHARE:
            why = f"{name.capitalize()}s must be distinct for NICs attached to a VM."
            raise invalid(f"{field}.{name}", sent.get(name, ""), why)


def connected(call: Call, field: str, interface: Json) -> Json:
    """Give a network interface its network and subnetwork, which must exist; `field` is its place in the request."""
    if interface.get("networkAttachment"):
        return interface
    link, network = interface.get("subnetwork"), interface.get("network")
    if network or not link:
        network, found = linked_network(call, f"{field}.network", network or f"global/networks/{_DEFAULT}")
        if not link and not found["autoCreateSubnetworks"]:
            raise invalid(field, "", "Subnetwork should be specified for custom subnetmode network")
    project = (network or "").partition("/global/")[0]
    link = link or f"{project}/regions/{region_in(call)}/subnetworks/{last_part(str(network))}"
    path, subnetwork = linked_subnetwork(call, f"{field}.subnetwork", link)
    if last_part(subnetwork["region"]) != region_in(call):
        raise invalid(f"{field}.subnetwork", link, "The subnetwork must be in the region of the instance.")
    if network and not is_in(subnetwork, network):
        raise ApiError(400, f'Subnetwork "{path}" is not valid for Network "{last_part(network)}".', "badRequest")
    return {"stackType": "IPV4_ONLY", **interface, "network": subnetwork["network"], "subnetwork": call.url(path)}
