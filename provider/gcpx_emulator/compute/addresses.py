"""Addresses: those that are reserved, and those that network interfaces of instances have."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, last_part, path_of
from gcpx_emulator.compute.capacity import AddressSpace, left_in_region
from gcpx_emulator.compute.collection import Collection
from gcpx_emulator.compute.labels import with_label_fingerprint
from gcpx_emulator.compute.locations import region_in, zones_of
from gcpx_emulator.compute.networks import find_subnetwork, linked_subnetwork
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json

_INTERNAL, _EXTERNAL = "INTERNAL", "EXTERNAL"
_RESERVED_BY_GOOGLE: Final = 4
"""The addresses of a range that nobody gets: the first two and the last two."""
_OUTSIDE: Final = "Requested internal IP is outside the subnetwork CIDR range."
_DEFAULTS: Final = {"description": "", "networkTier": "PREMIUM"}
_ADDRESS: Final = re.compile(r'"networkIP": ?"([^"]+)"')


@attrs.define
class AddressPool:
    """Gives network interfaces the addresses that they do not have yet, during one call."""

    call: Call
    _used: dict[str, set[str]] = attrs.field(factory=dict, init=False)
    _ranges: dict[str, ipaddress.IPv4Network] = attrs.field(factory=dict, init=False)

    def assign(self, interface: Json) -> Json:
        """Complete an interface by addresses, and replace the link to a reserved address by that address."""
        link = interface.get("networkIP", "")
        reserved = self.call.store.get(self.call.resolve(link)) if "/" in link else None
        internal = reserved["address"] if reserved else link
        if not internal and interface.get("subnetwork"):
            internal = self._free(path_of(interface["subnetwork"], ""))
        if internal and interface.get("subnetwork"):
            self._used_in(path_of(interface["subnetwork"], "")).add(internal)
        configs = [{"natIP": new_external(self.call), **config} for config in interface.get("accessConfigs", ())]
        return {
            **interface,
            **({"networkIP": internal} if internal else {}),
            **({"accessConfigs": configs} if configs else {}),
        }

    def space(self, interfaces: list[Json]) -> AddressSpace:
        """Return how many more instances with these interfaces have addresses, and the subnetwork that decides it."""
        region = region_in(self.call)
        links = [one["subnetwork"] for one in interfaces if "subnetwork" in one and not one.get("networkIP")]
        left = {path: self._size(path) - len(self._used_in(path)) for path in (path_of(link, "") for link in links)}
        scarcest = min(left, key=left.__getitem__, default="")
        most = left_in_region(self.call, region, "addresses")
        return AddressSpace(scarcest, max(0, min(most, left.get(scarcest, most))))

    def _free(self, subnetwork: str) -> str:
        """Return the next address of a subnetwork that is not in use; empty if there is none."""
        used, first, size = self._used_in(subnetwork), self._range(subnetwork)[2], self._size(subnetwork)
        for _ in range(size):
            address = str(first + (self.call.store.next(f"address/{subnetwork}") - 1) % size)
            if address not in used:
                return address
        return ""

    def _size(self, subnetwork: str) -> int:
        return self._range(subnetwork).num_addresses - _RESERVED_BY_GOOGLE

    def _range(self, subnetwork: str) -> ipaddress.IPv4Network:
        if subnetwork not in self._ranges:
            found = find_subnetwork(self.call, subnetwork) or {}
            self._ranges[subnetwork] = ipaddress.IPv4Network(found["ipCidrRange"])
        return self._ranges[subnetwork]

    def _used_in(self, subnetwork: str) -> set[str]:
        """Return the addresses of a subnetwork's range that are in use or reserved in the region."""
        if subnetwork not in self._used:
            found, region = set[str](), region_in(self.call)
            for zone in zones_of(region):
                instances = f"{self.call.project}/zones/{zone}/instances"
                for (interfaces,) in self.call.store.tally(instances, ("networkInterfaces",)):
                    found.update(_ADDRESS.findall(interfaces or ""))
            reserved = self.call.store.list(f"{self.call.project}/regions/{region}/addresses")
            found |= {item["address"] for item in reserved}
            inside = self._range(subnetwork)
            self._used[subnetwork] = {address for address in found if ipaddress.IPv4Address(address) in inside}
        return self._used[subnetwork]


def new_external(call: Call) -> str:
    """Return an external address that nothing has yet."""
    number = call.store.next("address")
    return f"34.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def conflict_of(call: Call, field: str, interfaces: list[Json], count: int = 1) -> Json | None:
    """Return the result of an operation that fails because an address of new instances is in use.

    Args:
        call: creates the instances.
        field: where the request has the interfaces.
        interfaces: those of each instance; addresses that they cannot have are refused.
        count: the number of instances.
    """
    for index, interface in enumerate(interfaces):
        for address, subnetwork in checked_addresses(call, f"{field}[{index}]", interface):
            if count > 1 or _holders(call, region_in(call), address, subnetwork):
                return _conflict(address)
    return None


def checked_addresses(call: Call, field: str, interface: Json) -> list[tuple[str, str]]:
    """Return the addresses that an interface asks for, each with the path of its subnetwork if it is internal.

    Addresses that the interface cannot have are refused; `field` is where the request has the interface.
    """
    found, link = [], interface.get("networkIP", "")
    if link and interface.get("subnetwork"):
        address = call.linked("address", f"{field}.networkIP", link)["address"] if "/" in link else link
        subnetwork = path_of(interface["subnetwork"], "")
        _check_inside(call, f"{field}.networkIP", address, subnetwork)
        found.append((address, subnetwork))
    for index, config in enumerate(interface.get("accessConfigs") or ()):
        if config.get("natIP"):
            _check_external(call, f"{field}.accessConfigs[{index}].natIP", config["natIP"])
            found.append((config["natIP"], ""))
    return found


def _conflict(address: str) -> Json:
    message = f"IP '{address}' is already being used by another resource."
    return {"errors": [{"code": "IP_IN_USE_BY_ANOTHER_RESOURCE", "message": message}]}


def _check_inside(call: Call, field: str, address: str, subnetwork: str) -> None:
    found = find_subnetwork(call, subnetwork) or {}
    if ipaddress.IPv4Address(address) not in ipaddress.IPv4Network(found["ipCidrRange"]):
        raise invalid(field, address, _OUTSIDE)


def _check_external(call: Call, field: str, address: str) -> None:
    """Refuse an external address that is not reserved in the region of a call."""
    region = region_in(call)
    reserved = call.store.list(f"{call.project}/regions/{region}/addresses")
    if not any(item["address"] == address and item["addressType"] == _EXTERNAL for item in reserved):
        why = f"The specified external IP address '{address}' was not found in region '{region}'."
        raise invalid(field, address, why)


def _holders(call: Call, region: str, address: str, subnetwork: str = "") -> list[str]:
    """Return the paths of the instances with an address: external or, in a subnetwork, internal."""
    return [path for path, interface in _interfaces(call, region) if _has(interface, address, subnetwork)]


def _interfaces(call: Call, region: str) -> Iterator[tuple[str, Json]]:
    zones = [f"{call.project}/zones/{zone}/instances" for zone in zones_of(region)]
    return ((path, item) for path, instance in call.store.scan(zones) for item in instance["networkInterfaces"])


def _has(interface: Json, address: str, subnetwork: str) -> bool:
    if subnetwork:
        is_in = path_of(interface.get("subnetwork", ""), "") == subnetwork
        return is_in and interface.get("networkIP") == address
    return any(config.get("natIP") == address for config in interface.get("accessConfigs", ()))


def _create(call: Call, path: str, head: Json) -> Json:
    """Reserve an address; the operation fails if another resource has it."""
    own, failure = _internal(call) if call.body.get("addressType") == _INTERNAL else (_external(call), None)
    resource = {**_DEFAULTS, **call.body, **own, **head, "status": "RESERVED"}
    return call.insert(path, with_label_fingerprint(resource), failure=failure)


def _external(call: Call) -> Json:
    return {"addressType": _EXTERNAL, "address": call.body.get("address") or new_external(call)}


def _internal(call: Call) -> tuple[Json, Json | None]:
    link = call.body.get("subnetwork") or "default"
    path, subnetwork = linked_subnetwork(call, "resource.subnetwork", link)
    own = {"purpose": "GCE_ENDPOINT", "subnetwork": subnetwork["selfLink"]}
    address = call.body.get("address")
    if not address:
        return own | {"address": AddressPool(call).assign(own)["networkIP"]}, None
    _check_inside(call, "resource.address", address, path)
    reserved = call.store.list(f"{call.parent}/addresses")
    is_reserved = any((item["address"], item.get("subnetwork")) == (address, own["subnetwork"]) for item in reserved)
    is_used = is_reserved or _holders(call, call.path["region"], address, path)
    return own | {"address": address}, _conflict(address) if is_used else None


def _users(call: Call, path: str) -> list[str]:
    item = call.read(path)
    subnetwork = path_of(item["subnetwork"], "") if "subnetwork" in item else ""
    return _holders(call, last_part(item["region"]), item["address"], subnetwork)


def _with_users(call: Call, address: Json) -> Json:
    users = [call.url(user) for user in _users(call, path_of(address["selfLink"], ""))]
    return address | ({"status": "IN_USE", "users": users} if users else {})


Collection(name="addresses", singular="address", create=_create, complete=_with_users, users=_users).register(
    "aggregatedList", "delete", "get", "insert", "list"
)
