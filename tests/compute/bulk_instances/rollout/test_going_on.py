"""Rollouts that were interrupted: another update goes on safely."""

from __future__ import annotations

from engines.driver import failing
from rolling.rollouts import ATTRIBUTES, BROKEN, SET_LABELS, START, STOP, fail_after, instances, left_by, rolling
from values.programs import FLEET

LIST, AGGREGATED = "compute.instances.list", "compute.instances.aggregatedList"


def test_members_that_an_interrupted_restart_left_unready_are_not_taken_for_ready(engine, cloud):
    policy = {"ready": {"guestAttribute": "app/state=ready", "within": 1}}
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    created = engine.create(FLEET, "workers", rolling(4, policy, **ATTRIBUTES))
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "broken"}})
    changed = rolling(4, policy, machineType="e2-medium", **ATTRIBUTES)
    fail_after(cloud, SET_LABELS, 1)
    with failing() as failed:
        engine.update(created, changed)
    stopped = left_by(failed[0], created)
    assert stopped.outputs["members"][0]["generation"].endswith("-changing")

    cloud.emulator.requests.kept.clear()
    with failing() as again:
        engine.update(stopped, changed)
    assert "not ready within 1 second: web-001" in again[0].partial.reasons[0]
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
