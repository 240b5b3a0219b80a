"""What the options replaceOnChanges, replacementTrigger and replaceWith replace is really replaced, also after crashes."""

from __future__ import annotations

import re

import attrs
import matrix
import pytest
from import_commands import import_commands
from inventory import Inventory, identity
from outside_changes import delete as delete_outside
from programs import BUCKET, PROJECT, TEMPLATE, template
from scenarios import CRASH_SCENARIOS, CREATIONS
from stack import INIT_ERROR, Declared, Stack, changes_something
from surroundings import make_surroundings

UPDATES = {str(item): item for item in CRASH_SCENARIOS if item.verb not in {"create", "delete"}}
"""The changes in place of every resource."""
NAMED = {
    "template_named": ("compute.instanceTemplates.get", f"projects/{PROJECT}/global/instanceTemplates/web"),
    "image_named": ("compute.machineImages.get", f"projects/{PROJECT}/global/machineImages/golden"),
}
"""The creations under a given name, each with the method that reads it and its path."""


def triggered(name, value):
    """Return a program with the resource of a creation, which another value replaces."""
    scenario = CREATIONS[name]
    return {"web": Declared(scenario.token, scenario.inputs, replacement_trigger=value)}


def with_another(name, value):
    """Return a program with the resource of a creation, which is replaced with another resource."""
    scenario = CREATIONS[name]
    first = Declared(TEMPLATE, {"name": "first", **template()}, replacement_trigger=value)
    return {"first": first, "web": Declared(scenario.token, scenario.inputs, replace_with=("first",))}


@pytest.fixture
def before(cloud):
    """What exists besides the stack."""
    make_surroundings(cloud)
    return Inventory.of(cloud)


@pytest.fixture
def stack(cloud, before):
    made = Stack(cloud)
    yield made
    made.end_plugin()


def _web(stack):
    """Return the entry of the resource, of which the state has only one."""
    (found,) = [entry.resource for entry in stack.entries if entry.name == "web"]
    return found


def _things(stack, before):
    """Return what the stack has made, by path."""
    return {path: body for path, body in Inventory.of(stack.cloud).items.items() if path not in before.items}


def _succeed(stack, program):
    stack.up(program)
    assert stack.failed is None, stack.failed


def _assert_replaced(cloud, old, new):
    """Assert that nothing is left of the old resource: what has a number has another one now."""
    numbers = [
        {body["id"] for path, body in things.items() if "/attachedDisks/" not in path and "id" in body}
        for things in (old, new)
    ]
    assert not numbers[0] & numbers[1]
    changes = [call for call in cloud.calls() if call.endswith((".delete", ".detachDisk"))]
    assert changes, "the old one was deleted"


def _assert_settled(stack, program, before):
    """Assert that there is nothing left to do, and that `destroy` leaves nothing."""
    assert stack.preview(program) == {}
    stack.refresh()
    assert stack.failed is None
    assert stack.preview(program) == {}
    stack.destroy()
    assert stack.failed is None
    assert Inventory.of(stack.cloud) == before


@pytest.mark.parametrize("name", UPDATES)
def test_a_change_in_place_that_the_program_makes_a_replacement_succeeds(cloud, before, stack, name):
    scenario = UPDATES[name]
    for inputs in scenario.before:
        _succeed(stack, {"web": Declared(scenario.token, inputs)})
    old, last = _things(stack, before), scenario.before[-1]
    paths = tuple(path for path, value in scenario.changed.items() if value != last.get(path))
    program = {"web": Declared(scenario.token, scenario.changed, replace_on_changes=paths)}
    has_generated_name = "__autonamed" in _web(stack).inputs
    assert stack.preview(program) == {"web": "replace" if has_generated_name else "delete-replace"}
    cloud.emulator.requests.kept.clear()
    _succeed(stack, program)

    _assert_replaced(cloud, old, _things(stack, before))
    assert stack.warnings == []
    _assert_settled(stack, program, before)


@pytest.mark.parametrize("name", NAMED)
def test_what_is_unfinished_is_replaced_if_the_program_wants_that(cloud, before, stack, name):
    scenario = CREATIONS[name]
    program = {"web": Declared(scenario.token, scenario.inputs, replace_on_changes=(INIT_ERROR,))}
    cloud.fail(NAMED[name][0], status=403)
    stack.up(program)
    assert stack.failed is not None
    old = _things(stack, before)
    cloud.emulator.requests.kept.clear()
    _succeed(stack, program)

    _assert_replaced(cloud, old, _things(stack, before))
    _assert_settled(stack, program, before)


@pytest.mark.parametrize("program", [triggered, with_another])
@pytest.mark.parametrize("name", CREATIONS)
def test_what_the_program_replaces_is_really_replaced(cloud, before, stack, name, program):
    _succeed(stack, program(name, "1"))
    for value in ("2", "3"):
        old = _things(stack, before)
        cloud.emulator.requests.kept.clear()
        assert stack.preview(program(name, value))["web"] == "replace"
        _succeed(stack, program(name, value))

        _assert_replaced(cloud, old, _things(stack, before))
        assert len(_things(stack, before)) == len(old)
        assert stack.warnings == []
    _assert_settled(stack, program(name, "3"), before)


def _points(requests):
    """Return the points of a run at which the plugin is killed: number of the request, and moment."""
    if matrix.FULL:
        return [(number, moment) for number in range(1, len(requests) + 1) for moment in ("before", "after")]
    return [(number, "after") for number, request in enumerate(requests, 1) if changes_something(request)]


def _delete_what_no_state_has(stack):
    """Delete the notification that an interrupted replacement created, as its error says."""
    assert "`pulumi stack --show-ids` shows which" in stack.failed.message
    (lost,) = set(re.findall(rf"{BUCKET}/notificationConfigs/\d+", stack.failed.message)) - {_web(stack).id}
    stack.cloud.delete(f"b/{lost}")


@pytest.mark.parametrize("name", CREATIONS)
def test_a_replacement_that_is_killed_is_finished_by_the_next_run(cloud, name):
    make_surroundings(cloud)
    before, stack = Inventory.of(cloud), Stack(cloud)
    _succeed(stack, triggered(name, "1"))
    made = Inventory.of(cloud).added_since(before)
    with cloud.interceptor.observed() as requests:
        _succeed(stack, triggered(name, "2"))
    stack.end_plugin()
    for number, moment in _points(requests):
        make_surroundings(cloud)
        stack = Stack(cloud)
        _succeed(stack, triggered(name, "1"))
        old = _things(stack, before)
        stack.crash("up", triggered(name, "2"), number, moment)
        stack.up(triggered(name, "2"))
        if stack.failed is not None:
            assert name == "notification", stack.failed
            _delete_what_no_state_has(stack)
            _succeed(stack, triggered(name, "2"))

        assert Inventory.of(cloud).added_since(before) == made
        _assert_replaced(cloud, old, _things(stack, before))
        _assert_settled(stack, triggered(name, "2"), before)
        stack.end_plugin()


def test_an_interrupted_replacement_of_a_notification_is_told_also_after_a_refresh(cloud, before, stack):
    _succeed(stack, triggered("notification", "1"))
    stack.crash("up", triggered("notification", "2"), None, "after")
    stack.up(triggered("notification", "2"), refresh=True)
    (lost,) = Inventory.of(cloud).items.keys() - before.items.keys() - {f"b/{_web(stack).id}"}

    assert import_commands(stack.failed.message)[0].id == lost.removeprefix("b/")


@pytest.mark.parametrize("name", [*NAMED, "fleet_with_id", "fleet_of_names", "notification"])
def test_a_stranger_who_has_the_name_of_what_is_replaced_keeps_it(cloud, before, stack, name):
    _succeed(stack, triggered(name, "1"))
    path = identity(_web(stack))
    while path in Inventory.of(cloud).things:
        delete_outside(cloud, path)
    other = Stack(cloud, stack_name="other")
    cloud.clock.advance(1.0)
    _succeed(other, triggered(name, "1"))
    other.end_plugin()
    theirs = Inventory.of(cloud)
    stack.up(triggered(name, "2"))

    assert Inventory.of(cloud).changed_since(theirs) == []
    if name in NAMED:
        assert import_commands(stack.failed.message)[0].id == path
        assert any("is left alone, because nothing shows that this stack created it" in said for said in stack.messages)
    assert (stack.failed is None) == (name == "notification"), "there may be several equal notifications"
    stack.destroy()
    assert Inventory.of(cloud) == theirs


UNPROVEN = [name for name in CREATIONS if name in {*NAMED, "attachment", "attachment_device", "fleet_with_id"}]


def _forget_operations(cloud, stack, name):
    """Let Google forget the operations, as it does after some weeks."""
    _succeed(stack, triggered(name, "1"))
    cloud.emulator.operations.settle()
    cloud.emulator.store.run("delete from operations")


def _import(cloud, stack, name):
    """Import what another stack has created and given up."""
    other = Stack(cloud, stack_name="other")
    _succeed(other, triggered(name, "1"))
    other.end_plugin()
    token = CREATIONS[name].token
    assert stack.import_(other.entries[0].resource.id, "web", token)
    _succeed(stack, triggered(name, "1"))


@pytest.mark.parametrize("begin", [_forget_operations, _import])
@pytest.mark.parametrize("name", UNPROVEN)
def test_what_no_operation_shows_to_be_ours_is_replaced_with_the_option_that_the_error_names(
    cloud, before, stack, name, begin
):
    begin(cloud, stack, name)
    old = Inventory.of(cloud)
    stack.up(triggered(name, "2"))
    assert "deleteBeforeReplace" in stack.failed.message
    assert Inventory.of(cloud) == old
    program = {"web": attrs.evolve(triggered(name, "2")["web"], delete_before_replace=True)}
    _succeed(stack, program)

    _assert_settled(stack, program, before)
