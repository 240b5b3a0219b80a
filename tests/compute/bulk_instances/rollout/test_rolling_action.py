"""Members are restarted or replaced because the program asks for it, each time that a trigger changes."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, failing
from engines.stack import Stack
from rolling.fleets import member_names
from rolling.rollouts import BIGGER_DISK, DELETE, START, STOP, fail_after, instances, left_by, rolling
from values.programs import FLEET


def existing(cloud):
    """Return the IDs of all instances."""
    cloud.emulator.operations.settle()
    return {body["id"] for _, body in cloud.emulator.store.of_kind("instances")}


def asking(count=4, policy=None, action="RESTART", trigger="monday", **more):
    members = {"members": more.pop("members")} if "members" in more else {}
    return rolling(count, policy, rollingAction={"action": action, "trigger": trigger, **members}, **more)


def ids(resource):
    return [member["id"] for member in resource.outputs["members"]]


def said(engine):
    return "\n".join(text for _, _, text in engine.log.messages)


def touched(cloud, method):
    """Return the IDs of the members to which requests of a method were sent, in their order."""
    return [request["path"].split("/instances/")[1].split("/")[0] for request in cloud.requests(method)]


def test_all_members_are_restarted_in_batches_once_for_each_value_of_the_trigger(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    engine.preview_update(created, asking())
    assert "4 members are restarted: web-001, web-002, web-003" in said(engine)
    assert "4 batches; at least 3 of 4 members run at any time" in said(engine)

    restarted = engine.update(created, asking())
    assert touched(cloud, STOP) == touched(cloud, START) == ids(created)
    assert ids(restarted) == ids(created)
    assert touched(cloud, DELETE) == []

    cloud.emulator.requests.kept.clear()
    again = engine.update(restarted, asking(labels={"a": "1"}))
    assert touched(cloud, STOP) == []
    later = engine.update(again, asking(trigger="tuesday", labels={"a": "1"}))
    assert len(touched(cloud, STOP)) == 4
    engine.update(later, rolling(4, labels={"a": "1"}))
    assert len(touched(cloud, STOP)) == 4, "nothing is done when the action is removed"


def test_only_chosen_members_are_replaced_and_the_others_stay(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    chosen = [ids(created)[1], ids(created)[3]]
    wanted = asking(action="REPLACE", members=chosen)
    engine.preview_update(created, wanted)
    assert "2 members are replaced: web-002, web-004" in said(engine)

    replaced = engine.update(created, wanted)
    assert touched(cloud, DELETE) == chosen
    assert set(ids(created)) - set(ids(replaced)) == set(chosen)
    assert len(ids(replaced)) == 4

    cloud.emulator.requests.kept.clear()
    engine.log.messages.clear()
    engine.preview_update(replaced, asking(5, action="REPLACE", members=chosen))
    engine.update(replaced, asking(5, action="REPLACE", members=chosen))
    assert touched(cloud, DELETE) == []
    assert "replaced" not in said(engine)


def test_members_are_chosen_by_name_or_by_id(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    wanted = asking(members=["web-002", ids(created)[3]])
    engine.preview_update(created, wanted)
    assert "2 members are restarted: web-002, web-004" in said(engine)

    engine.update(created, wanted)
    assert touched(cloud, STOP) == [ids(created)[1], ids(created)[3]]


@pytest.mark.parametrize("by_name", [False, True], ids=["by ID", "by name"])
def test_a_replaced_member_keeps_its_name_if_the_fleet_keeps_names(engine, cloud, by_name):
    created = engine.create(FLEET, "workers", rolling(3, {"keepNames": True}))
    chosen = ["web-002"] if by_name else [ids(created)[1]]
    wanted = asking(3, {"keepNames": True}, action="REPLACE", members=chosen)
    replaced = engine.update(created, wanted)
    assert member_names(replaced) == member_names(created)
    assert [a == b for a, b in zip(ids(created), ids(replaced), strict=True)] == [True, False, True]

    cloud.emulator.requests.kept.clear()
    engine.update(replaced, {**wanted, "count": 4})
    assert touched(cloud, DELETE) == [], "the new member of that name is not replaced again"


def test_a_member_of_a_chosen_name_that_an_interrupted_update_has_replaced_is_not_replaced_again(engine, cloud):
    policy = {"keepNames": True}
    created = engine.create(FLEET, "workers", rolling(3, policy))
    wanted = asking(3, policy, action="REPLACE", members=["web-001", "web-002"])
    fail_after(cloud, DELETE, 1)
    with failing() as failed:
        engine.update(created, wanted)
    cloud.emulator.requests.kept.clear()
    engine.update(left_by(failed[0], created), wanted)
    assert touched(cloud, DELETE) == [ids(created)[1]]


@pytest.mark.parametrize(("action", "method"), [("RESTART", STOP), ("REPLACE", DELETE)])
def test_an_action_that_failed_goes_on_with_the_others(engine, cloud, action, method):
    created = engine.create(FLEET, "workers", rolling(4))
    fail_after(cloud, method, 2)
    with failing() as failed:
        engine.update(created, asking(action=action))
    outdated = [item["id"] for item in instances(cloud, created) if "gcpx-action" not in item["labels"]]
    assert 0 < len(outdated) < 4
    made = existing(cloud) - set(ids(created))
    assert len(made) == (0 if action == "RESTART" else 4 - len(outdated))

    left = left_by(failed[0], created)
    with failing() as problem:
        engine.refresh(left)
    assert "the last update did not finish: " in problem[0].partial.reasons[0]
    refreshed = left_by(problem[0], left)

    cloud.emulator.requests.kept.clear()
    engine.log.messages.clear()
    engine.preview_update(refreshed, asking(action=action))
    assert f"{len(outdated)} member" in said(engine)
    done = engine.update(refreshed, asking(action=action))
    assert sorted(touched(cloud, method)) == sorted(outdated)
    assert made <= set(ids(done))
    assert engine.refresh(done).outputs["__kept"]["lastRollingAction"] == done.outputs["__kept"]["lastRollingAction"]


@pytest.mark.parametrize("number", range(2, 30, 3))
@pytest.mark.parametrize("action", ["RESTART", "REPLACE"])
def test_an_action_that_was_killed_goes_on_and_leaves_the_new_members(cloud, action, number):
    stack, inputs = Stack(cloud, FLEET, "workers"), asking(3, {"maxUnavailable": 2}, action=action)
    stack.run("up", rolling(3, {"maxUnavailable": 2}))
    first = {member["id"] for member in stack.state.outputs["members"]}
    stack.crash("up", inputs, number, "after")
    made = existing(cloud) - first
    handled = {
        body["id"] for _, body in cloud.emulator.store.of_kind("instances") if "gcpx-action" in body.get("labels", {})
    }
    cloud.emulator.requests.kept.clear()
    stack.run("up", inputs)

    assert stack.failed is None
    left = {member["id"] for member in stack.state.outputs["members"]}
    assert left == existing(cloud)
    assert len(left) == 3
    assert made <= left, "what the first run has created is not replaced again"
    assert not left & first if action == "REPLACE" else left == first
    again = {*touched(cloud, STOP), *touched(cloud, DELETE)}
    assert not again & handled, "what was handled is left alone"
    stack.end_plugin()


def test_new_members_need_no_action(engine, cloud):
    created = engine.create(FLEET, "workers", asking(2))
    grown = engine.update(created, asking(3))
    assert all(
        item["labels"]["gcpx-action"] == created.outputs["__kept"]["lastRollingAction"]
        for item in instances(cloud, grown)
    )
    parked = engine.update(engine.update(grown, asking(0)), asking(2))
    assert touched(cloud, STOP) == []
    assert parked.outputs["__kept"]["lastRollingAction"] == created.outputs["__kept"]["lastRollingAction"]


def test_a_parked_fleet_is_created_without_anything_to_do(engine, cloud):
    created = engine.create(FLEET, "workers", asking(0))
    engine.update(created, asking(2))
    assert touched(cloud, STOP) == []


def test_an_action_that_has_ended_is_not_done_to_members_that_come_later(engine, cloud):
    restarted = engine.update(engine.create(FLEET, "workers", rolling(2)), asking(2))
    grown = engine.update(restarted, rolling(4))
    assert [("gcpx-action" in item["labels"]) for item in instances(cloud, grown)] == [True, True, False, False]
    cloud.emulator.requests.kept.clear()
    engine.update(engine.refresh(grown), asking(4))
    assert touched(cloud, STOP) == []


def test_a_member_is_restarted_once_although_lists_show_its_label_later(engine, cloud):
    created, store, hidden = engine.create(FLEET, "workers", rolling(3)), cloud.emulator.store, {}

    def lag(_number, request):
        is_list = request.startswith("GET") and request.partition("?")[0].endswith("/instances")
        for path, body in list(store.of_kind("instances")):
            if is_list and "gcpx-action" in body["labels"]:
                hidden[path] = body["labels"]
                cloud.change(path, lambda item: item.update(labels={**item["labels"]}))
                cloud.change(path, lambda item: item["labels"].pop("gcpx-action"))
            elif not is_list and path in hidden:
                labels = hidden.pop(path)
                cloud.change(path, lambda item, labels=labels: item.update(labels=labels))

    with cloud.interceptor.observed(lag):
        done = engine.update(created, asking(3))
    assert sorted(touched(cloud, STOP)) == sorted(ids(created))
    assert done.outputs["__kept"]["lastRollingAction"]


def test_a_failed_action_is_not_rolled_back(engine, cloud):
    policy = {"onFailure": "ROLL_BACK"}
    created = engine.create(FLEET, "workers", rolling(3, policy))
    fail_after(cloud, STOP, 1)
    with failing() as failed:
        engine.update(created, asking(3, policy))
    assert "rolled back" not in failed[0].partial.reasons[0]
    assert len(touched(cloud, START)) == len(set(touched(cloud, START)))


def test_a_change_of_properties_with_an_action_is_done_together(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    changed = engine.update(created, asking(3, machineType="e2-medium", members=[ids(created)[0]]))
    assert sorted(touched(cloud, STOP)) == ids(created)
    assert all(item["machineType"].endswith("e2-medium") for item in instances(cloud, changed))
    engine.update(changed, asking(3, machineType="e2-medium", members=[ids(created)[0]], labels={"a": "1"}))
    assert len(touched(cloud, STOP)) == 3


def test_an_action_on_all_members_can_pause(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    paused = engine.update(created, asking(4, {"pauseAfter": 1}))
    assert touched(cloud, STOP) == ids(created)[:1]
    assert "the rollout has paused" in said(engine)
    engine.update(paused, asking(4))
    assert touched(cloud, STOP) == ids(created)


def test_a_preview_with_an_unknown_trigger_says_at_most(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    engine.preview_update(created, asking(3, trigger=UNKNOWN))
    assert "at most 3 members are restarted" in said(engine)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"members": ["12345"]}, "rollingAction.members: 12345 is not a member of this fleet"),
        ({"members": ["12345", "6"]}, "rollingAction.members: 12345, 6 are not members of this fleet"),
        ({"members": ["other"]}, "rollingAction.members: other is not a member of this fleet"),
    ],
    ids=str,
)
def test_names_and_ids_of_others_are_named_and_left_alone(engine, cloud, asked, words):
    created = engine.create(FLEET, "workers", rolling(3))
    cloud.change(cloud.make_instance("other"), lambda body: body.update(id="12345"))
    engine.preview_update(created, asking(3, **asked))
    assert words in said(engine)
    engine.update(created, asking(3, **asked))
    assert touched(cloud, STOP) == []


def test_an_old_value_of_the_trigger_is_named(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    restarted = engine.update(created, asking(3))
    engine.log.messages.clear()
    engine.preview_update(restarted, asking(3, action="REPLACE"))
    assert "rollingAction.trigger: everything was already done for this value" in said(engine)


def test_a_secret_trigger_is_in_no_label_and_in_no_output(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2))
    restarted = engine.update(created, asking(2, trigger="hunter2"))
    assert "hunter2" not in str(instances(cloud, restarted))
    outputs = {name: value for name, value in restarted.outputs.items() if name != "rollingAction"}
    assert "hunter2" not in str(outputs)


def test_a_replacement_counts_as_a_deletion(engine, cloud):
    policy = {"maxDeleted": 2}
    created = engine.create(FLEET, "workers", rolling(4, policy))
    with failing() as failed:
        engine.preview_update(created, asking(4, policy, action="REPLACE"))
    assert "maxDeleted: allows one update to delete 2" in failed[0].message
    engine.update(created, asking(4, policy, action="REPLACE", members=ids(created)[:2]))
    assert len(touched(cloud, DELETE)) == 2


def test_an_action_beside_a_change_that_replaces_replaces_each_member_once(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    engine.update(created, asking(3, action="REPLACE", **BIGGER_DISK))
    assert len(touched(cloud, DELETE)) == 3
