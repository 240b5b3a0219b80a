"""Instances that match a fleet's ID and are not its members: they are named, and never counted, changed or deleted.

Holds reliability.md: "A name or a label never"; "Each member of a fleet"; "A warning lists"; "Only an import adds everything".
"""

from __future__ import annotations

import json

import pytest
from engines.import_commands import import_commands
from engines.stack import Stack
from rolling.fleets import instance_path, member_names, stop
from rolling.rollouts import BIGGER_DISK, BROKEN, BULK, fail_after, rolling
from servers.surroundings import prepare
from values.programs import FLEET, fleet

ROLE = {"role": "worker"}
DEFINED_BY_USER = {"label": "labels/role=worker", "pattern": "namePattern/web-###"}


@pytest.fixture
def stack(cloud):
    """A stack with a fleet of three, beside other instances."""
    prepare(cloud)
    made = stack_of(cloud)
    made.run("up", fleet(3, labels=ROLE))
    yield made
    made.end_plugin()


def stack_of(cloud, name="workers", **more):
    return Stack(cloud, FLEET, name, **more)


def instances(cloud):
    """Return all instances by their numeric IDs."""
    cloud.emulator.operations.settle()
    return {body["id"]: body for _, body in cloud.emulator.store.of_kind("instances")}


def names(cloud):
    """Return the names of all instances by their numeric IDs."""
    return {key: body["name"] for key, body in instances(cloud).items()}


def copy_of(cloud, member, name):
    """Create an instance with the labels of a member, as with "create similar" in the console; return its numeric ID."""
    labels = cloud.get(instance_path(member))["labels"]
    path = cloud.make_instance(name)
    cloud.change(path, lambda body: body.update(labels=labels))
    return cloud.get(path)["id"]


def said(stack):
    """Return the lines that the plugin that runs has printed for the user."""
    said = (text for severity, _, text in stack.engine.log.messages if severity in {"INFO", "WARNING"})
    return "\n".join(filter(_is_unexpected, said))


def _is_unexpected(text):
    """Return whether a line is about anything but the deletions of a rollout."""
    return not text.startswith("this update deletes ")


def imported(cloud, inputs, fleet_id):
    """Return a stack that has imported, by a label or a pattern, what a stack that no longer exists has created."""
    before, stack = stack_of(cloud, "before"), stack_of(cloud)
    before.run("up", inputs)
    before.end_plugin()
    stack.import_(f"{before.state.id.partition('/bulkInstances/')[0]}/{fleet_id}")
    stack.end_plugin()
    return stack


def program_of(stack):
    """Return the inputs that an import has written, as a program."""
    return {name: value for name, value in stack.state.inputs.items() if not name.startswith("__")}


def create_without_reading(stack, inputs):
    """Create a fleet whose members cannot be read after their creation."""
    faults = stack.cloud.emulator.faults.queue
    stack.cloud.fail("compute.instances.aggregatedList", delay=0.0)
    stack.cloud.fail("compute.instances.list", times=100, status=403)
    stack.up(inputs)
    faults.clear()
    assert stack.failed.partial is not None
    assert "members" not in stack.state.outputs


def forget_operations(cloud):
    """Let Google forget all operations, as it does after some weeks."""
    cloud.emulator.operations.settle()
    cloud.emulator.store.run("delete from operations")


def assert_settled(stack, inputs):
    """Assert that a preview is empty, also after a refresh."""
    assert stack.failed is None
    stack.end_plugin()
    assert not stack.preview(inputs)
    stack.refresh()
    assert not stack.preview(inputs)


def test_scaling_in_deletes_the_member_that_the_preview_names(stack, cloud):
    stranger, before = copy_of(cloud, "web-001", "a-copy"), names(cloud)
    stack.end_plugin()
    stack.preview(fleet(2, labels=ROLE))
    assert said(stack) == "what this update does: 1 member is deleted: web-003"
    stack.run("up", fleet(2, labels=ROLE))

    assert [before[key] for key in before.keys() - names(cloud).keys()] == ["web-003"]
    assert member_names(stack.state) == ["web-001", "web-002"]
    assert "a-copy" in "\n".join(stack.warnings)
    assert stranger in instances(cloud)
    assert_settled(stack, fleet(2, labels=ROLE))


def test_scaling_out_creates_what_is_missing_beside_a_stranger(stack, cloud):
    copy_of(cloud, "web-001", "a-copy")
    before = instances(cloud)
    stack.run("up", fleet(4, labels=ROLE))

    assert [body["name"] for key, body in instances(cloud).items() if key not in before] == ["web-004"]
    assert before.items() <= instances(cloud).items()
    assert member_names(stack.state) == ["web-001", "web-002", "web-003", "web-004"]
    assert_settled(stack, fleet(4, labels=ROLE))


@pytest.mark.parametrize("origin", ["tracking label", *DEFINED_BY_USER])
def test_a_stranger_is_not_changed_in_place(cloud, origin):
    prepare(cloud)
    own = {"fleetId": DEFINED_BY_USER[origin]} if origin in DEFINED_BY_USER else {}
    stack = imported(cloud, fleet(3, labels=ROLE), own["fleetId"]) if own else stack_of(cloud)
    if not own:
        stack.run("up", fleet(3, labels=ROLE))
    stranger = copy_of(cloud, "web-001", "web-777")
    before = instances(cloud)
    stack.run("up", fleet(3, labels={**ROLE, "tier": "db"}, **own))

    after = instances(cloud)
    assert [body["name"] for key, body in after.items() if body != before[key]] == ["web-001", "web-002", "web-003"]
    assert ("web-777" in "\n".join(stack.warnings)) is not bool(own), "only gcpx sets its label"
    stack.run("destroy", {})
    assert instances(cloud)[stranger] == before[stranger]
    stack.end_plugin()


def test_a_stranger_is_not_restarted_by_a_rollout(cloud):
    prepare(cloud)
    stack = stack_of(cloud)
    stack.run("up", rolling(3))
    stranger = copy_of(cloud, "web-001", "a-copy")
    before = instances(cloud)
    stack.run("up", rolling(3, machineType="e2-medium"))

    after = instances(cloud)
    assert after.keys() == before.keys()
    assert after[stranger] == before[stranger]
    assert_settled(stack, rolling(3, machineType="e2-medium"))
    stack.end_plugin()


def test_a_stopped_stranger_is_not_started(stack, cloud):
    copy_of(cloud, "web-001", "a-copy")
    stop(cloud, "a-copy")
    stop(cloud, "web-002")
    stack.up(fleet(3, labels=ROLE), refresh=True)

    assert {body["name"]: body["status"] for body in instances(cloud).values() if "labels" in body} == {
        "a-copy": "TERMINATED", "web-001": "RUNNING", "web-002": "RUNNING", "web-003": "RUNNING"
    }  # fmt: skip


def test_a_refresh_does_not_take_a_stranger_in_and_names_it(stack, cloud):
    made = [copy_of(cloud, "web-001", f"copy-{number}") for number in range(1, 7)]
    stack.end_plugin()
    before = stack.state
    stack.refresh()

    assert stack.state == before
    (warning,) = stack.warnings
    assert "copy-1, copy-2, copy-3 and 3 more" in warning
    assert "gcpx-bulk" in warning
    assert set(made) <= instances(cloud).keys()


def test_a_destroy_leaves_a_stranger_and_names_it(stack, cloud):
    stranger = copy_of(cloud, "web-001", "a-copy")
    before = instances(cloud)
    stack.run("destroy", {})

    gone = [body["name"] for key, body in before.items() if key not in instances(cloud)]
    assert sorted(gone) == ["web-001", "web-002", "web-003"]
    assert instances(cloud)[stranger] == before[stranger]
    assert "a-copy" in "\n".join(stack.warnings)


def test_a_stranger_of_a_parked_fleet_is_no_drift(stack, cloud):
    stack.run("up", fleet(1, labels=ROLE))
    stranger = copy_of(cloud, "web-001", "a-copy")
    stack.run("up", fleet(0, labels=ROLE))
    assert member_names(stack.state) == []

    assert_settled(stack, fleet(0, labels=ROLE))
    assert stranger in instances(cloud)


def test_a_fleet_of_which_only_a_stranger_is_left_is_filled_again(stack, cloud):
    stranger = copy_of(cloud, "web-001", "a-copy")
    for name in member_names(stack.state):
        cloud.delete(instance_path(name))
    stack.end_plugin()
    stack.refresh()

    assert stack.state.outputs["members"] == []
    assert "a-copy" in "\n".join(stack.warnings)
    stack.run("up", fleet(3, labels=ROLE))
    assert len(member_names(stack.state)) == 3
    assert stranger in instances(cloud)


@pytest.mark.parametrize("first", ["label", "pattern"])
def test_two_fleets_that_match_each_other_each_destroy_their_own(cloud, first):
    prepare(cloud)
    one, other = imported(cloud, fleet(2, labels=ROLE), DEFINED_BY_USER[first]), stack_of(cloud, "other")
    other.run("up", fleet(2, labels=ROLE))
    of_one, of_other = ({member["id"] for member in stack.state.outputs["members"]} for stack in (one, other))
    assert not of_one & of_other
    one.run("up", fleet(1, labels=ROLE, fleetId=DEFINED_BY_USER[first]))
    assert instances(cloud).keys() >= of_other
    assert len(instances(cloud).keys() & of_one) == 1
    one.run("destroy", {})

    assert not instances(cloud).keys() & of_one
    assert instances(cloud).keys() >= of_other
    other.run("destroy", {})
    assert not instances(cloud).keys() & of_other
    one.end_plugin()
    other.end_plugin()


@pytest.mark.parametrize("fleet_id", DEFINED_BY_USER.values(), ids=DEFINED_BY_USER)
def test_an_imported_fleet_keeps_its_members_beside_a_newcomer_that_matches_its_id(cloud, fleet_id):
    prepare(cloud)
    stack = imported(cloud, fleet(3, labels=ROLE), fleet_id)
    stranger, program = copy_of(cloud, "web-001", "web-000"), program_of(stack)
    stack.refresh()
    assert member_names(stack.state) == ["web-001", "web-002", "web-003"]
    assert not stack.preview(program)
    stack.run("up", program)
    assert member_names(stack.state) == ["web-001", "web-002", "web-003"]
    stack.run("up", {**program, "count": 4})
    assert len(member_names(stack.state)) == 4
    stack.refresh()
    assert len(member_names(stack.state)) == 4, "its operation proves that the fourth is a member"
    assert stack.warnings == []
    stack.run("destroy", {})

    assert [body["id"] for body in instances(cloud).values() if "labels" in body] == [stranger]
    stack.end_plugin()


@pytest.mark.parametrize("kind", DEFINED_BY_USER)
def test_the_id_of_an_imported_fleet_is_refused_for_a_new_one_with_what_to_write(engine, kind):
    refused = engine.failures(FLEET, fleet(2, labels=ROLE, fleetId=DEFINED_BY_USER[kind]))

    assert set(refused) == {"fleetId"}
    form = {"label": "labels/KEY=VALUE", "pattern": "namePattern/PATTERN"}[kind]
    place = "projects/PROJECT/regions/REGION"
    for words in ("such as crew", "left out", f"pulumi import {FLEET} NAME {place}/{form}"):
        assert words in refused["fleetId"]


@pytest.mark.parametrize("form", ["bulkInstances", "labels", "namePattern"])
def test_an_import_takes_everything_in_that_matches(stack, cloud, form):
    stranger = copy_of(cloud, "web-001", "web-777")
    place = stack.state.id.partition("/bulkInstances/")[0]
    ids = {
        "bulkInstances": stack.state.id,
        "labels": f"{place}/labels/role=worker",
        "namePattern": f"{place}/namePattern/web-###",
    }
    stack.end_plugin()
    again = stack_of(cloud, "again")
    again.import_(ids[form])

    assert stranger in {member["id"] for member in again.state.outputs["members"]}
    assert ["web-777 (machineType)" in text for text in again.warnings] == [True]
    again.run("destroy", {})
    assert stranger not in instances(cloud)
    again.end_plugin()


def _kills():
    """Return changes of a fleet of four that a killed run began, and the requests after which it was killed."""
    changed = rolling(4, {"maxUnavailable": 2}, **BIGGER_DISK)
    return [
        *(pytest.param(None, rolling(4), number, id=f"creation-{number}") for number in range(1, 8)),
        *(pytest.param(rolling(2), rolling(4), number, id=f"growth-{number}") for number in range(1, 8)),
        *(pytest.param(rolling(4, {"maxUnavailable": 2}), changed, number, id=f"rollout-{number}") for number in range(2, 34, 3)),
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "inputs", "number"), _kills())
def test_what_a_killed_run_created_stays_in_the_fleet_beside_a_stranger(cloud, before, inputs, number):
    prepare(cloud)
    stack, strangers = stack_of(cloud), {}
    if before is not None:
        stack.run("up", before)
        key = copy_of(cloud, "web-001", "a-copy")
        strangers = {key: instances(cloud)[key]}
    others = names(cloud).items() - {(member["id"], member["name"]) for member in _members(stack)}
    stack.crash("up", inputs, number, "after")
    stack.run("up", inputs)

    assert stack.failed is None
    assert {member["id"] for member in _members(stack)} == names(cloud).keys() - dict(others).keys()
    assert len(_members(stack)) == 4
    assert strangers.items() <= instances(cloud).items()
    assert_settled(stack, inputs)
    stack.run("destroy", {})
    assert names(cloud).items() == others
    stack.end_plugin()


def _members(stack):
    return stack.state.outputs["members"] if stack.state is not None else []


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
def test_what_a_killed_growth_created_belongs_to_the_fleet_in_every_verb(stack, cloud, verb):
    stranger = copy_of(cloud, "web-001", "a-copy")
    stack.crash("up", fleet(5, labels=ROLE), None, "after")
    assert len(member_names(stack.state)) == 3
    if verb == "refresh":
        stack.refresh()
        assert member_names(stack.state) == [f"web-00{number}" for number in range(1, 6)]
    elif verb == "up":
        stack.run("up", fleet(4, labels=ROLE))
        assert member_names(stack.state) == [f"web-00{number}" for number in range(1, 5)]
    stack.run("destroy", {})

    assert [body["name"] for body in instances(cloud).values() if "labels" in body] == ["a-copy"]
    assert stranger in instances(cloud)


def test_what_a_killed_growth_created_under_a_random_request_id_belongs_to_the_fleet(stack, cloud):
    for _ in range(3):
        stack.run("up", fleet(5, labels=ROLE))
        stack.run("up", fleet(3, labels=ROLE))
    before, number = instances(cloud), 0
    while instances(cloud).keys() == before.keys():
        number += 1
        stack.crash("up", fleet(5, labels=ROLE), number, "after")
    made = instances(cloud)
    requests = cloud.emulator.store.run("select request from operations where scope = 'regions/us-east1'")
    assert len({row["request"] for row in requests}) == 5, "each growth had another request ID"
    stack.run("up", fleet(5, labels=ROLE))

    assert stack.failed is None
    assert instances(cloud) == made
    assert len(member_names(stack.state)) == 5


def test_what_a_killed_growth_left_belongs_to_the_fleet_although_its_operation_failed(stack, cloud):
    stack.crash("up", fleet(5, labels=ROLE), None, "after")
    cloud.emulator.operations.settle()
    cloud.emulator.store.run(
        "update operations set body = json_set(body, '$._failure', json(?)) where scope = 'regions/us-east1'",
        (json.dumps(BROKEN),),
    )
    stack.run("destroy", {})

    assert [body["name"] for body in instances(cloud).values() if "labels" in body] == []
    assert stack.warnings == []


def test_what_a_killed_growth_created_is_left_and_named_once_google_has_forgotten_its_operations(stack, cloud):
    stack.crash("up", fleet(5, labels=ROLE), None, "after")
    cloud.emulator.operations.settle()
    forget_operations(cloud)
    before = instances(cloud)
    stack.refresh()
    (warning,) = stack.warnings
    assert "web-004, web-005" in warning
    assert len(member_names(stack.state)) == 3
    assert f"pulumi state delete {stack.state.urn}" in warning
    (command,) = import_commands(warning)
    stack.end_plugin()

    stack.state_delete()
    stack.import_(command.id)
    assert len(member_names(stack.state)) == 5
    stack.run("up", fleet(5, labels=ROLE))
    assert stack.failed is None
    assert instances(cloud) == before
    stack.run("destroy", {})
    assert not instances(cloud).keys() & before.keys() - _without_labels(before)


def _without_labels(found):
    return {key for key, body in found.items() if "labels" not in body}


def _with_stranger_at(cloud, wanted, labels_of, run):
    """Run, and create a stranger when a request arrives; return its numeric ID."""
    made = []

    def join(_number, request):
        if wanted in request and not made:
            made.append("")
            path = instance_path("a-copy")
            body = {**cloud.emulator.store.get(instance_path("web-stranger")), "name": "a-copy", "id": "4711"}
            body["selfLink"] = body["selfLink"].replace("web-stranger", "a-copy")
            cloud.emulator.store.put(path, {**body, "labels": labels_of()})

    with cloud.interceptor.observed(join):
        run()
    assert made, "the request was not sent"
    return "4711"


@pytest.mark.parametrize("kind", ["creation", "growth"])
def test_a_stranger_that_appears_during_a_creation_is_not_taken_in(cloud, kind):
    prepare(cloud)
    stack, count = stack_of(cloud), 5
    if kind == "growth":
        stack.run("up", fleet(3, fleetId="crew"))
    stack.end_plugin()
    others = instances(cloud).keys() - {member["id"] for member in _members(stack)}
    stranger = _with_stranger_at(
        cloud, "/wait", lambda: {"gcpx-bulk": "crew"}, lambda: stack.up(fleet(count, fleetId="crew"))
    )

    assert stack.failed is None
    assert len(member_names(stack.state)) == count
    assert "a-copy" not in member_names(stack.state)
    assert "a-copy" in "\n".join(stack.warnings)
    stack.run("destroy", {})
    assert instances(cloud).keys() == others | {stranger}
    stack.end_plugin()


def test_an_interrupted_creation_is_not_continued_with_a_stranger_in_it(cloud):
    prepare(cloud)
    stack, inputs = stack_of(cloud), fleet(3, fleetId="crew")
    stack.crash("up", inputs, None, "after")
    copy_of(cloud, "web-001", "a-copy")
    cloud.emulator.store.delete(instance_path("web-003"))
    before = instances(cloud)
    stack.run("up", inputs)

    assert stack.state is None
    assert "was not created by this resource" in stack.failed.message
    assert instances(cloud) == before
    stack.end_plugin()


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
@pytest.mark.parametrize("provider_id", [True, False], ids=["with a provider's ID", "without"])
def test_a_fleet_whose_creation_was_not_read_back_has_what_its_operations_made(cloud, verb, provider_id):
    prepare(cloud)
    stack = stack_of(cloud, **({} if provider_id else {"provider_id": ""}))
    others = instances(cloud).keys()
    create_without_reading(stack, fleet(3))
    stranger = copy_of(cloud, "web-001", "a-copy")
    if verb == "refresh":
        stack.end_plugin()
        stack.refresh()
    elif verb == "up":
        stack.run("up", fleet(3))
    if verb != "destroy":
        assert member_names(stack.state) == ["web-001", "web-002", "web-003"]
    stack.run("destroy", {})

    assert instances(cloud).keys() == others | {stranger}
    assert "a-copy" in "\n".join(stack.warnings)
    stack.end_plugin()


def test_the_members_that_a_failed_rollout_created_are_in_the_state_although_they_could_not_be_read(cloud):
    prepare(cloud)
    policy = {"maxUnavailable": 2}
    stack, changed = stack_of(cloud), rolling(4, policy, **BIGGER_DISK)
    stack.run("up", rolling(4, policy))
    stack.end_plugin()
    bulks = []

    def break_at_the_second_batch(_number, request):
        bulks.extend([request] * request.endswith("/bulkInsert"))
        if request.endswith("/bulkInsert") and len(bulks) == 2:
            cloud.fail(BULK, operation=BROKEN)
            cloud.fail("compute.instances.list", times=10**9, status=403)

    with cloud.interceptor.observed(break_at_the_second_batch):
        stack.up(changed)
    assert stack.failed.partial is not None
    cloud.emulator.faults.queue.clear()
    forget_operations(cloud)
    made = instances(cloud).keys()
    stack.run("up", changed)

    assert stack.failed is None
    assert not any(map(_is_unexpected, stack.warnings))
    assert {member["id"] for member in _members(stack)} == {
        key for key, body in instances(cloud).items() if "labels" in body
    }
    assert len(_members(stack)) == 4
    assert made <= instances(cloud).keys(), "what the failed rollout created stays"
    stack.end_plugin()


def test_the_members_that_a_rollback_created_are_in_the_state(cloud):
    prepare(cloud)
    policy = {"onFailure": "ROLL_BACK"}
    stack, inputs = stack_of(cloud), rolling(3, policy, labels={"a": "1"})
    stack.run("up", inputs)
    before = instances(cloud)
    fail_after(cloud, BULK, 1)
    stack.up(rolling(3, policy, **BIGGER_DISK))
    assert "was rolled back" in stack.failed.message
    assert instances(cloud).keys() != before.keys()
    forget_operations(cloud)

    assert_settled_after_rollback(stack, inputs)
    stack.run("up", {**inputs, "count": 2})
    assert not any(map(_is_unexpected, stack.warnings))
    assert {member["id"] for member in _members(stack)} == {
        key for key, body in instances(cloud).items() if "labels" in body
    }
    assert [body["labels"].get("a") for body in instances(cloud).values() if "labels" in body] == ["1", "1"]
    stack.end_plugin()


def assert_settled_after_rollback(stack, inputs):
    """Assert that the program before the rollback has nothing left to do."""
    members = _members(stack)
    stack.run("up", inputs)
    assert stack.failed is None
    assert {member["id"] for member in _members(stack)} == {member["id"] for member in members}
    assert_settled(stack, inputs)


def test_a_stranger_costs_one_list_and_no_stranger_costs_none(stack, cloud):
    cloud.emulator.requests.kept.clear()
    stack.refresh()
    without = cloud.calls()
    cloud.clock.advance(60)
    copy_of(cloud, "web-001", "a-copy")
    stack.refresh()

    assert cloud.calls() == [*without[-3:], "compute.regionOperations.list"]


def test_without_a_providers_id_what_a_lost_request_created_is_left_and_named(cloud):
    prepare(cloud)
    stack = stack_of(cloud, provider_id="")
    cloud.fail(BULK, drop="after")
    cloud.fail(BULK, times=1000, status=503)
    cloud.fail("compute.regionOperations.list", times=1000, status=403)
    stack.up(fleet(2))
    assert stack.failed.partial is not None
    cloud.emulator.faults.queue.clear()
    made = instances(cloud)
    stack.run("destroy", {})

    assert instances(cloud) == made
    assert "web-001, web-002" in stack.warnings[0]
    stack.end_plugin()


@pytest.mark.parametrize("before", [0, 1])
def test_an_older_instance_that_gets_the_label_is_no_member_although_a_list_lags(cloud, before):
    """One list does not show the new member yet, and shows as many others in its zone."""
    stack, place = stack_of(cloud), {"locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]}, "fleetId": "web"}
    stranger = cloud.make_instance("stranger")
    cloud.clock.advance(60)
    if before:
        stack.run("up", {**fleet(before), **place})
    hidden, lists = f"web-{before + 1:03}", []

    def observe(_, request):
        if request.endswith("bulkInsert"):
            lists.append(1)
            cloud.change(stranger, lambda body: body.update(labels={"gcpx-bulk": "web"}))

    def rewrite(request, body):
        if lists and request.startswith("GET") and request.endswith("zones/us-east1-b/instances"):
            lists.clear()
            found = json.loads(body)
            return json.dumps(found | {"items": [item for item in found["items"] if item["name"] != hidden]}).encode()
        return body

    cloud.interceptor.rewrite = rewrite
    with cloud.interceptor.observed(observe):
        stack.run("up", {**fleet(before + 1), **place})
    cloud.interceptor.reset()
    stack.run("up", {**fleet(before + 1), **place})
    stack.destroy()
    stack.end_plugin()

    assert lists == []
    assert [body["name"] for body in instances(cloud).values()] == ["stranger"]


@pytest.mark.parametrize("count", [0, 2], ids=["creation", "growth"])
def test_what_gets_the_label_while_a_request_is_repeated_is_left_and_named(cloud, count):
    """The first attempt has created nothing, and Google lists no operation that created what has the label now."""
    prepare(cloud)
    stack, label = stack_of(cloud), {"gcpx-bulk": "crew"}
    if count:
        stack.run("up", fleet(count, fleetId="crew"))
    cloud.fail(BULK, status=503)
    stranger = cloud.make_instance("a-copy")
    others = instances(cloud).keys()

    def join(_, request):
        if request.endswith("/bulkInsert"):
            cloud.change(stranger, lambda body: body.update(labels=label))

    with cloud.interceptor.observed(join):
        stack.run("up", fleet(count + 2, fleetId="crew"))

    assert stack.failed is None
    assert len(instances(cloud).keys() - others) == 2
    assert len(member_names(stack.state)) == count + 2
    assert "a-copy" not in member_names(stack.state)
    assert ["a-copy" in warning for warning in stack.warnings] == [True]
    stack.run("destroy", {})
    assert cloud.get(stranger)["labels"] == label
    stack.end_plugin()
