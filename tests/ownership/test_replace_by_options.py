"""What the options replaceOnChanges, replacementTrigger and replaceWith replace is really replaced, also after crashes.

With the last two, the engine does not ask what has to be deleted first, and nothing tells the plugin whether the program
retains it. So what cannot exist twice needs the option deleteBeforeReplace, and is refused without it.

Holds reliability.md: "If the old and the new resource cannot"; "`replacementTrigger`"; "What `retainOnDelete` keeps".
"""

from __future__ import annotations

import attrs
import pytest
from engines.disturbed import Run, require_made, require_settled
from engines.import_commands import fits, import_commands
from engines.inventory import Inventory, identity
from engines.outside_changes import delete as delete_outside
from engines.stack import INIT_ERROR, Declared, Stack, changes_something
from values import matrix
from values.programs import PROJECT, TEMPLATE, template
from values.scenarios import CRASH_SCENARIOS, CREATIONS, Scenario, program_of

UPDATES = {str(item): item for item in CRASH_SCENARIOS if item.verb not in {"create", "delete"}}
"""The changes in place of every resource."""
NAMED = {
    "template_named": ("compute.instanceTemplates.get", f"projects/{PROJECT}/global/instanceTemplates/web"),
    "image_named": ("compute.machineImages.get", f"projects/{PROJECT}/global/machineImages/golden"),
}
"""The creations under a given name, each with the method that reads it and its path."""


_UNIQUE = {"name", "fleetId", "perInstanceProperties", "disk", "key", "bucket"}
ONCE = [name for name, item in CREATIONS.items() if _UNIQUE & item.inputs.keys()]
"""The creations of what cannot exist twice, or what nobody wants twice."""


def triggered(name, value, **options):
    """Return a program with the resource of a creation, which another value replaces."""
    return program_of(name, replacement_trigger=value, **options)


def with_another(name, value, **options):
    """Return a program with the resource of a creation, which is replaced with another resource."""
    first = Declared(TEMPLATE, {**template(), "description": value})
    return {"first": first} | program_of(name, replace_with=("first",), **options)


def with_another_that_is_deleted_first(name, value, **options):
    """Return such a program, in which the engine deletes both before it creates the other one again."""
    program = with_another(name, value, **options)
    first = program["first"]
    return program | {"first": attrs.evolve(first, inputs={**first.inputs, "name": "first"})}


def _needed(name):
    """Return the options without which the replacement of a creation is refused."""
    return {"delete_before_replace": True} if name in ONCE else {}


def _web(stack):
    """Return the entry of the resource, of which the state has only one."""
    (found,) = [entry.resource for entry in stack.entries if entry.name == "web"]
    return found


def _assert_replaced(cloud, old, new):
    """Assert that nothing is left of the old resource: what has a number has another one now."""
    numbers = [
        {body["id"] for path, body in things.items() if "/attachedDisks/" not in path and "id" in body}
        for things in (old, new)
    ]
    assert not numbers[0] & numbers[1]
    changes = [call for call in cloud.calls() if call.endswith((".delete", ".detachDisk"))]
    assert changes, "the old one was deleted"


@pytest.mark.parametrize("name", UPDATES)
def test_a_change_in_place_that_the_program_makes_a_replacement_succeeds(cloud, before, stack, name):
    scenario = UPDATES[name]
    for inputs in scenario.before:
        stack.succeed({"web": Declared(scenario.token, inputs)})
    old, last = Inventory.of(cloud).new_since(before), scenario.before[-1]
    paths = tuple(path for path, value in scenario.changed.items() if value != last.get(path))
    program = {"web": Declared(scenario.token, scenario.changed, replace_on_changes=paths)}
    has_generated_name = "__autonamed" in _web(stack).inputs
    assert stack.preview(program) == {"web": "replace" if has_generated_name else "delete-replace"}
    cloud.emulator.requests.kept.clear()
    stack.succeed(program)

    _assert_replaced(cloud, old, Inventory.of(cloud).new_since(before))
    assert stack.warnings == []
    require_settled(stack, program, before)


@pytest.mark.parametrize("name", NAMED)
def test_what_is_unfinished_is_replaced_if_the_program_wants_that(cloud, before, stack, name):
    program = program_of(name, replace_on_changes=(INIT_ERROR,))
    cloud.fail(NAMED[name][0], status=403)
    stack.up(program)
    assert stack.failed is not None
    old = Inventory.of(cloud).new_since(before)
    cloud.emulator.requests.kept.clear()
    stack.succeed(program)

    _assert_replaced(cloud, old, Inventory.of(cloud).new_since(before))
    require_settled(stack, program, before)


def _assert_refused(stack, name, program):
    """Assert that a program is refused with what to do, and that nothing changes of the resource."""
    old, made = attrs.evolve(_web(stack)), Inventory.of(stack.cloud)
    stack.up(program)

    said = stack.failed.message
    assert fits(said), said
    if name == "notification":  # it may be another one with the same content
        assert import_commands(said)[0].id == old.id
        assert "Set the resource option deleteBeforeReplace if this run replaces it" in said
    else:
        assert "This run replaces it, but did not delete it first: set the resource option deleteBeforeReplace" in said
        assert "If the option retainOnDelete keeps it, " in said
    assert _web(stack) == old
    assert Inventory.of(stack.cloud).changed_since(made) == []
    if "first" not in program:
        assert Inventory.of(stack.cloud) == made
        assert stack.preview(program) == {"web": "replace"}


@pytest.mark.parametrize("program", [triggered, with_another])
@pytest.mark.parametrize("name", ONCE)
def test_what_cannot_exist_twice_is_refused_until_the_option_is_set_that_the_error_names(
    cloud, before, stack, name, program
):
    stack.succeed(program(name, "1"))
    old = Inventory.of(cloud).new_since(before)
    _assert_refused(stack, name, program(name, "2"))
    # The other resource is replaced by now, so only another value replaces this one with it.
    stack.succeed(program(name, "3", **_needed(name)))

    _assert_replaced(cloud, old, Inventory.of(cloud).new_since(before))
    require_settled(stack, program(name, "3", **_needed(name)), before)


@pytest.mark.parametrize("program", [triggered, with_another, with_another_that_is_deleted_first])
@pytest.mark.parametrize("name", CREATIONS)
def test_what_the_program_replaces_is_really_replaced(cloud, before, stack, name, program):
    options = {} if program is with_another_that_is_deleted_first else _needed(name)
    stack.succeed(program(name, "1", **options))
    for value in ("2", "3"):
        old = Inventory.of(cloud).new_since(before)
        cloud.emulator.requests.kept.clear()
        changed = program(name, value, **options)
        stack.succeed(changed)

        deletes_first = name in ONCE or program is with_another_that_is_deleted_first
        assert stack.steps["web"] == ("delete-replace" if deletes_first else "replace")
        _assert_replaced(cloud, old, Inventory.of(cloud).new_since(before))
        assert len(Inventory.of(cloud).new_since(before)) == len(old)
        assert stack.warnings == []
    require_settled(stack, changed, before)


@pytest.mark.parametrize("options", [{}, {"delete_before_replace": True}])
@pytest.mark.parametrize("name", CREATIONS)
def test_what_the_program_retains_is_never_deleted(cloud, before, stack, name, options):
    stack.succeed(triggered(name, "1", retain_on_delete=True))
    made = Inventory.of(cloud)
    for value in ("2", "3"):
        stack.up(triggered(name, value, retain_on_delete=True, **options))
        assert (stack.failed is not None) == (name in ONCE)
        assert stack.failed is None or "deleteBeforeReplace" in stack.failed.message
        assert Inventory.of(cloud).changed_since(made) == []
        assert (Inventory.of(cloud) == made) == (name in ONCE)


@pytest.mark.parametrize("name", ONCE)
def test_what_was_deleted_outside_is_created_by_its_replacement(cloud, before, stack, name):
    stack.succeed(triggered(name, "1"))
    made = Inventory.of(cloud).added_since(before)
    _delete_outside(cloud, stack)
    stack.succeed(triggered(name, "2"))

    assert Inventory.of(cloud).added_since(before) == made
    assert stack.warnings == []
    require_settled(stack, triggered(name, "2"), before)


def _delete_outside(cloud, stack):
    path = identity(_web(stack))
    while path in Inventory.of(cloud).things:
        delete_outside(cloud, path)


def _points(requests):
    """Return the points of a run at which the plugin is killed: number of the request, and moment."""
    if matrix.FULL:
        return [(number, moment) for number in range(1, len(requests) + 1) for moment in ("before", "after")]
    return [(number, "after") for number, request in enumerate(requests, 1) if changes_something(request)]


def _do_what_the_error_says(stack, name):
    """Give up what an interrupted replacement created, or its entry, because nothing tells it from what is replaced."""
    commands = import_commands(stack.failed.message)
    if name == "notification":
        assert "or delete it if an interrupted replacement created it" in stack.failed.message
        assert commands[0].id != _web(stack).id
        stack.cloud.delete(f"b/{commands[0].id}")
    elif commands:  # of a key, nothing tells who created it
        assert stack.import_(commands[0].id, "web", commands[0].token)
    else:
        assert f"`pulumi state delete {_web(stack).urn}` lets the next run take it over" in stack.failed.message
        stack.state_delete("web")


@pytest.mark.parametrize("name", CREATIONS)
def test_a_replacement_that_is_killed_is_finished_by_the_next_run(cloud, name):
    first, second = (triggered(name, value, **_needed(name)) for value in "12")
    scenario = Scenario(program=name, token="", verb="replace", inputs=first, changed=second)
    with Run.begun(cloud, scenario) as run, cloud.interceptor.observed() as requests:
        run.act()
        assert run.stack.failed is None
        expected = run.made
    for number, moment in _points(requests):
        with Run.begun(cloud, scenario) as run:
            old = Inventory.of(cloud).new_since(run.before)
            run.stack.crash("up", second, number, moment)
            run.act()
            while run.stack.failed is not None:
                _do_what_the_error_says(run.stack, name)
                run.act()

            require_made(run.made, expected)
            _assert_replaced(cloud, old, Inventory.of(cloud).new_since(run.before))
            require_settled(run.stack, second, run.before)


@pytest.mark.parametrize("name", NAMED)
def test_what_an_interrupted_replacement_by_a_change_created_is_taken_over(cloud, before, stack, name):
    stack.succeed(program_of(name))
    program = program_of(name, changed={"description": "another"})
    stack.crash("up", program, 3, "after")  # after the deletion and the wait for it, the creation
    made = Inventory.of(cloud)
    stack.succeed(program)

    assert Inventory.of(cloud) == made
    require_settled(stack, program, before)


@pytest.mark.parametrize("options", [{}, {"delete_before_replace": True}])
@pytest.mark.parametrize("name", [*NAMED, "fleet_with_id", "fleet_of_names", "notification"])
def test_a_stranger_who_has_the_name_of_what_is_replaced_keeps_it(cloud, before, stack, name, options):
    stack.succeed(triggered(name, "1"))
    _delete_outside(cloud, stack)
    other = Stack(cloud, stack_name="other")
    cloud.clock.advance(1.0)
    other.succeed(triggered(name, "1"))
    other.end_plugin()
    theirs = Inventory.of(cloud)
    stack.up(triggered(name, "2", **options))

    assert stack.failed is not None
    assert Inventory.of(cloud) == theirs
    stack.destroy()
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("name", [*NAMED, "attachment", "fleet_with_id"])
def test_what_was_imported_is_replaced_like_what_was_created(cloud, before, stack, name):
    other = Stack(cloud, stack_name="other")
    other.succeed(triggered(name, "1"))
    other.end_plugin()
    assert stack.import_(other.entries[0].resource.id, "web", CREATIONS[name].token)
    stack.succeed(triggered(name, "1"))
    _assert_refused(stack, name, triggered(name, "2"))
    stack.succeed(triggered(name, "2", **_needed(name)))

    require_settled(stack, triggered(name, "2", **_needed(name)), before)


@pytest.mark.parametrize("name", NAMED)
def test_what_is_retained_is_not_deleted_when_a_change_replaces_it(cloud, before, stack, name):
    stack.succeed(program_of(name, retain_on_delete=True))
    made = Inventory.of(cloud)
    stack.up(program_of(name, changed={"description": "other"}, retain_on_delete=True))

    assert "exists" in stack.failed.message
    assert Inventory.of(cloud) == made


@pytest.mark.parametrize("name", NAMED)
def test_what_another_resource_has_too_is_not_deleted_by_a_replacement(cloud, before, stack, name):
    stack.succeed(triggered(name, "1"))
    made = Inventory.of(cloud)
    assert stack.import_(stack.entries[0].resource.id, "two", CREATIONS[name].token)
    stack.up(program_of(name, "two") | triggered(name, "2"))

    assert "The resource two of this stack manages it" in stack.failed.message
    assert Inventory.of(cloud) == made


def test_a_replacement_by_the_content_of_a_strangers_notification_is_refused(cloud, before, stack):
    theirs = {"objectNamePrefix": "theirs"}
    other = Stack(cloud, stack_name="other")
    stack.succeed(triggered("notification", "1"))
    other.succeed(program_of("notification", changed=theirs))
    other.end_plugin()
    made = Inventory.of(cloud)
    stack.up(triggered("notification", "2", changed=theirs))

    assert "already publishes the same events: an interrupted run or somebody else created it" in stack.failed.message
    assert Inventory.of(cloud) == made
