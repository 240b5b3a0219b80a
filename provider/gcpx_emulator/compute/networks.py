"""Networks with their subnetworks and firewall rules; every project has the network `default` in auto mode."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from gcpx_emulator.compute.call import Call, Work, fingerprint, handles, last_part, path_of
from gcpx_emulator.compute.collection import Collection, in_use
from gcpx_emulator.compute.locations import REGIONS, region_in, zones_of
from gcpx_emulator.compute.predefined_resources import predefined_resource
from gcpx_emulator.core.errors import ApiError, invalid, required
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import delete, put

_DEFAULT: Final = "default"
_DESCRIPTION: Final = "Default network for the project"
_AUTO_RANGES: Final = {
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
_SOURCES: Final = ("sourceRanges", "sourceServiceAccounts", "sourceTags")


def network_path(call: Call, link: str) -> str:
    """Return the path of the network that a link or a name refers to."""
    return call.resolve(link if "/" in link else f"global/networks/{link}")


def subnetwork_path(call: Call, link: str) -> str:
    """Return the path of the subnetwork that a link refers to, or a name in the region of the call.

    Templates that are global have no region; the emulator then takes the first.
    """
    region = region_in(call) if {"region", "zone"} & call.path.keys() else REGIONS[0]
    return call.resolve(link if "/" in link else f"regions/{region}/subnetworks/{link}")


def find_network(call: Call, path: str) -> Json | None:
    """Read the network at a path; None if it does not exist."""
    project, _, name = path.partition("/global/networks/")
    return _default_network(call, project) if name == _DEFAULT else call.store.get(path)


def find_subnetwork(call: Call, path: str) -> Json | None:
    """Read the subnetwork at a path; None if it does not exist."""
    parent, _, name = path.rpartition("/subnetworks/")
    is_default = name == _DEFAULT and last_part(parent) in REGIONS
    return _default_subnetwork(call, parent) if is_default else call.store.get(path)


def linked_network(call: Call, field: str, link: str) -> tuple[str, Json]:
    """Return the path of the network that a field refers to, and the network, which must exist."""
    path = network_path(call, link)
    network = find_network(call, path)
    if network is None:
        raise invalid(field, link, "The referenced network resource cannot be found.")
    return path, network


def linked_subnetwork(call: Call, field: str, link: str) -> tuple[str, Json]:
    """Return the path of the subnetwork that a field refers to, and the subnetwork, which must exist."""
    path = subnetwork_path(call, link)
    subnetwork = find_subnetwork(call, path)
    if subnetwork is None:
        raise invalid(field, link, "The referenced subnetwork resource cannot be found.")
    return path, subnetwork


def _default_network(call: Call, project: str) -> Json:
    fields = {"autoCreateSubnetworks": True, "description": _DESCRIPTION, "routingConfig": _ROUTING, **_OF_NETWORKS}
    network = predefined_resource(call, "network", f"{project}/global/networks", _DEFAULT, **fields)
    return network | {"selfLinkWithId": call.url(f"{project}/global/networks/{network['id']}")}


def _default_subnetwork(call: Call, parent: str) -> Json:
    project, _, region = parent.rpartition("/regions/")
    network = f"{project}/global/networks/{_DEFAULT}"
    fields = _subnetwork_fields(call, network, _AUTO_RANGES[region]) | {"region": call.url(parent)}
    return predefined_resource(call, "subnetwork", f"{parent}/subnetworks", _DEFAULT, **fields)


def _subnetwork_fields(call: Call, network: str, cidr_range: str) -> Json:
    gateway = str(ipaddress.ip_network(cidr_range)[1])
    own = {"network": call.url(network), "ipCidrRange": cidr_range, "gatewayAddress": gateway}
    return {**_OF_SUBNETWORKS, **own, "fingerprint": fingerprint(own)}


def _create_network(call: Call, path: str, head: Json) -> Json:
    """Create a network, in auto mode with a subnetwork in each region."""
    if "autoCreateSubnetworks" not in call.body:
        raise required("resource.autoCreateSubnetworks")
    regions = _AUTO_RANGES if call.body["autoCreateSubnetworks"] else {}
    subnetworks = [_auto_subnetwork(call, path, f"{call.project}/regions/{region}") for region in regions]
    network = {
        **_OF_NETWORKS,
        **call.body,
        **head,
        "routingConfig": _ROUTING | (call.body.get("routingConfig") or {}),
        "selfLinkWithId": call.url(f"{call.parent}/networks/{head['id']}"),
    }
    return call.insert(path, network, *(put(path_of(item["selfLink"], ""), item) for item in subnetworks))


def _auto_subnetwork(call: Call, network: str, parent: str) -> Json:
    path = f"{parent}/subnetworks/{last_part(network)}"
    return {
        **_subnetwork_fields(call, network, _AUTO_RANGES[last_part(parent)]),
        "kind": "compute#subnetwork",
        "id": call.store.new_id(),
        "name": last_part(network),
        "selfLink": call.url(path),
        "region": call.url(parent),
    }


def _with_subnetworks(call: Call, network: Json) -> Json:
    """Add the links to the subnetworks of a network."""
    path = path_of(network["selfLink"], "")
    if network["name"] == _DEFAULT:
        links = [call.url(f"{call.project}/regions/{region}/subnetworks/{_DEFAULT}") for region in REGIONS]
    else:
        links = []
    links += [item["selfLink"] for _, item in _subnetworks_of(call, path)]
    return network | ({"subnetworks": links} if links else {})


def _subnetworks_of(call: Call, network: str) -> Iterator[tuple[str, Json]]:
    """Yield the paths and resources of the subnetworks that were created in a network."""
    collections = [f"{call.project}/regions/{region}/subnetworks" for region in REGIONS]
    return ((path, item) for path, item in call.store.scan(collections) if _is_in(item, network))


def _is_in(resource: Json, network: str) -> bool:
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
    firewalls = f"{call.parent}/firewalls"
    users = [item for item, firewall in call.store.scan([firewalls]) if _is_in(firewall, path)]
    if network["autoCreateSubnetworks"]:
        users += [user for subnetwork in subnetworks for user in _users_of_subnetwork(call, subnetwork)]
    else:
        users += subnetworks
    if not users:
        return call.delete(path, *map(delete, subnetworks))
    error = {"code": "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "message": in_use("network", path, users[0])}
    return call.start(Work(kind="delete", target=path, target_id=network["id"], failure={"errors": [error]}))


def _create_subnetwork(call: Call, path: str, head: Json) -> Json:
    """Create a subnetwork; the operation fails if its range overlaps another one of the network."""
    for field in ("network", "ipCidrRange"):
        if not call.body.get(field):
            raise required(f"resource.{field}")
    network, _ = linked_network(call, "resource.network", call.body["network"])
    cidr_range = call.body["ipCidrRange"]
    try:
        wanted = ipaddress.IPv4Network(cidr_range)
    except ValueError:
        raise invalid("resource.ipCidrRange", cidr_range, "Must be a CIDR address range.") from None
    resource = {**_subnetwork_fields(call, network, cidr_range), **call.body, **head, "network": call.url(network)}
    return call.insert(path, resource, failure=_overlap(call, network, wanted))


def _overlap(call: Call, network: str, wanted: ipaddress.IPv4Network) -> Json | None:
    """Return the result of an operation that creates a subnetwork with a range that is not free."""
    existing = [item for _, item in _subnetworks_of(call, network)]
    if last_part(network) == _DEFAULT:
        existing += [_default_subnetwork(call, f"{call.project}/regions/{region}") for region in REGIONS]
    for item in existing:
        if wanted.overlaps(ipaddress.IPv4Network(item["ipCidrRange"])):
            where = f"'{item['name']}' in region '{last_part(item['region'])}'"
            message = f"Invalid IPCidrRange: {wanted} conflicts with existing subnetwork {where}."
            return {"errors": [{"code": "INVALID_USAGE", "message": message}]}
    return None


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
SUBNETWORKS.register("aggregatedList", "delete", "get", "insert", "list")


def _create_firewall(call: Call, path: str, head: Json) -> Json:
    body = call.body
    network, _ = linked_network(call, "resource.network", body.get("network") or f"global/networks/{_DEFAULT}")
    if bool(body.get("allowed")) == bool(body.get("denied")):
        raise required("resource.allowed")
    is_open = body.get("direction") != "EGRESS" and not any(body.get(source) for source in _SOURCES)
    sources = {"sourceRanges": ["0.0.0.0/0"]} if is_open else {}
    return call.insert(path, {**_OF_FIREWALLS, **sources, **body, **head, "network": call.url(network)})


Collection(name="firewalls", singular="firewall", create=_create_firewall).register("delete", "get", "insert", "list")


def all_connected(call: Call, field: str, interfaces: list[Json]) -> list[Json]:
    """Give the network interfaces of new instances their networks and subnetworks, which must exist.

    `field` is where the request has the list.
    """
    found = [connected(call, f"{field}[{index}]", interface) for index, interface in enumerate(interfaces)]
    links = [interface.get("subnetwork") for interface in found]
    for index, link in enumerate(links):
        if link and link in links[:index]:
            why = "Subnetworks must be distinct for NICs attached to a VM."
            raise invalid(f"{field}[{index}].subnetwork", interfaces[index].get("subnetwork", ""), why)
    return found


def connected(call: Call, field: str, interface: Json) -> Json:
    """Give a network interface its network and subnetwork, which must exist; `field` is where the request has it."""
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
    if network and not _is_in(subnetwork, network):
        raise ApiError(400, f'Subnetwork "{path}" is not valid for Network "{last_part(network)}".', "badRequest")
    defaults = {"stackType": "IPV4_ONLY"}
    return {**defaults, **interface, "network": subnetwork["network"], "subnetwork": call.url(path)}
