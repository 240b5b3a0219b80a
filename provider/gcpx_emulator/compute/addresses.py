"""Addresses, reserved or in use by the network interfaces of instances."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from gcpx_emulator.compute.call import Call, path_of
from gcpx_emulator.compute.capacity import AddressSpace, left_in_region
from gcpx_emulator.compute.collection import USUAL, Collection, given
from gcpx_emulator.compute.fingerprints import with_label_fingerprint
from gcpx_emulator.compute.locations import REGIONAL, region_in
from gcpx_emulator.compute.networks import find_subnetwork, has_range, linked_network, linked_subnetwork, ranges_in
from gcpx_emulator.core.errors import check_given, invalid
from gcpx_emulator.core.json_data import Json

_INTERNAL, _EXTERNAL = "INTERNAL", "EXTERNAL"
_RESERVED_BY_GOOGLE: Final = 4
"""The unusable addresses of a range: the first two and the last two."""
_DEFAULTS: Final = {"description": "", "networkTier": "PREMIUM"}
_PRIVATE: Final = ipaddress.IPv4Network("10.0.0.0/8")
"""The range in which free ranges are searched."""


@attrs.define
class AddressPool:
    """Gives network interfaces their missing addresses, during one call.

    Attributes:
        count: the number of instances; their numbers are taken from the counters at once.
    """

    call: Call
    count: int = 1
    _given: defaultdict[str, set[str]] = attrs.field(factory=lambda: defaultdict(set), init=False)
    """The addresses that this call has given in each subnetwork, by the subnetwork's path."""
    _left: dict[str, int] = attrs.field(factory=dict, init=False)
    """The number of addresses of each subnetwork that were free when the call first asked."""
    _ranges: dict[str, ipaddress.IPv4Network] = attrs.field(factory=dict, init=False)
    _numbers: dict[str, Iterator[int]] = attrs.field(factory=dict, init=False)

    def assign(self, interface: Json) -> Json:
        """Give an interface its missing addresses, and replace links to reserved addresses by the addresses."""
        link = interface.get("networkIP", "")
        reserved = self.call.store.get(self.call.resolve(link)) if "/" in link else None
        internal = reserved["address"] if reserved else link
        if not internal and interface.get("subnetwork") and self._has_range(path_of(interface["subnetwork"], "")):
            internal = self._free(path_of(interface["subnetwork"], ""))
        if internal and interface.get("subnetwork"):
            self._given[path_of(interface["subnetwork"], "")].add(internal)
        configs = [
            {"natIP": _external_address(self._number("address")), **config}
            for config in interface.get("accessConfigs", ())
        ]
        return {
            **interface,
            **({"networkIP": internal} if internal else {}),
            **({"accessConfigs": configs} if configs else {}),
        }

    def space(self, interfaces: list[Json]) -> AddressSpace:
        """Return the number of further instances for which addresses are left, and the subnetwork with the fewest."""
        region = region_in(self.call)
        links = [one["subnetwork"] for one in interfaces if "subnetwork" in one and not one.get("networkIP")]
        paths = filter(self._has_range, (path_of(link, "") for link in links))
        left = {path: self._left_in(path) for path in paths}
        scarcest = min(left, key=left.__getitem__, default="")
        most = left_in_region(self.call, region, "addresses")
        return AddressSpace(scarcest, max(0, min(most, left.get(scarcest, most))))

    def _free(self, subnetwork: str) -> str:
        """Return the next free address of a subnetwork; empty if there is none."""
        first, size, given = self._range(subnetwork)[2], self._size(subnetwork), self._given[subnetwork]
        for _ in range(size if self._left_in(subnetwork) > 0 else 0):
            address = str(first + (self._number(f"address/{subnetwork}") - 1) % size)
            if address not in given and not self.call.store.holders(address, subnetwork):
                return address
        return ""

    def _number(self, counter: str) -> int:
        """Return the next number of a counter; numbers are taken for all instances at once."""
        number = next(self._numbers.get(counter, iter(())), None)
        if number is None:
            first = self.call.store.next(counter, self.count)
            self._numbers[counter] = iter(range(first + 1, first + self.count))
            return first
        return number

    def _size(self, subnetwork: str) -> int:
        return self._range(subnetwork).num_addresses - _RESERVED_BY_GOOGLE

    def _has_range(self, subnetwork: str) -> bool:
        return subnetwork in self._ranges or has_range(find_subnetwork(self.call, subnetwork) or {})

    def _range(self, subnetwork: str) -> ipaddress.IPv4Network:
        if subnetwork not in self._ranges:
            found = find_subnetwork(self.call, subnetwork) or {}
            self._ranges[subnetwork] = ipaddress.IPv4Network(found["ipCidrRange"])
        return self._ranges[subnetwork]

    def _left_in(self, subnetwork: str) -> int:
        """Return the number of addresses of a subnetwork's range that were neither in use nor reserved at first."""
        if subnetwork not in self._left:
            self._left[subnetwork] = self._size(subnetwork) - self.call.store.count_held(subnetwork)
        return self._left[subnetwork]


def _is_link_to(link: str | None, path: str) -> bool:
    return link is not None and link.endswith(f"/{path}")


def _external_address(number: int) -> str:
    return f"34.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def conflict_of(call: Call, field: str, interfaces: list[Json], count: int = 1) -> Json | None:
    """Return the failure of an operation because an address of new instances is in use; None if all are free.

    Args:
        call: creates the instances.
        field: the place of the interfaces in the request.
        interfaces: the interfaces of each instance; addresses that they cannot have are refused.
        count: the number of instances.
    """
    found = (conflict_of_one(call, f"{field}[{index}]", interface, count) for index, interface in enumerate(interfaces))
    return next(filter(None, found), None)


def conflict_of_one(call: Call, field: str, interface: Json, count: int = 1) -> Json | None:
    """Do the same for one interface; `field` is its place in the request."""
    for address, subnetwork in _checked_addresses(call, field, interface):
        if count > 1 or _holders(call, address, subnetwork):
            return _conflict(address)
    return None


def _checked_addresses(call: Call, field: str, interface: Json) -> list[tuple[str, str]]:
    """Return the addresses that an interface asks for, each with the path of its subnetwork if it is internal.

    Addresses that the interface cannot have are refused; `field` is its place in the request.
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
    if not has_range(found) or _address(field, address) not in ipaddress.IPv4Network(found["ipCidrRange"]):
        raise invalid(field, address, "Requested internal IP is outside the subnetwork CIDR range.")


def _address(field: str, text: str) -> ipaddress.IPv4Address:
    """Read an address."""
    try:
        return ipaddress.IPv4Address(text)
    except ValueError:
        raise invalid(field, text, "Must be a valid IP address.") from None


def _check_external(call: Call, field: str, address: str) -> None:
    """Refuse an external address that is not reserved in the region of a call."""
    region = region_in(call)
    reserved = f"{call.project}/regions/{region}/addresses/"
    if not any(path.startswith(reserved) for path in call.store.holders(address, "")):
        why = f"The specified external IP address '{address}' was not found in region '{region}'."
        raise invalid(field, address, why)


def _holders(call: Call, address: str, subnetwork: str) -> list[str]:
    """Return the paths of the instances with an address: internal in a subnetwork, external in none (`""`)."""
    return [path for path in call.store.holders(address, subnetwork) if "/instances/" in path]


def _create(call: Call, path: str, head: Json) -> Json:
    """Reserve an address or a range; the operation fails if another resource has it.

    Its labels are left out: only `setLabels` sets them, as described and recorded.
    """
    internal = _internal if "region" in call.path else _internal_range
    own, failure = internal(call) if call.body.get("addressType") == _INTERNAL else _external(call)
    resource = {**_DEFAULTS, **given(call), **own, **head, "status": "RESERVED"}
    resource.pop("labels", None)
    return call.insert(path, with_label_fingerprint(resource), failure=failure)


def _external(call: Call) -> tuple[Json, Json | None]:
    purpose, address = call.body.get("purpose"), str(call.body.get("address") or "")
    if purpose not in {None, "NAT_AUTO"}:
        raise invalid("resource.purpose", purpose, "The field cannot be specified with external address.")
    is_reserved = any("/addresses/" in path for path in call.store.holders(address, ""))
    failure = _conflict(address) if is_reserved else None
    return {"addressType": _EXTERNAL, "address": address or _external_address(call.store.next("address"))}, failure


def _internal_range(call: Call) -> tuple[Json, Json | None]:
    """Return the fields of a global address, which is a range unless its purpose is Private Service Connect."""
    body = call.body
    check_given(body, "network", *(() if body.get("purpose") == "PRIVATE_SERVICE_CONNECT" else ("prefixLength",)))
    path, network = linked_network(call, "resource.network", body["network"])
    length = body.get("prefixLength") or _PRIVATE.max_prefixlen
    own = {"network": network["selfLink"], "purpose": body.get("purpose") or "VPC_PEERING"}
    taken = [*ranges_in(call, path), *_reserved_ranges(call, path)]
    if not body.get("address"):
        return own | {"address": _free_range(length, taken)}, None
    first = _address("resource.address", body["address"])
    wanted = ipaddress.IPv4Network((first, length), strict=False)
    name = str(wanted) if body.get("prefixLength") else str(first)
    return own | {"address": str(first)}, _conflict(name) if any(map(wanted.overlaps, taken)) else None


def _reserved_ranges(call: Call, network: str) -> Iterator[ipaddress.IPv4Network]:
    """Yield the ranges that are reserved in a network."""
    for item in call.store.list(f"{call.project}/global/addresses"):
        if _is_link_to(item.get("network"), network):
            length = item.get("prefixLength", _PRIVATE.max_prefixlen)
            yield ipaddress.IPv4Network((item["address"], length), strict=False)


def _free_range(length: int, taken: list[ipaddress.IPv4Network]) -> str:
    """Return the first address of a range of this prefix length that overlaps no taken range."""
    if length < _PRIVATE.prefixlen:
        raise invalid("resource.prefixLength", length, f"Must be at least {_PRIVATE.prefixlen}.")
    ranges = _PRIVATE.subnets(new_prefix=length)
    found = next((one for one in ranges if not any(map(one.overlaps, taken))), None)
    if found is None:
        raise invalid("resource.prefixLength", length, "The network has no free range of this size.")
    return str(found.network_address)


def _internal(call: Call) -> tuple[Json, Json | None]:
    link = call.body.get("subnetwork") or "default"
    path, subnetwork = linked_subnetwork(call, "resource.subnetwork", link)
    own = {"purpose": call.body.get("purpose") or "GCE_ENDPOINT", "subnetwork": subnetwork["selfLink"]}
    address = call.body.get("address")
    if not has_range(subnetwork):
        raise invalid("resource.subnetwork", link, "The subnetwork has no range of IPv4 addresses.")
    if not address:
        return own | {"address": AddressPool(call).assign(own)["networkIP"]}, None
    _check_inside(call, "resource.address", address, path)
    return own | {"address": address}, _conflict(address) if call.store.holders(address, path) else None


def _users(call: Call, path: str) -> list[str]:
    """Return the paths of the instances that keep the reserved address at a path from being released.

    An external address can be released while an instance has it, and is then ephemeral. Source: Google's sample that
    promotes an ephemeral address, whose test runs on Google.
    """
    item = call.read(path)
    if "region" not in item or item["addressType"] == _EXTERNAL:
        return []
    return _holders(call, item["address"], _subnetwork_of(item))


def _subnetwork_of(address: Json) -> str:
    """Return the path of the subnetwork of a reserved address; empty if it is external."""
    return path_of(address["subnetwork"], "") if "subnetwork" in address else ""


def _with_users(call: Call) -> Callable[[Json], Json]:
    """Return what adds the status and the users to an address of a region; global ones are not for instances."""
    if "region" not in call.path:
        return lambda item: item

    def complete(item: Json) -> Json:
        users = list(map(call.url, _holders(call, item["address"], _subnetwork_of(item))))
        return item | ({"status": "IN_USE", "users": users} if users else {})

    return complete


_ADDRESSES: Final = Collection(
    name="addresses",
    singular="address",
    create=_create,
    scopes=("global", *REGIONAL),
    complete=_with_users,
    users=_users,
)
_ADDRESSES.register("aggregatedList", "setLabels", *USUAL)
_ADDRESSES.register("setLabels", *USUAL, methods="globalAddresses")
