"""Rollouts that were interrupted: the state tells that they are not finished, and another update goes on safely."""

from __future__ import annotations

from typing import Any

import driver
from driver import failing
from programs import FLEET
from rollouts import ATTRIBUTES, BIGGER_DISK, BROKEN, SET_LABELS, START, STOP, fail_after, instances, left_by, rolling

LIST, AGGREGATED = "compute.instances.list", "compute.instances.aggregatedList"


def changes(engine: Any, resource: Any, program: dict[str, Any]) -> set[str]:
    return set(engine.diff(resource, program).detailedDiff)


def test_a_refresh_keeps_a_failed_rollout_visible(engine, cloud):
    ready = {"ready": {"guestAttribute": "app/state=ready", "within": 1}}
    created = engine.create(FLEET, "workers", rolling(3, ready, **ATTRIBUTES))
    changed = rolling(3, ready, **ATTRIBUTES, **BIGGER_DISK)
    with failing() as failed:
        engine.update(created, changed)
    refreshed = engine.refresh(left_by(failed[0], created))
    assert refreshed.outputs["createdCount"] == 3
    assert changes(engine, refreshed, changed) == {"updatePolicy"}

    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    patient = rolling(3, **ATTRIBUTES, **BIGGER_DISK)
    done = engine.update(refreshed, patient)
    assert {member["generation"] for member in done.outputs["members"]} == {done.outputs["generation"]}
    assert changes(engine, engine.refresh(done), patient) == set()


def test_a_paused_rollout_that_failed_before_its_pause_is_not_finished(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    changed = rolling(4, {"pauseAfter": 2}, machineType="e2-medium")
    fail_after(cloud, START, 1)
    with failing() as failed:
        engine.update(created, changed)
    healed = engine.update(left_by(failed[0], created), changed)
    assert changes(engine, engine.refresh(healed), changed) == set()
    earlier = {**healed.outputs, "members": [{**member} for member in healed.outputs["members"]]}
    earlier["members"][1]["generation"] = created.outputs["generation"]
    assert changes(engine, driver.attrs.evolve(healed, outputs=earlier), changed) == {"updatePolicy"}


def test_continuing_a_rollout_is_not_rolled_back(engine, cloud):
    policy = {"onFailure": "ROLL_BACK", "ready": {"guestAttribute": "app/state=ready", "within": 1}}
    created = engine.create(FLEET, "workers", rolling(2, **ATTRIBUTES))
    changed = rolling(2, {**policy, "onFailure": "STOP"}, machineType="e2-medium", **ATTRIBUTES)
    with failing() as failed:
        engine.update(created, changed)
    same = rolling(2, {**policy, "onFailure": "STOP"}, machineType="e2-medium", **ATTRIBUTES)
    with failing() as again:
        engine.update(engine.refresh(left_by(failed[0], created)), same)
    assert again[0].partial is not None


def test_members_that_an_interrupted_restart_left_unready_are_not_taken_for_ready(engine, cloud):
    policy = {"ready": {"guestAttribute": "app/state=ready", "within": 1}}
    created = engine.create(FLEET, "workers", rolling(4, policy, **ATTRIBUTES))
    changed = rolling(4, policy, machineType="e2-medium", **ATTRIBUTES)
    fail_after(cloud, SET_LABELS, 1)
    with failing() as failed:
        engine.update(created, changed)
    stopped = left_by(failed[0], created)
    assert stopped.outputs["members"][0]["generation"].endswith("-changing")

    cloud.emulator.requests.kept.clear()
    with failing() as again:
        engine.update(stopped, changed)
    assert "not ready within 1 seconds: web-001" in again[0].partial.reasons[0]
    assert cloud.calls(STOP) == [], "another member would be down beside the one that is not ready"


def test_a_rollout_whose_members_could_not_be_read_goes_on(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    changed = rolling(3, machineType="e2-medium")
    cloud.fail(START, times=1, delay=0.0)
    cloud.fail(START, operation=BROKEN)
    cloud.fail(LIST, times=12, delay=0.0)
    cloud.fail(LIST, times=9, status=403, reason="forbidden")
    with failing() as failed:
        engine.update(created, changed)
    cloud.emulator.faults.queue.clear()
    done = engine.update(left_by(failed[0], created), changed)

    assert all(instance["machineType"].endswith("/e2-medium") for instance in instances(cloud, done))
    assert len({member["generation"] for member in done.outputs["members"]}) == 1
