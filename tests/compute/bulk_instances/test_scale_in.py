"""Who leaves a fleet that gets smaller: those that the preview names, whatever has happened since."""

from __future__ import annotations

from collections import Counter

import pytest
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import BIGGER_DISK, rolling
from values.programs import fleet

GENERATION = "gcpx-generation"
OTHER = "00000000-00000000-00000000"


def _said(stack):
    said = (text for severity, _, text in stack.engine.log.messages if severity in {"INFO", "WARNING"})
    return "\n".join(text for text in said if not text.startswith("this update deletes "))


def _instances(cloud):
    cloud.emulator.operations.settle()
    return {body["name"]: body for _, body in cloud.emulator.store.of_kind("instances") if "labels" in body}


def _relabel(cloud, name, **labels):
    cloud.change(instance_path(name), lambda body: body["labels"].update(labels))


def _pausing(count, **more):
    return rolling(count, {"pauseAfter": 1}, **more)


@pytest.mark.parametrize("label", ["by-hand", "", OTHER])
def test_the_member_that_the_preview_names_leaves_although_the_label_of_another_one_was_changed(stack, cloud, label):
    stack.run("up", rolling(5))
    _relabel(cloud, "web-001", **{GENERATION: label})
    stack.end_plugin()
    stack.preview(rolling(4))
    assert _said(stack) == "what this update does: 1 member is deleted: web-005"
    before = _instances(cloud)
    stack.run("up", rolling(4))

    assert stack.failed is None
    assert before.keys() - _instances(cloud).keys() == {"web-005"}
    assert len(stack.state.outputs["members"]) == 4


@pytest.mark.parametrize("label", ["by-hand", "", None])
def test_a_generation_that_gcpx_did_not_write_is_set_again_and_no_reason_to_touch_a_member(stack, cloud, label):
    stack.run("up", rolling(3))
    before = _instances(cloud)
    if label is None:
        cloud.change(instance_path("web-001"), lambda body: body["labels"].pop(GENERATION))
    else:
        _relabel(cloud, "web-001", **{GENERATION: label})
    stack.refresh()
    stack.run("up", rolling(3, labels={"tier": "web"}))

    after = _instances(cloud)
    assert {name: body["id"] for name, body in after.items()} == {name: body["id"] for name, body in before.items()}
    assert {body["labels"][GENERATION] for body in after.values()} == {stack.state.outputs["generation"]}


@pytest.mark.parametrize("label", [OTHER, "{replace}-00000000-{refresh}"])
def test_a_member_whose_label_asks_for_more_than_the_preview_has_said_is_left_until_it_is_named(stack, cloud, label):
    stack.run("up", rolling(3))
    before = _instances(cloud)
    replace, _, refresh = stack.state.outputs["generation"].split("-")
    label = label.format(replace=replace, refresh=refresh)
    _relabel(cloud, "web-001", **{GENERATION: label})
    stack.run("up", rolling(3, labels={"tier": "web"}))

    left = cloud.get(instance_path("web-001"))
    label = f"{replace}{label[8:]}"  # no label says what an existing member was created with
    assert left["labels"] == {**before["web-001"]["labels"], GENERATION: label}
    assert left["id"] == before["web-001"]["id"]
    assert "web-001: the label gcpx-generation shows other properties" in _said(stack)
    assert {body["labels"].get("tier") for body in _instances(cloud).values()} == {"web", None}

    stack.refresh()
    stack.end_plugin()
    stack.preview(rolling(3, labels={"tier": "web"}))
    assert "restarted" in _said(stack)
    assert "web-001" in _said(stack)
    stack.run("up", rolling(3, labels={"tier": "web"}))
    assert {body["labels"][GENERATION] for body in _instances(cloud).values()} == {stack.state.outputs["generation"]}


def test_a_member_that_is_lost_after_the_preview_spares_one_that_it_named(stack, cloud):
    stack.run("up", fleet(5))
    cloud.delete(instance_path("web-002"))
    stack.run("up", fleet(4))

    assert member_names(stack.state) == ["web-001", "web-003", "web-004", "web-005"]
    assert cloud.calls("compute.instances.delete") == []


@pytest.mark.parametrize("on_stopped", ["START", "REPLACE", "KEEP"])
def test_stopped_members_leave_first(stack, cloud, on_stopped):
    stack.run("up", fleet(5, onStopped=on_stopped))
    stop(cloud, "web-002")
    stack.refresh()
    stack.end_plugin()
    stack.preview(fleet(4, onStopped=on_stopped))
    assert _said(stack) == "what this update does: 1 member is deleted: web-002 (stopped by somebody)"
    before = _instances(cloud)
    stack.run("up", fleet(4, onStopped=on_stopped))

    assert before.keys() - _instances(cloud).keys() == {"web-002"}
    assert {body["status"] for body in _instances(cloud).values()} == {"RUNNING"}


@pytest.mark.parametrize("program", [fleet, rolling, _pausing], ids=["fleet", "rolling", "paused"])
def test_a_member_that_stops_after_the_preview_changes_nothing_about_who_leaves(stack, cloud, program):
    stack.run("up", program(5))
    stop(cloud, "web-002")
    stack.run("up", program(4))

    assert member_names(stack.state) == ["web-001", "web-002", "web-003", "web-004"]


def test_a_paused_fleet_deletes_stopped_members_and_then_those_that_are_behind_as_without_a_pause(stack, cloud):
    stack.run("up", rolling(5))
    stack.run("up", _pausing(5, labels={"tier": "web"}))
    stack.run("up", _pausing(7, labels={"tier": "web"}))
    stop(cloud, "web-003")
    stack.refresh()
    stack.end_plugin()
    stack.preview(_pausing(2, labels={"tier": "web"}))
    assert "5 members are deleted: web-003 (stopped by somebody), web-005, web-004 and 2 more" in _said(stack)
    stack.run("up", _pausing(2, labels={"tier": "web"}))

    assert member_names(stack.state) == ["web-001", "web-006"]


@pytest.mark.parametrize("program", [fleet, rolling, _pausing], ids=["fleet", "rolling", "paused"])
@pytest.mark.parametrize("stops", [["web-002"], ["web-001", "web-003"], ["web-003", "web-005"]])
@pytest.mark.parametrize(("shape", "gone"), [("ANY_SINGLE_ZONE", "45"), ("BALANCED", "24")])
def test_members_that_stop_after_the_preview_of_a_fleet_that_replaces_them_are_started_and_the_named_ones_leave(
    stack, cloud, program, stops, shape, gone
):
    inputs = {"onStopped": "REPLACE", "locationPolicy": {"targetShape": shape}}
    stack.run("up", program(5, **inputs))
    before = {member["id"]: member for member in stack.state.outputs["members"]}
    places = {member["name"]: member["zone"] for member in before.values()}
    for name in stops:
        stop(cloud, name, zone=places[name])
    stack.run("up", program(3, **inputs))

    left = {body["id"]: body for body in _instances(cloud).values()}
    assert sorted(before[member]["name"][-1] for member in before.keys() - left.keys()) == list(gone)
    assert [body["status"] for body in left.values()] == ["RUNNING"] * 3
    assert stack.failed is None


def test_no_running_member_is_deleted_if_one_that_stops_after_the_preview_cannot_be_started(stack, cloud):
    stack.run("up", fleet(5, onStopped="REPLACE"))
    stop(cloud, "web-002")
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    stack.run("up", fleet(3, onStopped="REPLACE"))

    assert "this update does not delete web-005, web-004" in stack.init_errors[0]
    assert len(_instances(cloud)) == 5


def test_a_member_that_could_not_be_started_is_replaced_after_a_refresh_if_the_fleet_replaces_stopped_ones(
    stack, cloud
):
    stack.run("up", rolling(3, {"maxUnavailable": 1}, onStopped="REPLACE", minCount=1))
    stop(cloud, "web-002")
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    stack.run("up", rolling(3, {"maxUnavailable": 1}, onStopped="REPLACE", minCount=1, labels={"tier": "web"}))

    assert "web-002 could not be started" in _said(stack)
    assert "Run `pulumi up --refresh` to replace them where there is room" in _said(stack)


def test_a_stopped_member_that_no_preview_has_named_is_started_and_not_replaced(stack, cloud):
    stack.run("up", rolling(3, onStopped="REPLACE"))
    before = {name: body["id"] for name, body in _instances(cloud).items()}
    stop(cloud, "web-002")
    stack.run("up", rolling(3, onStopped="REPLACE", labels={"tier": "web"}))

    assert {name: body["id"] for name, body in _instances(cloud).items()} == before
    assert {body["status"] for body in _instances(cloud).values()} == {"RUNNING"}

    stop(cloud, "web-003")
    stack.refresh()
    stack.run("up", rolling(3, onStopped="REPLACE", labels={"tier": "web"}))
    assert before["web-003"] not in {body["id"] for body in _instances(cloud).values()}


def test_a_pause_counts_a_stopped_member_that_leaves_as_no_changed_one(stack, cloud):
    policy = {"pauseAfter": 2}
    stack.run("up", rolling(5, policy, onStopped="REPLACE"))
    stop(cloud, "web-002")
    stack.run("up", rolling(4, policy, onStopped="REPLACE", machineType="e2-medium"))

    types = {name: body["machineType"].rpartition("/")[2] for name, body in _instances(cloud).items()}
    assert sorted(types.values()) == ["e2-medium", "e2-medium", "e2-small", "e2-small"]


@pytest.mark.parametrize("on_stopped", ["START", "REPLACE"])
def test_a_lower_count_deletes_stopped_members_although_as_many_run_as_it_says(stack, cloud, on_stopped):
    stack.run("up", fleet(5, onStopped=on_stopped))
    stop(cloud, "web-002")
    stop(cloud, "web-004")
    stack.refresh()
    stack.run("up", fleet(3, onStopped=on_stopped))

    assert stack.failed is None
    assert _instances(cloud).keys() == {"web-001", "web-003", "web-005"}
    assert not stack.preview(fleet(3, onStopped=on_stopped))


def test_a_stopped_named_member_that_the_program_no_longer_names_leaves(stack, cloud):
    named = {name: value for name, value in fleet().items() if name not in {"count", "namePattern"}}
    stack.run("up", {**named, "perInstanceProperties": {"alpha": {}, "beta": {}, "gamma": {}}})
    stop(cloud, "beta")
    stack.refresh()
    left = {**named, "perInstanceProperties": {"alpha": {}, "gamma": {}}}
    stack.end_plugin()
    assert stack.preview(left)
    assert _said(stack) == "what this update does: 1 member is deleted: beta (stopped by somebody)"
    stack.run("up", left)

    assert _instances(cloud).keys() == {"alpha", "gamma"}
    assert not stack.preview(left)


def test_a_surplus_member_and_a_stopped_one_do_not_cancel_out(stack, cloud):
    inputs = fleet(3)
    stack.run("up", inputs)
    stack.crash("up", fleet(4), None, "after")
    cloud.emulator.operations.settle()
    stop(cloud, "web-002")
    stack.refresh()
    assert stack.preview(inputs)
    stack.run("up", inputs)

    assert {body["status"] for body in _instances(cloud).values()} == {"RUNNING"}
    assert _instances(cloud).keys() == {"web-001", "web-003", "web-004"}
    assert not stack.preview(inputs)


@pytest.mark.parametrize("refreshes", [1, 2, 3])
def test_lost_members_come_back_under_their_names_and_in_their_zones_however_often_a_refresh_missed_them(
    stack, cloud, refreshes
):
    inputs = rolling(6, {"keepNames": True}, locationPolicy={"targetShape": "BALANCED"})
    stack.run("up", inputs)
    before = {member["name"]: member["zone"] for member in stack.state.outputs["members"]}
    for name in ("web-002", "web-005"):
        cloud.delete(instance_path(name, before[name]))
    for _ in range(refreshes):
        stack.refresh()
    stack.run("up", inputs)

    assert stack.failed is None
    assert {member["name"]: member["zone"] for member in stack.state.outputs["members"]} == before
    assert not stack.state.outputs["__kept"].get("lostMembers")


@pytest.mark.parametrize("program", [fleet, _pausing], ids=["fleet", "paused"])
@pytest.mark.parametrize(("count", "zones"), [(8, [3, 3, 2]), (7, [3, 2, 2]), (6, [2, 2, 2]), (3, [1, 1, 1]), (1, [1])])
def test_a_balanced_fleet_stays_balanced_when_it_gets_smaller(stack, count, zones, program):
    def spread(count):
        return program(count, locationPolicy={"targetShape": "BALANCED"})

    stack.run("up", spread(9))
    stack.run("up", spread(count))

    found = Counter(member["zone"] for member in stack.state.outputs["members"])
    assert sorted(found.values(), reverse=True) == zones


@pytest.mark.parametrize("program", [fleet, rolling, _pausing], ids=["fleet", "rolling", "paused"])
@pytest.mark.parametrize(("count", "left"), [(5, ["web-006", "web-007"]), (4, ["web-005", "web-006", "web-007"])])
@pytest.mark.parametrize("change", [{}, {"labels": {"tier": "web"}}], ids=["count alone", "labels"])
def test_what_a_killed_growth_has_created_leaves_before_members_that_the_preview_has_not_named(
    stack, cloud, program, count, left, change
):
    stack.run("up", program(5))
    stack.crash("up", program(7), None, "after")
    before = _instances(cloud)
    stop(cloud, "web-002")
    stack.end_plugin()
    stack.preview(program(count, **change))
    assert ("1 member is deleted: web-005" in _said(stack)) == (count == 4)
    stack.run("up", program(count, **change))

    assert stack.failed is None
    gone = before.keys() - _instances(cloud).keys()
    assert sorted(gone) == (left if change or count == 4 else [])


@pytest.mark.parametrize("number", range(3, 9))
def test_what_a_killed_surge_has_created_stays_and_the_old_member_leaves(stack, cloud, number):
    policy = {"maxSurge": 1}
    stack.run("up", rolling(2, policy))
    old = {member["id"] for member in stack.state.outputs["members"]}
    stack.crash("up", rolling(2, policy, **BIGGER_DISK), number, "after")
    cloud.emulator.operations.settle()
    made = {body["id"] for body in _instances(cloud).values()} - old
    stack.up(rolling(2, policy, **BIGGER_DISK), refresh=True)

    left = {member["id"] for member in stack.state.outputs["members"]}
    assert made <= left
    assert len(left) == 2
    assert not left & old


@pytest.mark.parametrize("is_refused", [False, True], ids=["no room", "refused"])
@pytest.mark.parametrize("program", [fleet, rolling], ids=["no policy", "a policy"])
def test_members_that_run_are_not_deleted_if_those_that_stay_cannot_be_started(stack, cloud, program, is_refused):
    stack.run("up", program(6))
    for name in ("web-001", "web-002", "web-003"):
        stop(cloud, name)
    if is_refused:
        cloud.fail("compute.instances.start", status=403, reason="forbidden", message="not you", times=100)
    else:
        set_limits(cloud, zones={"us-east1-b": 3})
    stack.run("up", program(3))

    assert "does not delete web-" in stack.failed.message
    assert ("not you" if is_refused else "currently unavailable") in stack.failed.message
    running = {name for name, body in _instances(cloud).items() if body["status"] == "RUNNING"}
    assert running == {"web-004", "web-005", "web-006"}
    cloud.emulator.faults.queue.clear()
    set_limits(cloud)
    stack.run("up", program(3))
    assert stack.failed is None
    assert [body["status"] for body in _instances(cloud).values()] == ["RUNNING"] * 3
