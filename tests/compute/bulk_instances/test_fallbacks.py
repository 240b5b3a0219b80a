"""Instances that cannot be created with the fleet's own properties are created with its fallbacks, in their order."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.driver import UNKNOWN, failing
from engines.stack import PROVIDER_ID
from rolling.fleets import instance_path, member_names, set_limits
from values.programs import FLEET, PROJECT, fleet, template

BULK = "compute.regionInstances.bulkInsert"
ROOM_IN_C = {"zones": {"us-east1-b": 4, "us-east1-d": 0}}
IN_B = {"zones": [{"zone": "zones/us-east1-b"}]}
THEN_C = {"locationPolicy": IN_B, "fallbacks": [{"zones": ["us-east1-c"]}]}


def _zones(resource):
    zones = [member["zone"] for member in resource.outputs["members"]]
    return {zone: zones.count(zone) for zone in zones}


def _bodies(cloud):
    return [entry["body"] for entry in cloud.requests(BULK)]


def test_a_fallback_creates_what_is_missing(engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    created = engine.create(FLEET, "workers", fleet(count=10, **THEN_C))

    assert _zones(created) == {"us-east1-b": 4, "us-east1-c": 6}
    assert [(body["count"], body["minCount"]) for body in _bodies(cloud)] == [("10", "0"), ("6", "6")]
    assert created.outputs["shortfalls"] == [], "nothing is missing"
    assert {zone: status["createdVmCount"] for zone, status in created.outputs["perLocationStatus"].items()} == {
        "zones/us-east1-b": 4,
        "zones/us-east1-c": 6,
    }
    assert engine.refresh(created).inputs == created.inputs


def test_members_of_a_fallback_have_its_index_as_label(engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    engine.create(FLEET, "workers", fleet(count=5, **THEN_C))
    labels = {member["name"]: member["labels"] for member in cloud.emulator.store.list(f"projects/{PROJECT}/zones/us-east1-c/instances")}  # fmt: skip

    assert [found["gcpx-fallback"].partition("-")[0] for found in labels.values()] == ["0"]
    assert "gcpx-fallback" not in cloud.get(instance_path("web-001"))["labels"]


def test_a_fallback_merges_into_the_fleets_properties(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    scheduling = {"provisioningModel": "SPOT", "preemptible": True, "instanceTerminationAction": "DELETE"}
    fallbacks = [
        {"machineType": "n2-standard-2", "minCpuPlatform": "Intel Ice Lake"},
        {"provisioningModel": "STANDARD"},
        {"instanceFlexibilityPolicy": {"instanceSelections": {"any": {"machineTypes": ["n2d-standard-2"]}}}},
    ]
    policy = {"instanceSelections": {"small": {"machineTypes": ["e2-small"]}}}
    with failing():
        engine.create(FLEET, "workers", fleet(scheduling=scheduling, fallbacks=fallbacks, instanceFlexibilityPolicy=policy))  # fmt: skip
    own, machine, model, flexible = _bodies(cloud)

    assert own["instanceFlexibilityPolicy"] == policy
    assert machine["instanceProperties"]["machineType"] == "n2-standard-2"
    assert machine["instanceProperties"]["minCpuPlatform"] == "Intel Ice Lake"
    assert machine["instanceProperties"]["scheduling"] == scheduling
    assert "instanceFlexibilityPolicy" not in machine, "the machine type of a fallback replaces the fleet's choice"
    assert model["instanceProperties"]["scheduling"] == {"provisioningModel": "STANDARD"}
    assert model["instanceFlexibilityPolicy"] == policy
    assert flexible["instanceFlexibilityPolicy"] == fallbacks[2]["instanceFlexibilityPolicy"]
    labels = [body["instanceProperties"]["labels"].get("gcpx-fallback", "") for body in _bodies(cloud)]
    assert [label.partition("-")[0] for label in labels] == ["", "0", "1", "2"]
    assert all("fallbacks" not in body for body in _bodies(cloud))


def test_a_fallback_removes_from_a_template_what_its_model_excludes(engine, cloud):
    scheduling = {"provisioningModel": "SPOT", "preemptible": True, "instanceTerminationAction": "DELETE"}
    made = engine.create("gcpx:compute:InstanceTemplate", "base", {"name": "base", **template(scheduling=scheduling)})
    set_limits(cloud, zones={"us-east1-b": 0})
    fallback = {"zones": ["us-east1-c"], "provisioningModel": "STANDARD"}
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLink"],
    }
    created = engine.create(FLEET, "workers", {**inputs, "locationPolicy": IN_B, "fallbacks": [fallback]})

    assert _zones(created) == {"us-east1-c": 2}
    found = cloud.get(instance_path("t-1", "us-east1-c"))["scheduling"]
    assert found["provisioningModel"] == "STANDARD"
    assert not found.get("preemptible")
    assert "instanceTerminationAction" not in found


def test_named_instances_that_are_missing_are_created_by_the_fallback(engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    names = {name: {"hostname": f"{name}.example.com"} for name in ("a", "b", "c", "d", "e", "f")}
    inputs = {**fleet(count=None, **THEN_C), "namePattern": None, "perInstanceProperties": names}
    created = engine.create(FLEET, "workers", inputs)

    assert member_names(created) == list(names)
    in_c = [member["name"] for member in created.outputs["members"] if member["zone"] == "us-east1-c"]
    assert len(in_c) == 2
    assert _bodies(cloud)[1]["perInstanceProperties"] == {name: names[name] for name in in_c}


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.parametrize("reason", ["quotaExceeded", "ZONE_RESOURCE_POOL_EXHAUSTED", "IP_SPACE_EXHAUSTED"])
def test_a_shortage_at_the_request_goes_on_to_the_next_attempt(engine, cloud, reason, status):
    cloud.fail(BULK, status=status, reason=reason, message="used up")
    created = engine.create(FLEET, "workers", fleet(**THEN_C))

    assert _zones(created) == {"us-east1-c": 3}
    assert len(cloud.requests(BULK)) == 2, "a shortage is not retried as it is"


@pytest.mark.parametrize("reason", ["quotaExceeded", "ZONE_RESOURCE_POOL_EXHAUSTED"])
def test_a_shortage_at_the_repetition_of_a_request_goes_on_to_the_next_attempt(clocked_engine, cloud, reason):
    cloud.fail(BULK, status=503)
    cloud.fail(BULK, status=403, reason=reason, message="used up")
    created = clocked_engine.create(FLEET, "workers", fleet(**THEN_C))

    assert _zones(created) == {"us-east1-c": 3}
    assert len(cloud.requests(BULK)) == 3


def test_a_fleet_that_a_request_without_a_response_created_is_not_created_again_by_a_fallback(clocked_engine, cloud):
    """Google refuses the repetition, and shows only some seconds later what the first request has created."""
    cloud.fail(BULK, drop="after")
    cloud.fail(BULK, status=403, reason="quotaExceeded", message="used up")
    cloud.fail("compute.regionOperations.list", body='{"items": []}', times=3)
    cloud.fail("compute.instances.list", body='{"items": []}', times=6)
    with failing() as failed:
        clocked_engine.create(FLEET, "workers", fleet(**THEN_C))

    assert failed[0].partial is not None
    assert len(cloud.requests(BULK)) == 2


@pytest.mark.parametrize("code", ["QUOTA_EXCEEDED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "STOCKOUT"])
def test_a_shortage_of_the_operation_goes_on_to_the_next_attempt(engine, cloud, code):
    cloud.fail(BULK, operation={"errors": [{"code": code, "message": "used up"}]})
    created = engine.create(FLEET, "workers", fleet(**THEN_C))

    assert _zones(created) == {"us-east1-c": 3}


@pytest.mark.parametrize("fault", [
    {"status": 400, "reason": "invalid", "message": "not like this"},
    {"status": 403, "reason": "forbidden", "message": "not you"},
    {"operation": {"errors": [{"code": "INTERNAL_ERROR", "message": "broken"}]}},
], ids=str)  # fmt: skip
def test_another_error_is_not_followed_by_a_fallback(engine, cloud, fault):
    cloud.fail(BULK, **fault)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(**THEN_C))

    assert failed[0].partial is None
    assert len(cloud.requests(BULK)) == 1
    assert "instances" not in cloud.emulator.store.counts()


def test_what_was_created_before_an_error_stays_in_the_state(engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    inputs = fleet(count=10, **THEN_C)
    cloud.fail(BULK, delay=0.0)
    cloud.fail(BULK, status=400, reason="invalid", message="not like this")
    with failing() as failed:
        engine.create(FLEET, "workers", inputs)
    partial = failed[0].partial

    assert "not like this" in partial.reasons[0]
    assert "4 of 10 instances exist" in partial.reasons[0]
    state = driver.Resource(engine.urn(FLEET, "workers"), partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))  # fmt: skip
    assert state.outputs["memberCount"] == 4
    assert _zones(engine.update(state, inputs)) == {"us-east1-b": 4, "us-east1-c": 6}


def test_a_fleet_below_its_minimum_after_all_attempts_is_kept_as_partial(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 4, "us-east1-c": 3, "us-east1-d": 0})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10, minCount=8, **THEN_C))

    assert "4 of 10 instances exist" in failed[0].partial.reasons[0]
    assert [(body["count"], body["minCount"]) for body in _bodies(cloud)] == [("10", "0"), ("6", "4")]


def test_a_fleet_that_has_its_minimum_after_all_attempts_is_created_with_a_warning(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 4, "us-east1-c": 3, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=7, **THEN_C))

    assert created.outputs["memberCount"] == 7
    assert any("7 of 10 instances exist" in said for _, _, said in engine.log.messages)


def test_a_fleet_that_has_exactly_its_minimum_when_google_refuses_the_last_request_is_created_with_a_warning(
    engine, cloud
):
    set_limits(cloud, **ROOM_IN_C)
    cloud.fail(BULK, delay=0.0)
    cloud.fail(BULK, status=403, reason="quotaExceeded", message="used up")
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=4, **THEN_C))

    assert created.outputs["memberCount"] == 4
    assert any("4 of 10 instances exist" in said for _, _, said in engine.log.messages)


def _request_ids(cloud):
    return {entry["query"]["requestId"] for entry in cloud.requests(BULK)}


def test_a_creation_that_ended_at_its_first_request_is_continued_by_the_next_run(clocked_engine, engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    request = driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"))
    request.properties.CopyFrom(driver.struct(engine.checked(FLEET, "workers", fleet(count=10, fleetId="crew", **THEN_C))))  # fmt: skip
    cloud.fail(BULK, drop="after", times=100)
    cloud.fail("compute.regionOperations.list", times=1000, status=403)
    with failing():
        clocked_engine.stub.Create(request)
    cloud.emulator.faults.queue.clear()
    created = engine.create(FLEET, "workers", fleet(count=10, fleetId="crew", **THEN_C))

    assert _zones(created) == {"us-east1-b": 4, "us-east1-c": 6}
    assert len(_request_ids(cloud)) == 2


@pytest.mark.parametrize("room", [4, 0], ids=["both created some", "the fallback created all"])
def test_a_creation_whose_result_the_engine_lost_is_found_by_the_next_run(engine, cloud, room):
    engine.provider_id = PROVIDER_ID
    engine.configure(project=PROJECT, emulatorHost=cloud.host)
    set_limits(cloud, zones={"us-east1-b": room, "us-east1-d": 0})
    first = engine.create(FLEET, "workers", fleet(count=10, fleetId="crew", **THEN_C))
    set_limits(cloud)
    again = engine.create(FLEET, "workers", fleet(count=10, fleetId="crew", **THEN_C))

    assert member_names(again) == member_names(first)
    assert cloud.emulator.store.counts()["instances"] == 10


def test_instances_of_others_are_not_taken_for_those_of_a_fallback(engine, cloud):
    engine.create(FLEET, "one", fleet(2, fleetId="crew"))
    with failing() as failed:
        engine.create(FLEET, "two", fleet(2, fleetId="crew", **THEN_C))

    assert failed[0].code == grpc.StatusCode.ALREADY_EXISTS


def test_fallbacks_change_in_place_for_later_instances(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2, locationPolicy=IN_B))
    changed = engine.update(created, fleet(2, **THEN_C))

    assert cloud.calls(BULK) == [BULK]
    set_limits(cloud, **ROOM_IN_C)
    assert _zones(engine.update(changed, fleet(6, **THEN_C))) == {"us-east1-b": 4, "us-east1-c": 2}


SPOT = {"scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}}


@pytest.mark.parametrize(("inputs", "path", "words"), [
    (fleet(fallbacks=[{}]), "fallbacks[0]", "must differ from the fleet itself"),
    (fleet(fallbacks=[{"machineType": "e2-small"}]), "fallbacks[0]", "must differ from the fleet itself"),
    (fleet(fallbacks=[{"provisioningModel": "STANDARD"}]), "fallbacks[0]", "must differ from the fleet itself"),
    (fleet(fallbacks=[{"machineType": "a"}, {"zones": ["us-east1-b"]}, {"machineType": "a"}]), "fallbacks[2]", "must differ from fallbacks[0]"),
    (fleet(fallbacks=[{"zones": ["us-west1-a"]}]), "fallbacks[0].zones[0]", "must be a zone of us-east1"),
    (fleet(fallbacks=[{"machineType": "zones/us-east1-b/machineTypes/e2-small"}]), "fallbacks[0].machineType", "must be a bare name"),
    (fleet(fallbacks=[{"disks": []}]), "fallbacks[0].disks", "a fallback changes only capacity"),
    (fleet(fallbacks=[{"image": "family/debian-12"}]), "fallbacks[0].image", "a fallback changes only capacity"),
    (fleet(fallbacks=[{"provisioningModel": "FLEX_START"}]), "fallbacks[0]", "instanceProperties.scheduling.maxRunDuration is required with FLEX_START"),
    (fleet(scheduling={"automaticRestart": True}, fallbacks=[{"provisioningModel": "SPOT"}]), "fallbacks[0]", "scheduling.automaticRestart must be false for Spot"),
    (fleet(fallbacks=[{"provisioningModel": "RESERVATION_BOUND"}]), "fallbacks[0]", "must be SPECIFIC_RESERVATION"),
    (fleet(fallbacks=[{"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}]), "fallbacks[0].reservationAffinity.key", "is required"),
    (fleet(fallbacks=[{"machineType": "custom-3-1024"}]), "fallbacks[0]", "an even number up to 32"),
    (fleet(machineType="n2-standard-2", guestAccelerators=[{"acceleratorType": "nvidia-l4", "acceleratorCount": 1}], scheduling={"onHostMaintenance": "TERMINATE"}, fallbacks=[{"zones": [3]}]), "fallbacks[0].zones[0]", "must be a string"),
])  # fmt: skip
def test_fallbacks_that_cannot_work_are_refused_at_preview(engine, cloud, inputs, path, words):
    failures = engine.failures(FLEET, inputs)

    assert words in failures.get(path, ""), failures
    assert cloud.calls() == []


@pytest.mark.parametrize("inputs", [
    fleet(**SPOT, fallbacks=[{"provisioningModel": "STANDARD"}, {"provisioningModel": "STANDARD", "machineType": "n2-standard-2"}]),
    fleet(fallbacks=[{"machineType": UNKNOWN}, {"machineType": UNKNOWN}, {"zones": [UNKNOWN]}]),
    fleet(fallbacks=UNKNOWN), fleet(fallbacks=[UNKNOWN]), fleet(fallbacks=[{"zones": UNKNOWN}]),
    {**fleet(fallbacks=[{"machineType": "e2-medium"}]), "instanceProperties": UNKNOWN},
    fleet(fallbacks=[{"zones": ["zones/us-east1-b"]}]),
], ids=str)  # fmt: skip
def test_fallbacks_that_may_work_are_accepted(engine, inputs):
    assert engine.failures(FLEET, inputs) == {}


def test_no_name_is_given_twice_in_the_zones_of_fallbacks(engine, cloud):
    set_limits(cloud, **ROOM_IN_C)
    created = engine.create(FLEET, "workers", fleet(count=6, **THEN_C))
    set_limits(cloud)
    grown = engine.update(created, fleet(count=8, **THEN_C))

    assert member_names(created) == [f"web-{number:03}" for number in range(1, 7)]
    assert member_names(grown) == [f"web-{number:03}" for number in range(1, 9)]
    assert _zones(created) == {"us-east1-b": 4, "us-east1-c": 2}
    assert _zones(grown) == {"us-east1-b": 6, "us-east1-c": 2}


N2 = {"machineType": "n2-standard-2"}
N2D = {"machineType": "n2d-standard-2"}


def _machine_types(cloud, resource):
    paths = {member["name"]: instance_path(member["name"], member["zone"]) for member in resource.outputs["members"]}
    return {name: cloud.get(path)["machineType"].rpartition("/")[2] for name, path in paths.items()}


@pytest.mark.parametrize("edited", [[N2D, N2], [N2D], [], [{"machineType": "n2-standard-4"}]])
def test_members_keep_what_a_fallback_gave_them_when_the_list_of_fallbacks_is_edited(engine, cloud, edited):
    def program(machine_type, fallbacks):
        policy = {"maxUnavailable": 4}
        return fleet(4, updatePolicy=policy, machineType=machine_type, minCount=1, fallbacks=fallbacks)

    zones = ("us-east1-b", "us-east1-c", "us-east1-d")
    set_limits(cloud, machineTypes={zone: {"e2-small": 2} for zone in zones})
    created = engine.create(FLEET, "workers", program("e2-small", [N2]))
    before = _machine_types(cloud, created)
    assert sorted(before.values()) == ["e2-small", "e2-small", "n2-standard-2", "n2-standard-2"]

    set_limits(cloud)
    changed = program("e2-medium", edited)
    engine.preview_update(created, changed)
    kept = sorted(name for name, kind in before.items() if kind == "n2-standard-2")
    said = [text for _, _, text in engine.log.messages]
    assert f"- 2 members keep what their fallbacks changed, unless replaced: {', '.join(kept)}" in said[-1]
    updated = engine.update(created, changed)
    assert _machine_types(cloud, updated) == {
        name: kind if kind == "n2-standard-2" else "e2-medium" for name, kind in before.items()
    }


def test_a_fallback_that_only_names_zones_keeps_no_machine_type(engine, cloud):
    def program(machine_type, **more):
        return fleet(6, updatePolicy={"maxUnavailable": 1}, machineType=machine_type, locationPolicy=IN_B, **more)

    set_limits(cloud, **ROOM_IN_C)
    created = engine.create(FLEET, "workers", program("e2-small", fallbacks=THEN_C["fallbacks"]))
    updated = engine.update(created, program("e2-medium"))
    assert set(_machine_types(cloud, updated).values()) == {"e2-medium"}


def test_the_preview_knows_a_member_of_a_fallback_that_an_earlier_update_has_moved_in_the_list(engine, cloud):
    def program(machine_type, fallbacks):
        return fleet(2, updatePolicy={"maxUnavailable": 1}, machineType=machine_type, minCount=1, fallbacks=fallbacks)

    set_limits(cloud, machineTypes={zone: {"e2-small": 1} for zone in ("us-east1-b", "us-east1-c", "us-east1-d")})
    created = engine.create(FLEET, "workers", program("e2-small", [N2]))
    set_limits(cloud)
    moved = engine.update(created, program("e2-small", [N2D, N2]))
    engine.log.messages.clear()
    engine.preview_update(moved, program("e2-medium", [N2D, N2]))
    said = engine.log.messages[-1][2].splitlines()
    assert [line.partition(":")[0] for line in said[:1]] == ["what this update does"]
    assert "1 member is changed without a restart" in said[0]
    assert any(line.startswith("- 1 member is restarted: ") for line in said)

    cloud.emulator.requests.kept.clear()
    engine.update(moved, program("e2-medium", [N2D, N2]))
    assert [name for name in cloud.calls("compute.instances.") if name.endswith((".stop", ".delete"))] == [
        "compute.instances.stop"
    ]


@pytest.mark.parametrize("limit", ["zone", "placement policy"])
def test_a_repeated_creation_finds_what_a_fallback_has_created_after_a_full_batch(engine, cloud, monkeypatch, limit):
    engine.provider_id = PROVIDER_ID
    engine.configure(project=PROJECT, emulatorHost=cloud.host)
    zones = ("us-east1-b", "us-east1-c", "us-east1-d")
    if limit == "zone":
        monkeypatch.setattr("gcpx.compute.bulk_instances.capacity.MOST_OF_REQUEST", 2)
        set_limits(cloud, zones={"us-east1-b": 2, "us-east1-d": 0})
        more = {"fallbacks": [{"zones": ["us-east1-c"]}]}
    else:
        for name in ("rack-1", "rack-2"):
            cloud.make_placement_policy(name)
        set_limits(cloud, machineTypes={zone: {"e2-small": 2 if zone.endswith("b") else 0} for zone in zones})
        more = {
            "placement": {"policies": ["rack-1", "rack-2"], "membersPerPolicy": 2},
            "fallbacks": [{"machineType": "n2-standard-2"}],
        }
    inputs = fleet(4, fleetId="crew", locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]}, **more)
    first = engine.create(FLEET, "workers", inputs)
    set_limits(cloud)

    assert member_names(engine.create(FLEET, "workers", inputs)) == member_names(first)
    assert cloud.emulator.store.counts()["instances"] == 4


@pytest.mark.parametrize("reason", ["ZONE_RESOURCE_POOL_EXHAUSTED", "IP_SPACE_EXHAUSTED"])
def test_a_shortage_among_too_many_requests_goes_on_to_the_next_attempt(clocked_engine, cloud, reason):
    cloud.fail(BULK, status=429, reason=reason, message="used up")
    created = clocked_engine.create(FLEET, "workers", fleet(**THEN_C))

    assert _zones(created) == {"us-east1-c": 3}
