"""Whose something is after `--target-replace`, a renaming, a move, or a change outside Pulumi."""

from __future__ import annotations

import attrs
import pytest
from inventory import Inventory
from programs import KEY, key
from samples import BY_TOKEN
from scenarios import CREATIONS
from stack import Declared, Stack
from surroundings import prepare

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
LOST = {
    "template_named": ("compute.instanceTemplates.insert", "compute.globalOperations.list"),
    "image_named": ("compute.machineImages.insert", "compute.globalOperations.list"),
    "fleet_with_id": ("compute.regionInstances.bulkInsert", "compute.regionOperations.list"),
    "attachment": ("compute.instances.attachDisk", "compute.zoneOperations.list"),
}
"""The method that creates, and the list that tells what it created."""
OTHER_PROVIDER = "8a1d3f52-77d5-4c39-b2f1-0b9f6c1d2e3f"


def _program(scenario, name="web", changed=None, **options):
    made = CREATIONS[scenario]
    return {name: Declared(made.token, {**made.inputs, **(changed or {})}, **options)}


@pytest.fixture
def before(cloud):
    return prepare(cloud)


@pytest.fixture
def stack(cloud, before):
    made = Stack(cloud)
    yield made
    made.end_plugin()


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
    assert stack.preview(program) == {}
    stack.refresh()
    assert stack.preview(program) == {}
    stack.destroy()
    assert Inventory.of(stack.cloud) == before


def _lose_answers(stack, name):
    """Create the resource of a program, and lose every answer, so that the state has it as unfinished."""
    insertion, operations = LOST[name]
    stack.cloud.fail(insertion, drop="after")
    stack.cloud.fail(insertion, status=403)
    stack.cloud.fail(operations, status=403)
    stack.up(_program(name))
    stack.cloud.emulator.faults.queue.clear()
    assert "numericId" not in stack.entries[0].resource.outputs


@pytest.mark.parametrize("following", ["up", "refresh", "destroy"])
@pytest.mark.parametrize("name", ["template", "fleet_generated", "notification", *ONCE])
def test_a_creation_that_came_to_nothing_is_repeated_or_forgotten(cloud, stack, before, name, following):
    cloud.fail(BY_TOKEN[CREATIONS[name].token].changed_by[0], drop="before", times=10**9)
    stack.up(_program(name))
    cloud.emulator.faults.queue.clear()
    assert [bool(entry.init_errors) for entry in stack.entries] == [True]
    if following == "up":
        stack.up(_program(name))
        assert stack.preview(_program(name)) == {}
    elif following == "refresh":
        stack.refresh()
        assert stack.entries == []
    stack.destroy()

    assert (stack.entries, stack.failures, stack.warnings) == ([], [], [])
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("how", ["alias", "move", "another provider"])
@pytest.mark.parametrize("name", LOST)
def test_the_state_tells_our_requests_whatever_became_of_the_name(cloud, stack, before, name, how):
    _lose_answers(stack, name)
    made, program, other = Inventory.of(cloud), _program(name), Stack(cloud, stack_name="other")
    if how == "alias":
        program = _program(name, "renamed", aliases=("web",))
    elif how == "move":
        stack.state_move(other, "web")
        stack.end_plugin()
        stack = other
    else:  # as after an upgrade of the SDK
        stack.provider_id = OTHER_PROVIDER
    stack.up(program)

    assert (stack.failures, stack.warnings) == ([], [])
    assert Inventory.of(cloud) == made
    assert stack.preview(program) == {}
    stack.destroy()
    assert Inventory.of(cloud) == before
    stack.end_plugin()


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
    stack.up(_program(name))
    made = Inventory.of(cloud)
    stack.up(_program(name), replaces=frozenset({"web"}))
    refused = [failure.message for failure in stack.failures]
    if name in {"key_to_expire", "notification"}:
        assert ["`pulumi import " in said for said in refused] == [True]
    else:
        assert (refused, ["was not replaced" in said for said in stack.warnings]) == ([], [True])
    assert Inventory.of(cloud) == made

    _changes(cloud)
    program = _program(name, delete_before_replace=True)
    stack.up(program, replaces=frozenset({"web"}))
    _assert_replaced(stack, program, before)


@pytest.mark.parametrize("name", ["template", "fleet_generated"])
def test_a_forced_replacement_of_a_generated_name_replaces_when_google_has_forgotten_the_request(
    cloud, stack, before, name
):
    stack.up(_program(name))
    old = attrs.evolve(stack.entries[0].resource)
    cloud.emulator.operations.forget_requests()
    stack.taint("web")
    stack.up(_program(name))

    assert stack.failures == []
    assert [entry.resource.id == old.id for entry in stack.entries] == [False]
    stack.destroy()
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_update_of_what_is_gone_fails_and_a_refresh_creates_it_again(cloud, stack, before, name):
    stack.up(_program(name))
    remover, changed = Stack(cloud, stack_name="remover"), _program(name, changed=IN_PLACE[name])
    remover.import_(stack.entries[0].resource.id, "web", CREATIONS[name].token)
    remover.destroy()
    remover.end_plugin()
    stack.up(changed)
    assert len(stack.failures) == (name != "fleet_with_id"), "a fleet creates the members that are missing"
    stack.up(changed, refresh=True)

    assert (stack.failures, stack.preview(changed)) == ([], {})
    stack.destroy()
    assert Inventory.of(cloud) == before
