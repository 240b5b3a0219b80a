"""Resource policies, and the number of instances that placement policies allow."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import connect
from values.programs import PROJECT, ZONE, properties

BETA = f"/compute/beta/projects/{PROJECT}"
REGION = "us-east1"


def _make_policy(http, name="near", **placement):
    url, body = f"{BETA}/regions/{REGION}/resourcePolicies", {"name": name, "groupPlacementPolicy": placement}
    assert http.post(url, json=body).status_code == 200


def _bulk_insert(http, count, **more):
    made = properties(resourcePolicies=["near"], **more)
    body = {"count": str(count), "namePattern": "w-####", "instanceProperties": made}
    return http.post(f"{BETA}/regions/{REGION}/instances/bulkInsert", json=body)


def test_google_s_client_creates_reads_lists_and_deletes_policies(cloud):
    policies = connect(compute_v1.ResourcePoliciesClient, cloud)
    where = {"project": PROJECT, "region": REGION}
    placement = compute_v1.ResourcePolicyGroupPlacementPolicy(collocation="COLLOCATED", vm_count=2)
    policy = compute_v1.ResourcePolicy(name="near", group_placement_policy=placement)
    policies.insert(**where, resource_policy_resource=policy).result()
    found = policies.get(**where, resource_policy="near")

    assert (found.status, found.group_placement_policy.vm_count) == ("READY", 2)
    assert [item.name for item in policies.list(**where)] == ["near"]
    with pytest.raises(exceptions.Conflict):
        policies.insert(**where, resource_policy_resource=policy)
    policies.delete(**where, resource_policy="near").result()
    with pytest.raises(exceptions.NotFound):
        policies.get(**where, resource_policy="near")


def test_a_patch_changes_a_snapshot_schedule(http):
    policies = f"/compute/v1/projects/{PROJECT}/regions/{REGION}/resourcePolicies"
    daily = {"dailySchedule": {"daysInCycle": 1, "startTime": "04:00"}}
    weekly = {"weeklySchedule": {"dayOfWeeks": [{"day": "MONDAY", "startTime": "00:00"}]}}
    kept = {"retentionPolicy": {"maxRetentionDays": 3}}
    http.post(policies, json={"name": "daily", "snapshotSchedulePolicy": {"schedule": daily, **kept}})
    body = {"description": "new", "snapshotSchedulePolicy": {"schedule": weekly}}
    changed = http.patch(f"{policies}/daily", json={"name": "daily", **body})
    policy = http.get(f"{policies}/daily").json()

    assert changed.status_code == 200, changed.text
    assert (policy["description"], policy["snapshotSchedulePolicy"]) == ("new", {"schedule": weekly, **kept})
    http.patch(f"{policies}/daily", params={"updateMask": "description"}, json={"snapshotSchedulePolicy": {}})
    assert "description" not in (policy := http.get(f"{policies}/daily").json())
    assert policy["snapshotSchedulePolicy"]["schedule"] == weekly
    other = http.patch(f"{policies}/daily", json={"groupPlacementPolicy": {"vmCount": 2}})
    assert (other.status_code, "compute.resourcePolicies.patch" in other.text) == (501, True)
    assert http.patch(f"{policies}/none", json=body).status_code == 404


@pytest.mark.parametrize(
    ("placement", "most"),
    [
        ({"collocation": "COLLOCATED", "maxDistance": 1}, 22),
        ({"collocation": "COLLOCATED", "maxDistance": 2}, 256),
        ({"collocation": "COLLOCATED", "maxDistance": 3}, 1500),
        ({"collocation": "COLLOCATED"}, 150),
        ({"collocation": "COLLOCATED", "vmCount": 3}, 3),
        ({"availabilityDomainCount": 8}, 256),
    ],
)
def test_a_placement_policy_takes_a_limited_number_of_instances(http, placement, most):
    _make_policy(http, **placement)
    refused = _bulk_insert(http, most + 1)

    assert (refused.status_code, f"takes at most {most} instances" in refused.text) == (400, True)


def test_a_full_placement_policy_takes_no_further_instance(http):
    _make_policy(http, collocation="COLLOCATED", maxDistance=1)

    assert _bulk_insert(http, 22).status_code == 200
    assert "takes at most 22 instances, and has 22" in _bulk_insert(http, 1).text


def test_single_instances_count_too_and_show_the_policy_s_url(cloud, http):
    _make_policy(http, collocation="COLLOCATED", vmCount=1)
    body = properties(resourcePolicies=[f"regions/{REGION}/resourcePolicies/near"], name="a")
    body["machineType"] = f"zones/{ZONE}/machineTypes/e2-small"
    answers = [http.post(f"{BETA}/zones/{ZONE}/instances", json={**body, "name": name}).status_code for name in "ab"]
    (url,) = http.get(f"{BETA}/zones/{ZONE}/instances/a").json()["resourcePolicies"]

    assert answers == [200, 400]
    assert url == f"https://www.googleapis.com{BETA}/regions/{REGION}/resourcePolicies/near"
    in_use = http.delete(f"{BETA}/regions/{REGION}/resourcePolicies/near")
    assert (in_use.status_code, in_use.json()["error"]["errors"][0]["reason"]) == (
        400,
        "resourceInUseByAnotherResource",
    )


def test_other_policies_take_any_number(http):
    http.post(f"{BETA}/regions/{REGION}/resourcePolicies", json={"name": "near", "diskConsistencyGroupPolicy": {}})

    assert _bulk_insert(http, 200).status_code == 200


def test_a_policy_that_does_not_exist_is_refused(http):
    refused = _bulk_insert(http, 1)

    assert refused.status_code == 400
    assert f"projects/{PROJECT}/regions/{REGION}/resourcePolicies/near' was not found" in refused.text
