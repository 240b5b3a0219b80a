"""Network interfaces of instances, changed in place; each has its own fingerprint."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.fingerprints import with_fingerprint
from gcpx_emulator.compute.instance_properties import kept_interface
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import invalid, required, stale
from gcpx_emulator.core.json_data import Json

_IMMUTABLE: Final = ("accessConfigs", "name", "networkAttachment", "nicType", "parentNicName", "queueCount", "vlan")
"""Fields that an update cannot change; it is for the network, the addresses and the alias ranges."""


@handles("compute.instances.updateNetworkInterface")
def update_interface(call: Call) -> Json:
    """Change an interface; fields that the request leaves out stay."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.read(path)
    check_ready(call, path)
    interfaces = instance["networkInterfaces"]
    index = _index(interfaces, call.query["networkInterface"])
    _check_change(interfaces[index], call.body)
    changed = [*interfaces[:index], _changed(interfaces[index], call.body), *interfaces[index + 1 :]]
    kept = [with_fingerprint(kept_interface(call, nic, number)) for number, nic in enumerate(changed)]
    return call.update("updateNetworkInterface", path, instance | {"networkInterfaces": kept})


def _index(interfaces: list[Json], name: str) -> int:
    for index, interface in enumerate(interfaces):
        if interface["name"] == name:
            return index
    raise invalid("networkInterface", name, "The instance has no such network interface.")


def _check_change(interface: Json, change: Json) -> None:
    if not change.get("fingerprint"):
        raise required("resource.fingerprint")
    if change["fingerprint"] != interface.get("fingerprint"):
        raise stale("network interface")
    for field in _IMMUTABLE:
        if field in change and change[field] != interface.get(field):
            raise invalid(f"resource.{field}", "", "An update of a network interface cannot change it.")


def _changed(interface: Json, change: Json) -> Json:
    """Apply a change; a new subnetwork brings its network, unless the change names one."""
    if "subnetwork" in change and "network" not in change:
        interface = {field: value for field, value in interface.items() if field != "network"}
    return interface | change
