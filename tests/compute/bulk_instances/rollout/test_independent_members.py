"""What fails for one member ends for that member alone: the others run, have the new properties, and are as many."""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import BIGGER_DISK, BULK, DELETE, SET_LABELS, START, STOP, instances, left_by, rolling
from values.programs import FLEET

SET_MACHINE_TYPE = "compute.instances.setMachineType"
SMALL, MEDIUM = "e2-small", "e2-medium"


def machine_types(cloud, resource):
    """Return the machine types of the members by name."""
    return {item["name"]: item["machineType"].rpartition("/")[2] for item in instances(cloud, resource)}


def _failed(message):
    """Return the result of an operation that failed."""
    return {"errors": [{"code": "INTERNAL_ERROR", "message": message}]}


def statuses(cloud, resource):
    return {item["status"] for item in instances(cloud, resource)}


def test_a_member_that_cannot_be_changed_is_started_again_with_the_others_of_its_batch(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(6, {"maxUnavailable": 3}))
    cloud.fail(SET_MACHINE_TYPE, operation=_failed("not this one"))
    with failing() as failed:
        engine.update(created, rolling(6, {"maxUnavailable": 3}, machineType=MEDIUM))
    left = left_by(failed[0], created)

    assert "not this one" in failed[0].partial.reasons[0]
    assert "6 of 6 members exist, and 5 of them have the new properties" in failed[0].partial.reasons[0]
    assert statuses(cloud, left) == {"RUNNING"}
    assert sorted(machine_types(cloud, left).values()) == [MEDIUM] * 5 + [SMALL]

    done = engine.update(left, rolling(6, {"maxUnavailable": 3}, machineType=MEDIUM))
    assert set(machine_types(cloud, done).values()) == {MEDIUM}


def test_a_protected_member_is_left_and_named_while_all_others_are_replaced(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(8, {"maxUnavailable": 3}))
    cloud.change(instance_path("web-002"), lambda body: body.update(deletionProtection=True))
    left = created
    for _ in range(3):
        with failing() as failed:
            engine.update(left, rolling(8, {"maxUnavailable": 3}, **BIGGER_DISK))
        left = left_by(failed[0], left)
        assert "instances/web-002: " in failed[0].partial.reasons[0]
        assert "8 of 8 members exist, and 7 of them have the new properties" in failed[0].partial.reasons[0]

    cloud.change(instance_path("web-002"), lambda body: body.update(deletionProtection=False))
    done = engine.update(left, rolling(8, {"maxUnavailable": 3}, **BIGGER_DISK))
    assert len(member_names(done)) == 8
    assert "web-002" not in member_names(done)


def test_a_protected_surplus_member_stays_and_no_other_is_deleted_in_its_place(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(5, {"maxUnavailable": 5}))
    cloud.change(instance_path("web-005"), lambda body: body.update(deletionProtection=True))
    with failing() as failed:
        engine.update(created, rolling(3, {"maxUnavailable": 5}))

    assert "instances/web-005: " in failed[0].partial.reasons[0]
    assert member_names(left_by(failed[0], created)) == ["web-001", "web-002", "web-003", "web-005"]


def test_a_protected_member_that_a_named_fleet_no_longer_has_keeps_nobody_from_being_created(engine, cloud):
    def named(*names):
        program = {**rolling(), "perInstanceProperties": {name: {} for name in names}}
        del program["namePattern"], program["count"]
        return program

    created = engine.create(FLEET, "workers", named("a", "b"))
    cloud.change(instance_path("a"), lambda body: body.update(deletionProtection=True))
    with failing() as failed:
        engine.update(created, named("b", "c"))

    assert member_names(left_by(failed[0], created)) == ["a", "b", "c"]


def test_members_that_cannot_be_relabelled_keep_nobody_from_being_relabelled(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    cloud.fail(SET_LABELS, operation=_failed("not this one"))
    with failing() as failed:
        engine.update(created, rolling(5, labels={"a": "1"}))
    left = left_by(failed[0], created)

    assert len(member_names(left)) == 5
    assert sum(item["labels"].get("a") == "1" for item in instances(cloud, left)) == 4


def test_a_member_without_capacity_at_its_start_counts_as_missing_and_the_rest_goes_on_within_the_policy(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"maxUnavailable": 2}))
    cloud.fail(START, operation={"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "no room"}]})
    with failing() as failed:
        engine.update(created, rolling(4, {"maxUnavailable": 2}, machineType=MEDIUM))
    left = left_by(failed[0], created)

    assert "no room" in failed[0].partial.reasons[0]
    assert sorted(item["status"] for item in instances(cloud, left)) == ["RUNNING"] * 3 + ["TERMINATED"]
    assert set(machine_types(cloud, left).values()) == {MEDIUM}


def test_a_change_that_fails_for_everyone_reaches_no_more_than_a_member_beyond_the_policy(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(6))
    cloud.fail(SET_MACHINE_TYPE, operation=_failed("nobody"), times=2)
    with failing() as failed:
        engine.update(created, rolling(6, machineType=MEDIUM))
    assert len(cloud.requests(STOP)) == 2
    left = left_by(failed[0], created)
    assert statuses(cloud, left) == {"RUNNING"}

    cloud.emulator.requests.kept.clear()
    cloud.fail(SET_MACHINE_TYPE, times=4, delay=0.0)
    cloud.fail(SET_MACHINE_TYPE, operation=_failed("nobody"), times=2)
    with failing() as again:
        engine.update(left, rolling(6, machineType=MEDIUM))
    assert "4 of them have the new properties" in again[0].partial.reasons[0], "the others come first"


@pytest.mark.parametrize("on_stopped", ["START", "KEEP"])
def test_what_gcpx_has_stopped_is_missing_whatever_happens_to_stopped_members(engine, cloud, on_stopped):
    policy = {"maxUnavailable": 2}
    created = engine.create(FLEET, "workers", rolling(8, policy, onStopped=on_stopped))
    stop(cloud, "web-008")
    refreshed = engine.refresh(created)
    cloud.fail(START, operation=_failed("does not start"), times=9)
    fewest = 8

    def observe(_number, _request):
        nonlocal fewest
        store = cloud.emulator.store
        fewest = min(
            fewest,
            sum(item["status"] == "RUNNING" for item in store.list("projects/demo-project/zones/us-east1-b/instances")),
        )

    with cloud.interceptor.observed(observe):
        for _ in range(2):
            with failing() as failed:
                engine.update(refreshed, rolling(8, policy, onStopped=on_stopped, machineType=MEDIUM))
            refreshed = left_by(failed[0], refreshed)
    assert fewest >= (5 if on_stopped == "KEEP" else 6)


def test_what_an_interrupted_restart_has_stopped_is_started_although_the_rollout_pauses_and_stopped_members_are_kept(
    engine, cloud
):
    created = engine.create(FLEET, "workers", rolling(3, onStopped="KEEP"))
    cloud.fail(START, operation=_failed("does not start"))
    with failing() as failed:
        engine.update(created, rolling(3, onStopped="KEEP", machineType=MEDIUM))
    left = left_by(failed[0], created)
    assert sorted(item["status"] for item in instances(cloud, left)) == ["RUNNING", "RUNNING", "TERMINATED"]

    back = engine.update(left, rolling(3, {"pauseAfter": 1}, onStopped="KEEP"))
    assert statuses(cloud, back) == {"RUNNING"}


def test_a_fleet_that_was_accepted_with_fewer_members_is_rolled_where_they_are_if_the_policy_allows_it(engine, cloud):
    policy = {"maxUnavailable": 4}
    set_limits(cloud, zones={"us-east1-b": 7, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", rolling(10, policy, minCount=5))
    assert len(member_names(created)) == 7
    rolled = engine.update(created, rolling(10, policy, minCount=5, **BIGGER_DISK))

    assert len(member_names(rolled)) == 7
    assert not set(member_names(rolled)) & set(member_names(created))
    warned = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    assert "7 of 10 instances exist" in warned[-1]
    assert "no capacity" in warned[-1]


def test_a_fleet_with_fewer_members_than_the_policy_asks_for_is_not_rolled_and_the_error_says_what_would_help(
    engine, cloud
):
    set_limits(cloud, zones={"us-east1-b": 7, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", rolling(10, minCount=5))
    cloud.emulator.requests.kept.clear()
    with failing() as failed:
        engine.update(created, rolling(10, minCount=5, **BIGGER_DISK))

    assert cloud.calls(DELETE) == []
    assert len(cloud.requests(BULK)) == 1
    assert "raise maxUnavailable to 4, or lower count to 7" in failed[0].partial.reasons[0]
    assert "no capacity" in failed[0].partial.reasons[0]
