"""Static routes."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
ROUTES = f"{BASE}/global/routes"
URL = f"https://www.googleapis.com{BASE}"
GATEWAY = f"projects/{PROJECT}/global/gateways/default-internet-gateway"


def _route(**more):
    return {"name": "out", "network": "global/networks/default", "destRange": "192.0.2.0/24", **more}


def test_a_route_is_inserted_listed_and_deleted(http):
    body = _route(nextHopGateway=GATEWAY, tags=["web"], description="To the outside")
    assert http.post(ROUTES, json=body).json()["operationType"] == "insert"
    route = http.get(f"{ROUTES}/out").json()
    listed = http.get(ROUTES).json()

    assert (route["kind"], route["network"]) == ("compute#route", f"{URL}/global/networks/default")
    assert (route["nextHopGateway"], route["destRange"]) == (
        URL.replace(BASE, f"/compute/v1/{GATEWAY}"),
        "192.0.2.0/24",
    )
    assert (route["priority"], route["tags"], route["description"]) == (1000, ["web"], "To the outside")
    assert (listed["kind"], listed["items"]) == ("compute#routeList", [route])
    assert http.post(ROUTES, json=body).status_code == 409
    assert http.delete(f"{ROUTES}/out").status_code == 200
    assert http.get(f"{ROUTES}/out").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "next hop"),
        ({"nextHopGateway": GATEWAY, "nextHopIp": "10.0.0.1"}, "next hop"),
        ({"nextHopGateway": "global/gateways/other"}, "nextHopGateway"),
        ({"nextHopIp": "10.0.0"}, "nextHopIp"),
        ({"nextHopIp": "10.0.0.1", "destRange": "192.0.2.1/24"}, "destRange"),
        ({"nextHopIp": "10.0.0.1", "destRange": None}, "destRange"),
        ({"nextHopIp": "10.0.0.1", "network": None}, "network"),
        ({"nextHopIp": "10.0.0.1", "network": "global/networks/none"}, "network"),
        ({"nextHopIp": "10.0.0.1", "priority": 65536}, "priority"),
        ({"nextHopIp": "10.0.0.1", "tags": ["Web"]}, "tags[0]"),
    ],
)
def test_a_wrong_route_is_refused(http, wrong, field):
    body = {name: value for name, value in _route(**wrong).items() if value is not None}
    answer = http.post(ROUTES, json=body)
    assert (answer.status_code, field in answer.text) == (400, True), answer.text


@pytest.mark.parametrize("hop", ["nextHopIlb", "nextHopNetwork", "nextHopVpnTunnel"])
def test_next_hops_of_other_kinds_are_not_emulated(http, hop):
    answer = http.post(ROUTES, json=_route(**{hop: "10.0.0.1"}))
    assert (answer.status_code, f"compute.routes.insert with {hop}" in answer.text) == (501, True)


def test_a_route_through_an_instance_says_what_is_wrong_with_it(http):
    http.post(f"{BASE}/global/networks", json={"name": "other", "autoCreateSubnetworks": False})
    link = f"zones/{ZONE}/instances/router"
    http.post(ROUTES, json=_route(nextHopInstance=link))
    http.post(ROUTES, json=_route(name="far", nextHopInstance=link, network="global/networks/other"))

    def warnings(name):
        return [warning["code"] for warning in http.get(f"{ROUTES}/{name}").json().get("warnings", ())]

    assert warnings("out") == ["NEXT_HOP_INSTANCE_NOT_FOUND"]
    machine = {"machineType": f"zones/{ZONE}/machineTypes/e2-small", "name": "router"}
    http.post(f"{BASE}/zones/{ZONE}/instances", json=properties(**machine, canIpForward=True))
    assert (warnings("out"), warnings("far")) == ([], ["NEXT_HOP_INSTANCE_NOT_ON_NETWORK"])
    http.post(f"{BASE}/zones/{ZONE}/instances/router/stop")
    assert warnings("out") == ["NEXT_HOP_NOT_RUNNING"]


def test_a_network_with_a_route_is_in_use(http):
    http.post(f"{BASE}/global/networks", json={"name": "other", "autoCreateSubnetworks": False})
    http.post(
        ROUTES, json=_route(network="global/networks/other", nextHopIp="2001:DB8:0::1", destRange="2001:DB8::/32")
    )
    route = http.get(f"{ROUTES}/out").json()
    failed = http.delete(f"{BASE}/global/networks/other").json()
    done = http.get(f"{BASE}/global/operations/{failed['name']}").json()

    assert (route["nextHopIp"], route["destRange"]) == ("2001:db8::1", "2001:db8::/32")
    assert "global/routes/out" in done["error"]["errors"][0]["message"]
    http.delete(f"{ROUTES}/out")
    http.delete(f"{BASE}/global/networks/other")
    assert http.get(f"{BASE}/global/networks/other").status_code == 404
