"""Storage pools, and the hyperdisks in them."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"
PLACE = f"projects/{PROJECT}/zones/{ZONE}"
POOLS, DISKS = f"{BASE}/zones/{ZONE}/storagePools", f"{BASE}/zones/{ZONE}/disks"
TYPE = "storagePoolTypes/hyperdisk-balanced"
HYPERDISK = f"zones/{ZONE}/diskTypes/hyperdisk-balanced"


def _pool(**more):
    return {"name": "pool", "storagePoolType": f"{PLACE}/{TYPE}", "poolProvisionedCapacityGb": "10240", **more}


def _disk(**more):
    return {"name": "d", "type": HYPERDISK, "sizeGb": "100", "storagePool": f"{PLACE}/storagePools/pool", **more}


def test_a_pool_is_inserted_listed_and_deleted(http):
    given = {"poolProvisionedIops": "10000", "poolProvisionedThroughput": "1024", "labels": {"a": "b"}}
    given |= {"capacityProvisioningType": "STANDARD", "performanceProvisioningType": "STANDARD", "description": "d"}
    assert http.post(POOLS, json=_pool(**given)).json()["operationType"] == "insert"
    pool = http.get(f"{POOLS}/pool").json()
    everywhere = http.get(f"{BASE}/aggregated/storagePools").json()

    assert given.items() <= pool.items()
    assert (pool["kind"], pool["state"], pool["poolProvisionedCapacityGb"]) == ("compute#storagePool", "READY", "10240")
    assert pool["storagePoolType"] == f"https://www.googleapis.com/compute/v1/{PLACE}/{TYPE}"
    assert pool["selfLinkWithId"] == pool["selfLink"].replace("/pool", f"/{pool['id']}")
    assert http.get(POOLS).json()["items"] == [pool]
    assert everywhere["items"][f"zones/{ZONE}"]["storagePools"] == [pool]
    assert http.delete(f"{POOLS}/pool").status_code == 200
    assert http.get(f"{POOLS}/pool").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "status", "field"),
    [
        ({"poolProvisionedCapacityGb": "10239"}, 400, "poolProvisionedCapacityGb"),
        ({"poolProvisionedCapacityGb": None}, 400, "poolProvisionedCapacityGb"),
        ({"storagePoolType": None}, 400, "storagePoolType"),
        ({"storagePoolType": f"{PLACE}/storagePoolTypes/none"}, 400, "storagePoolType"),
        ({"poolProvisionedIops": "-1"}, 400, "poolProvisionedIops"),
        ({"labels": {"A": "b"}}, 400, "labels"),
        ({"exapoolProvisionedCapacityGb": {"readOptimized": "1"}}, 501, "compute.storagePools.insert"),
    ],
)
def test_a_wrong_pool_is_refused(http, wrong, status, field):
    body = {name: value for name, value in _pool(**wrong).items() if value is not None}
    answer = http.post(POOLS, json=body)
    assert (answer.status_code, field in answer.text) == (status, True), answer.text


def test_a_pool_shows_its_disks(http):
    http.post(POOLS, json=_pool())
    iops = {"provisionedIops": "3600", "provisionedThroughput": "290"}
    assert http.post(DISKS, json=_disk(**iops)).status_code == 200
    http.post(DISKS, json={"name": "elsewhere", "type": HYPERDISK, "sizeGb": "100"})
    disk, pool = http.get(f"{DISKS}/d").json(), http.get(f"{POOLS}/pool").json()
    (listed,) = http.get(f"{POOLS}/pool/listDisks").json()["items"]
    status = pool["resourceStatus"]

    assert disk["storagePool"] == pool["selfLink"]
    assert (listed["disk"], listed["type"], listed["sizeGb"]) == (disk["selfLink"], disk["type"], "100")
    assert iops.items() <= listed.items()
    assert (status["diskCount"], status["totalProvisionedDiskCapacityGb"]) == ("1", "100")
    assert (status["totalProvisionedDiskIops"], status["maxTotalProvisionedDiskCapacityGb"]) == ("3600", "51200")
    in_use = http.delete(f"{POOLS}/pool")
    assert (in_use.status_code, "disks/d" in in_use.text) == (400, True)
    http.delete(f"{DISKS}/d")
    assert http.delete(f"{POOLS}/pool").status_code == 200


def test_a_disk_names_its_pool_by_its_numeric_id(http):
    http.post(POOLS, json=_pool())
    pool = http.get(f"{POOLS}/pool").json()
    assert http.post(DISKS, json=_disk(storagePool=pool["selfLinkWithId"])).status_code == 200
    assert http.get(f"{DISKS}/d").json()["storagePool"] == pool["selfLink"]
    assert http.get(f"{POOLS}/pool").json()["resourceStatus"]["diskCount"] == "1"


def test_a_pool_has_no_more_disks_than_fit_while_operations_run(cloud, http):
    http.post(POOLS, json=_pool(capacityProvisioningType="STANDARD"))
    http.post(DISKS, json=_disk(name="first", sizeGb="4000"))
    cloud.emulator.operations.latency = 100.0
    assert http.post(f"{DISKS}/first/resize", json={"sizeGb": "5000"}).status_code == 200
    answers = [http.post(DISKS, json=_disk(name=name, sizeGb=size)) for name, size in (("a", "5240"), ("b", "1"))]
    assert [answer.status_code for answer in answers] == [200, 400]
    in_use = http.delete(f"{POOLS}/pool")
    assert (in_use.status_code, "is already being used" in in_use.text) == (400, True)


def test_the_disks_of_one_instance_fit_into_a_pool_together(http):
    http.post(POOLS, json=_pool(capacityProvisioningType="STANDARD"))
    made = {"diskType": HYPERDISK, "diskSizeGb": "6000", "storagePool": f"zones/{ZONE}/storagePools/pool"}
    disks = [{"boot": name == "a", "initializeParams": {**made, "diskName": name}} for name in ("a", "b")]
    body = {"name": "vm", "machineType": f"zones/{ZONE}/machineTypes/c3-standard-4", "networkInterfaces": [{}]}
    disks[0]["initializeParams"]["sourceImage"] = "projects/debian-cloud/global/images/family/debian-12"
    answer = http.post(f"{BASE}/zones/{ZONE}/instances", json={**body, "disks": disks})
    assert (answer.status_code, "resource.disks[1]" in answer.text) == (400, True), answer.text
    assert "items" not in http.get(DISKS).json()


@pytest.mark.parametrize(
    "wrong",
    [
        {"storagePool": f"{PLACE}/storagePools/none"},
        {"type": f"zones/{ZONE}/diskTypes/pd-ssd"},
        {"type": f"zones/{ZONE}/diskTypes/hyperdisk-throughput"},
        {"sizeGb": "10241"},
    ],
)
def test_a_disk_that_does_not_fit_into_a_pool_is_refused(http, wrong):
    http.post(POOLS, json=_pool(capacityProvisioningType="STANDARD"))
    answer = http.post(DISKS, json=_disk(**wrong))
    assert (answer.status_code, "resource.storagePool" in answer.text) == (400, True), answer.text


def test_a_pool_is_of_the_zone_of_its_disks(http):
    http.post(POOLS, json=_pool())
    other = f"{BASE}/zones/us-east1-c/disks"
    answer = http.post(other, json=_disk(type="zones/us-east1-c/diskTypes/hyperdisk-balanced"))
    assert (answer.status_code, "zone of the disk" in answer.text) == (400, True)


def test_the_new_disks_of_an_instance_are_in_a_pool(http):
    http.post(POOLS, json=_pool())
    made = {"diskType": HYPERDISK, "diskSizeGb": "20", "storagePool": f"zones/{ZONE}/storagePools/pool"}
    image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
    body = {
        "name": "vm",
        "machineType": f"zones/{ZONE}/machineTypes/c3-standard-4",
        "disks": [{"boot": True, "initializeParams": {**made, **image}}],
        "networkInterfaces": [{}],
    }
    refused = {**body, "disks": [{"boot": True, "initializeParams": {**made, **image, "storagePool": f"{PLACE}/x/y"}}]}
    answers = [http.post(f"{BASE}/zones/{ZONE}/instances", json=one) for one in (refused, body)]
    (listed,) = http.get(f"{POOLS}/pool/listDisks").json()["items"]

    assert [answer.status_code for answer in answers] == [400, 200], answers[1].text
    assert "resource.disks[0].initializeParams.storagePool" in answers[0].text
    assert [link.rpartition("/")[2] for link in listed["attachedInstances"]] == ["vm"]


def test_a_pool_and_its_disks_grow(http):
    http.post(POOLS, json=_pool(capacityProvisioningType="STANDARD"))
    http.post(DISKS, json=_disk(sizeGb="10240"))
    too_large = http.post(f"{DISKS}/d/resize", json={"sizeGb": "10241"})
    body = {"poolProvisionedCapacityGb": "20480", "poolProvisionedIops": "20000"}
    grown = http.patch(f"{POOLS}/pool?updateMask=poolProvisionedCapacityGb", json=body)
    pool = http.get(f"{POOLS}/pool").json()
    resized = http.post(f"{DISKS}/d/resize", json={"sizeGb": "20480"})
    shrunk = http.patch(f"{POOLS}/pool?updateMask=pool_provisioned_capacity_gb", json=_pool())

    assert [too_large.status_code, grown.status_code, resized.status_code, shrunk.status_code] == [400, 200, 200, 400]
    assert (pool["poolProvisionedCapacityGb"], "poolProvisionedIops" in pool) == ("20480", False)
    assert "lastResizeTimestamp" in pool["resourceStatus"]


@pytest.mark.parametrize("mask", ["", "?updateMask=labels"])
def test_an_update_names_fields_that_it_can_change(http, mask):
    http.post(POOLS, json=_pool())
    answer = http.patch(f"{POOLS}/pool{mask}", json=_pool())
    assert (answer.status_code, "updateMask" in answer.text) == (400, True)


def test_types_of_zones_are_listed_everywhere(http):
    for kind, singular in (("storagePoolTypes", "storagePoolType"), ("diskTypes", "diskType")):
        listed = http.get(f"{BASE}/zones/{ZONE}/{kind}").json()["items"]
        everywhere = http.get(f"{BASE}/aggregated/{kind}").json()

        assert everywhere["kind"] == f"compute#{singular}AggregatedList"
        assert everywhere["items"][f"zones/{ZONE}"][kind] == listed
    types = http.get(f"{BASE}/zones/{ZONE}/storagePoolTypes").json()["items"]
    assert [kind["supportedDiskTypes"] for kind in types] == [["hyperdisk-balanced"], ["hyperdisk-throughput"]]
