"""Instance groups: of instances that a person adds, or of those that a group manager creates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gcpx_emulator.compute.call import Call, check_ready, handles, last_part, path_of
from gcpx_emulator.compute.collection import USUAL, Collection, given
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.instance_lifecycle import RUNNING
from gcpx_emulator.compute.lists import list_page
from gcpx_emulator.compute.locations import ZONAL
from gcpx_emulator.compute.networks import is_in, linked_network, linked_subnetwork
from gcpx_emulator.core.errors import ApiError, check_given, invalid, stale
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page, in_order, page_of

MANAGER: Final = "_manager"
"""The field of a stored group, and of each instance in it, with the path of their manager."""
NAMES: Final = "_names"
"""The field of a stored group manager with the names of its instances, whether they exist or not."""
_MEMBERS: Final = "_members"
"""The field of a stored group without a manager: the numeric IDs of its instances, by their names."""


def new_group(call: Call, path: str, body: Json) -> Json:
    """Write a group at a path with the fields of a request for it or for its manager."""
    parent, _, name = path.rpartition("/instanceGroups/")
    kept = {field: body[field] for field in ("description", "network", "subnetwork") if body.get(field)}
    ports = body.get("namedPorts") or []
    return {
        **kept,
        **GROUPS.head(call, path),
        "name": name,
        "zone": call.url(parent),
        "namedPorts": ports,
        "fingerprint": fingerprint(ports),
    }


def _create(call: Call, path: str, _head: Json) -> Json:
    links = {}
    if call.body.get("network"):
        links["network"] = call.url(linked_network(call, "resource.network", call.body["network"])[0])
    if call.body.get("subnetwork"):
        links["subnetwork"] = call.url(linked_subnetwork(call, "resource.subnetwork", call.body["subnetwork"])[0])
    return call.insert(path, new_group(call, path, given(call) | links))


def members_of(call: Call, path: str, manager: Json) -> dict[str, Json | None]:
    """Return the instances of a manager at a path, by path; None for one that does not exist.

    Somebody else's instance that got the name of a deleted one is not the manager's.
    """
    members = [f"{path_of(manager['zone'], '')}/instances/{name}" for name in manager[NAMES]]
    found = {member: call.store.get(member) for member in members}
    return {member: item if item and item.get(MANAGER) == path else None for member, item in found.items()}


def _members(call: Call, group: Json) -> dict[str, Json]:
    """Return the instances of a group that exist, by path."""
    if MANAGER in group:
        manager = call.store.get(group[MANAGER])
        managed = members_of(call, group[MANAGER], manager) if manager else {}
        return {path: item for path, item in managed.items() if item}
    ids = {f"{path_of(group['zone'], '')}/instances/{name}": id_ for name, id_ in (group.get(_MEMBERS) or {}).items()}
    found = {path: call.store.get(path) for path in ids}
    return {path: item for path, item in found.items() if item and item["id"] == ids[path]}


def _with_members(call: Call) -> Callable[[Json], Json]:
    """Return what adds to a group the number of its instances, and the network that they are in."""

    def complete(group: Json) -> Json:
        instances = list(_members(call, group).values())
        first = instances[0]["networkInterfaces"][0] if instances else {}
        links = {name: first[name] for name in ("network", "subnetwork") if name in first}
        return group | links | {"size": len(instances)}

    return complete


def _manager_of(call: Call, path: str) -> list[str]:
    group = call.read(path)
    return [group[MANAGER]] if MANAGER in group else []


GROUPS: Final = Collection(
    name="instanceGroups",
    singular="instanceGroup",
    create=_create,
    scopes=ZONAL,
    complete=_with_members,
    users=_manager_of,
)
GROUPS.register("aggregatedList", *USUAL)


@handles("compute.instanceGroups.listInstances")
def list_instances(call: Call) -> Json:
    """List the instances of a group; the request can ask for running ones only."""
    path, group = GROUPS.find(call)
    runs = call.body.get("instanceState") == RUNNING

    def page() -> Page:
        items = {
            member: {"instance": call.url(member), "status": item["status"], "namedPorts": group["namedPorts"]}
            for member, item in _members(call, group).items()
            if not runs or item["status"] == RUNNING
        }
        return page_of(in_order(items), call.query)

    return list_page(call, "compute#instanceGroupsListInstances", f"{path}/listInstances", page)


@handles("compute.instanceGroups.addInstances")
def add_instances(call: Call) -> Json:
    """Add instances of the zone to a group; all of them are in the same network."""
    path, group, links = _changed_group(call)
    members, own = _members(call, group), dict(group.get(_MEMBERS) or {})
    network = next((item["networkInterfaces"][0]["network"] for item in members.values()), group.get("network"))
    for index, link in enumerate(links):
        field, member = f"instances[{index}].instance", call.resolve(link)
        instance = call.linked("instance", field, link)
        if member.rpartition("/instances/")[0] != call.parent:
            raise invalid(field, link, "The instance must be in the zone of the group.")
        if member in members:
            raise ApiError(400, f"Resource '{member}' is already a member of '{path}'.", "memberAlreadyExists")
        interface = instance["networkInterfaces"][0]
        if "network" not in interface:
            raise invalid(field, link, "The instance must be in a network, not at a network attachment.")
        if network and not is_in(interface, path_of(network, "")):
            raise invalid(field, link, f"The instance must be in the network of the group, {path_of(network, '')}.")
        network = interface["network"]
        members[member], own[instance["name"]] = instance, instance["id"]
    return GROUPS.change(call, call.verb, {_MEMBERS: own})


@handles("compute.instanceGroups.removeInstances")
def remove_instances(call: Call) -> Json:
    """Remove instances from a group, without a change of them."""
    path, group, links = _changed_group(call)
    members = _members(call, group)
    for link in links:
        if call.resolve(link) not in members:
            raise ApiError(400, f"Resource '{call.resolve(link)}' is not a member of '{path}'.", "memberNotFound")
        del members[call.resolve(link)]
    return GROUPS.change(
        call, call.verb, {_MEMBERS: {last_part(member): item["id"] for member, item in members.items()}}
    )


def _changed_group(call: Call) -> tuple[str, Json, list[str]]:
    """Return the path of a group without a manager, the group, and the links to instances in the request."""
    path, group = GROUPS.find(call)
    check_ready(call, path)
    if MANAGER in group:
        raise invalid("instanceGroup", group["name"], "Its group manager adds and removes the instances.")
    check_given(call.body, "instances")
    return path, group, [str(item.get("instance", "")) for item in call.body["instances"]]


@handles("compute.instanceGroups.setNamedPorts")
def set_named_ports(call: Call) -> Json:
    """Replace the named ports of a group."""
    _, group = GROUPS.find(call)
    if call.body.get("fingerprint", group["fingerprint"]) != group["fingerprint"]:
        raise stale("instance group")
    ports = call.body.get("namedPorts") or []
    return GROUPS.change(call, call.verb, {"namedPorts": ports, "fingerprint": fingerprint(ports)})
