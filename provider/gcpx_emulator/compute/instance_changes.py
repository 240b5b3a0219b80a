"""Changes of instances: labels, metadata, tags, interfaces and disks, and the machine of stopped ones."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

from gcpx_emulator.compute.addresses import AddressPool, conflict_of_one
from gcpx_emulator.compute.call import Call, check_ready, handles, last_part, path_of
from gcpx_emulator.compute.constraints import check_object
from gcpx_emulator.compute.disks import check_unused, check_zone, release_disk, use_disk, users_of
from gcpx_emulator.compute.encryption_keys import check_own_key
from gcpx_emulator.compute.fingerprints import metadata_with_fingerprint, tags_with_fingerprint, with_fingerprint
from gcpx_emulator.compute.instance_lifecycle import TERMINATED, check_stopped, ready_instance
from gcpx_emulator.compute.instance_properties import accounts_of_instance, fields_of_disk, kept_disk, kept_interface
from gcpx_emulator.compute.machine_references import check_accelerators, check_disk_type, check_parts, minimum_platform
from gcpx_emulator.compute.machine_types import (
    MachineType,
    can_change,
    check_in_zone,
    find_machine_type,
    included_local_ssds,
)
from gcpx_emulator.compute.networks import check_distinct, connected
from gcpx_emulator.core.errors import invalid, misused, required, stale
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.operations import Effect, change

_IMMUTABLE: Final = ("accessConfigs", "name", "networkAttachment", "nicType", "parentNicName", "queueCount", "vlan")
"""Fields that an update of an interface cannot change; it changes the network, the addresses and the alias ranges."""


@handles("compute.instances.updateNetworkInterface")
def update_interface(call: Call) -> Json:
    """Change an interface; fields that the request leaves out stay."""
    path, instance = ready_instance(call)
    interfaces = instance["networkInterfaces"]
    index = interface_index(instance, call.query["networkInterface"])
    _check_interface_change(interfaces[index], call.body)
    others = [*interfaces[:index], *interfaces[index + 1 :]]
    changed, failure = _connected(call, interfaces[index], call.body, others)
    kept = [*interfaces[:index], with_fingerprint(kept_interface(call, changed, index)), *interfaces[index + 1 :]]
    return call.update("updateNetworkInterface", path, instance | {"networkInterfaces": kept}, failure=failure)


def _connected(call: Call, interface: Json, change: Json, others: list[Json]) -> tuple[Json, Json | None]:
    """Apply a change to an interface; also return the operation's failure if the requested address is in use.

    A new subnetwork brings its network, unless the change names one, and another address. `others` are the other
    interfaces of the instance.
    """
    brings_network = "subnetwork" in change and "network" not in change
    kept = {field: value for field, value in interface.items() if field != "network" or not brings_network}
    changed = connected(call, "resource", kept | change)
    check_distinct("resource", changed, others, change)
    has_moved = changed.get("subnetwork") != interface.get("subnetwork")
    if has_moved and "networkIP" not in change:
        changed = {name: value for name, value in changed.items() if name != "networkIP"}
    is_new = has_moved or changed.get("networkIP") != interface.get("networkIP")
    asked: Json = {name: changed[name] for name in ("networkIP", "subnetwork") if name in changed and is_new}
    return AddressPool(call).assign(changed), conflict_of_one(call, "resource", asked)


def interface_index(instance: Json, name: str) -> int:
    """Return the index of the network interface of this name, such as `nic0`."""
    for index, interface in enumerate(instance["networkInterfaces"]):
        if interface["name"] == name:
            return index
    raise invalid("networkInterface", name, "The instance has no such network interface.")


_ACCESS_CONFIGS: Final = ("accessConfigs", "ipv6AccessConfigs")


@handles("compute.instances.addAccessConfig")
def add_access_config(call: Call) -> Json:
    """Give an interface an access config; it has at most one of each IP version."""
    path, instance = ready_instance(call)
    index = interface_index(instance, call.query["networkInterface"])
    interface = instance["networkInterfaces"][index]
    name = "ipv6AccessConfigs" if call.body.get("type") == "DIRECT_IPV6" else "accessConfigs"
    if interface.get(name):
        raise invalid("networkInterface", interface["name"], f"At most one of {name} is allowed.")
    return _change_interface(call, "addAccessConfig", path, instance, index, {name: [call.body]})


@handles("compute.instances.deleteAccessConfig")
def delete_access_config(call: Call) -> Json:
    """Take an access config from an interface, by its name."""
    path, instance = ready_instance(call)
    index = interface_index(instance, call.query["networkInterface"])
    interface, wanted = instance["networkInterfaces"][index], call.query["accessConfig"]
    for name in _ACCESS_CONFIGS:
        kept = [config for config in interface.get(name, ()) if config["name"] != wanted]
        if len(kept) != len(interface.get(name, ())):
            return _change_interface(call, "deleteAccessConfig", path, instance, index, {name: kept})
    raise invalid("accessConfig", wanted, "The network interface has no such access config.")


def _change_interface(call: Call, kind: str, path: str, instance: Json, index: int, fields: Json) -> Json:
    """Set fields of the interface at an index; an empty list removes a field. `kind` is the operation's type."""
    interfaces = list(instance["networkInterfaces"])
    changed = {name: value for name, value in (interfaces[index] | fields).items() if value != []}
    interfaces[index] = with_fingerprint(AddressPool(call).assign(kept_interface(call, changed, index)))
    return call.update(kind, path, instance | {"networkInterfaces": interfaces})


def _check_interface_change(interface: Json, change: Json) -> None:
    if not change.get("fingerprint"):
        raise required("resource.fingerprint")
    if change["fingerprint"] != interface.get("fingerprint"):
        raise stale("network interface")
    for field in _IMMUTABLE:
        if field in change and change[field] != interface.get(field):
            raise invalid(f"resource.{field}", "", "An update of a network interface cannot change it.")


@handles("compute.instances.attachDisk")
def attach(call: Call) -> Json:
    """Attach a disk that exists."""
    path, instance = ready_instance(call)
    disk = call.body
    if disk.get("initializeParams"):
        raise invalid("resource.initializeParams", "{}", "A disk cannot be created and attached in one step.")
    if not disk.get("source"):
        raise required("resource.source")
    source = call.resolve(disk["source"])
    stored = call.read(source)
    if disk.get("mode") != "READ_ONLY":
        check_ready(call, source)
    used = {other["deviceName"] for other in instance["disks"]}
    free = next(name for name in (f"persistent-disk-{number}" for number in range(1000)) if name not in used)
    disk = disk | {"deviceName": disk.get("deviceName") or free}
    if disk["deviceName"] in used:
        raise invalid("resource.deviceName", disk["deviceName"], "The device name is already used on the instance.")
    check_own_key("resource.diskEncryptionKey", disk.get("diskEncryptionKey"), stored)
    check_zone(call, "resource.source", source, path)
    check_disk_type(_machine_type(call, instance), last_part(stored["type"]), disk.get("mode"))
    released = _release_from_others(call, path, source, disk)
    attached = kept_disk(call, disk, _free_index(instance, disk)) | fields_of_disk(call, source, stored)
    changed = instance | {"disks": sorted([*instance["disks"], attached], key=itemgetter("index"))}
    return call.update("attachDisk", path, changed, *released, use_disk(call, source, path))


def _machine_type(call: Call, instance: Json) -> MachineType | None:
    return find_machine_type(call.store, last_part(instance["machineType"]))


def _free_index(instance: Json, disk: Json) -> int:
    """Return the index that a disk gets; the first one is for the boot disk, if there is none yet."""
    used = {other["index"] for other in instance["disks"]}
    if disk.get("boot"):
        if 0 in used:
            raise invalid("resource", disk["source"], "Boot disk must be the first disk attached to the instance.")
        return 0
    return max(used, default=0) + 1


def _release_from_others(call: Call, path: str, source: str, disk: Json) -> list[Effect]:
    """Return the effects that detach a disk by force from its instance; refuse a disk in use without force.

    `path` is the path of the instance to which the disk will be attached, `source` is the path of the disk.
    """
    is_forced = call.query.get("forceAttach") == "true" or disk.get("forceAttach")
    if is_forced and "/regions/" not in source:
        raise invalid("forceAttach", "true", "Only regional disks can be attached by force.")
    users = users_of(call, source)
    if path in users:
        raise invalid("resource.source", disk["source"], "The disk is already attached to the instance.")
    if not is_forced:
        check_unused(call, source, disk.get("mode", "READ_WRITE"))
        return []
    return [effect for user in users for effect in _detach(call, user, source)]


def _detach(call: Call, path: str, source: str) -> list[Effect]:
    """Return the effects that detach a disk from an instance; both are paths."""
    instance = call.read(path)
    kept = [disk for disk in instance["disks"] if path_of(disk.get("source", ""), call.path["project"]) != source]
    return [change(path, {"disks": kept}), release_disk(call, source, path)]


@handles("compute.instances.detachDisk")
def detach(call: Call) -> Json:
    """Detach a disk by its device name."""
    path, instance = ready_instance(call)
    detached = _disk_of_device(instance, call.query["deviceName"])
    if detached["boot"] and instance["status"] != TERMINATED:
        raise misused("To detach the boot disk, the instance must be in TERMINATED state.")
    changed = instance | {"disks": [disk for disk in instance["disks"] if disk is not detached]}
    source = path_of(detached.get("source", ""), call.path["project"])
    released = [release_disk(call, source, path)] if call.store.get(source) is not None else []
    return call.update("detachDisk", path, changed, *released)


@handles("compute.instances.setDiskAutoDelete")
def set_auto_delete(call: Call) -> Json:
    """Decide whether a disk is deleted with its instance."""
    path, instance = ready_instance(call)
    disk = _disk_of_device(instance, call.query["deviceName"])
    changed = disk | {"autoDelete": call.query["autoDelete"] == "true"}
    disks = [changed if other is disk else other for other in instance["disks"]]
    return call.update("setDiskAutoDelete", path, instance | {"disks": disks})


def _disk_of_device(instance: Json, name: str) -> Json:
    disks: list[Json] = [disk for disk in instance["disks"] if disk["deviceName"] == name]
    if not disks:
        raise invalid("deviceName", name, f"No attached disk found with device name '{name}'")
    return disks[0]


@handles("compute.instances.setMetadata")
def set_metadata(call: Call) -> Json:
    """Replace the metadata of an instance."""
    return _replace(call, "metadata", metadata_with_fingerprint)


@handles("compute.instances.setTags")
def set_tags(call: Call) -> Json:
    """Replace the network tags of an instance."""
    return _replace(call, "tags", tags_with_fingerprint)


def _replace(call: Call, field: str, written: Callable[[list[Any]], Json]) -> Json:
    """Replace the items of a field, if the fingerprint in the request is the current one."""
    path, instance = ready_instance(call)
    if call.body.get("fingerprint") != instance[field]["fingerprint"]:
        raise stale("metadata")
    return call.update(call.verb, path, instance | {field: written(call.body.get("items") or [])})


_CHANGED_WHILE_RUNNING: Final = frozenset({"automaticRestart", "onHostMaintenance"})
"""The parts of scheduling that change on a running instance.

Source: the page "Set host maintenance policy of a VM"; the other parts need a stopped instance, as the description of
`setScheduling` says.
"""


@handles("compute.instances.setMachineType")
def set_machine_type(call: Call) -> Json:
    """Change the machine type of a stopped instance."""
    _, instance = ready_instance(call)
    return _change_stopped(call, "the machine type", {"machineType": new_machine_type(call, instance)})


def new_machine_type(call: Call, instance: Json) -> str:
    """Return the link to the machine type in the body of a call; refuse one that the instance cannot change to."""
    link = call.body.get("machineType")
    if not link:
        raise required("resource.machineType")
    check_object(call.method, "Instance", {"machineType": link})
    parent, _, name = path_of(link, call.path["project"]).rpartition("/machineTypes/")
    if parent != call.parent:
        raise invalid("resource.machineType", link, f"The machine type must be in the zone '{call.path['zone']}'.")
    machine_type = check_in_zone(call, link)
    check_stopped(instance, "the machine type")
    present, has_ssds = last_part(instance["machineType"]), any(disk["type"] == "SCRATCH" for disk in instance["disks"])
    if has_ssds or included_local_ssds(call.store, name)[0] or not can_change(present, name):
        raise invalid("resource.machineType", link, f"The machine type {present} cannot be changed to {name}.")
    check_parts(call, instance, machine_type)
    return call.url(f"{parent}/machineTypes/{name}")


@handles("compute.instances.setMinCpuPlatform")
def set_min_cpu_platform(call: Call) -> Json:
    """Change the minimum CPU platform of a stopped instance; an empty one or `Automatic` removes it."""
    return _change_stopped(call, "the minimum CPU platform", {"minCpuPlatform": minimum_platform(call.body)})


@handles("compute.instances.setServiceAccount")
def set_service_account(call: Call) -> Json:
    """Change the service account of a stopped instance and its scopes; without an e-mail address, remove it."""
    email, scopes = call.body.get("email"), call.body.get("scopes") or []
    accounts = accounts_of_instance(call, [{"email": email, "scopes": scopes}]) if email else None
    return _change_stopped(call, "the service account", {"serviceAccounts": accounts})


@handles("compute.instances.setMachineResources")
def set_machine_resources(call: Call) -> Json:
    """Change the accelerators of a stopped instance."""
    (_, instance), given = ready_instance(call), call.body.get("guestAccelerators") or []
    check_accelerators(call, given, _machine_type(call, instance))
    links = [item | {"acceleratorType": call.full_url(item.get("acceleratorType", ""))} for item in given]
    changed = {"guestAccelerators": links or None}
    check_object(call.method, "Instance", {"scheduling": instance["scheduling"], **changed})
    return _change_stopped(call, "the accelerators", changed)


@handles("compute.instances.setScheduling")
def set_scheduling(call: Call) -> Json:
    """Change the scheduling; omitted fields stay, and null removes a field (RFC 7396)."""
    path, instance = ready_instance(call)
    current, model = instance["scheduling"], call.body.get("provisioningModel")
    scheduling = merge(current, ({"preemptible": model == "SPOT"} if model else {}) | call.body)
    checked = {"guestAccelerators": instance.get("guestAccelerators"), "scheduling": scheduling}
    check_object(call.method, "Instance", checked)
    changed = {name for name in current | scheduling if current.get(name) != scheduling.get(name)}
    if changed - _CHANGED_WHILE_RUNNING:
        check_stopped(instance, f"scheduling.{min(changed - _CHANGED_WHILE_RUNNING)}")
    return call.update("setScheduling", path, instance | {"scheduling": scheduling})


@handles("compute.instances.updateShieldedInstanceConfig")
def update_shielded_instance_config(call: Call) -> Json:
    """Change options of Shielded VM on a stopped instance."""
    return _merge_stopped(call, "shieldedInstanceConfig")


@handles("compute.instances.updateDisplayDevice")
def update_display_device(call: Call) -> Json:
    """Enable or disable the display of a stopped instance."""
    return _merge_stopped(call, "displayDevice")


def _merge_stopped(call: Call, field: str) -> Json:
    """Merge the request into a field of a stopped instance."""
    _, instance = ready_instance(call)
    return _change_stopped(call, field, {field: merge(instance.get(field), call.body)})


@handles("compute.instances.setDeletionProtection")
def set_deletion_protection(call: Call) -> Json:
    """Protect an instance from deletion, or end the protection."""
    path = f"{call.parent}/instances/{call.path['resource']}"
    instance = call.ready(path)
    is_protected = call.query.get("deletionProtection", "true") == "true"
    return call.update("setDeletionProtection", path, instance | {"deletionProtection": is_protected})


@handles("compute.instances.addResourcePolicies")
def add_resource_policies(call: Call) -> Json:
    """Attach a resource policy to an instance."""
    path, instance = ready_instance(call)
    links = call.body.get("resourcePolicies") or []
    if len(links) != 1:
        raise invalid("resource.resourcePolicies", len(links), "Exactly one resource policy can be added at a time.")
    current = instance.get("resourcePolicies", [])
    if last_part(links[0]) in map(last_part, current):
        raise invalid("resource.resourcePolicies[0]", links[0], "The instance already has this resource policy.")
    return call.update(call.verb, path, instance | {"resourcePolicies": [*current, call.full_url(links[0])]})


@handles("compute.instances.removeResourcePolicies")
def remove_resource_policies(call: Call) -> Json:
    """Detach resource policies from an instance."""
    path, instance = ready_instance(call)
    current, removed = instance.get("resourcePolicies", []), call.body.get("resourcePolicies") or []
    for index, link in enumerate(removed):
        if last_part(link) not in map(last_part, current):
            raise invalid(f"resource.resourcePolicies[{index}]", link, "The instance has no such resource policy.")
    kept = [link for link in current if last_part(link) not in set(map(last_part, removed))]
    return call.update("removeResourcePolicies", path, instance | {"resourcePolicies": kept})


def _change_stopped(call: Call, what: str, fields: Json) -> Json:
    """Set fields of a stopped instance; None removes a field. `what` names the fields in a refusal."""
    path, instance = ready_instance(call)
    check_stopped(instance, what)
    return call.update(call.verb, path, instance | fields)
