"""Rollbacks after a failed batch: all members have the previous properties, and few of them are down at once."""

from __future__ import annotations

import attrs
from engines.driver import failing
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, BULK, START, STOP, fail_after, instances, left_by, rolling
from values.programs import FLEET, fleet

BACK = {"onFailure": "ROLL_BACK"}
SET_METADATA, LIST = "compute.instances.setMetadata", "compute.instances.list"


def test_a_pause_of_the_previous_policy_does_not_end_a_rollback(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {**BACK, "pauseAfter": 1}))
    fail_after(cloud, START, 2)
    with failing() as failed:
        engine.update(created, rolling(4, BACK, machineType="e2-medium"))

    assert failed[0].partial is None
    for instance in instances(cloud, created):
        assert instance["machineType"].endswith("/e2-small")
        assert instance["labels"]["gcpx-generation"] == created.outputs["generation"]


def test_a_rollback_to_a_policy_that_was_not_rolling_takes_no_more_members_at_once(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(6))
    fail_after(cloud, START, 3)
    with failing() as failed:
        engine.update(created, rolling(6, BACK, machineType="e2-medium"))

    assert failed[0].partial is None
    stopped = 0
    for method in cloud.calls(STOP, START):
        stopped += 1 if method == STOP else -1
        assert stopped <= 1, cloud.calls(STOP, START)


def test_a_rollback_uses_what_the_new_policy_allows(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, {**BACK, "mostDisruptiveAction": "REFRESH"}))
    fail_after(cloud, START, 1)
    with failing() as failed:
        engine.update(created, rolling(3, BACK, machineType="e2-medium"))

    assert "was rolled back" in failed[0].message
    assert all(instance["machineType"].endswith("/e2-small") for instance in instances(cloud, created))


def test_a_rollback_takes_new_host_names_back(engine, cloud):
    names = ("alpha", "beta", "gamma")
    program = {**rolling(3, BACK), "perInstanceProperties": {name: {} for name in names}}
    del program["namePattern"], program["count"]
    created = engine.create(FLEET, "workers", program)
    fail_after(cloud, BULK, 1)
    hosts = {name: {"hostname": f"{name}.example.com"} for name in names}
    with failing() as failed:
        engine.update(created, {**program, "perInstanceProperties": hosts})
    state = left_by(failed[0], created)

    assert "was rolled back" in failed[0].message
    assert state.inputs == created.inputs
    assert [instance.get("hostname") for instance in instances(cloud, state)] == [None, None, None]
    assert [instance["id"] for instance in instances(cloud, state)] == [
        member["id"] for member in state.outputs["members"]
    ]


def test_a_rollback_to_an_update_that_had_failed_leaves_the_properties_of_that_update_in_the_state(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    fail_after(cloud, START, 1)
    with failing() as failed:
        engine.update(created, rolling(3, machineType="e2-medium"))
    halfway = attrs.evolve(left_by(failed[0], created), inputs=created.inputs)
    fail_after(cloud, BULK, 1)
    with failing() as again:
        engine.update(halfway, rolling(3, BACK, machineType="e2-medium", **BIGGER_DISK))
    state = left_by(again[0], created)

    assert "was rolled back" in again[0].message
    properties = state.outputs["instanceProperties"]
    assert properties["machineType"] == "e2-medium"
    assert "diskSizeGb" not in properties["disks"][0]["initializeParams"]
    assert state.outputs["generation"] == halfway.outputs["generation"]
    assert {member["id"] for member in state.outputs["members"]} != {
        member["id"] for member in halfway.outputs["members"]
    }


def test_a_rollback_takes_back_what_a_batch_has_changed_before_it_failed(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, BACK))
    cloud.fail(SET_METADATA, status=412)
    changed = {"metadata": {"items": [{"key": "release", "value": "2"}]}}

    def observe(_: int, request: str) -> None:
        if request.endswith("/setMetadata") and not cloud.calls(SET_METADATA):
            cloud.fail(LIST, status=403)  # the member that has changed meanwhile cannot be read again

    with failing() as failed, cloud.interceptor.observed(observe):
        engine.update(created, rolling(3, BACK, **changed))

    assert "was rolled back" in failed[0].message
    for instance in instances(cloud, created):
        assert not instance.get("metadata", {}).get("items")
        assert instance["labels"]["gcpx-generation"] == created.outputs["generation"]


def test_a_rollback_takes_back_what_was_set_before_something_failed_for_the_member(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, BACK))
    fail_after(cloud, "compute.instances.setTags", 1)
    changed = {"metadata": {"items": [{"key": "release", "value": "2"}]}, "tags": {"items": ["web"]}}
    with failing() as failed:
        engine.update(created, rolling(3, BACK, **changed))

    assert "was rolled back" in failed[0].message
    for instance in instances(cloud, created):
        assert not instance.get("metadata", {}).get("items")
        assert not instance.get("tags", {}).get("items")
        assert instance["labels"]["gcpx-generation"] == created.outputs["generation"]


def test_a_rollback_of_a_larger_fleet_deletes_the_new_members(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2, BACK))
    ready = {"guestAttribute": "app/state=ready", "within": 1}
    with failing() as failed:
        engine.update(created, rolling(4, {**BACK, "ready": ready}, **ATTRIBUTES))

    assert "was rolled back" in failed[0].message
    assert failed[0].partial is None
    assert [instance["id"] for instance in instances(cloud, created)] == [
        member["id"] for member in created.outputs["members"]
    ]
