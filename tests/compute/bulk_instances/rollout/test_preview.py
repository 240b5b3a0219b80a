"""Previews of rollouts say what the update then does."""

from __future__ import annotations

from typing import Any

import pytest
from engines import driver
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import BIGGER_DISK, DELETE, STOP, rolling
from values.programs import FLEET, TEMPLATE, fleet, template

SERVICE_ACCOUNT = {
    "email": "robot@demo-project.iam.gserviceaccount.com",
    "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
}


def said(engine: Any) -> str:
    return "\n".join(text for severity, _, text in engine.log.messages if severity == "INFO")


def test_setting_the_properties_back_names_only_the_members_that_have_the_new_ones(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, machineType="e2-medium"))
    engine.log.messages.clear()
    engine.preview_update(paused, rolling())
    assert "1 member is restarted: web-001" in said(engine)

    cloud.emulator.requests.kept.clear()
    engine.update(paused, rolling())
    assert len(cloud.calls(STOP)) == 1


def test_another_spelling_of_the_same_properties_is_announced_as_what_else_changes(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(networkInterfaces=[{"network": "default"}]))
    spelled = rolling(networkInterfaces=[{"network": "global/networks/default"}], labels={"a": "1"})
    engine.log.messages.clear()
    engine.preview_update(created, spelled)
    assert "4 members are changed without a restart" in said(engine)
    assert "replaced" not in said(engine)

    cloud.emulator.requests.kept.clear()
    engine.update(created, spelled)
    assert cloud.calls(DELETE) == []


def test_a_preview_of_a_smaller_fleet_does_not_call_deleted_members_replaced(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(5))
    engine.preview_update(created, rolling(2, **BIGGER_DISK))
    assert "2 members are replaced: web-001, web-002" in said(engine)
    assert "3 members are deleted: web-005, web-004, web-003" in said(engine)

    engine.log.messages.clear()
    engine.preview_update(created, rolling(0, {"pauseAfter": "50%"}, **BIGGER_DISK))
    assert "5 members are deleted" in said(engine)
    assert "replaced" not in said(engine)
    assert "pauses" not in said(engine)


def test_a_preview_names_members_that_lose_their_names(engine, cloud):
    def named(*names: str, **more: Any) -> dict[str, Any]:
        program = {**fleet(**more), "perInstanceProperties": {name: {} for name in names}}
        del program["namePattern"], program["count"]
        return program

    created = engine.create(FLEET, "workers", named("alpha", "beta"))
    engine.preview_update(created, named("gamma"))
    assert "2 members are deleted: alpha, beta" in said(engine)

    stop(cloud, "beta")
    refreshed = engine.refresh(created)
    engine.log.messages.clear()
    engine.preview_update(refreshed, named("alpha", "beta"))
    assert "1 member is started: beta (stopped by somebody)" in said(engine)


def test_a_fleet_that_becomes_rolling_is_announced_with_what_its_members_need(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2, scheduling={"automaticRestart": False}))
    policy = {"mostDisruptiveAction": "RESTART"}
    engine.preview_update(created, rolling(2, policy, machineType="e2-medium"))
    assert "2 members are restarted: web-001, web-002" in said(engine)
    updated = engine.update(created, rolling(2, policy, machineType="e2-medium"))
    assert updated.outputs["runningCount"] == 2
    assert cloud.calls(DELETE) == []


@pytest.mark.parametrize("unavailable", [1, 2, 5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_fleet_that_keeps_names_keeps_those_that_the_preview_names_while_it_gets_smaller(engine, count, unavailable):
    policy = {"keepNames": True, "maxUnavailable": unavailable}
    created = engine.create(FLEET, "workers", rolling(5, policy))
    smaller = rolling(count, policy, **BIGGER_DISK)
    engine.preview_update(created, smaller)

    kept = [f"web-{number:03}" for number in range(1, count + 1)]
    assert f"{count} members are replaced: {', '.join(kept)}" in said(engine)
    assert member_names(engine.update(created, smaller)) == kept


@pytest.mark.parametrize(
    ("policy", "lines"),
    [
        ({}, ["replacing web-001, deleting web-005, web-004, web-003", "replacing web-002"]),
        ({"keepNames": True}, ["replacing web-001, deleting web-005, web-004, web-003", "replacing web-002"]),
        (
            {"maxSurge": 1},
            ["deleting web-005, web-004, web-003, creating 1 instance", "replacing web-001", "replacing web-002"],
        ),
    ],
)
def test_the_lines_about_batches_call_replaced_whom_the_preview_calls_so(engine, policy, lines):
    created = engine.create(FLEET, "workers", rolling(5, policy))
    smaller = rolling(2, policy, **BIGGER_DISK)
    engine.preview_update(created, smaller)
    assert "2 members are replaced: web-001, web-002" in said(engine)
    engine.log.messages.clear()
    engine.update(created, smaller)
    begun = [f"batch {number} of {len(lines)}: {line}" for number, line in enumerate(lines, 1)]
    texts = {text for _, _, text in engine.log.messages}
    assert [line for line in begun if line not in texts] == []


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (5, ["1 instance is created: web-003"]),
        (7, ["3 instances are created: web-003 and 2 more"]),
        (2, ["2 members are replaced: web-001, web-002", "2 members are deleted: web-005, web-004"]),
        (
            3,
            ["2 members are replaced: web-001, web-002", "2 members are deleted: web-005, web-004", "created: web-003"],
        ),
    ],
)
def test_a_preview_names_new_members_as_far_as_their_names_are_known(engine, cloud, count, words):
    policy = {"keepNames": True}
    created = engine.create(FLEET, "workers", rolling(5, policy))
    cloud.delete(instance_path("web-003"))
    refreshed = engine.refresh(created)
    engine.log.messages.clear()
    wanted = rolling(count, policy, **BIGGER_DISK)
    engine.preview_update(refreshed, wanted)
    assert [line for line in words if line not in said(engine)] == []
    assert ("created" in said(engine)) == (count > 2)
    before = {item["name"]: item["id"] for item in refreshed.outputs["members"]}
    updated = engine.update(refreshed, wanted)
    assert member_names(updated) == [f"web-{number:03}" for number in range(1, count + 1)]
    assert not before.items() & {item["name"]: item["id"] for item in updated.outputs["members"]}.items()


@pytest.mark.parametrize(
    ("unavailable", "words"),
    [
        (1, "120 batches, one after the other: about 2 hours if each takes a minute, and less with a higher"),
        (3, "40 batches; at least 117 of 120"),
    ],
)
def test_a_preview_of_many_batches_says_how_long_they_take(engine, unavailable, words):
    created = engine.create(FLEET, "workers", rolling(120))
    engine.preview_update(created, rolling(120, {"maxUnavailable": unavailable}, **BIGGER_DISK))

    assert words in said(engine)


C3 = {"zones": ["us-east1-c"], "machineType": "c3-standard-4"}
FALLBACKS_THAT_CHANGE = {
    "removed": ([C3], None, {"serviceAccounts": [SERVICE_ACCOUNT]}, "restarted"),
    "moved": ([C3], [{"zones": ["us-east1-d"]}, C3], {"serviceAccounts": [SERVICE_ACCOUNT]}, "restarted"),
    "another": ([{"zones": ["us-east1-c"]}], [C3], {"machineType": "c3-standard-8"}, "replaced"),
    "unknown": ([C3], driver.UNKNOWN, {"serviceAccounts": [SERVICE_ACCOUNT]}, "replaced"),
}


@pytest.mark.parametrize(
    ("before", "after", "change", "words"), FALLBACKS_THAT_CHANGE.values(), ids=FALLBACKS_THAT_CHANGE
)
def test_members_of_fallbacks_get_what_is_announced_if_the_list_changes(engine, cloud, before, after, change, words):
    def program(fallbacks: Any, **more: Any) -> dict[str, Any]:
        listed = {} if fallbacks is None else {"fallbacks": fallbacks}
        return rolling(2, locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]}, **listed, **more)

    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", program(before))
    set_limits(cloud, zones={})
    engine.log.messages.clear()
    engine.preview_update(created, program(after, **change))
    assert f"2 members are {words}: web-001, web-002" in said(engine)

    if after is not driver.UNKNOWN:
        cloud.emulator.requests.kept.clear()
        engine.update(created, program(after, **change))
        assert len(cloud.calls(STOP if words == "restarted" else DELETE)) == 2


@pytest.mark.parametrize(("machine", "done"), [("c3-standard-4", DELETE), ("e2-medium", STOP)])
def test_members_that_get_the_machine_type_of_their_template_are_at_most_replaced(engine, cloud, machine, done):
    def program(**more: Any) -> dict[str, Any]:
        return {**rolling(2), "sourceInstanceTemplate": "global/instanceTemplates/base", "instanceProperties": more}

    engine.create(TEMPLATE, "base", {"name": "base", **template()})
    created = engine.create(FLEET, "workers", program(machineType=machine))
    engine.log.messages.clear()
    engine.preview_update(created, program(serviceAccounts=[SERVICE_ACCOUNT]))
    assert "at most 2 members are replaced: web-001, web-002" in said(engine)

    cloud.emulator.requests.kept.clear()
    engine.update(created, program(serviceAccounts=[SERVICE_ACCOUNT]))
    assert len(cloud.calls(done)) == 2


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ({"labels": {"team": "web"}}, {"memberNames", "memberCount", "shortfalls"}),
        ({"machineType": "e2-medium"}, {"memberNames", "memberCount"}),
        ({"onStopped": "KEEP"}, {"memberNames", "memberCount", "members", "runningCount"}),
        (BIGGER_DISK, set()),
        ({"count": 4}, set()),
        ({"count": driver.UNKNOWN}, set()),
    ],
)
def test_outputs_that_a_change_cannot_touch_stay_known(engine, change, known):
    created = engine.create(FLEET, "workers", rolling(3))
    count = change.get("count", 3)
    predicted = engine.preview_update(created, rolling(count, **{k: v for k, v in change.items() if k != "count"}))
    volatile = {"memberNames", "memberCount", "members", "runningCount", "shortfalls"}
    found = {name for name in volatile if predicted.get(name, driver.UNKNOWN) != driver.UNKNOWN}
    assert known <= found
    assert bool(known) == bool(found)
    assert all(predicted[name] == created.outputs[name] for name in found)
