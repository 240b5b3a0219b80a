"""Rollouts of fleets with stopped members: members that are stopped on purpose stay so, and suspended ones can be changed."""

from __future__ import annotations

import pytest
from driver import failing
from fleets import instance_path, stop
from programs import FLEET
from rollouts import START, fail_after, instances, left_by, rolling


def said(engine) -> str:
    return "\n".join(text for severity, _, text in engine.log.messages if severity == "INFO")


@pytest.mark.parametrize("status", ["TERMINATED", "SUSPENDED"])
def test_stopped_members_that_the_fleet_keeps_are_changed_and_stay_stopped(engine, cloud, status):
    created = engine.create(FLEET, "workers", rolling(3, onStopped="KEEP"))
    stop(cloud, "web-002", status=status)
    refreshed, changed = engine.refresh(created), rolling(3, onStopped="KEEP", machineType="e2-medium")
    engine.preview_update(refreshed, changed)
    assert "- 2 members are restarted: web-001, web-003" in said(engine)
    assert "- 1 member is changed, and left stopped: web-002" in said(engine)

    updated = engine.update(refreshed, changed)
    found = instances(cloud, updated)
    assert [instance["status"] for instance in found] == ["RUNNING", "TERMINATED", "RUNNING"]
    assert all(instance["machineType"].endswith("/e2-medium") for instance in found)
    assert {member["generation"] for member in updated.outputs["members"]} == {updated.outputs["generation"]}
    assert not engine.drift(updated)


def test_a_member_that_an_interrupted_restart_stopped_is_started_also_if_the_fleet_keeps_stopped_ones(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2, onStopped="KEEP"))
    changed = rolling(2, onStopped="KEEP", machineType="e2-medium")
    fail_after(cloud, START, 0)
    with failing() as failed:
        engine.update(created, changed)
    updated = engine.update(left_by(failed[0], created), changed)
    assert [instance["status"] for instance in instances(cloud, updated)] == ["RUNNING", "RUNNING"]


def test_a_suspended_member_is_stopped_changed_and_started(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2))
    stop(cloud, "web-002", "suspend", status="SUSPENDED")
    engine.update(engine.refresh(created), rolling(2, machineType="e2-medium"))
    instance = cloud.get(instance_path("web-002"))
    assert instance["status"] == "RUNNING"
    assert instance["machineType"].endswith("/e2-medium")
