"""Asynchronous replication of disks, and clones of consistency groups."""

from __future__ import annotations

import pytest
from values.programs import PROJECT

BASE = f"/compute/v1/projects/{PROJECT}"
FIRST, SECOND = f"{BASE}/zones/us-east1-b/disks", f"{BASE}/zones/us-west1-a/disks"


def _replica(name):
    return {"asyncSecondaryDisk": f"projects/{PROJECT}/zones/us-west1-a/disks/{name}"}


def _make_secondary(http, name):
    primary = {"disk": f"projects/{PROJECT}/zones/us-east1-b/disks/first"}
    http.post(SECOND, json={"name": name, "sizeGb": "10", "asyncPrimaryDisk": primary})


@pytest.fixture
def pair(http):
    """A primary disk with a secondary disk in another region."""
    http.post(FIRST, json={"name": "first", "sizeGb": "10"})
    _make_secondary(http, "second")
    return _replica("second")


def _group(http, url, region):
    """Put the disk at a URL into a new consistency group in its region, and return the group's link."""
    policy = {"name": "group", "diskConsistencyGroupPolicy": {}}
    assert http.post(f"{BASE}/regions/{region}/resourcePolicies", json=policy).status_code == 200
    group = f"projects/{PROJECT}/regions/{region}/resourcePolicies/group"
    assert http.post(f"{url}/addResourcePolicies", json={"resourcePolicies": [group]}).status_code == 200
    return group


def _states(http):
    first, second = (http.get(url).json()["resourceStatus"] for url in (f"{FIRST}/first", f"{SECOND}/second"))
    return [*(one["state"] for one in first["asyncSecondaryDisks"].values()), second["asyncPrimaryDisk"]["state"]]


def test_a_replication_is_started_and_stopped_on_either_disk(http, pair):
    started = http.post(f"{FIRST}/first/startAsyncReplication", json=pair)
    primary, secondary = (http.get(url).json() for url in (f"{FIRST}/first", f"{SECOND}/second"))

    assert (started.status_code, started.json()["operationType"]) == (200, "startAsyncReplication"), started.text
    replica = {"disk": secondary["selfLink"], "diskId": secondary["id"]}
    assert primary["asyncSecondaryDisks"] == {secondary["selfLink"]: {"asyncReplicationDisk": replica}}
    assert secondary["asyncPrimaryDisk"] == {"disk": primary["selfLink"], "diskId": primary["id"]}
    assert _states(http) == ["ACTIVE", "ACTIVE"]
    assert http.post(f"{SECOND}/second/stopAsyncReplication").status_code == 200
    assert _states(http) == ["STOPPED", "STOPPED"]
    assert http.post(f"{FIRST}/first/stopAsyncReplication").status_code == 400


@pytest.mark.parametrize("again", [False, True])
def test_a_secondary_disk_survives_its_primary_disk(http, pair, again):
    http.post(f"{FIRST}/first/startAsyncReplication", json=pair)
    disk = {"source": "zones/us-east1-b/disks/first", "boot": True, "autoDelete": True}
    body = {"name": "vm", "machineType": "zones/us-east1-b/machineTypes/e2-small", "disks": [disk]}
    assert http.post(f"{BASE}/zones/us-east1-b/instances", json=body).status_code == 200
    http.delete(f"{BASE}/zones/us-east1-b/instances/vm")
    assert http.get(f"{FIRST}/first").status_code == 404
    if again:
        http.post(FIRST, json={"name": "first", "sizeGb": "10"})
    stopped = http.post(f"{SECOND}/second/stopAsyncReplication")
    state = http.get(f"{SECOND}/second").json()["resourceStatus"]["asyncPrimaryDisk"]["state"]
    assert (stopped.status_code, state) == (200, "STOPPED"), stopped.text
    assert http.delete(f"{SECOND}/second").status_code == 200


def test_a_disk_of_a_replication_is_in_use(http, pair):
    http.post(f"{FIRST}/first/startAsyncReplication", json=pair)
    attached = {"source": pair["asyncSecondaryDisk"], "boot": True}
    body = {"name": "vm", "machineType": "zones/us-west1-a/machineTypes/e2-small", "disks": [attached]}
    refused = [
        *(http.delete(url) for url in (f"{FIRST}/first", f"{SECOND}/second")),
        http.post(f"{BASE}/zones/us-west1-a/instances", json=body),
        http.post(f"{SECOND}/second/createSnapshot", json={"name": "s"}),
    ]

    assert {answer.status_code for answer in refused} == {400}
    assert {answer.json()["error"]["errors"][0]["reason"] for answer in refused} == {"resourceInUseByAnotherResource"}
    assert http.post(f"{FIRST}/first/createSnapshot", json={"name": "s"}).status_code == 200
    http.post(f"{FIRST}/first/stopAsyncReplication")
    assert [http.delete(url).status_code for url in (f"{FIRST}/first", f"{SECOND}/second")] == [200, 200]


def test_a_disk_is_replicated_to_one_secondary_disk_and_to_each_once(http, pair):
    _make_secondary(http, "third")
    http.post(SECOND, json={"name": "other", "sizeGb": "10"})
    start = f"{FIRST}/first/startAsyncReplication"
    wrong = [http.post(start, json=body) for body in (_replica("other"), _replica("none"), {})]

    assert [answer.status_code for answer in wrong] == [400, 400, 400]
    assert ["asyncPrimaryDisk" in wrong[0].text, "cannot be found" in wrong[1].text] == [True, True]
    assert [http.post(start, json=body).status_code for body in (pair, pair, _replica("third"))] == [200, 400, 400]
    http.post(f"{FIRST}/first/stopAsyncReplication")
    assert [http.post(start, json=body).status_code for body in (pair, _replica("third"))] == [400, 200]


@pytest.mark.parametrize(("scope", "disk", "region"), [(FIRST, "first", "us-east1"), (SECOND, "second", "us-west1")])
def test_the_replications_of_a_group_are_stopped(http, pair, scope, disk, region):
    group = _group(http, f"{scope}/{disk}", region)
    http.post(f"{FIRST}/first/startAsyncReplication", json=pair)
    replication = next(iter(http.get(f"{FIRST}/first").json()["asyncSecondaryDisks"].values()))["asyncReplicationDisk"]
    replication = replication if disk == "first" else http.get(f"{SECOND}/second").json()["asyncPrimaryDisk"]
    left = http.post(f"{scope}/{disk}/removeResourcePolicies", json={"resourcePolicies": [group]})
    http.post(f"{scope}/{disk}/addResourcePolicies", json={"resourcePolicies": [group]})
    stopped = http.post(f"{scope}/stopGroupAsyncReplication", json={"resourcePolicy": group})

    assert replication["consistencyGroupPolicy"].endswith(group)
    assert left.status_code == (400 if disk == "first" else 200)
    assert (stopped.status_code, _states(http)) == (200, ["STOPPED", "STOPPED"])
    assert http.delete(f"{BASE}/regions/{region}/resourcePolicies/group").status_code == 400
    http.post(f"{scope}/{disk}/removeResourcePolicies", json={"resourcePolicies": [group]})
    assert http.delete(f"{BASE}/regions/{region}/resourcePolicies/group").status_code == 200


def test_a_group_must_exist_and_be_a_consistency_group(http, pair):
    policies = f"{BASE}/regions/us-east1/resourcePolicies"
    http.post(policies, json={"name": "near", "groupPlacementPolicy": {"collocation": "COLLOCATED"}})
    for way, field in (("stopGroupAsyncReplication", "resourcePolicy"), ("bulkInsert", "sourceConsistencyGroupPolicy")):
        links = [f"regions/us-east1/resourcePolicies/{name}" for name in ("none", "near")]
        wrong = [http.post(f"{FIRST}/{way}", json=body) for body in ({}, *({field: link} for link in links))]
        assert [(answer.status_code, field in answer.text) for answer in wrong] == [(400, True)] * 3


def test_the_secondary_disks_of_a_group_are_cloned(http, pair):
    group = _group(http, f"{SECOND}/second", "us-west1")
    http.post(f"{FIRST}/first/startAsyncReplication", json=pair)
    http.post(SECOND, json={"name": "primary", "sizeGb": "10", "resourcePolicies": [group]})
    cloned = http.post(f"{SECOND}/bulkInsert", json={"sourceConsistencyGroupPolicy": group})
    policy = http.get(f"{BASE}/regions/us-west1/resourcePolicies/group").json()
    disks = http.get(SECOND, params={"filter": "name != primary"}).json()["items"]
    clone, second = disks if cloned.status_code == 200 else ({}, {})
    clone, second = (clone, second) if second["name"] == "second" else (second, clone)

    assert (clone["sourceDisk"], clone["sourceDiskId"], clone["sizeGb"]) == (second["selfLink"], second["id"], "10")
    assert (clone["sourceConsistencyGroupPolicy"], clone["sourceConsistencyGroupPolicyId"]) == (
        policy["selfLink"],
        policy["id"],
    )
    assert {"asyncPrimaryDisk", "resourcePolicies"}.isdisjoint(clone)
    assert http.delete(f"{SECOND}/{clone['name']}").status_code == 200


def test_clones_of_other_sources_are_not_emulated(http):
    answer = http.post(f"{SECOND}/bulkInsert", json={"snapshotGroupParameters": {"sourceSnapshotGroup": "g"}})
    assert (answer.status_code, "compute.disks.bulkInsert with snapshotGroupParameters" in answer.text) == (501, True)


def test_regional_disks_are_replicated_and_cloned(http):
    first, second = (f"{BASE}/regions/{region}/disks" for region in ("europe-west2", "europe-west3"))
    zones = [[f"zones/{region}-{letter}" for letter in "ab"] for region in ("europe-west2", "europe-west3")]
    http.post(first, json={"name": "first", "sizeGb": "10", "replicaZones": zones[0]})
    primary = {"disk": f"projects/{PROJECT}/regions/europe-west2/disks/first"}
    secondary = {"name": "second", "sizeGb": "10", "replicaZones": zones[1], "asyncPrimaryDisk": primary}
    http.post(second, json=secondary)
    group = _group(http, f"{second}/second", "europe-west3")
    body = {"asyncSecondaryDisk": f"projects/{PROJECT}/regions/europe-west3/disks/second"}
    assert http.post(f"{first}/first/startAsyncReplication", json=body).status_code == 200
    assert http.post(f"{second}/bulkInsert", json={"sourceConsistencyGroupPolicy": group}).status_code == 200
    disks = http.get(second).json()["items"]
    stopped = http.post(f"{second}/stopGroupAsyncReplication", json={"resourcePolicy": group})

    assert [len(disk["replicaZones"]) for disk in disks] == [2, 2]
    assert (stopped.status_code, http.post(f"{first}/first/stopAsyncReplication").status_code) == (200, 400)
