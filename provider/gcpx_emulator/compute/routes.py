"""Static routes of networks."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Final

from gcpx_emulator.compute.call import Call
from gcpx_emulator.compute.collection import USUAL, Collection, given
from gcpx_emulator.compute.networks import is_in, own_network
from gcpx_emulator.core.errors import ApiError, check_given, invalid
from gcpx_emulator.core.json_data import Json

_GATEWAY: Final = "global/gateways/default-internet-gateway"
_NEXT_HOPS: Final = ("nextHopGateway", "nextHopInstance", "nextHopIp")
_NOT_EMULATED: Final = ("nextHopIlb", "nextHopNetwork", "nextHopVpnTunnel")
"""Next hops of kinds that the emulator does not have."""
_DEFAULTS: Final = {"description": "", "priority": 1000, "routeType": "STATIC"}


def _create(call: Call, path: str, head: Json) -> Json:
    check_given(call.body, "network", "destRange")
    route = given(call)
    for name in _NOT_EMULATED:
        if route.get(name):
            raise ApiError(501, f"{call.method.id} with {name} is not emulated")
    hops = [name for name in _NEXT_HOPS if route.get(name)]
    if len(hops) != 1:
        raise invalid("resource", route["name"], f"Exactly one next hop must be specified: {', '.join(_NEXT_HOPS)}.")
    network, _ = own_network(call, route["network"])
    route |= {"network": call.url(network), "destRange": str(ipaddress.ip_network(route["destRange"]))}
    if "nextHopIp" in hops:
        route["nextHopIp"] = str(ipaddress.ip_address(route["nextHopIp"]))
    else:
        route[hops[0]] = call.full_url(route[hops[0]])
    if "nextHopGateway" in hops and not route["nextHopGateway"].endswith(f"/{_GATEWAY}"):
        raise invalid("resource.nextHopGateway", call.body["nextHopGateway"], f"Must be projects/PROJECT/{_GATEWAY}.")
    return call.insert(path, {**_DEFAULTS, **route, **head})


def _with_warnings(call: Call) -> Callable[[Json], Json]:
    """Return what adds to a route the warnings about the instance that is its next hop."""

    def complete(route: Json) -> Json:
        found = list(_warnings(call, route)) if "nextHopInstance" in route else []
        return route | ({"warnings": found} if found else {})

    return complete


def _warnings(call: Call, route: Json) -> list[Json]:
    link = route["nextHopInstance"]
    instance = call.store.get(call.resolve(link))
    if instance is None:
        return [_warning("NEXT_HOP_INSTANCE_NOT_FOUND", link, "does not exist")]
    network = call.resolve(route["network"])
    found = {
        ("NEXT_HOP_CANNOT_IP_FORWARD", "cannot forward IP"): not instance.get("canIpForward"),
        ("NEXT_HOP_INSTANCE_NOT_ON_NETWORK", "is not on the network of the route"): not any(
            is_in(interface, network) for interface in instance["networkInterfaces"]
        ),
        ("NEXT_HOP_NOT_RUNNING", "is not running"): instance["status"] != "RUNNING",
    }
    return [_warning(code, link, why) for (code, why), is_so in found.items() if is_so]


def _warning(code: str, link: str, why: str) -> Json:
    data = [{"key": "instance", "value": link}]
    return {"code": code, "message": f"Next hop instance '{link}' {why}.", "data": data}


Collection(name="routes", singular="route", create=_create, complete=_with_warnings).register(*USUAL)
