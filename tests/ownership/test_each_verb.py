"""Who owns something, by what each verb does, for all resources: docs/reliability.md, "Who owns something".

Holds reliability.md: "Three facts decide"; "A name or a label never"; "A number does"; "What is promised"; "Google does
not show which request"; "something with a given name"; "anything else with a generated name"; "a notification or a
key".
"""

from __future__ import annotations

from contextlib import contextmanager

import attrs
import pytest
from engines.disturbed import require_deleted, require_settled
from engines.import_commands import fits, import_commands
from engines.inventory import Inventory, identity
from engines.outside_changes import delete as delete_outside
from engines.stack import Stack
from values.programs import ATTACHMENT
from values.scenarios import (
    CREATIONS,
    FLEETS,
    GENERATED,
    GIVEN,
    OPERATION_LISTS,
    READS,
    UNTOLD,
    lose_answers,
    program_of,
)

NAMED = ["template_named", "image_named"]
ATTACHMENTS = [name for name, item in CREATIONS.items() if item.token == ATTACHMENT]
SINGLE = [name for name in [*GENERATED, *GIVEN] if name not in FLEETS]
"""The creations of one thing by an operation."""
UNSEEN = (
    "Google reports that the resource was created, but shows neither the resource nor an operation that deleted it",
    "but lists neither",
)
LEFT = "is left alone, because nothing shows that this stack created it"


def _lose_state(stack, name):
    """Create a resource in a run whose report does not reach the state."""
    stack.crash("up", program_of(name), None, "after")
    assert stack.entries == []


def _let_another_create(cloud, name):
    """Let another stack create the same; return what exists then."""
    other = Stack(cloud, stack_name="other")
    cloud.clock.advance(1.0)
    other.succeed(program_of(name))
    other.end_plugin()
    return Inventory.of(cloud)


def _rows(cloud):
    """Return the rows of everything that the emulator has."""
    cloud.emulator.operations.settle()
    return [tuple(row) for row in cloud.emulator.store.run("select * from resources")]


@contextmanager
def _showing(cloud, rows):
    """Let Google show these rows during the block, as it does for a while after it has made something."""
    made = _rows(cloud)
    _write(cloud, rows)
    yield
    _write(cloud, made)


def _write(cloud, rows):
    cloud.emulator.store.run("delete from resources")
    cloud.emulator.store.run_many("insert into resources values (?, ?, ?, ?)", rows)


def _warned_of(stack, words):
    return [said for said in stack.warnings if words in said]


# The state knows nothing: a creation.


@pytest.mark.parametrize("name", [*GENERATED, *GIVEN])
def test_what_an_interrupted_creation_made_is_adopted(cloud, before, stack, name):
    _lose_state(stack, name)
    made = Inventory.of(cloud)
    stack.succeed(program_of(name))

    assert Inventory.of(cloud) == made
    assert stack.entries[0].resource.outputs["__creation"]["adopted"] is True
    assert bool([said for said in stack.messages if "is taken over" in said]) == (name in GENERATED)
    assert stack.warnings == []
    stack.end_plugin()
    require_settled(stack, program_of(name), before)


@pytest.mark.parametrize("name", ATTACHMENTS)
@pytest.mark.parametrize("prefix", ["", "compute.instances."])
def test_what_another_request_attached_after_ours_was_detached_is_refused(cloud, stack, name, prefix):
    stack.succeed(program_of(name))
    cloud.clock.advance(1.0)
    stack.destroy()
    theirs = _let_another_create(cloud, name)
    cloud.name_operations(prefix)
    stack.up(program_of(name))

    assert import_commands(stack.failed.message)[0].name == "web"
    assert stack.entries == []
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("name", [*NAMED, *ATTACHMENTS, *UNTOLD])
def test_what_others_created_before_is_refused_with_an_import_command(cloud, stack, name):
    theirs = _let_another_create(cloud, name)
    stack.up(program_of(name))

    assert fits(stack.failed.message), stack.failed.message
    (command,) = import_commands(stack.failed.message)
    assert (command.token, command.name) == (CREATIONS[name].token, "web")
    assert stack.entries == []
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("name", UNTOLD)
def test_what_does_not_tell_its_maker_is_refused_although_it_is_ours(cloud, before, stack, name):
    _lose_state(stack, name)
    made = Inventory.of(cloud)
    stack.up(program_of(name))

    (command,) = import_commands(stack.failed.message)
    assert Inventory.of(cloud) == made
    assert stack.import_(command.id, command.name, command.token)
    require_settled(stack, program_of(name), before)


@pytest.mark.parametrize("name", NAMED)
def test_a_namesake_of_what_an_interrupted_creation_made_is_refused(cloud, before, stack, name):
    _lose_state(stack, name)
    (path,) = Inventory.of(cloud).new_since(before)
    cloud.delete(path)
    theirs = _let_another_create(cloud, name)
    stack.up(program_of(name))

    assert import_commands(stack.failed.message)[0].id == path
    assert stack.entries == []
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("name", [*GENERATED, *GIVEN])
def test_what_google_does_not_show_yet_is_not_created_twice(cloud, before, stack, name):
    rows = _rows(cloud)
    _lose_state(stack, name)
    with _showing(cloud, rows):
        stack.up(program_of(name))
        assert Inventory.of(cloud) == before

    assert any(words in stack.failed.message for words in UNSEEN), stack.failed.message
    assert stack.failed.partial is not None
    made = Inventory.of(cloud)
    stack.refresh()
    stack.succeed(program_of(name))
    assert Inventory.of(cloud) == made
    require_deleted(stack, before)


@pytest.mark.parametrize("name", [*GENERATED, *GIVEN])
def test_what_was_deleted_since_is_created_again(cloud, before, stack, name):
    stack.succeed(program_of(name))
    made = Inventory.of(cloud).added_since(before)
    cloud.clock.advance(1.0)
    require_deleted(stack, before)
    cloud.clock.advance(1.0)
    stack.succeed(program_of(name))

    assert Inventory.of(cloud).added_since(before) == made
    assert [said for said in stack.messages if "is taken over" in said] == []


@pytest.mark.parametrize("name", [name for name in GENERATED if name != "fleet_of_names"])
def test_what_another_entry_has_is_not_adopted(cloud, before, stack, name):
    stack.succeed(program_of(name))
    old = stack.entries[0].resource
    stack.entries[0].resource = attrs.evolve(old, urn=old.urn.replace("::web", "::renamed"))  # `pulumi state rename`
    program = program_of(name, "renamed") | program_of(name)
    stack.succeed(program)

    assert len({entry.resource.id for entry in stack.entries}) == 2
    assert stack.warnings == []
    require_settled(stack, program, before)


# The state knows the number.


@pytest.mark.parametrize("name", CREATIONS)
@pytest.mark.parametrize("maker", ["ours", "others", "not known"])
def test_what_has_the_number_is_ours_whoever_made_it(cloud, before, stack, name, maker):
    stack.succeed(program_of(name))
    made, old = Inventory.of(cloud), stack.entries[0].resource
    if maker == "others":
        cloud.emulator.store.run("delete from operations")
    for method in OPERATION_LISTS if maker == "not known" else ():
        cloud.fail(method, status=403, times=1000)
    stack.refresh()
    assert stack.failed is None
    assert stack.entries[0].resource == old
    assert Inventory.of(cloud) == made
    stack.destroy()

    assert (stack.failed, stack.warnings) == (None, [])
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("name", CREATIONS)
def test_what_is_gone_leaves_the_state_and_is_created_again(cloud, before, stack, name):
    stack.succeed(program_of(name))
    made = Inventory.of(cloud).added_since(before)
    _remove(cloud, stack)
    stack.refresh()
    assert stack.failed is None
    assert bool(stack.entries) == (name in FLEETS), "a fleet without members is still declared"
    assert len(_warned_of(stack, "the fleet stays in the state")) == (name in FLEETS)
    stack.succeed(program_of(name))

    assert Inventory.of(cloud).added_since(before) == made
    _remove(cloud, stack)
    stack.destroy()
    assert (stack.failed, stack.warnings) == (None, [])
    assert Inventory.of(cloud) == before


def _remove(cloud, stack):
    """Delete what the stack has, as somebody else does."""
    cloud.clock.advance(1.0)
    path = identity(stack.entries[0].resource)
    while path in Inventory.of(cloud).things:
        delete_outside(cloud, path)
    cloud.clock.advance(1.0)


@pytest.mark.parametrize("name", NAMED)
def test_a_namesake_of_ours_is_left_alone_and_named(cloud, stack, name):
    stack.succeed(program_of(name))
    path = stack.entries[0].resource.id
    _remove(cloud, stack)
    theirs = _let_another_create(cloud, name)
    kept = attrs.evolve(stack.entries[0])
    stack.destroy()
    assert (stack.failed, len(_warned_of(stack, f"{path} was not deleted, because it is not the resource"))) == (
        None,
        1,
    )
    assert Inventory.of(cloud) == theirs
    stack.entries.append(kept)
    stack.refresh()

    assert (stack.failed, stack.entries) == (None, [])
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("name", CREATIONS)
def test_what_cannot_be_read_stays_in_the_state(cloud, before, stack, name):
    stack.succeed(program_of(name))
    old, made = stack.entries[0].resource, Inventory.of(cloud)
    for method in (READS[name], "compute.instances.aggregatedList"):
        cloud.fail(method, status=403, times=1000)
    stack.refresh()

    assert stack.failed is not None
    assert [entry.resource for entry in stack.entries] == [old]
    assert Inventory.of(cloud) == made


@pytest.mark.parametrize("name", [*GENERATED, *GIVEN])
def test_what_a_creation_finds_and_cannot_read_is_in_the_state(cloud, before, stack, name):
    _lose_state(stack, name)
    made = Inventory.of(cloud)
    looks = cloud.calls().count(READS[name]) if name in FLEETS else 0
    cloud.fail(READS[name], delay=0.0, times=looks)
    cloud.fail(READS[name], status=403, times=1000)
    stack.up(program_of(name))
    cloud.emulator.faults.queue.clear()

    assert stack.failed.partial is not None, stack.failed
    stack.refresh()
    stack.succeed(program_of(name))
    assert Inventory.of(cloud) == made


# The result of the creation was not read.


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
@pytest.mark.parametrize("name", SINGLE)
def test_what_our_request_made_is_ours_although_its_answer_was_lost(cloud, before, stack, name, verb):
    lose_answers(stack, name)
    made = Inventory.of(cloud)
    assert made != before
    if verb == "refresh":
        stack.refresh()
        assert stack.failed is None
        assert "__unread" not in stack.entries[0].resource.outputs
    if verb != "destroy":
        stack.succeed(program_of(name))
        assert Inventory.of(cloud) == made
    stack.destroy()

    assert stack.failed is None
    assert _warned_of(stack, LEFT) == []
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("verb", ["up", "refresh", "destroy"])
@pytest.mark.parametrize("name", [*NAMED, *ATTACHMENTS])
def test_what_another_request_made_meanwhile_is_left_alone_and_named(cloud, stack, name, verb):
    lose_answers(stack, name, is_made=False)
    theirs = _let_another_create(cloud, name)
    if verb == "up":
        stack.up(program_of(name))
        assert import_commands(stack.failed.message)
    elif verb == "refresh":
        stack.refresh()
        assert stack.entries == []
    else:
        stack.destroy()
        assert (stack.failed, stack.entries) == (None, [])

    assert len(_warned_of(stack, LEFT)) == 1
    assert "no operation of this stack created the existing resource" in _warned_of(stack, LEFT)[0]
    assert Inventory.of(cloud) == theirs


@pytest.mark.parametrize("verb", ["refresh", "destroy"])
@pytest.mark.parametrize("name", SINGLE)
def test_what_nothing_tells_to_be_ours_is_left_alone_and_named(cloud, stack, name, verb):
    lose_answers(stack, name)
    made = Inventory.of(cloud)
    for method in OPERATION_LISTS:
        cloud.fail(method, status=403, times=1000)
    if verb == "refresh":
        stack.refresh()
    else:
        stack.destroy()

    assert (stack.failed, stack.entries) == (None, [])
    assert "the operations could not be listed" in _warned_of(stack, LEFT)[0]
    assert Inventory.of(cloud) == made


@pytest.mark.parametrize("name", SINGLE)
def test_what_came_to_nothing_leaves_the_state_or_is_created(cloud, before, stack, name):
    lose_answers(stack, name, is_made=False)
    kept = attrs.evolve(stack.entries[0])
    stack.refresh()
    assert (stack.failed, stack.entries, stack.warnings) == (None, [], [])
    stack.entries.append(kept)
    stack.succeed(program_of(name))
    assert Inventory.of(cloud) != before
    require_deleted(stack, before)


# Two entries of the state have it.


@pytest.mark.parametrize("name", CREATIONS)
def test_what_another_entry_has_is_kept_for_it(cloud, before, stack, name):
    stack.succeed(program_of(name))
    made, first = Inventory.of(cloud), stack.entries[0].resource
    assert stack.import_(first.id, "second", CREATIONS[name].token)
    stack.succeed(program_of(name, "second"))

    assert _warned_of(stack, "the resource second of this stack manages it, too")
    assert [entry.name for entry in stack.entries] == ["second"]
    assert Inventory.of(cloud) == made
    require_deleted(stack, before)
