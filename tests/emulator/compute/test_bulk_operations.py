"""The operations of bulk creations: one for the whole creation, and one for each instance, found by the group that they share."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1
from rolling.fleets import set_limits
from servers.google_clients import connect
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
REGION = "us-east1"
EXHAUSTED = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"


def _bulk_insert(http, scope=f"regions/{REGION}", **more):
    body = {"count": "3", "namePattern": "w-###", "instanceProperties": properties(), **more}
    answer = http.post(f"{BASE}/{scope}/instances/bulkInsert", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _group(http, operation, zone=ZONE, **more):
    """Read the operations of the instances of a bulk creation."""
    filter_ = f'operationGroupId = "{operation["operationGroupId"]}" AND operationType = insert'
    answer = http.get(f"{BASE}/zones/{zone}/operations", params={"filter": filter_, **more})
    return answer.json().get("items", [])


@pytest.mark.parametrize("scope", [f"regions/{REGION}", f"zones/{ZONE}"])
def test_each_instance_of_a_bulk_creation_has_its_own_operation(cloud, http, scope):
    whole = _bulk_insert(http, scope)
    operations = _group(http, whole)
    instances = [cloud.get(f"projects/{PROJECT}/zones/{ZONE}/instances/w-00{number}") for number in (1, 2, 3)]

    assert whole["operationType"] == "bulkInsert"
    assert [item["targetId"] for item in operations] == [instance["id"] for instance in instances]
    assert [item["targetLink"] for item in operations] == [instance["selfLink"] for instance in instances]
    assert {item["status"] for item in operations} == {"DONE"}
    assert {(item["user"], item["insertTime"]) for item in operations} == {(whole["user"], whole["insertTime"])}
    assert len({item["id"] for item in [whole, *operations]}) == 4


def test_the_operations_of_instances_are_as_far_as_the_whole(cloud, http):
    cloud.emulator.operations.latency = 100.0
    whole = _bulk_insert(http)
    seen = []
    for seconds in (0, 50, 50):
        cloud.clock.advance(seconds)
        parent = http.get(f"{BASE}/regions/{REGION}/operations/{whole['name']}").json()
        seen.append({(item["status"], item["progress"]) for item in _group(http, whole)})
        assert seen[-1] == {(parent["status"], parent["progress"])}

    assert seen == [{("RUNNING", 0)}, {("RUNNING", 50)}, {("DONE", 100)}]


def test_an_instance_without_room_has_a_failed_operation_with_details(cloud, http):
    set_limits(cloud, machineTypes={ZONE: {"e2-small": 2}}, zones={"us-east1-d": 0})
    whole = _bulk_insert(http, minCount="1", locationPolicy={"zones": [{"zone": f"zones/{ZONE}"}]})
    made, failed = _group(http, whole), _group(http, whole, filter="httpErrorStatusCode = 503")
    (error,) = failed[0]["error"]["errors"]
    info = next(detail["errorInfo"] for detail in error["errorDetails"] if "errorInfo" in detail)

    assert [item["targetLink"].rpartition("/")[2] for item in made] == ["w-001", "w-002", "w-003"]
    assert [item["targetLink"].rpartition("/")[2] for item in failed] == ["w-003"]
    assert (error["code"], failed[0]["httpErrorMessage"]) == (EXHAUSTED, "SERVICE UNAVAILABLE")
    assert info["metadatas"] == {"vmType": "e2-small", "zone": ZONE, "zonesAvailable": "us-east1-c", "attachment": ""}
    assert (info["reason"], info["domain"]) == ("resource_availability", "compute.googleapis.com")


def test_google_s_client_reads_why_instances_were_not_created(cloud, http):
    accelerators = [{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}]
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 0, "us-east1-d": 0})
    _bulk_insert(
        http, minCount="1", instanceProperties=properties(machineType="g2-standard-4", guestAccelerators=accelerators)
    )
    operations = connect(compute_v1.ZoneOperationsClient, cloud)
    request = compute_v1.ListZoneOperationsRequest(project=PROJECT, zone=ZONE, filter="httpErrorStatusCode >= 400")
    failed = list(operations.list(request=request))
    details = failed[0].error.errors[0].error_details

    assert len(failed) == 2
    assert dict(details[2].error_info.metadatas)["attachment"] == "nvidia-l4:1"
    assert details[0].help.links[0].description == "Troubleshooting documentation"
    assert "with 1 nvidia-l4 accelerator(s) is currently unavailable" in details[1].localized_message.message
    assert "Consider trying" not in details[1].localized_message.message


def test_operations_agree_with_the_status_of_each_location(cloud, http):
    types = {"us-east1-c": {"e2-small": 2}, "us-east1-d": {"e2-small": 3}}
    set_limits(cloud, zones={"us-east1-b": 1}, machineTypes=types, instances={REGION: 5})
    policy = {"targetShape": "BALANCED"}
    name = _bulk_insert(http, count="9", minCount="1", locationPolicy=policy)["name"]
    whole = http.get(f"{BASE}/regions/{REGION}/operations/{name}").json()
    by_zone = whole["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
    found = {}
    for zone in by_zone:
        operations = _group(http, whole, zone.removeprefix("zones/"))
        codes = [item["error"]["errors"][0]["code"] for item in operations if "error" in item]
        found[zone] = codes
        assert by_zone[zone]["createdVmCount"] == len(operations) - len(codes)
        assert by_zone[zone]["failedToCreateVmCount"] == len(codes)

    assert found["zones/us-east1-b"] == [EXHAUSTED] * 2
    assert found["zones/us-east1-c"] == [EXHAUSTED]
    assert found["zones/us-east1-d"] == ["QUOTA_EXCEEDED"]


def test_a_creation_below_its_minimum_cancels_the_creations_of_the_other_instances(cloud, http):
    set_limits(cloud, zones={ZONE: 1}, plainErrors=True)
    whole = _bulk_insert(http, locationPolicy={"zones": [{"zone": f"zones/{ZONE}"}]})
    whole = http.get(f"{BASE}/regions/{REGION}/operations/{whole['name']}").json()
    codes = [[error["code"] for error in item["error"]["errors"]] for item in [whole, *_group(http, whole)]]

    assert codes == [
        ["VM_MIN_COUNT_NOT_REACHED", "ZONE_RESOURCE_POOL_EXHAUSTED"],
        ["OPERATION_CANCELED_BY_USER"],
        ["ZONE_RESOURCE_POOL_EXHAUSTED"],
        ["ZONE_RESOURCE_POOL_EXHAUSTED"],
    ]
    assert whole["httpErrorStatusCode"] == 503
    assert "instances" not in cloud.emulator.store.counts()


def test_an_injected_failure_is_that_of_every_instance(cloud, http):
    error = {"code": "PERMISSIONS_ERROR", "message": "Required 'compute.subnetworks.use' permission"}
    cloud.fail("compute.regionInstances.bulkInsert", operation={"errors": [error]})
    whole = _bulk_insert(http)
    operations = _group(http, whole)

    assert [item["error"]["errors"] for item in operations] == [[error]] * 3
    assert "instances" not in cloud.emulator.store.counts()


@pytest.mark.parametrize(
    ("filter_", "number"),
    [
        ("operationType = insert", 3),
        ("operationType = bulkInsert", 1),
        ('status = "DONE"', 4),
        ("status != DONE", 0),
        ('insertTime > "2020-01-01T00:00:00Z"', 4),
        ('insertTime > "2120-01-01T00:00:00Z"', 0),
        ("httpErrorStatusCode = 503", 1),
        ("httpErrorStatusCode:*", 1),
        ("clientOperationId = 6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a11", 1),
        ("targetId != 0", 4),
        ('(operationType = insert) AND (NOT httpErrorStatusCode:*) AND (status = "DONE")', 2),
        ("operationType eq insert", 3),
    ],
)
def test_operations_are_filtered(cloud, http, filter_, number):
    set_limits(cloud, zones={ZONE: 2})
    url = f"zones/{ZONE}/instances/bulkInsert?requestId=6f1b3b1e-4a0e-4d43-9a0b-0c6f2f1d9a11"
    body = {"count": "3", "minCount": "1", "namePattern": "w-#", "instanceProperties": properties()}
    assert http.post(f"{BASE}/{url}", json=body).status_code == 200
    found = http.get(f"{BASE}/zones/{ZONE}/operations", params={"filter": filter_}).json()

    assert len(found.get("items", ())) == number


def test_operations_are_listed_page_by_page(http):
    whole = _bulk_insert(http, count="7")
    url, names, token = f"{BASE}/zones/{ZONE}/operations", [], None
    while token != "":
        page = {"pageToken": token} if token else {}
        filter_ = f'operationGroupId = "{whole["operationGroupId"]}"'
        answer = http.get(url, params={"maxResults": 3, "filter": filter_, **page}).json()
        names += [item["name"] for item in answer["items"]]
        token = answer.get("nextPageToken", "")

    assert len(set(names)) == len(names) == 7
    assert names == sorted(names)


def test_the_operations_of_a_zone_that_does_not_exist_are_not_found(http):
    assert http.get(f"{BASE}/zones/nowhere-a/operations").status_code == 404


def _statuses(cloud, http, seconds=0):
    """Return the statuses of a zone's instances by name, after some seconds."""
    cloud.clock.advance(seconds)
    listed = http.get(f"{BASE}/zones/{ZONE}/instances").json().get("items", [])
    return {item["name"]: item["status"] for item in listed}


@pytest.mark.parametrize("count", ["1", "3"])
def test_instances_are_seen_while_they_are_made(cloud, http, count):
    cloud.emulator.operations.latency = 100.0
    _bulk_insert(http, count=count, instanceProperties=properties(scheduling={"maxRunDuration": {"seconds": "60"}}))
    seen = [_statuses(cloud, http, seconds) for seconds in (0, 50, 50, 60)]

    assert [set(statuses.values()) for statuses in seen] == [
        {"PROVISIONING"}, {"STAGING"}, {"RUNNING"}, {"TERMINATED"}
    ]  # fmt: skip
    assert {len(statuses) for statuses in seen} == {int(count)}


def test_an_instance_that_is_being_made_has_not_booted(cloud, http):
    cloud.emulator.operations.latency = 100.0
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    _bulk_insert(http, count="1")
    url = f"{BASE}/zones/{ZONE}/instances/w-001"
    before = http.get(url).json()

    assert http.get(f"{url}/getGuestAttributes", params={"queryPath": "app/"}).status_code == 404
    assert ("lastStartTimestamp" in before, before["cpuPlatform"]) == (False, "Unknown CPU Platform")
    cloud.clock.advance(100)
    assert http.get(f"{url}/getGuestAttributes", params={"queryPath": "app/"}).status_code == 200
    assert "lastStartTimestamp" in http.get(url).json()


def test_instances_that_are_being_made_have_their_names_and_their_room(cloud, http):
    set_limits(cloud, zones={ZONE: 4}, plainErrors=True)
    cloud.emulator.operations.latency = 100.0
    only = {"locationPolicy": {"zones": [{"zone": f"zones/{ZONE}"}]}}
    _bulk_insert(http, **only)
    _bulk_insert(http, minCount="1", **only)

    assert set(_statuses(cloud, http)) == {"w-001", "w-002", "w-003", "w-004"}


def test_a_bulk_creation_that_fails_takes_back_the_instances_that_it_has_shown(cloud, http):
    set_limits(cloud, zones={ZONE: 1}, plainErrors=True)
    cloud.emulator.operations.latency = 100.0
    _bulk_insert(http, locationPolicy={"zones": [{"zone": f"zones/{ZONE}"}]})
    seen = [_statuses(cloud, http, seconds) for seconds in (0, 50, 50)]

    assert seen == [{"w-001": "PROVISIONING"}, {"w-001": "STAGING"}, {}]
    assert not {"disks", "instances"} & cloud.emulator.store.counts().keys()
