"""Capacity advice: its scores and shards follow from capacity, or are set."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1
from rolling.fleets import set_limits
from servers.google_clients import connect
from values.programs import PROJECT, ZONE

REGION = "us-east1"


def _ask(http, version="v1", **more):
    body = {
        "size": 10,
        "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
        "instanceFlexibilityPolicy": {"instanceSelections": {"only": {"machineTypes": ["n2-standard-4"]}}},
        **more,
    }
    return http.post(f"/compute/{version}/projects/{PROJECT}/regions/{REGION}/advice/capacity", json=body)


def _recommendation(http, version="v1", **more):
    (found,) = _ask(http, version, **more).json()["recommendations"]
    return found


@pytest.mark.parametrize("version", ["v1", "beta"])
def test_where_nothing_is_limited_all_instances_can_be_obtained(http, version):
    found = _recommendation(http, version)

    assert found["scores"] == {"obtainability": 1.0, "estimatedUptime": "21600s"}
    shard = {"zone": ZONE, "machineType": "n2-standard-4", "provisioningModel": "SPOT", "instanceCount": 10}
    assert found["shards"] == [shard]


def test_the_obtainability_is_the_part_for_which_there_is_room(cloud, http):
    capacity = {
        "us-east1-b": {"n2-standard-4": 1},
        "us-east1-c": {"n2-standard-4": 4},
        "us-east1-d": {"n2-standard-4": 0},
    }
    set_limits(cloud, machineTypes=capacity)
    single, anywhere = _recommendation(http), _recommendation(http, distributionPolicy={"targetShape": "ANY"})

    assert (single["scores"]["obtainability"], anywhere["scores"]["obtainability"]) == (0.4, 0.5)
    assert [(shard["zone"], shard["instanceCount"]) for shard in anywhere["shards"]] == [
        ("us-east1-b", 1),
        ("us-east1-c", 4),
    ]
    policy = {"zones": [{"zone": f"projects/{PROJECT}/zones/us-east1-d"}]}
    assert _recommendation(http, distributionPolicy=policy)["scores"]["obtainability"] == 0


def test_shards_name_the_machine_types_by_rank(cloud, http):
    set_limits(
        cloud,
        machineTypes={
            ZONE: {"n2-standard-4": 3},
            "us-east1-c": {"n2-standard-4": 0},
            "us-east1-d": {"n2-standard-4": 0},
        },
    )
    selections = {
        "second": {"machineTypes": ["e2-medium"], "rank": "1"},
        "first": {"machineTypes": ["n2-standard-4"], "rank": "0"},
    }
    found = _recommendation(http, instanceFlexibilityPolicy={"instanceSelections": selections})

    assert [(shard["machineType"], shard["instanceCount"]) for shard in found["shards"]] == [
        ("n2-standard-4", 3),
        ("e2-medium", 7),
    ]


def test_scores_can_be_set(cloud, http):
    cloud.post("/_emulator/advice", {"obtainability": 0.1, "estimatedUptime": "600s"})

    assert _recommendation(http)["scores"] == {"obtainability": 0.1, "estimatedUptime": "600s"}


def test_flex_start_instances_have_no_estimated_uptime(http):
    flexible = {"scheduling": {"provisioningModel": "FLEX_START"}}

    assert _recommendation(http, instanceProperties=flexible)["scores"] == {"obtainability": 1.0}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"size": None}, "'resource.size'"),
        ({"size": -1}, "Must be positive"),
        ({"instanceProperties": {"scheduling": {"provisioningModel": "STANDARD"}}}, "Must be one of SPOT, FLEX_START"),
        ({"instanceProperties": None}, "scheduling.provisioningModel"),
        ({"instanceFlexibilityPolicy": None}, "instanceSelections"),
        (
            {"instanceFlexibilityPolicy": {"instanceSelections": {"a": {"machineTypes": ["e9"]}}}},
            "existing machine type",
        ),
        ({"distributionPolicy": {"zones": [{"zone": "zones/us-west1-a"}]}}, "Not a zone of the region"),
        ({"sizes": 3}, "Cannot find field"),
    ],
)
def test_invalid_requests_for_advice_are_refused(http, more, words):
    refused = _ask(http, **more)

    assert (refused.status_code, words in refused.text) == (400, True), refused.text


def test_google_s_client_reads_the_advice(cloud):
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 1, "us-east1-d": 1})
    selection = compute_v1.CapacityAdviceRequestInstanceFlexibilityPolicyInstanceSelection(machine_types=["e2-small"])
    scheduling = compute_v1.CapacityAdviceRequestInstancePropertiesScheduling(provisioning_model="SPOT")
    request = compute_v1.CapacityAdviceRequest(
        size=2,
        instance_properties=compute_v1.CapacityAdviceRequestInstanceProperties(scheduling=scheduling),
        instance_flexibility_policy=compute_v1.CapacityAdviceRequestInstanceFlexibilityPolicy(
            instance_selections={"only": selection}
        ),
    )
    advice = connect(compute_v1.AdviceClient, cloud)
    answer = advice.capacity(project=PROJECT, region=REGION, capacity_advice_request_resource=request)

    assert answer.recommendations[0].scores.obtainability == 0.5
    assert answer.recommendations[0].shards[0].instance_count == 1
