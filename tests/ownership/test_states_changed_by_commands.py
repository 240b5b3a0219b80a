"""Whose something is after `--target-replace`, a renaming, a move, or a change outside Pulumi.

Holds reliability.md: "What is promised"; "A key must also expire"; "gcpx recognizes the requests of an unfinished".
"""

from __future__ import annotations

import attrs
import pytest
from engines.clock import HOUR
from engines.disturbed import require_deleted, require_settled
from engines.driver import rpc
from engines.inventory import Inventory
from engines.stack import Declared, Stack
from values.programs import ATTACHMENT, FLEET, KEY, TEMPLATE, VM, attachment, key
from values.scenarios import CREATIONS, INSERTIONS, lose_answers, program_of

GIVEN = ["template_named", "image_named", "fleet_with_id", "attachment"]
ONCE = [*GIVEN, "key_to_expire"]
"""Programs whose resource can exist only once."""
KINDS = [*ONCE, "template", "fleet_generated", "notification"]
IN_PLACE = {
    "image_named": {"labels": {"a": "b"}},
    "fleet_with_id": {"count": 3},
    "attachment": {"autoDelete": True},
    "key_to_expire": {"expirationTimeUsec": "1900000000000000"},
}


def _changes(cloud):
    """Return the methods that changed something since the last question, without their services."""
    names = [call.rpartition(".")[2] for call in cloud.calls()]
    cloud.emulator.requests.kept.clear()
    return [name for name in names if name not in {"get", "list", "wait", "getLoginProfile", "aggregatedList"}]


def _assert_replaced(stack, program, before):
    """Assert that what the program declares was replaced, and that nothing else exists."""
    deletions = [name for name in _changes(stack.cloud) if name in {"delete", "detachDisk"}]
    assert (stack.failures, stack.warnings) == ([], [])
    assert deletions
    require_settled(stack, program, before)


@pytest.mark.parametrize("following", ["up", "refresh", "destroy"])
@pytest.mark.parametrize("name", ["template", "fleet_generated", "notification", *ONCE])
def test_a_creation_that_came_to_nothing_is_repeated_or_forgotten(cloud, stack, before, name, following):
    cloud.fail(INSERTIONS[name], drop="before", times=10**9)
    stack.up(program_of(name))
    cloud.emulator.faults.queue.clear()
    assert [bool(entry.init_errors) for entry in stack.entries] == [True]
    if following == "up":
        stack.up(program_of(name))
        assert stack.preview(program_of(name)) == {}
    elif following == "refresh":
        stack.refresh()
        assert stack.entries == []
    stack.destroy()

    assert (stack.entries, stack.failures, stack.warnings) == ([], [], [])
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("name", GIVEN)
def test_the_state_tells_our_requests_also_after_a_move_to_another_stack(cloud, stack, before, name):
    lose_answers(stack, name)
    made, program, other = Inventory.of(cloud), program_of(name), Stack(cloud, stack_name="other")
    stack.state_move(other, "web")
    stack.end_plugin()
    other.up(program)

    assert (other.failures, other.warnings) == ([], [])
    assert Inventory.of(cloud) == made
    require_settled(other, program, before)
    other.end_plugin()


def test_a_key_that_expires_otherwise_than_the_lost_request_said_is_somebody_elses(cloud, stack):
    created = "oslogin.users.sshPublicKeys.create"
    stack.up({"theirs": Declared(KEY, key(expirationTimeUsec="1900000000000000"))})
    their = stack.state_delete("theirs")
    stack.up({})
    cloud.fail("oslogin.users.sshPublicKeys.get", status=404)
    cloud.fail(created, drop="before")
    stack.up({"web": Declared(KEY, key())})

    assert "exists already and was not created by this resource" in stack.failures[0].message
    assert cloud.calls(created), "the request was sent"
    assert stack.entries == []
    assert stack.import_(their.id, "web", KEY)


@pytest.mark.parametrize("name", KINDS)
def test_a_forced_replacement_needs_to_delete_first(cloud, stack, before, name):
    stack.up(program_of(name))
    made = Inventory.of(cloud)
    stack.up(program_of(name), replaces=frozenset({"web"}))
    refused = [failure.message for failure in stack.failures]
    if name in {"key_to_expire", "notification"}:
        assert ["`pulumi import " in said for said in refused] == [True]
    else:
        assert (refused, ["was not replaced" in said for said in stack.warnings]) == ([], [True])
    assert Inventory.of(cloud) == made

    _changes(cloud)
    program = program_of(name, delete_before_replace=True)
    stack.up(program, replaces=frozenset({"web"}))
    _assert_replaced(stack, program, before)


@pytest.mark.parametrize("name", ["template", "fleet_generated"])
def test_a_forced_replacement_of_a_generated_name_replaces_when_google_has_forgotten_the_request(
    cloud, stack, before, name
):
    cloud.clock.advance(-2 * HOUR)
    stack.up(program_of(name))
    old = attrs.evolve(stack.entries[0].resource)
    cloud.clock.advance(2 * HOUR)
    cloud.emulator.operations.forget_requests()
    stack.taint("web")
    stack.up(program_of(name))

    assert stack.failures == []
    assert [entry.resource.id == old.id for entry in stack.entries] == [False]
    require_deleted(stack, before)


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_update_of_what_is_gone_fails_and_a_refresh_creates_it_again(cloud, stack, before, name):
    stack.up(program_of(name))
    remover, changed = Stack(cloud, stack_name="remover"), program_of(name, changed=IN_PLACE[name])
    remover.import_(stack.entries[0].resource.id, "web", CREATIONS[name].token)
    remover.destroy()
    remover.end_plugin()
    stack.up(changed)
    assert len(stack.failures) == (name != "fleet_with_id"), "a fleet creates the members that are missing"
    stack.up(changed, refresh=True)

    assert (stack.failures, stack.preview(changed)) == ([], {})
    require_deleted(stack, before)


@pytest.mark.parametrize("name", GIVEN)
def test_what_another_stack_has_made_meanwhile_is_imported_only_after_a_refresh(cloud, stack, name):
    other_stack = Stack(cloud, stack_name="other")
    cloud.fail(INSERTIONS[name], drop="before", times=10**9)
    stack.up(program_of(name))
    cloud.emulator.faults.queue.clear()
    other_stack.succeed(program_of(name))
    stack.up(program_of(name))
    (failure,) = stack.failures
    assert "`pulumi refresh`, and then import it with `pulumi import" in failure.message
    stack.refresh()

    assert stack.entries == []
    other_stack.destroy()


@pytest.mark.parametrize("verb", ["destroy", "refresh", "up"])
def test_what_others_attach_while_an_attachment_is_unfinished_is_left_alone_and_named(cloud, stack, verb):
    """An earlier attachment of this resource to the same instance does not prove that it made the present one."""
    theirs = cloud.make_disk("theirs")
    stack.up({"web": Declared(ATTACHMENT, attachment())})
    program = {"web": Declared(ATTACHMENT, attachment(disk="theirs"))}
    cloud.fail(INSERTIONS["attachment"], drop="before", times=10**9)
    cloud.clock.advance(5)
    stack.up(program)
    cloud.emulator.faults.queue.clear()
    cloud.clock.advance(5)
    cloud.post(f"/compute/v1/{VM}/attachDisk", {"source": theirs, "deviceName": "theirs"})
    stack.up(program) if verb == "up" else getattr(stack, verb)()
    stack.destroy()

    assert "theirs" in [disk["deviceName"] for disk in cloud.get(VM)["disks"]]
    assert f"{VM}/theirs is left alone" in "".join(stack.lasting_messages)


MARKS = ["x", 5, [], [1], True, {"a": 1}, {"id": "x", "later": 1}, {"id": []}, {"id": None}, {"id": "x", "requester": 5},
         {"id": "x", "requester": "zz"}, {"id": "x", "adopted": "x"}]  # fmt: skip


@pytest.mark.parametrize("mark", ["__creation", "__unread"])
@pytest.mark.parametrize("value", MARKS, ids=str)
def test_no_mark_in_the_state_makes_a_call_fail(engine, cloud, mark, value):
    inputs = CREATIONS["template_named"].inputs
    made = engine.create(TEMPLATE, "x", inputs)
    engine.next_run()
    edited = attrs.evolve(made, outputs={**made.outputs, mark: value})
    engine.diff_checked(edited, edited.inputs)
    assert engine.refresh(edited) is not None
    engine.update(edited, edited.inputs)
    engine.delete(edited)

    assert cloud.get(made.id) is None


ILLEGIBLE = ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", 5, [None], {"a": [1]}]
"""Values that no output has; the first one stands for an unknown value, which an interrupted run may have left."""


@pytest.mark.parametrize("value", ILLEGIBLE, ids=str)
@pytest.mark.parametrize("name", [name for name in KINDS if CREATIONS[name].token != FLEET])
def test_a_refresh_repairs_outputs_of_the_state_that_cannot_be_read(engine, vm, name, value):
    made = engine.create(CREATIONS[name].token, "x", CREATIONS[name].inputs)
    engine.next_run()
    edited = _with_outputs(made, value)
    engine.diff_checked(edited, made.inputs)

    assert engine.refresh(edited) == made
    engine.delete(edited)
    assert engine.is_gone(made)


@pytest.mark.parametrize("value", ILLEGIBLE, ids=str)
def test_members_that_the_state_cannot_tell_are_found_by_their_creation(engine, vm, cloud, value):
    made = engine.create(FLEET, "x", CREATIONS["fleet_with_id"].inputs)
    engine.next_run()
    edited = _with_outputs(made, value)
    engine.diff_checked(edited, made.inputs)
    assert engine.refresh(edited).outputs["members"] == made.outputs["members"]
    engine.delete(edited)

    assert cloud.emulator.store.counts()["instances"] == 1, "only the instance that is no member"


def _with_outputs(made, value):
    """Return a resource of which all outputs but the hidden ones have this value in the state."""
    return attrs.evolve(
        made, outputs={name: item if name.startswith("__") else value for name, item in made.outputs.items()}
    )


@pytest.mark.parametrize("name", ["template", "image_named", "notification", "attachment", "key_to_expire"])
def test_a_refresh_writes_inputs_that_the_state_has_lost(engine, vm, name):
    made = engine.create(CREATIONS[name].token, "x", CREATIONS[name].inputs)
    engine.next_run()
    lost = {name: item for name, item in made.inputs.items() if name.startswith("__")}
    refreshed = engine.refresh(attrs.evolve(made, inputs=lost))

    assert engine.diff_checked(refreshed, made.inputs).changes == rpc.DiffResponse.DIFF_NONE
