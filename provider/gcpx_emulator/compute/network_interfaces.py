"""Compute: the network interfaces of an instance, which are changed under fingerprints of their own."""

from __future__ import annotations

from typing import Final

from gcpx_emulator.compute.instance_properties import fingerprint, stored_properties
from gcpx_emulator.compute.names import check_ready
from gcpx_emulator.core.errors import invalid, required, stale
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.store import Json

_FIXED: Final = ("accessConfigs", "name", "networkAttachment", "nicType", "parentNicName", "queueCount", "vlan")
"""What an update does not reach: it is for the network, its addresses and alias ranges."""


def fingerprinted(nic: Json) -> Json:
    """Give an interface the fingerprint of what it holds; one that was sent does not count."""
    content = without_fingerprint(nic)
    return content | {"fingerprint": fingerprint(content)}


def without_fingerprint(nic: Json) -> Json:
    """Leave out the fingerprint: only the interface of an instance is changed under one."""
    return {key: value for key, value in nic.items() if key != "fingerprint"}


@handles("compute.instances.updateNetworkInterface")
def update_interface(call: Call) -> Json:
    """Change an interface; what the request leaves out stays."""
    path = f"{call.parent}/instances/{call.path['instance']}"
    instance = call.found(path)
    check_ready(call, path)
    index = _index(instance, call.query["networkInterface"])
    _check_change(instance["networkInterfaces"][index], call.body)
    body = instance | {"networkInterfaces": _changed(call, instance["networkInterfaces"], index)}
    return call.operation("updateNetworkInterface", path, instance["id"], [{"put": path, "body": body}])


def _index(instance: Json, name: str) -> int:
    for index, nic in enumerate(instance["networkInterfaces"]):
        if nic["name"] == name:
            return index
    raise invalid("networkInterface", name, "The instance has no such network interface.")


def _check_change(nic: Json, change: Json) -> None:
    if not change.get("fingerprint"):
        raise required("resource.fingerprint")
    if change["fingerprint"] != nic.get("fingerprint"):
        raise stale("network interface")
    for key in _FIXED:
        if key in change and change[key] != nic.get(key):
            raise invalid(f"resource.{key}", "", "An update of a network interface cannot change it.")


def _changed(call: Call, nics: list[Json], index: int) -> list[Json]:
    kept = nics[index]
    if "subnetwork" in call.body and "network" not in call.body:
        kept = {key: value for key, value in kept.items() if key != "network"}  # that of the new subnetwork counts
    given = [*nics[:index], kept | call.body, *nics[index + 1 :]]
    return [fingerprinted(nic) for nic in stored_properties(call, {"networkInterfaces": given})["networkInterfaces"]]
