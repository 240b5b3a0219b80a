"""Rollouts of fleets with stopped members: members that are stopped on purpose stay so, and suspended ones can be changed."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, failing
from rolling.fleets import STOPPED, instance_path, stop
from rolling.rollouts import BIGGER_DISK, START, fail_after, instances, left_by, rolling
from values.programs import FLEET


def said(engine) -> str:
    return "\n".join(text for severity, _, text in engine.log.messages if severity == "INFO")


@pytest.mark.parametrize("status", ["TERMINATED", "SUSPENDED"])
def test_stopped_members_that_the_fleet_keeps_are_changed_and_stay_stopped(engine, cloud, status):
    created = engine.create(FLEET, "workers", rolling(3, onStopped="KEEP"))
    stop(cloud, "web-002", status=status, lastSuspendedTimestamp=STOPPED)
    refreshed, changed = engine.refresh(created), rolling(3, onStopped="KEEP", machineType="e2-medium")
    engine.preview_update(refreshed, changed)
    assert ": 2 members are restarted: web-001, web-003" in said(engine)
    by = "suspended by somebody" if status == "SUSPENDED" else "stopped by somebody"
    assert f"- 1 member is changed, and left stopped: web-002 ({by})" in said(engine)
    assert ("- 1 suspended member loses its memory: web-002" in said(engine)) == (status == "SUSPENDED")

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
    refreshed, changed = engine.refresh(created), rolling(2, machineType="e2-medium")
    engine.preview_update(refreshed, changed)
    assert "- 1 suspended member loses its memory: web-002" in said(engine)
    engine.update(refreshed, changed)
    instance = cloud.get(instance_path("web-002"))
    assert instance["status"] == "RUNNING"
    assert instance["machineType"].endswith("/e2-medium")


@pytest.mark.parametrize("on_stopped", ["START", "KEEP"])
@pytest.mark.parametrize("change", ["refresh", "replace"])
def test_a_preview_does_not_speak_of_memory_if_no_suspended_member_is_stopped(engine, cloud, on_stopped, change):
    created = engine.create(FLEET, "workers", rolling(2, onStopped=on_stopped))
    stop(cloud, "web-002", "suspend", status="SUSPENDED")
    changed = BIGGER_DISK if change == "replace" else {"labels": {"tier": "web"}}
    engine.preview_update(engine.refresh(created), rolling(2, onStopped=on_stopped, **changed))
    assert "web-002" in said(engine)
    assert "memory" not in said(engine)


def test_a_preview_of_a_change_that_is_not_known_yet_says_how_many_suspended_members_may_lose_their_memory(
    engine, cloud
):
    created = engine.create(FLEET, "workers", rolling(3, onStopped="KEEP"))
    for name in ("web-002", "web-003"):
        stop(cloud, name, "suspend", status="SUSPENDED")
    engine.preview_update(engine.refresh(created), rolling(3, onStopped="KEEP", minCpuPlatform=UNKNOWN))
    assert "- at most 2 suspended members lose their memory: web-002, web-003" in said(engine)
