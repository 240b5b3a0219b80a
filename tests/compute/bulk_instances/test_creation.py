"""A fleet is created in one call, exactly once, as its inputs and its template say."""

from __future__ import annotations

import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import UNKNOWN, failing
from google.protobuf import empty_pb2
from rolling.fleets import instance_path, member_names
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template

BULK = "compute.regionInstances.bulkInsert"
FIRST_LIST = "compute.instances.aggregatedList"
ZONE_LIST = "compute.instances.list"


def test_a_fleet_is_created_in_one_call(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())

    assert cloud.calls() == [FIRST_LIST, BULK, "compute.regionOperations.wait", *[ZONE_LIST] * 3]
    assert cloud.requests(BULK)[0]["path"] == f"/compute/beta/projects/{PROJECT}/regions/us-east1/instances/bulkInsert"
    assert cloud.requests(BULK)[0]["body"]["instanceProperties"]["labels"]["gcpx-bulk"] == created.outputs["fleetId"]
    assert created.id == f"projects/{PROJECT}/regions/us-east1/bulkInstances/{created.outputs['fleetId']}"
    assert member_names(created) == ["web-001", "web-002", "web-003"]
    first = created.outputs["members"][0]
    assert set(first) == {
        *("name", "selfLink", "id", "zone", "status", "machineType", "localSsds", "internalAddress", "generation")
    }
    assert (first["status"], first["zone"]) == ("RUNNING", "us-east1-b")
    assert (first["machineType"], first["localSsds"]) == ("e2-small", 0)
    assert created.outputs["perLocationStatus"]["zones/us-east1-b"]["createdVmCount"] == 3
    assert created.outputs["__kept"]["operationGroupId"]


@pytest.mark.parametrize(
    "fault", [{"drop": "after"}, {"drop": "before"}, {"status": 503}, {"body": "no JSON"}], ids=str
)
def test_a_lost_response_creates_one_fleet(engine, cloud, fault):
    cloud.fail(BULK, **fault)
    created = engine.create(FLEET, "workers", fleet())

    assert created.outputs["memberCount"] == 3
    assert cloud.emulator.store.counts()["instances"] == 3
    assert len({entry["query"]["requestId"] for entry in cloud.requests(BULK)}) == 1


def test_two_fleets_with_the_same_name_pattern_have_different_members(engine, cloud):
    one = engine.create(FLEET, "one", fleet())
    two = engine.create(FLEET, "two", fleet())

    assert member_names(two) == ["web-004", "web-005", "web-006"]
    engine.delete(one)
    assert engine.refresh(two) == two


def test_instance_properties_are_merged_into_the_template(engine, cloud):
    made = engine.create(
        TEMPLATE,
        "base",
        {"name": "base", **template(labels={"from": "template", "both": "template"}, canIpForward=True)},
    )
    inputs = {
        "region": "us-east1",
        "count": 1,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLinkUnique"],
    }
    created = engine.create(FLEET, "workers", {**inputs, "instanceProperties": {"labels": {"both": "fleet"}}})
    labels = cloud.get(instance_path("t-1"))["labels"]

    own = {"gcpx-bulk": created.outputs["fleetId"], "gcpx-generation": created.outputs["generation"]}
    assert labels == {"from": "template", "both": "fleet", **own}
    assert cloud.get(instance_path("t-1"))["canIpForward"] is True
    alone = engine.create(FLEET, "alone", inputs)
    assert cloud.get(instance_path("t-2"))["labels"]["gcpx-bulk"] == alone.outputs["fleetId"]


def test_the_location_policy_spreads_the_fleet(engine):
    policy = {"targetShape": "BALANCED", "locations": {"zones/us-east1-d": {"preference": "DENY"}}}
    created = engine.create(FLEET, "workers", fleet(count=6, locationPolicy=policy))
    zones = [member["zone"] for member in created.outputs["members"]]

    assert {zone: zones.count(zone) for zone in zones} == {"us-east1-b": 3, "us-east1-c": 3}


def test_a_long_creation_shows_its_progress(engine, cloud):
    cloud.emulator.operations.latency = 240.0
    created = engine.create(FLEET, "workers", fleet(count=100))

    said = "\n".join(engine.log.wait_for(2, created.urn))
    assert "50/100 instances, zone us-east1-b rolling forward" in said


def test_a_cancelled_wait_says_what_to_do_next(engine, cloud):
    cloud.hold_operations()
    inputs = engine.checked(FLEET, "workers", fleet())
    request = driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"), properties=driver.struct(inputs))
    with failing() as failed:
        creation = engine.stub.Create.future(request)
        cloud.clock.wait_for_waiting()
        engine.stub.Cancel(empty_pb2.Empty())
        creation.result()
    cloud.finish_operations()

    assert "cancelled while Google was still working on it" in failed[0].partial.reasons[0]


def test_a_creation_that_takes_too_long_is_kept_in_the_state(engine, cloud):
    inputs, provider = engine.checked(FLEET, "workers", fleet()), ClockedProvider()
    request = driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"), properties=driver.struct(inputs), timeout=60)
    with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as clocked_engine, failing() as failed:
        cloud.hold_operations()
        creation = clocked_engine.stub.Create.future(request)
        cloud.clock.wait_for_waiting()
        provider.time.advance(70)
        creation.result()

    assert "did not finish in time" in failed[0].message
    assert failed[0].partial.id.endswith(f"/bulkInstances/{inputs['fleetId']}")
    state = driver.Resource(
        engine.urn(FLEET, "workers"), failed[0].partial.id, inputs, driver.plain(failed[0].partial.properties)
    )
    cloud.finish_operations()
    assert engine.update(state, fleet()).outputs["memberCount"] == 3, "the instances are counted, not created twice"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (fleet(3), "3 instances are created with 1 request: web-###"),
        (fleet(6_000, namePattern="web-####"), "6,000 instances are created with 2 requests: web-####"),
        (fleet(1, fallbacks=[{"machineType": "e2-medium"}]), "1 instance is created with 1 request (fallbacks may need more): web-###"),
        ({**fleet(None, perInstanceProperties={"a": {}, "b": {}}), "namePattern": None}, "2 instances are created with 1 request: a, b"),
        (fleet(30, placement={"policies": ["rack-1", "rack-2"], "membersPerPolicy": 15}), "30 instances are created with 2 requests: web-###"),
        (fleet(0), ""),
        (fleet(UNKNOWN), ""),
    ],
)  # fmt: skip
def test_the_preview_of_a_creation_says_how_many_instances_are_created_and_how(engine, inputs, words):
    given = {name: value for name, value in inputs.items() if value is not None}
    engine.preview(FLEET, "workers", engine.checked(FLEET, "workers", given))
    said = [text for severity, _, text in engine.log.messages if severity == "INFO"]
    assert said == ([f"what this creation does: {words}"] if words else [])
