"""Stopped members: why they are stopped, and whether a refresh counts them."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, failing
from rolling.fleets import STOPPED, instance_path, record_operation, stop
from rolling.rollouts import left_by
from values.programs import FLEET, fleet, properties

LIST = "compute.instances.aggregatedList"
OPERATIONS = "compute.zoneOperations.list"
EARLIER = "2031-05-01T08:30:00.000Z"
LATER = "2031-05-01T09:30:00.000Z"
GENERATION = "5d087151-5d89d343-9a3747c6"
BEFORE_THE_START = "2031-05-01T07:30:00.000Z"
NAMED = {"region": "us-east1", "instanceProperties": properties(), "perInstanceProperties": {"alpha": {}, "beta": {}}}


def _by_name(resource, key):
    return {member["name"]: member.get(key) for member in resource.outputs["members"]}


def _refreshed(engine, cloud, created):
    cloud.emulator.requests.kept.clear()
    return engine.refresh(created)


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        ("compute.instances.preempted", "TERMINATED", "PREEMPTED"),
        ("compute.instances.preempted", "STOPPING", "PREEMPTED"),
        ("compute.instances.hostError", "TERMINATED", "HOST_ERROR"),
        ("compute.instances.guestTerminate", "STOPPED", "GUEST"),
        ("compute.instances.deferredStop", "TERMINATED", "RUN_LIMIT"),
        ("preempted", "TERMINATED", "PREEMPTED"),
        ("stop", "TERMINATED", "REQUESTED"),
        ("compute.instances.stop", "TERMINATED", "REQUESTED"),
        ("suspend", "SUSPENDED", "REQUESTED"),
        ("suspend", "SUSPENDING", "REQUESTED"),
        ("setLabels", "TERMINATED", None),
        (None, "TERMINATED", None),
    ],
)
def test_a_stopped_member_tells_its_status_and_why_it_is_stopped(engine, cloud, kind, status, reason):
    created = engine.create(FLEET, "workers", fleet())
    stop(cloud, "web-002", kind, status=status, lastSuspendedTimestamp=STOPPED)
    found = _refreshed(engine, cloud, created)

    assert _by_name(found, "status") == {"web-001": "RUNNING", "web-002": status, "web-003": "RUNNING"}
    assert _by_name(found, "stopReason") == {"web-001": None, "web-002": reason, "web-003": None}
    assert (found.outputs["memberCount"], found.outputs["runningCount"]) == (3, 2)
    assert cloud.calls("compute.zoneOperations") == [OPERATIONS]


def test_a_member_at_the_end_of_its_run_time_tells_so(engine, cloud):
    limit = {"maxRunDuration": {"seconds": "3600"}, "instanceTerminationAction": "STOP"}
    created = engine.create(FLEET, "workers", fleet(1, scheduling=limit))
    cloud.clock.advance(3601)

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": "RUN_LIMIT"}


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([("stop", EARLIER)], "PREEMPTED"),
        ([("stop", LATER)], "PREEMPTED"),
        ([("stop", LATER), ("compute.instances.hostError", EARLIER)], "PREEMPTED"),
        ([("stop", BEFORE_THE_START)], "PREEMPTED"),
    ],
)
def test_the_latest_stop_at_or_before_the_time_of_the_stop_is_the_reason(engine, cloud, others, reason):
    created = engine.create(FLEET, "workers", fleet(1))
    stop(cloud, "web-001", "compute.instances.preempted")
    for kind, at in others:
        record_operation(cloud, instance_path("web-001"), kind, at)

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": reason}


@pytest.mark.parametrize("at", [BEFORE_THE_START, LATER])
def test_an_operation_before_the_last_start_or_after_the_stop_is_no_reason(engine, cloud, at):
    created = engine.create(FLEET, "workers", fleet(1))
    stop(cloud, "web-001", None)
    record_operation(cloud, instance_path("web-001"), "stop", at)

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": None}


def test_a_stop_that_failed_is_no_reason(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(1))
    stop(cloud, "web-001", "compute.instances.hostError")
    failure = {"errors": [{"code": "INTERNAL_ERROR", "message": "failed"}]}
    record_operation(cloud, instance_path("web-001"), "stop", STOPPED, failure)

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": "HOST_ERROR"}


def test_a_stop_of_another_instance_is_no_reason(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2))
    stop(cloud, "web-001", None)
    record_operation(cloud, instance_path("web-002"), "stop", STOPPED)

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": None, "web-002": None}


@pytest.mark.parametrize(
    "times", [{"lastStopTimestamp": "soon"}, {"lastStopTimestamp": None}, {"lastStartTimestamp": "x"}]
)
def test_times_that_cannot_be_read_limit_nothing(engine, cloud, times):
    created = engine.create(FLEET, "workers", fleet(1))
    stop(cloud, "web-001", None, **times)
    record_operation(cloud, instance_path("web-001"), "compute.instances.preempted", STOPPED)
    record_operation(cloud, instance_path("web-001"), "stop", "yesterday")

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": "PREEMPTED"}


def test_a_time_without_an_offset_is_in_utc(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(1))
    stop(cloud, "web-001", "stop", lastStartTimestamp="2031-05-01T08:00:00")

    assert _by_name(engine.refresh(created), "stopReason") == {"web-001": "REQUESTED"}


@pytest.mark.parametrize("fault", [{"status": 403}, {"status": 404}, {"status": 400}])
def test_operations_that_cannot_be_listed_only_leave_the_reason_out(engine, cloud, fault):
    created = engine.create(FLEET, "workers", fleet())
    stop(cloud, "web-002")
    cloud.fail(OPERATIONS, **fault)
    found = engine.refresh(created)

    assert _by_name(found, "status") == {"web-001": "RUNNING", "web-002": "TERMINATED", "web-003": "RUNNING"}
    assert _by_name(found, "stopReason") == {"web-001": None, "web-002": None, "web-003": None}


def test_each_zone_with_stopped_members_is_listed_once(engine, cloud):
    spread = {"locationPolicy": {"targetShape": "BALANCED"}}
    created = engine.create(FLEET, "workers", fleet(6, **spread))
    zones = {member["name"]: member["zone"] for member in created.outputs["members"]}
    assert len(set(zones.values())) == 3
    stopped = [name for name, zone in zones.items() if zone != "us-east1-c"]
    for name in stopped:
        stop(cloud, name, "compute.instances.preempted", zone=zones[name])
    found = _refreshed(engine, cloud, created)

    assert {name for name, reason in _by_name(found, "stopReason").items() if reason == "PREEMPTED"} == set(stopped)
    assert cloud.calls("compute.zoneOperations") == [OPERATIONS, OPERATIONS]


@pytest.mark.parametrize(
    ("on_stopped", "drift"), [(None, {"count"}), ("START", {"count"}), ("REPLACE", {"count"}), ("KEEP", set())]
)
def test_a_stopped_member_is_drift_unless_it_is_kept(engine, cloud, on_stopped, drift):
    program = fleet() if on_stopped is None else fleet(onStopped=on_stopped)
    created = engine.create(FLEET, "workers", program)
    stop(cloud, "web-002")
    refreshed = engine.refresh(created)

    assert (refreshed.inputs["count"], refreshed.outputs["count"]) == (3, 2 if drift else 3)
    assert set(engine.diff(refreshed, program).detailedDiff) == drift
    assert not engine.diff(refreshed, program).replaces
    assert engine.drift(created) == drift


@pytest.mark.parametrize(("on_stopped", "drift"), [("START", {"perInstanceProperties"}), ("KEEP", set())])
def test_a_stopped_named_member_is_drift_of_its_name_unless_it_is_kept(engine, cloud, on_stopped, drift):
    program = {**NAMED, "onStopped": on_stopped}
    created = engine.create(FLEET, "named", program)
    stop(cloud, "beta")
    refreshed = engine.refresh(created)

    assert set(engine.diff(refreshed, program).detailedDiff) == drift
    assert engine.refresh(refreshed) == refreshed


@pytest.mark.parametrize("program", [fleet(2, namePattern="x-#"), NAMED], ids=["numbered", "named"])
def test_a_fleet_whose_members_are_all_stopped_is_drift_and_not_gone(engine, cloud, program):
    created = engine.create(FLEET, "workers", program)
    for member in created.outputs["members"]:
        stop(cloud, member["name"])
    refreshed = engine.refresh(created)
    assert (refreshed.outputs["memberCount"], refreshed.outputs["runningCount"]) == (2, 0)
    assert engine.diff(refreshed, program).changes
    assert engine.refresh(refreshed) == refreshed
    for member in created.outputs["members"]:
        cloud.change(instance_path(member["name"]), lambda body: body.update(status="RUNNING"))

    assert engine.update(engine.refresh(refreshed), program).outputs["runningCount"] == 2


def test_what_happens_to_stopped_members_is_no_part_of_a_request_and_changes_in_place(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(onStopped="KEEP"))
    assert "onStopped" not in cloud.requests("compute.regionInstances.bulkInsert")[0]["body"]
    assert engine.drift(created) == set()
    found = engine.diff(created, fleet(onStopped="REPLACE"))

    assert set(found.detailedDiff) == {"onStopped"}
    assert not found.replaces
    assert not engine.diff(engine.create(FLEET, "others", fleet()), fleet(onStopped="START")).detailedDiff
    assert engine.failures(FLEET, fleet(onStopped=UNKNOWN)) == {}


@pytest.mark.parametrize(("label", "fallback"), [("1", 1), ("0", 0), ("many", None), ("", None)])
def test_members_tell_their_generation_and_the_fallback_that_they_came_from(engine, cloud, label, fallback):
    created = engine.create(FLEET, "workers", fleet(2))
    own = created.outputs["generation"]
    assert _by_name(created, "generation") == {"web-001": own, "web-002": own}
    cloud.change(
        instance_path("web-002"),
        lambda body: body["labels"].update({"gcpx-generation": GENERATION, "gcpx-fallback": label}),
    )
    with failing() as failed:
        engine.refresh(created)
    refreshed = left_by(failed[0], created)

    assert _by_name(refreshed, "generation") == {"web-001": own, "web-002": f"{own[:8]}{GENERATION[8:]}"}
    assert _by_name(refreshed, "fallback") == {"web-001": None, "web-002": fallback}


def _spot(engine):
    """Create a fleet of Spot instances."""
    return engine.create(FLEET, "workers", fleet(3, scheduling={"provisioningModel": "SPOT"}))


def test_members_that_google_or_a_user_stopped_tell_why_and_run_again_after_a_start(engine, cloud):
    created = _spot(engine)
    paths = [instance_path(name) for name in ("web-001", "web-002", "web-003")]
    cloud.post("/_emulator/preempt", {"instances": paths[:1]})
    cloud.post("/_emulator/guest-terminate", {"instances": paths[1:2]})
    cloud.post(f"/compute/v1/{paths[2]}/suspend", {})
    found = engine.refresh(created)
    assert _by_name(found, "stopReason") == {"web-001": "PREEMPTED", "web-002": "GUEST", "web-003": "REQUESTED"}
    cloud.post(f"/compute/v1/{paths[0]}/start", {})
    cloud.post(f"/compute/v1/{paths[1]}/start", {})
    cloud.clock.advance(60)
    cloud.post(f"/compute/v1/{paths[1]}/stop", {})

    again = engine.refresh(found)
    assert _by_name(again, "stopReason") == {"web-001": None, "web-002": "REQUESTED", "web-003": "REQUESTED"}
    assert (again.inputs["count"], again.outputs["count"], again.outputs["runningCount"]) == (3, 1, 1)


def test_a_member_that_is_being_stopped_tells_why(engine, cloud):
    created = _spot(engine)
    with cloud.held_operations():
        cloud.post(f"/compute/v1/{instance_path('web-001')}/stop", {})
        found = engine.refresh(created)

    assert _by_name(found, "status")["web-001"] == "STOPPING"
    assert _by_name(found, "stopReason")["web-001"] == "REQUESTED"
    assert (found.inputs["count"], found.outputs["count"]) == (3, 2)


def test_a_member_whose_host_failed_and_that_was_restarted_is_not_stopped(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(scheduling={"automaticRestart": True}))
    cloud.post("/_emulator/host-error", {"instances": [instance_path("web-002")]})

    assert engine.refresh(created).outputs == created.outputs


@pytest.mark.parametrize(
    ("on_stopped", "running", "same"), [("START", 3, True), ("REPLACE", 3, False), ("KEEP", 2, True)]
)
def test_an_update_after_a_refresh_does_with_stopped_members_as_the_input_says(
    engine, cloud, on_stopped, running, same
):
    program = fleet(onStopped=on_stopped)
    created = engine.create(FLEET, "workers", program)
    cloud.post(f"/compute/v1/{instance_path('web-002')}/stop", {})
    updated = engine.update(engine.refresh(created), program)

    assert (updated.outputs["memberCount"], updated.outputs["runningCount"]) == (3, running)
    assert (_by_name(updated, "id").get("web-002") == _by_name(created, "id")["web-002"]) is same
    assert set(_by_name(updated, "stopReason").values()) == ({None} if running == 3 else {None, "REQUESTED"})
    assert engine.refresh(updated) == updated
    assert not engine.diff(updated, program).detailedDiff
