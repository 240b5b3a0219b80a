"""Reserved addresses, and the instances that use them."""

from __future__ import annotations

from itertools import count

import pytest
from values.programs import DEBIAN, PROJECT, ZONE

from gcpx_emulator.core.store import Store

BASE = f"/compute/v1/projects/{PROJECT}"
ADDRESSES = f"{BASE}/regions/us-east1/addresses"
NETWORK = "global/networks/default"


def _reserve(http, **body):
    answer = http.post(ADDRESSES, json=body)
    assert answer.status_code == 200, answer.text
    return http.get(f"{ADDRESSES}/{body['name']}").json()


def _insert(http, name, **interface):
    disk = {"boot": True, "initializeParams": {"sourceImage": DEBIAN}}
    body = {"name": name, "machineType": f"zones/{ZONE}/machineTypes/e2-small", "disks": [disk]}
    answer = http.post(f"{BASE}/zones/{ZONE}/instances", json={**body, "networkInterfaces": [interface]})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _interface(http, name):
    return http.get(f"{BASE}/zones/{ZONE}/instances/{name}").json()["networkInterfaces"][0]


def _errors(http, operation):
    done = http.get(operation["selfLink"].removeprefix("https://www.googleapis.com")).json()
    return [(error["code"], error["message"]) for error in done["error"]["errors"]]


def test_an_external_address_is_used_by_one_instance(http):
    reserved = _reserve(http, name="outside")
    assert (reserved["addressType"], reserved["networkTier"], reserved["status"]) == ("EXTERNAL", "PREMIUM", "RESERVED")
    _insert(http, "vm", accessConfigs=[{"natIP": reserved["address"]}])
    path = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
    used = http.get(f"{ADDRESSES}/outside").json()

    assert _interface(http, "vm")["accessConfigs"][0]["natIP"] == reserved["address"]
    assert (used["status"], used["users"]) == ("IN_USE", [f"https://www.googleapis.com/compute/v1/{path}"])
    message = f"IP '{reserved['address']}' is already being used by another resource."
    again = _insert(http, "again", accessConfigs=[{"natIP": reserved["address"]}])
    assert _errors(http, again) == [("IP_IN_USE_BY_ANOTHER_RESOURCE", message)]
    http.delete(f"{BASE}/zones/{ZONE}/instances/vm")
    assert http.get(f"{ADDRESSES}/outside").json()["status"] == "RESERVED"
    assert http.delete(f"{ADDRESSES}/outside").status_code == 200


def test_an_ephemeral_address_is_promoted_and_released_while_an_instance_has_it(http):
    _insert(http, "vm", accessConfigs=[{}])
    address = _interface(http, "vm")["accessConfigs"][0]["natIP"]
    promoted = _reserve(http, name="promoted", address=address)
    released = http.delete(f"{ADDRESSES}/promoted")

    assert (promoted["address"], promoted["status"]) == (address, "IN_USE")
    assert released.status_code == 200, released.text
    assert _interface(http, "vm")["accessConfigs"][0]["natIP"] == address
    assert http.get(f"{ADDRESSES}/promoted").status_code == 404


def test_an_internal_address_is_kept_for_the_instance_that_names_it(http):
    first = _reserve(http, name="first", addressType="INTERNAL")
    second = _reserve(http, name="second", addressType="INTERNAL", address="10.142.0.3")
    _insert(http, "any")
    _insert(http, "vm", networkIP="regions/us-east1/addresses/first")
    _insert(http, "other", networkIP="10.142.0.3")

    assert (first["address"], second["address"], first["purpose"]) == ("10.142.0.2", "10.142.0.3", "GCE_ENDPOINT")
    assert [_interface(http, name)["networkIP"] for name in ("any", "vm", "other")] == [
        "10.142.0.4",
        "10.142.0.2",
        "10.142.0.3",
    ]
    assert http.get(f"{ADDRESSES}/second").json()["status"] == "IN_USE"


def test_global_addresses_are_reserved_changed_and_deleted(http):
    addresses = f"{BASE}/global/addresses"
    for body in (
        {"name": "site"},
        {"name": "peers", "addressType": "INTERNAL", "purpose": "VPC_PEERING", "prefixLength": 16, "network": NETWORK},
        {"name": "fixed", "addressType": "INTERNAL", "prefixLength": 24, "network": NETWORK, "address": "192.168.0.0"},
    ):
        assert http.post(addresses, json=body).status_code == 200
    site, peers, fixed = (http.get(f"{addresses}/{name}").json() for name in ("site", "peers", "fixed"))
    changed = http.post(
        f"{addresses}/{site['id']}/setLabels", json={"labels": {"a": "b"}, "labelFingerprint": site["labelFingerprint"]}
    )

    assert (site["addressType"], site["networkTier"], site["status"]) == ("EXTERNAL", "PREMIUM", "RESERVED")
    assert (peers["address"], peers["prefixLength"], "region" in peers) == ("10.0.0.0", 16, False)
    assert peers["network"] == f"https://www.googleapis.com{BASE}/{NETWORK}"
    assert (fixed["address"], fixed["purpose"]) == ("192.168.0.0", "VPC_PEERING")
    assert (changed.json()["operationType"], changed.json()["status"]) == ("setLabels", "DONE")
    listed = {item["name"]: item.get("labels") for item in http.get(addresses).json()["items"]}
    assert listed == {"site": {"a": "b"}, "peers": None, "fixed": None}
    group = http.get(f"{BASE}/aggregated/addresses").json()["items"]["global"]["addresses"]
    assert [item["name"] for item in group] == ["fixed", "peers", "site"]
    assert http.delete(f"{addresses}/site").status_code == 200
    assert http.get(f"{addresses}/site").status_code == 404


PEERING = {"addressType": "INTERNAL", "purpose": "VPC_PEERING", "prefixLength": 24, "network": NETWORK}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"addressType": "EXTERNAL"}, "'resource.purpose': 'VPC_PEERING'. The field cannot be specified with external address."),
        ({"network": None}, "'resource.network': ''. The field is required."),
        ({"network": "global/networks/none"}, "'resource.network': 'global/networks/none'. The referenced network resource cannot be found."),
        ({"prefixLength": None}, "'resource.prefixLength': ''. The field is required."),
        ({"address": "ten"}, "'resource.address': 'ten'. Must be a valid IP address."),
    ],
)  # fmt: skip
def test_a_range_that_is_not_valid_is_refused(http, change, message):
    answer = http.post(f"{BASE}/global/addresses", json={"name": "peers", **PEERING, **change})

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, f"Invalid value for field {message}")


def test_a_range_that_is_taken_is_not_reserved(http):
    subnetwork = http.get(f"{BASE}/regions/us-east1/subnetworks/default").json()["ipCidrRange"]
    first, _, length = subnetwork.partition("/")
    body = {"name": "late", **PEERING, "address": first, "prefixLength": int(length)}
    operation = http.post(f"{BASE}/global/addresses", json=body).json()
    found = [http.post(f"{BASE}/global/addresses", json={"name": name, **PEERING}).status_code for name in ("a", "b")]
    ranges = [http.get(f"{BASE}/global/addresses/{name}").json()["address"] for name in ("a", "b")]

    message = f"IP '{subnetwork}' is already being used by another resource."
    assert _errors(http, operation) == [("IP_IN_USE_BY_ANOTHER_RESOURCE", message)]
    assert (found, ranges) == ([200, 200], ["10.0.0.0", "10.0.1.0"])


def test_labels_of_an_address_are_only_set_afterwards(http):
    reserved = _reserve(http, name="outside", labels={"a": "b"})
    assert "labels" not in reserved
    body = {"labels": {"c": "d"}, "labelFingerprint": reserved["labelFingerprint"]}
    for status in (200, 412):
        assert http.post(f"{ADDRESSES}/outside/setLabels", json=body).status_code == status

    assert http.get(f"{ADDRESSES}/outside").json()["labels"] == {"c": "d"}


@pytest.mark.parametrize("address", ["ten", "10.142.0", "2001:db8::1"])
def test_an_address_that_is_malformed_is_refused(http, address):
    answer = http.post(ADDRESSES, json={"name": "x", "addressType": "INTERNAL", "address": address})

    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (400, "invalid")


def test_an_external_address_is_reserved_once(http):
    reserved = _reserve(http, name="first", address="35.1.2.3")
    operation = http.post(ADDRESSES, json={"name": "second", "address": reserved["address"]}).json()

    message = "IP '35.1.2.3' is already being used by another resource."
    assert _errors(http, operation) == [("IP_IN_USE_BY_ANOTHER_RESOURCE", message)]


def test_an_address_that_is_taken_is_not_reserved(http):
    _insert(http, "vm", networkIP="10.142.0.9")
    body = {"name": "late", "addressType": "INTERNAL", "address": "10.142.0.9"}
    operation = http.post(ADDRESSES, json=body).json()
    outside = http.post(ADDRESSES, json={**body, "address": "10.1.0.9"})

    message = "IP '10.142.0.9' is already being used by another resource."
    assert _errors(http, operation) == [("IP_IN_USE_BY_ANOTHER_RESOURCE", message)]
    assert http.get(f"{ADDRESSES}/late").status_code == 404
    assert (outside.status_code, "outside the subnetwork CIDR range" in outside.text) == (400, True)


@pytest.mark.parametrize("name", ["by-name", "by-id"])
def test_addresses_are_read_and_listed(http, name):
    reserved = _reserve(http, name=name)
    key = reserved["id"] if name == "by-id" else name

    assert http.get(f"{ADDRESSES}/{key}").json() == reserved
    assert http.get(ADDRESSES).json()["items"] == [reserved]
    groups = http.get(f"{BASE}/aggregated/addresses").json()["items"]
    assert groups["regions/us-east1"]["addresses"] == [reserved]
    assert http.get(f"{ADDRESSES}/none").status_code == 404


def _held(http, address):
    """Return whether an instance or a reserved address holds an internal address, for which one is reserved."""
    body = {"name": "probe", "addressType": "INTERNAL", "address": address}
    done = http.get(http.post(ADDRESSES, json=body).json()["selfLink"].removeprefix("https://www.googleapis.com"))
    http.delete(f"{ADDRESSES}/probe")
    return "error" in done.json()


def test_an_address_is_free_again_when_its_holder_is_gone(http):
    _insert(http, "vm", networkIP="10.142.0.9", accessConfigs=[{}])
    _reserve(http, name="kept", addressType="INTERNAL", address="10.142.0.8")
    before = [_held(http, address) for address in ("10.142.0.8", "10.142.0.9")]
    http.delete(f"{BASE}/zones/{ZONE}/instances/vm")
    http.delete(f"{ADDRESSES}/kept")

    assert before == [True, True]
    assert [_held(http, address) for address in ("10.142.0.8", "10.142.0.9")] == [False, False]


def test_an_external_address_is_free_again_when_its_configuration_is_gone(http):
    reserved = _reserve(http, name="outside")
    _insert(http, "vm", accessConfigs=[{"natIP": reserved["address"], "name": "External NAT"}])
    where = {"accessConfig": "External NAT", "networkInterface": "nic0"}
    http.post(f"{BASE}/zones/{ZONE}/instances/vm/deleteAccessConfig", params=where)

    assert http.get(f"{ADDRESSES}/outside").json() == reserved
    other = _insert(http, "other", accessConfigs=[{"natIP": reserved["address"]}])
    assert "error" not in http.get(other["selfLink"].removeprefix("https://www.googleapis.com")).json()
    assert _interface(http, "other")["accessConfigs"][0]["natIP"] == reserved["address"]


def test_a_loaded_state_holds_its_own_addresses(http):
    _insert(http, "vm", networkIP="10.142.0.9")
    state = http.get("/_emulator/state").content
    http.post("/_emulator/reset")
    assert not _held(http, "10.142.0.9")
    _insert(http, "other", networkIP="10.142.0.8")
    http.put("/_emulator/state", content=state)

    assert [_held(http, address) for address in ("10.142.0.8", "10.142.0.9")] == [False, True]


def test_a_file_that_is_opened_again_holds_its_addresses(tmp_path):
    path, subnetwork = (
        f"projects/{PROJECT}/zones/{ZONE}/instances/vm",
        f"projects/{PROJECT}/regions/us-east1/subnetworks/s",
    )
    interface = {"subnetwork": f"https://www.googleapis.com/compute/v1/{subnetwork}", "networkIP": "10.0.0.2"}
    for _ in range(2):
        store = Store(str(tmp_path / "state"))
        store.put(path, {"networkInterfaces": [interface | {"accessConfigs": [{"natIP": "34.0.0.1"}]}]})
        store.close()
    again = Store(str(tmp_path / "state"))

    again.put(f"projects/{PROJECT}/regions/us-east1/addresses/kept", {**interface, "address": "10.0.0.2"})
    counts = [again.count_held(subnetwork)]
    assert len(again.holders("10.0.0.2", subnetwork)) == 2
    assert again.holders("34.0.0.1", "") == [path]
    for deleted in (path, f"projects/{PROJECT}/regions/us-east1/addresses/kept"):
        again.delete(deleted)
        counts.append(again.count_held(subnetwork))
    assert counts == [1, 1, 0], "an address with two holders counts once"
    again.close()


def test_the_work_of_an_insertion_does_not_grow_with_the_instances(cloud, http):
    store, steps, work = cloud.emulator.store, count(), []
    _insert(http, "first")
    http.post("/_emulator/clock", json={"advance": 3600})  # nothing is due any longer
    first = store.get(f"projects/{PROJECT}/zones/{ZONE}/instances/first")
    # SQLite reports each hundred of its steps; a row of an index takes few, and a row of JSON many.
    store._database.set_progress_handler(lambda: next(steps) and None, 100)  # noqa: SLF001 - SQLite's own counter
    for number in range(2):
        before = next(steps)
        _insert(http, f"counted-{number}")
        work.append(next(steps) - before)
        with store.transaction():
            for index in range(1000):
                own = first["networkInterfaces"][0] | {"networkIP": f"10.142.{4 + index // 200}.{index % 200}"}
                store.put(f"projects/{PROJECT}/zones/{ZONE}/instances/m{index}", first | {"networkInterfaces": [own]})

    assert work[1] < work[0] + 20, "a statement reads all instances"
