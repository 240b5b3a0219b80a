"""The access configs of instances, which give their interfaces external addresses: added and deleted."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.addresses import AddressPool
from gcpx_emulator.compute.call import Call, handles, with_fingerprint
from gcpx_emulator.compute.instance_changes import interface_index
from gcpx_emulator.compute.instance_lifecycle import ready_instance
from gcpx_emulator.compute.instance_properties import kept_interface
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json

_LISTS: Final = ("accessConfigs", "ipv6AccessConfigs")


@handles("compute.instances.addAccessConfig")
def add_access_config(call: Call) -> Json:
    """Give an interface an access config; it has at most one of each IP version."""
    path, instance = ready_instance(call)
    index = interface_index(instance, call.query["networkInterface"])
    interface = instance["networkInterfaces"][index]
    name = "ipv6AccessConfigs" if call.body.get("type") == "DIRECT_IPV6" else "accessConfigs"
    if interface.get(name):
        raise invalid("networkInterface", interface["name"], f"At most one of {name} is allowed.")
    return _change(call, "addAccessConfig", path, instance, index, {name: [call.body]})


@handles("compute.instances.deleteAccessConfig")
def delete_access_config(call: Call) -> Json:
    """Take an access config from an interface, by its name."""
    path, instance = ready_instance(call)
    index = interface_index(instance, call.query["networkInterface"])
    interface, wanted = instance["networkInterfaces"][index], call.query["accessConfig"]
    for name in _LISTS:
        kept = [config for config in interface.get(name, ()) if config["name"] != wanted]
        if len(kept) != len(interface.get(name, ())):
            return _change(call, "deleteAccessConfig", path, instance, index, {name: kept})
    raise invalid("accessConfig", wanted, "The network interface has no such access config.")


def _change(call: Call, kind: str, path: str, instance: Json, index: int, fields: Json) -> Json:
    """Set fields of the interface at an index; an empty list removes one. `kind` is the operation's type."""
    interfaces = list(instance["networkInterfaces"])
    changed = {name: value for name, value in (interfaces[index] | fields).items() if value != []}
    interfaces[index] = with_fingerprint(AddressPool(call).assign(kept_interface(call, changed, index)))
    return call.update(kind, path, instance | {"networkInterfaces": interfaces})
