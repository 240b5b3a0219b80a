"""Rollbacks after a failed batch: all members have the previous properties, and few of them are down at once."""

from __future__ import annotations

from driver import failing
from programs import FLEET, fleet
from rollouts import BULK, START, STOP, fail_after, instances, rolling

BACK = {"onFailure": "ROLL_BACK"}


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

    assert failed[0].partial is None
    assert [instance.get("hostname") for instance in instances(cloud, created)] == [None, None, None]
