"""All responses to a creation are lost: what an operation of this stack created is ours, whatever Google calls its type."""

from __future__ import annotations

import pytest
from inventory import Inventory
from scenarios import CREATIONS
from stack import Stack
from surroundings import prepare

INSERTIONS = {
    "template_named": ("compute.instanceTemplates.insert", "compute.globalOperations.list"),
    "template_regional_generated": ("compute.regionInstanceTemplates.insert", "compute.regionOperations.list"),
    "image_named": ("compute.machineImages.insert", "compute.globalOperations.list"),
    "attachment": ("compute.instances.attachDisk", "compute.zoneOperations.list"),
}


FAILED = {"errors": [{"code": "QUOTA_EXCEEDED", "message": "Quota exceeded"}]}


def _stack(cloud, name):
    return Stack(cloud, CREATIONS[name].token)


def _lose_answers(stack, name, earlier=0):
    """Create the resource of a scenario, and lose all answers after those about earlier operations."""
    insertion, operations = INSERTIONS[name]
    if earlier:
        stack.cloud.fail(insertion, times=earlier, delay=0.0)
    stack.cloud.fail(insertion, drop="after")
    stack.cloud.fail(insertion, status=403)
    stack.cloud.fail(operations, status=403, times=2)  # a generated name takes one more look, before the request
    stack.up(CREATIONS[name].inputs)
    stack.cloud.emulator.faults.queue.clear()
    assert stack.init_errors
    assert "numericId" not in stack.state.outputs


@pytest.fixture(params=INSERTIONS)
def lost(request, cloud):
    """A stack whose resource was created, but whose state knows only that it may have been; and what existed before."""
    before, stack = prepare(cloud), _stack(cloud, request.param)
    _lose_answers(stack, request.param)
    yield stack, before
    stack.end_plugin()


def test_a_refresh_keeps_what_an_operation_of_the_stack_created(cloud, lost):
    stack, _ = lost
    made = Inventory.of(cloud)
    stack.refresh()

    assert (stack.failed, stack.warnings) == (None, [])
    assert stack.state is not None
    assert Inventory.of(cloud) == made


def test_a_destroy_deletes_what_an_operation_of_the_stack_created(cloud, lost):
    stack, before = lost
    stack.destroy()

    assert (stack.failed, stack.warnings) == (None, [])
    assert Inventory.of(cloud) == before


def test_operations_are_known_by_the_end_of_their_type(cloud, lost):
    stack, before = lost
    cloud.name_operations("compute.collections.")
    stack.refresh()
    assert (stack.failed, stack.warnings) == (None, [])
    stack.destroy()

    assert stack.failed is None
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("name", ["fleet_with_id", "fleet_generated"])
@pytest.mark.parametrize("lists_fail", [True, False])
def test_a_fleets_creation_is_not_sent_again_if_nothing_shows_what_became_of_it(cloud, name, lists_fail):
    before, stack = prepare(cloud), _stack(cloud, name)
    cloud.fail("compute.regionInstances.bulkInsert", drop="after")
    if name == "fleet_generated":
        cloud.fail("compute.regionOperations.list", delay=0.0)  # the look at what earlier runs began
    cloud.fail("compute.regionOperations.list", status=403)
    if lists_fail:
        cloud.fail("compute.instances.list", times=3, status=403)
    stack.up(CREATIONS[name].inputs)
    assert stack.init_errors
    assert len(cloud.requests("compute.regionInstances.bulkInsert")) == 1
    cloud.emulator.faults.queue.clear()
    made = Inventory.of(cloud)
    stack.end_plugin()
    stack.up(CREATIONS[name].inputs)

    assert stack.failed is None
    assert Inventory.of(cloud) == made
    stack.destroy()
    assert Inventory.of(cloud) == before
    stack.end_plugin()


@pytest.mark.parametrize("name", INSERTIONS)
def test_what_was_created_after_many_failures_is_ours_too(cloud, name):
    before, stack = prepare(cloud), _stack(cloud, name)
    for _ in range(3):
        cloud.fail(INSERTIONS[name][0], times=10, operation=FAILED)
        stack.run("up", CREATIONS[name].inputs)
        assert stack.state is None
        cloud.emulator.faults.queue.clear()
    _lose_answers(stack, name, earlier=3)
    stack.refresh()
    assert (stack.failed, stack.warnings) == (None, [])
    stack.destroy()

    assert stack.failed is None
    assert Inventory.of(cloud) == before
    stack.end_plugin()


@pytest.mark.parametrize("name", ["template_named", "image_named"])
def test_a_namesake_of_what_an_operation_of_the_stack_created_is_left(cloud, name):
    prepare(cloud)
    stack = _stack(cloud, name)
    _lose_answers(stack, name)
    path = stack.state.id
    theirs = cloud.get(path) | {"id": cloud.emulator.store.new_id()}
    cloud.emulator.store.put(path, theirs)
    stack.destroy()

    assert stack.failed is None
    assert ["nothing shows that this stack created it" in said for said in stack.warnings] == [True]
    assert cloud.get(path) == theirs
    stack.end_plugin()


@pytest.mark.parametrize("name", INSERTIONS)
def test_what_exists_is_ours_if_an_operation_has_the_request_id_whose_answer_was_lost(cloud, name):
    before, stack = prepare(cloud), _stack(cloud, name)
    cloud.fail(INSERTIONS[name][0], drop="after")
    cloud.fail(INSERTIONS[name][0], status=403)
    stack.up(CREATIONS[name].inputs)

    assert stack.state is not None, stack.failed
    stack.destroy()
    assert stack.failed is None
    assert Inventory.of(cloud) == before
    stack.end_plugin()
