"""Bulk creation."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect, instance_properties
from values.programs import DEBIAN, PROJECT, ZONE

from gcpx_emulator.compute.locations import ZONES


def _bulk(cloud, **more):
    resource = compute_v1.BulkInsertInstanceResource(instance_properties=instance_properties(labels={"a": "b"}), **more)
    regional = connect(compute_v1.RegionInstancesClient, cloud)
    return regional.bulk_insert(project=PROJECT, region="us-east1", bulk_insert_instance_resource_resource=resource)


def test_instances_are_created_in_bulk_and_listed_over_all_zones(cloud):
    _bulk(cloud, count=4, name_pattern="w-###", location_policy={"target_shape": "BALANCED"}).result()
    _bulk(cloud, count=2, name_pattern="w-###").result()
    instances = connect(compute_v1.InstancesClient, cloud)
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT, filter='labels.a = "b"', max_results=2)
    found = [item.name for _, scope in instances.aggregated_list(request=request) for item in scope.instances]

    assert sorted(found) == [f"w-00{number}" for number in range(1, 7)]


def test_every_page_of_an_aggregated_list_has_all_zones(cloud, http):
    _bulk(cloud, count=3, name_pattern="w-###", location_policy={"target_shape": "BALANCED"}).result()
    found, token, pages = [], None, 0
    while token != "":
        page = {"pageToken": token} if token else {}
        answer = http.get(
            f"/compute/v1/projects/{PROJECT}/aggregated/instances", params={"maxResults": 1, **page}
        ).json()
        empty = [scope for scope in answer["items"].values() if "instances" not in scope]
        assert len(answer["items"]) == len(ZONES)
        assert {scope["warning"]["code"] for scope in empty} == {"NO_RESULTS_ON_PAGE"}
        found += [name for name, scope in answer["items"].items() if "instances" in scope]
        token, pages = answer.get("nextPageToken", ""), pages + 1

    assert found == ["zones/us-east1-b", "zones/us-east1-c", "zones/us-east1-d"]
    assert pages == 3


def test_a_bulk_creation_that_falls_short_is_rolled_back(cloud):
    cloud.emulator.store.put("limits/all", {"instances": {"us-east1": 3}})
    operation = _bulk(cloud, count=5, min_count=4, name_pattern="w-#")
    with pytest.raises(exceptions.GoogleAPICallError, match="Quota 'INSTANCES' exceeded"):
        operation.result()
    operations = connect(compute_v1.RegionOperationsClient, cloud)
    done = operations.get(project=PROJECT, region="us-east1", operation=operation.name)
    status = done.instances_bulk_insert_operation_metadata.per_location_status["zones/us-east1-b"]

    assert (status.status, status.target_vm_count, status.deleted_vm_count) == ("ROLLING_BACK", 5, 3)
    assert done.error.errors[1].error_details[0].quota_info.limit == 3.0
    assert "instances" not in cloud.emulator.store.counts()
    _bulk(cloud, count=5, min_count=2, name_pattern="w-#").result()
    assert cloud.emulator.store.counts()["instances"] == 3


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"count": 1}, "namePattern"),
        ({"name_pattern": "a-#"}, "'resource.count'"),
        ({"count": 1, "name_pattern": "a-#-#"}, "one run"),
        ({"count": 10, "name_pattern": "a-#"}, "too few #"),
        ({"count": 1, "min_count": 2, "name_pattern": "a-#"}, "minCount"),
        (
            {"count": 1, "name_pattern": "a-#", "location_policy": {"locations": {"zones/nowhere": {}}}},
            "Not a zone of the region",
        ),
    ],
)
def test_invalid_bulk_creations_are_refused(cloud, more, words):
    with pytest.raises(exceptions.BadRequest, match=words):
        _bulk(cloud, **more)


def test_a_zone_takes_instances_in_bulk_too(cloud):
    resource = compute_v1.BulkInsertInstanceResource(
        instance_properties=instance_properties(), count=2, name_pattern="z-##"
    )
    instances = connect(compute_v1.InstancesClient, cloud)
    instances.bulk_insert(project=PROJECT, zone=ZONE, bulk_insert_instance_resource_resource=resource).result()

    assert [item.name for item in instances.list(project=PROJECT, zone=ZONE)] == ["z-01", "z-02"]


def test_a_read_only_disk_is_used_by_every_instance_of_a_bulk_creation(cloud, http):
    cloud.make_disk("shared-data")
    disks = [
        {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}},
        {"source": "shared-data", "mode": "READ_ONLY"},
    ]
    body = {
        "count": "3",
        "namePattern": "w-#",
        "instanceProperties": {"machineType": "e2-small", "disks": disks, "networkInterfaces": [{}]},
    }
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", body)
    users = [
        user.rpartition("/")[2] for user in cloud.get(f"projects/{PROJECT}/zones/{ZONE}/disks/shared-data")["users"]
    ]

    assert users == ["w-1", "w-2", "w-3"]
    disks[1]["mode"] = "READ_WRITE"
    cloud.make_disk("other-data")
    disks[1]["source"] = "other-data"
    refused = http.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", json=body)
    assert (refused.status_code, "read-only" in refused.text) == (400, True)


def test_a_location_policy_in_a_zone_is_not_dropped(http):
    body = {
        "count": "1",
        "namePattern": "w-#",
        "instanceProperties": {"machineType": "e2-small"},
        "locationPolicy": {"locations": {f"zones/{ZONE}": {"constraints": {"maxCount": 1}}}},
    }
    answer = http.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", json=body)

    assert (answer.status_code, answer.json()["error"]["message"]) == (
        501,
        "compute.instances.bulkInsert with 'locationPolicy' is not emulated",
    )
