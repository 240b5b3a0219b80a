"""Networks, subnetworks and firewall rules, and the network interfaces of instances that refer to them."""

from __future__ import annotations

import pytest
from values.programs import DEBIAN, PROJECT, ZONE, properties

from gcpx_emulator.compute.locations import REGIONS

BASE = f"/compute/v1/projects/{PROJECT}"
REGION = f"{BASE}/regions/us-east1"
URL = f"https://www.googleapis.com{BASE}"


def _make(http, collection, body):
    answer = http.post(f"{BASE}/{collection}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def vpc(http):
    """A network in custom mode with a subnetwork of 12 addresses; returns the path of the subnetwork."""
    _make(http, "global/networks", {"name": "vpc", "autoCreateSubnetworks": False})
    body = {"name": "inside", "network": "global/networks/vpc", "ipCidrRange": "10.9.0.0/28"}
    _make(http, "regions/us-east1/subnetworks", body)
    return "regions/us-east1/subnetworks/inside"


def _insert(http, *interfaces, name="vm", zone=ZONE):
    disk = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}}
    body = {"name": name, "machineType": f"zones/{zone}/machineTypes/n2-standard-4", "disks": [disk]}
    return http.post(f"{BASE}/zones/{zone}/instances", json={**body, "networkInterfaces": list(interfaces)})


def _interfaces(http, *interfaces, **more):
    """Create an instance, and return its interfaces."""
    answer = _insert(http, *interfaces, **more)
    assert answer.status_code == 200, answer.text
    found = http.get(f"{BASE}/zones/{more.get('zone', ZONE)}/instances/{more.get('name', 'vm')}")
    return found.json()["networkInterfaces"]


def _error(operation, http):
    """Return the code and the message with which an operation failed."""
    (error,) = http.get(operation["selfLink"].removeprefix("https://www.googleapis.com")).json()["error"]["errors"]
    return error["code"], error["message"]


def _refusal(answer):
    error = answer.json()["error"]
    return answer.status_code, error["errors"][0]["reason"], error["message"]


def test_a_custom_network_has_the_subnetworks_that_are_created(http, vpc):
    network = http.get(f"{BASE}/global/networks/vpc").json()
    subnetwork = http.get(f"{BASE}/{vpc}").json()

    assert network["subnetworks"] == [f"{URL}/{vpc}"]
    assert network["routingConfig"] == {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"}
    assert network["selfLinkWithId"] == f"{URL}/global/networks/{network['id']}"
    shown = {name: subnetwork[name] for name in ("network", "region", "gatewayAddress", "stackType", "purpose")}
    assert shown == {
        "network": f"{URL}/global/networks/vpc",
        "region": f"{URL}/regions/us-east1",
        "gatewayAddress": "10.9.0.1",
        "stackType": "IPV4_ONLY",
        "purpose": "PRIVATE",
    }
    assert http.get(f"{BASE}/global/networks/{network['id']}").json() == network


@pytest.mark.parametrize("name", ["default", "auto"])
def test_a_network_in_auto_mode_has_a_subnetwork_in_every_region(http, name):
    if name == "auto":
        _make(http, "global/networks", {"name": "auto", "autoCreateSubnetworks": True})
    network = http.get(f"{BASE}/global/networks/{name}").json()
    ranges = {
        region: http.get(f"{BASE}/regions/{region}/subnetworks/{name}").json()["ipCidrRange"]
        for region in ("us-central1", "europe-west9", "us-west4")
    }

    assert len(network["subnetworks"]) == len(REGIONS)
    assert ranges == {"us-central1": "10.128.0.0/20", "europe-west9": "10.200.0.0/20", "us-west4": "10.182.0.0/20"}


def test_subnetworks_are_listed_by_region_and_over_all_regions(http, vpc):
    listed = http.get(f"{REGION}/subnetworks").json()
    groups = http.get(f"{BASE}/aggregated/subnetworks").json()["items"]
    page = http.get(f"{BASE}/aggregated/subnetworks", params={"filter": "name = inside"}).json()["items"]

    assert (listed["kind"], [item["name"] for item in listed["items"]]) == (
        "compute#subnetworkList",
        ["default", "inside"],
    )
    assert [item["name"] for item in groups["regions/us-east1"]["subnetworks"]] == ["default", "inside"]
    assert page["regions/us-west1"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"


@pytest.mark.parametrize("path", ["aggregated/subnetworks", "aggregated/addresses"])
def test_the_pages_of_a_list_over_all_regions_have_everything_once(http, path):
    for region in ("us-east1", "us-west1", "europe-west1"):
        _make(http, f"regions/{region}/addresses", {"name": "same"})
    collection, found, token = path.partition("/")[2], [], ""
    while token is not None:
        answer = http.get(f"{BASE}/{path}", params={"maxResults": "2", "pageToken": token}).json()
        found += [item["selfLink"] for group in answer["items"].values() for item in group.get(collection, ())]
        token = answer.get("nextPageToken")

    assert len(found) == len(set(found)) == (len(REGIONS) if collection == "subnetworks" else 3)


def test_a_network_is_changed(http, vpc):
    patch = f"{BASE}/global/networks/vpc"
    started = http.patch(patch, json={"routingConfig": {"routingMode": "GLOBAL"}})
    whole = http.patch(patch, json={**http.get(patch).json(), "mtu": 1500})
    refused = http.patch(patch, json={"autoCreateSubnetworks": True})
    found = http.get(patch).json()

    assert (started.json()["operationType"], whole.status_code) == ("patch", 200)
    assert found["routingConfig"] == {"routingMode": "GLOBAL", "bgpBestPathSelectionMode": "LEGACY"}
    assert (found["mtu"], found["subnetworks"]) == (1500, [f"{URL}/{vpc}"])
    why = "A patch of a network cannot change it."
    assert _refusal(refused) == (400, "invalid", f"Invalid value for field 'resource.autoCreateSubnetworks': ''. {why}")


def test_the_network_and_the_subnetworks_of_every_project_can_be_changed(http):
    http.patch(f"{BASE}/global/networks/default", json={"routingConfig": {"routingMode": "GLOBAL"}})
    url = f"{REGION}/subnetworks/default"
    http.post(f"{url}/setPrivateIpGoogleAccess", json={"privateIpGoogleAccess": True})
    network = http.get(f"{BASE}/global/networks/default").json()

    assert (network["routingConfig"]["routingMode"], len(network["subnetworks"])) == ("GLOBAL", len(REGIONS))
    assert [item["name"] for item in http.get(f"{BASE}/global/networks").json()["items"]] == ["default"]
    assert [item["privateIpGoogleAccess"] for item in http.get(f"{REGION}/subnetworks").json()["items"]] == [True]
    assert http.get(f"{BASE}/regions/us-west1/subnetworks/default").json()["privateIpGoogleAccess"] is False


AUTO_MODE = "Extended subnetworks in auto subnet mode networks cannot overlap with 10.128.0.0/9."


def test_a_network_in_auto_mode_keeps_its_own_subnetworks(http):
    _make(http, "global/networks", {"name": "auto", "autoCreateSubnetworks": True})
    body = {"name": "more", "network": "global/networks/auto", "ipCidrRange": "10.200.0.0/16"}
    overlapping = http.post(f"{REGION}/subnetworks", json=body)
    _make(http, "regions/us-east1/subnetworks", {**body, "ipCidrRange": "10.1.0.0/16"})
    usage = "Invalid resource usage: 'Cannot delete auto subnetwork from an auto subnet mode network.'."

    field = "Invalid value for field 'resource.ipCidrRange': '10.200.0.0/16'."
    assert _refusal(overlapping) == (400, "invalid", f"{field} {AUTO_MODE}")
    for name in ("auto", "default"):
        assert _refusal(http.delete(f"{REGION}/subnetworks/{name}")) == (400, "invalidResourceUsage", usage)
    assert http.delete(f"{REGION}/subnetworks/more").status_code == 200
    assert http.post(f"{BASE}/global/networks/auto/switchToCustomMode").status_code == 200
    assert http.get(f"{BASE}/global/networks/auto").json()["autoCreateSubnetworks"] is False
    assert http.delete(f"{REGION}/subnetworks/auto").status_code == 200


def test_the_range_of_a_subnetwork_grows(http, vpc):
    other = {"name": "other", "network": "global/networks/vpc", "ipCidrRange": "10.9.1.0/24"}
    _make(http, "regions/us-west1/subnetworks", other)
    before, url = http.get(f"{BASE}/{vpc}").json(), f"{BASE}/{vpc}/expandIpCidrRange"
    refused = [http.post(url, json={"ipCidrRange": one}) for one in ("10.9.0.0/29", "10.9.0.0/28", "10.9.0.0/16")]
    grown = http.post(url, json={"ipCidrRange": "10.9.0.0/24"})
    after = http.get(f"{BASE}/{vpc}").json()

    assert [answer.status_code for answer in (*refused, grown)] == [400, 400, 400, 200]
    assert "conflicts with existing subnetwork 'other' in region 'us-west1'" in refused[2].text
    assert (after["ipCidrRange"], after["fingerprint"] != before["fingerprint"]) == ("10.9.0.0/24", True)


def test_a_patch_of_a_subnetwork_needs_its_fingerprint(http, vpc):
    current, pods = http.get(f"{BASE}/{vpc}").json(), {"rangeName": "pods", "ipCidrRange": "10.9.8.0/24"}
    patch = {"fingerprint": current["fingerprint"], "secondaryIpRanges": [pods]}
    done = http.patch(f"{BASE}/{vpc}", json=patch)
    stale = http.patch(f"{BASE}/{vpc}", json={**patch, "logConfig": {"enable": True}})
    body = {"name": "new", "network": "global/networks/vpc", "ipCidrRange": "10.9.8.128/25"}

    assert [(done.json()[name]) for name in ("operationType", "status")] == ["compute.subnetworks.patch", "DONE"]
    assert (stale.status_code, stale.json()["error"]["errors"][0]["reason"]) == (412, "conditionNotMet")
    assert http.get(f"{BASE}/{vpc}").json()["secondaryIpRanges"] == [pods]
    conflict = "Invalid IPCidrRange: 10.9.8.128/25 conflicts with existing subnetwork 'inside' in region 'us-east1'."
    assert _error(_make(http, "regions/us-east1/subnetworks", body), http) == ("INVALID_USAGE", conflict)
    _make(http, "regions/us-east1/subnetworks", {**body, "ipCidrRange": "10.9.9.0/24"})
    fresh = http.get(f"{REGION}/subnetworks/new").json()
    taken = {"fingerprint": fresh["fingerprint"], "secondaryIpRanges": [pods]}
    field = "Invalid value for field 'resource.secondaryIpRanges[0].ipCidrRange': '10.9.8.0/24'."
    message = "Invalid IPCidrRange: 10.9.8.0/24 conflicts with existing subnetwork 'inside' in region 'us-east1'."
    assert _refusal(http.patch(f"{REGION}/subnetworks/new", json=taken)) == (400, "invalid", f"{field} {message}")


def test_a_subnetwork_whose_range_is_taken_is_not_created(http, vpc):
    body = {"name": "twice", "network": "global/networks/vpc", "ipCidrRange": "10.9.0.8/29"}
    message = "Invalid IPCidrRange: 10.9.0.8/29 conflicts with existing subnetwork 'inside' in region 'us-east1'."

    assert _error(_make(http, "regions/us-west1/subnetworks", body), http) == ("INVALID_USAGE", message)
    assert http.get(f"{BASE}/regions/us-west1/subnetworks/twice").status_code == 404
    _make(http, "regions/us-west1/subnetworks", {**body, "ipCidrRange": "10.9.1.0/29"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": "global/networks/none"}, "'resource.network': 'global/networks/none'. The referenced network resource cannot be found."),
        ({"ipCidrRange": "10.9.1.1/24"}, "'resource.ipCidrRange': '10.9.1.1/24'. Must be a CIDR address range."),
        ({"ipCidrRange": None}, "'resource.ipCidrRange': ''. The field is required."),
    ],
)  # fmt: skip
def test_an_invalid_subnetwork_is_refused(http, vpc, change, message):
    body = {"name": "new", "network": "global/networks/vpc", "ipCidrRange": "10.9.1.0/24", **change}
    answer = http.post(f"{REGION}/subnetworks", json=body)

    assert answer.json()["error"]["message"] == f"Invalid value for field {message}"


def test_a_subnetwork_for_ipv6_only_needs_no_range(http, vpc):
    body = {"name": "six", "network": "global/networks/vpc", "stackType": "IPV6_ONLY", "ipv6AccessType": "EXTERNAL"}
    _make(http, "regions/us-east1/subnetworks", body)
    _make(
        http,
        "regions/us-east1/subnetworks",
        {"name": "n", "network": "global/networks/vpc", "ipCidrRange": "10.9.1.0/29"},
    )
    path = "regions/us-east1/subnetworks/six"
    found, (interface,) = (
        http.get(f"{BASE}/{path}").json(),
        _interfaces(http, {"subnetwork": path, "stackType": "IPV6_ONLY"}),
    )
    address = {"name": "a", "addressType": "INTERNAL", "subnetwork": path}
    why = "The subnetwork has no range of IPv4 addresses."

    assert (found["stackType"], {"ipCidrRange", "gatewayAddress"} & found.keys()) == ("IPV6_ONLY", set())
    assert (interface["subnetwork"], interface.get("networkIP")) == (f"{URL}/{path}", None)
    for answer in (http.post(f"{REGION}/addresses", json=address),
                   http.post(f"{BASE}/{path}/expandIpCidrRange", json={"ipCidrRange": "10.9.2.0/24"})):  # fmt: skip
        assert _refusal(answer)[2].endswith(why)
    assert http.delete(f"{BASE}/zones/{ZONE}/instances/vm").status_code == 200
    assert http.delete(f"{BASE}/{path}").status_code == 200


def test_what_exists_is_not_created_again(http, vpc):
    for collection, body in (
        ("global/networks", {"name": "default", "autoCreateSubnetworks": False}),
        ("global/networks", {"name": "vpc", "autoCreateSubnetworks": False}),
        ("regions/us-east1/subnetworks", {"name": "default"}),
    ):
        assert http.post(f"{BASE}/{collection}", json=body).status_code == 409


def test_a_network_is_deleted_once_nothing_uses_it(http, vpc):
    rule = {"name": "ssh", "network": "global/networks/vpc", "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}]}
    _make(http, "global/firewalls", rule)
    path, used = f"projects/{PROJECT}/global/networks/vpc", []
    for user in ("global/firewalls/ssh", vpc):
        used.append(_error(http.delete(f"{BASE}/global/networks/vpc").json(), http))
        assert http.delete(f"{BASE}/{user}").status_code == 200
    http.delete(f"{BASE}/global/networks/vpc")

    assert used == [
        (
            "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE",
            f"The network resource '{path}' is already being used by 'projects/{PROJECT}/{user}'",
        )
        for user in ("global/firewalls/ssh", vpc)
    ]
    assert http.get(f"{BASE}/global/networks/vpc").status_code == 404


def test_the_subnetworks_of_a_network_in_auto_mode_have_the_fields_of_all_others(http, vpc):
    _make(http, "global/networks", {"name": "auto", "autoCreateSubnetworks": True})
    own, other = (http.get(f"{REGION}/subnetworks/{name}").json() for name in ("auto", vpc.rpartition("/")[2]))

    assert other.keys() - own.keys() == set()


def test_the_subnetworks_of_a_network_in_auto_mode_are_deleted_with_it(http):
    _make(http, "global/networks", {"name": "auto", "autoCreateSubnetworks": True})
    http.delete(f"{BASE}/global/networks/auto")

    assert http.get(f"{REGION}/subnetworks/auto").status_code == 404


def test_a_subnetwork_with_an_instance_is_not_deleted(http, vpc):
    _interfaces(http, {"subnetwork": vpc})
    message = (
        f"The subnetwork resource 'projects/{PROJECT}/{vpc}' is already being used by "
        f"'projects/{PROJECT}/zones/{ZONE}/instances/vm'"
    )

    assert _refusal(http.delete(f"{BASE}/{vpc}")) == (400, "resourceInUseByAnotherResource", message)


def test_the_network_of_every_project_stays(http):
    assert http.delete(f"{BASE}/global/networks/default").status_code == 501


def test_firewall_rules(http):
    _make(http, "global/firewalls", {"name": "web", "allowed": [{"IPProtocol": "tcp", "ports": ["80"]}]})
    made = http.get(f"{BASE}/global/firewalls/web").json()
    fields = ("network", "direction", "priority", "disabled", "sourceRanges")

    assert [made[field] for field in fields] == [
        f"{URL}/global/networks/default",
        "INGRESS",
        1000,
        False,
        ["0.0.0.0/0"],
    ]
    assert [item["name"] for item in http.get(f"{BASE}/global/firewalls").json()["items"]] == ["web"]
    link = "global/networks/none"
    answer = http.post(
        f"{BASE}/global/firewalls", json={"name": "x", "network": link, "allowed": [{"IPProtocol": "all"}]}
    )
    assert _refusal(answer) == _missing("resource.network", "network", link)
    assert http.post(f"{BASE}/global/firewalls", json={"name": "x"}).status_code == 400


def test_a_firewall_rule_is_changed_and_replaced(http, vpc):
    web = {"name": "web", "network": "global/networks/vpc", "allowed": [{"IPProtocol": "tcp", "ports": ["80"]}]}
    _make(http, "global/firewalls", {**web, "priority": 5, "targetTags": ["web"]})
    url = f"{BASE}/global/firewalls/web"
    patched = http.patch(url, json={"disabled": True, "targetTags": None}).json()
    after_patch = http.get(url).json()
    replaced = http.put(url, json={"name": "web", "denied": [{"IPProtocol": "all"}]}).json()
    after_update = http.get(url).json()
    neither = http.patch(url, json={"denied": None})

    assert (patched["operationType"], replaced["operationType"]) == ("patch", "update")
    assert (after_patch["disabled"], after_patch["priority"], after_patch.get("targetTags")) == (True, 5, None)
    assert (after_update["disabled"], after_update["priority"], after_update.get("allowed")) == (False, 1000, None)
    assert {after_patch["network"], after_update["network"]} == {f"{URL}/global/networks/vpc"}
    assert after_update["id"] == after_patch["id"]
    assert neither.status_code == 400


def _missing(field, kind, link):
    message = f"Invalid value for field '{field}': '{link}'. The referenced {kind} resource cannot be found."
    return 400, "invalid", message


NIC = "resource.networkInterfaces[0]"
ELSEWHERE = "regions/us-west1/subnetworks/default"


@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ({"network": "global/networks/none"}, _missing(f"{NIC}.network", "network", "global/networks/none")),
        (
            {"subnetwork": "regions/us-east1/subnetworks/none"},
            _missing(f"{NIC}.subnetwork", "subnetwork", "regions/us-east1/subnetworks/none"),
        ),
        (
            {"network": "global/networks/vpc"},
            (400, "invalid", f"Invalid value for field '{NIC}': ''. Subnetwork should be specified for custom subnetmode network"),
        ),
        (
            {"network": "global/networks/vpc", "subnetwork": "regions/us-east1/subnetworks/default"},
            (400, "badRequest", f'Subnetwork "projects/{PROJECT}/regions/us-east1/subnetworks/default" is not valid for Network "vpc".'),
        ),
        (
            {"subnetwork": ELSEWHERE},
            (400, "invalid", f"Invalid value for field '{NIC}.subnetwork': '{ELSEWHERE}'. The subnetwork must be in the region of the instance."),
        ),
        (
            {"networkIP": "10.143.0.9"},
            (400, "invalid", f"Invalid value for field '{NIC}.networkIP': '10.143.0.9'. Requested internal IP is outside the subnetwork CIDR range."),
        ),
        (
            {"accessConfigs": [{"natIP": "35.1.2.3"}]},
            (400, "invalid", f"Invalid value for field '{NIC}.accessConfigs[0].natIP': '35.1.2.3'. The specified external IP address '35.1.2.3' was not found in region 'us-east1'."),
        ),
        ({"networkIP": "regions/us-east1/addresses/none"}, _missing(f"{NIC}.networkIP", "address", "regions/us-east1/addresses/none")),
    ],
)  # fmt: skip
def test_interfaces_refer_to_what_exists_and_fits(http, vpc, interface, expected):
    body = {"count": "1", "namePattern": "w-#", "instanceProperties": properties(networkInterfaces=[interface])}
    in_bulk = _refusal(http.post(f"{REGION}/instances/bulkInsert", json=body))

    assert _refusal(_insert(http, interface)) == expected
    assert (in_bulk[0], in_bulk[2].replace("resource.instanceProperties.", "resource.")) == (expected[0], expected[2])
    template = {"name": "t", "properties": properties(networkInterfaces=[interface])}
    is_missing = any(interface.get(name, "").endswith("/none") for name in ("network", "subnetwork"))
    answer = http.post(f"{BASE}/global/instanceTemplates", json=template)
    assert answer.status_code == (404 if is_missing else 200), "templates are checked for networks and subnetworks only"


def test_two_interfaces_are_in_different_subnetworks(http, vpc):
    twice = _insert(http, {}, {"subnetwork": "regions/us-east1/subnetworks/default"})
    field, link = "resource.networkInterfaces[1].subnetwork", "regions/us-east1/subnetworks/default"
    message = f"Invalid value for field '{field}': '{link}'. Subnetworks must be distinct for NICs attached to a VM."

    assert _refusal(twice) == (400, "invalid", message)
    assert len(_interfaces(http, {}, {"subnetwork": vpc})) == 2
    template = {"name": "t", "properties": properties(networkInterfaces=[{"subnetwork": link}, {"subnetwork": link}])}
    field, why = f"resource.properties.{field.partition('.')[2]}", "Subnetworks must be distinct for NICs in the same"
    message = f"Invalid value for field '{field}': '{link}'. {why} instance."
    assert _refusal(http.post(f"{BASE}/global/instanceTemplates", json=template)) == (400, "invalid", message)


def test_two_interfaces_are_in_different_networks(http, vpc):
    body = {"name": "second", "network": "global/networks/vpc", "ipCidrRange": "10.9.1.0/24"}
    _make(http, "regions/us-east1/subnetworks", body)
    second = {"network": "global/networks/vpc", "subnetwork": "regions/us-east1/subnetworks/second"}
    twice = _insert(http, {"subnetwork": vpc}, second)
    field = "resource.networkInterfaces[1].network"
    message = f"Invalid value for field '{field}': 'global/networks/vpc'. Networks must be distinct for NICs attached to a VM."

    assert _refusal(twice) == (400, "invalid", message)
    assert len(_interfaces(http, {"subnetwork": vpc}, {**second, "nicType": "MRDMA"})) == 2


def test_an_interface_does_not_move_to_the_network_of_another_one(http, vpc):
    interface = _interfaces(http, {}, {"subnetwork": vpc})[0]
    url = f"{BASE}/zones/{ZONE}/instances/vm/updateNetworkInterface?networkInterface=nic0"
    moved = http.patch(url, json={"fingerprint": interface["fingerprint"], "subnetwork": vpc})
    message = f"'resource.subnetwork': '{vpc}'. Subnetworks must be distinct for NICs attached to a VM."

    assert _refusal(moved) == (400, "invalid", f"Invalid value for field {message}")


def test_an_interface_gets_subnetwork_stack_type_and_an_address_of_the_range(http, vpc):
    outside, inside = _interfaces(http, {}, {"subnetwork": vpc})
    other = _interfaces(http, {"subnetwork": vpc}, name="other")[0]

    assert outside["subnetwork"] == f"{URL}/regions/us-east1/subnetworks/default"
    assert (outside["stackType"], outside["networkIP"], inside["networkIP"]) == ("IPV4_ONLY", "10.142.0.2", "10.9.0.2")
    assert (inside["network"], other["networkIP"]) == (f"{URL}/global/networks/vpc", "10.9.0.3")


def test_no_address_is_given_twice(http, vpc):
    assert _interfaces(http, {"subnetwork": vpc, "networkIP": "10.9.0.3"})[0]["networkIP"] == "10.9.0.3"
    given = [_interfaces(http, {"subnetwork": vpc}, name=f"vm-{number}")[0]["networkIP"] for number in range(2)]
    taken = _insert(http, {"subnetwork": vpc, "networkIP": "10.9.0.3"}, name="late").json()

    assert given == ["10.9.0.2", "10.9.0.4"]
    message = "IP '10.9.0.3' is already being used by another resource."
    assert _error(taken, http) == ("IP_IN_USE_BY_ANOTHER_RESOURCE", message)
    assert http.get(f"{BASE}/zones/{ZONE}/instances/late").status_code == 404
    body = properties(networkInterfaces=[{"subnetwork": vpc, "networkIP": "10.9.0.7"}])
    twice = {"count": "2", "namePattern": "w-#", "instanceProperties": body}
    operation = http.post(f"{REGION}/instances/bulkInsert", json=twice).json()
    assert _error(operation, http)[1] == "IP '10.9.0.7' is already being used by another resource."


def test_networks_may_have_the_same_ranges_and_addresses(http, vpc):
    _make(http, "global/networks", {"name": "twin", "autoCreateSubnetworks": False})
    body = {"name": "twin", "network": "global/networks/twin", "ipCidrRange": "10.9.0.0/28"}
    _make(http, "regions/us-east1/subnetworks", body)
    twin = "regions/us-east1/subnetworks/twin"
    given = [_interfaces(http, {"subnetwork": link}, name=link[-4:])[0]["networkIP"] for link in (vpc, twin)]
    asked = _insert(http, {"subnetwork": vpc, "networkIP": "10.9.0.9"}, name="one").json()
    again = _insert(http, {"subnetwork": twin, "networkIP": "10.9.0.9"}, name="two").json()
    _insert(http, {"subnetwork": twin}, name="three")

    assert given == ["10.9.0.2", "10.9.0.2"]
    for operation in (asked, again):
        done = http.get(operation["selfLink"].removeprefix("https://www.googleapis.com")).json()
        assert "error" not in done


def test_a_subnetwork_runs_out_of_addresses(http, vpc):
    body = {
        "count": "12",
        "namePattern": "w-##",
        "instanceProperties": properties(networkInterfaces=[{"subnetwork": vpc}]),
    }
    http.post(f"{REGION}/instances/bulkInsert", json=body)
    found = [
        item["networkInterfaces"][0]["networkIP"] for item in http.get(f"{BASE}/zones/{ZONE}/instances").json()["items"]
    ]
    code, message = _error(_insert(http, {"subnetwork": vpc}).json(), http)

    assert sorted(found, key=lambda address: int(address.rpartition(".")[2])) == [
        f"10.9.0.{host}" for host in range(2, 14)
    ]
    assert code == "IP_SPACE_EXHAUSTED_WITH_DETAILS"
    assert message == f"IP space of 'projects/{PROJECT}/{vpc}' is exhausted."
    http.delete(f"{BASE}/zones/{ZONE}/instances/w-05")
    assert _interfaces(http, {"subnetwork": vpc}, name="next")[0]["networkIP"] == "10.9.0.6"


def test_an_interface_moves_to_another_subnetwork(http, vpc):
    before = _interfaces(http, {})[0]
    change = {"fingerprint": before["fingerprint"], "subnetwork": vpc}
    url = f"{BASE}/zones/{ZONE}/instances/vm/updateNetworkInterface?networkInterface=nic0"
    missing = http.patch(url, json={**change, "subnetwork": "regions/us-east1/subnetworks/none"})
    assert http.patch(url, json=change).status_code == 200
    after = http.get(f"{BASE}/zones/{ZONE}/instances/vm").json()["networkInterfaces"][0]

    assert _refusal(missing) == _missing("resource.subnetwork", "subnetwork", "regions/us-east1/subnetworks/none")
    taken = _interfaces(http, {"subnetwork": vpc}, name="other")[0]["networkIP"]
    asked = http.patch(url, json={"fingerprint": after["fingerprint"], "networkIP": taken}).json()
    message = f"IP '{taken}' is already being used by another resource."
    assert _error(asked, http) == ("IP_IN_USE_BY_ANOTHER_RESOURCE", message)
    assert (after["network"], after["networkIP"]) == (f"{URL}/global/networks/vpc", "10.9.0.2")


def test_the_effective_firewall_rules_of_a_network_are_its_own(http, vpc):
    url, rule = f"{BASE}/global/networks/vpc/getEffectiveFirewalls", {"allowed": [{"IPProtocol": "tcp"}]}
    before = http.get(url).json()
    _make(http, "global/firewalls", {"name": "own", "network": "global/networks/vpc", **rule})
    _make(http, "global/firewalls", {"name": "other", **rule})

    assert before == {}
    assert http.get(url).json() == {"firewalls": [http.get(f"{BASE}/global/firewalls/own").json()]}
    assert http.get(f"{BASE}/global/networks/none/getEffectiveFirewalls").status_code == 404
