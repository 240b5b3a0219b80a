"""Creations whose answer never reached the state: found again by later runs, or named to the user.

Holds reliability.md: "What Google has or may have created"; "If you have to decide first"; "Three facts decide"; "What
is promised"; "the number in another resource of this stack"; "something with a given name"; "anything else with a generated name"; "It
also takes over".
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import attrs
import pytest
from engines.clock import HOUR
from engines.disturbed import require_settled
from engines.import_commands import import_commands
from engines.inventory import Inventory
from engines.stack import Declared, Stack
from servers.surroundings import prepare
from values.programs import NOTIFICATION, notification
from values.scenarios import CREATIONS, INSERTIONS

from gcpx_emulator.core.listing import _token as page_token

GENERATED = ["template", "template_regional_generated", "image", "fleet_generated"]
TWO = ["template", "fleet_generated"]
WRITTEN = ["template_named", "image_named", "fleet_with_id", "attachment"]
OTHER_PROVIDER = "8a1d3f52-77d5-4c39-b2f1-0b9f6c1d2e3f"


def stack_of(cloud, name, **more):
    return Stack(cloud, CREATIONS[name].token, **more)


def lose_creation(cloud, name, *, ago=0.0):
    """Create the resource of a scenario, and lose the answer; return the stack, and what existed before."""
    before, inputs = prepare(cloud), CREATIONS[name].inputs
    cloud.clock.advance(-ago)
    stack = stack_of(cloud, name)
    stack.crash("up", inputs, None, "after")
    cloud.clock.advance(ago)
    assert stack.state is None
    assert Inventory.of(cloud).added_since(before)
    return stack, before


def assert_settled(stack, inputs, before):
    """Require with new plugins that a program is reached, and that `destroy` leaves what existed before."""
    stack.end_plugin()
    require_settled(stack, inputs, before)
    stack.end_plugin()


def _make_instances_older(cloud, before):
    """Let instances seem older than the operation that created them."""
    for path, instance in cloud.emulator.store.of_kind("instances"):
        if path not in before.items:
            earlier = datetime.fromisoformat(instance["creationTimestamp"]) - timedelta(milliseconds=1)
            cloud.emulator.store.put(path, {**instance, "creationTimestamp": earlier.isoformat()})


def _compare_bodies(cloud, _):
    """Let Google refuse a request ID that was used with another name."""
    cloud.emulator.operations.compares_bodies = True


def _forget_requests(cloud, _):
    """Let Google recognize no request ID."""
    cloud.emulator.operations.forget_requests()


def _show_a_page_first(cloud, _):
    """Let the list of operations show the operation on its second page."""
    ((request_id,),) = cloud.emulator.store.run("select request from operations where scope = 'regions/us-east1'")
    cloud.emulator.operations.forget_requests()
    token = page_token(("",), {"filter": f'clientOperationId = "{request_id}"'})
    cloud.fail("compute.regionOperations.list", body=json.dumps({"nextPageToken": token}))


def _refuse(method):
    """Let Google refuse a request ID that was used before."""
    return lambda cloud, _: cloud.fail(method, status=400, reason="invalid", message="The request ID was used before.")


ADOPTED = [
    *((name, _make_instances_older) for name in ("fleet_with_id", "fleet_generated")),
    *((name, _compare_bodies) for name in TWO),
    *(
        (name, _forget_requests)
        for name in [*GENERATED, "fleet_with_id", "fleet_of_names", "template_named", "image_named"]
    ),
    ("fleet_with_id", _show_a_page_first),
    *((name, _refuse(INSERTIONS[name])) for name in ("template_named", "image_named")),
]
"""Creations, each with what Google does after it."""


@pytest.mark.parametrize(("name", "happens"), ADOPTED)
def test_an_interrupted_creation_is_adopted_whatever_google_makes_of_its_request_id(cloud, name, happens):
    stack, before = lose_creation(cloud, name)
    happens(cloud, before)
    made = Inventory.of(cloud)
    stack.run("up", CREATIONS[name].inputs)

    assert stack.failed is None
    assert Inventory.of(cloud) == made, "nothing is created twice"
    assert_settled(stack, CREATIONS[name].inputs, before)


@pytest.mark.parametrize("name", GENERATED)
def test_an_interrupted_creation_an_hour_ago_is_not_adopted_by_its_operation(cloud, name):
    stack, before = lose_creation(cloud, name, ago=2 * HOUR)
    cloud.emulator.operations.forget_requests()
    stack.run("up", CREATIONS[name].inputs)
    (warning,) = stack.warnings

    (command,) = import_commands(warning)
    again = stack_of(cloud, name)
    again.import_(command.id)
    again.run("destroy", {})
    assert_settled(stack, CREATIONS[name].inputs, before)


@pytest.mark.parametrize("name", TWO)
def test_a_creation_that_is_still_running_is_adopted(cloud, name):
    before, inputs = prepare(cloud), CREATIONS[name].inputs
    stack = stack_of(cloud, name)
    cloud.emulator.operations.latency = 1.0
    stack.crash("up", inputs, None, "after")
    stack.run("up", inputs)
    cloud.emulator.operations.latency = 0.0

    assert stack.failed is None
    assert_settled(stack, inputs, before)


@pytest.mark.parametrize("name", GENERATED)
def test_after_a_change_of_the_program_the_lost_resource_is_named(cloud, name):
    stack, before = lose_creation(cloud, name)
    lost = Inventory.of(cloud)
    changed = CREATIONS[name].other
    stack.run("up", changed)
    (warning,) = stack.warnings

    (command,) = import_commands(warning)
    assert (command.token, command.name) == (stack.token, f"{stack.name}-earlier")
    assert "gcloud compute" in warning
    again = stack_of(cloud, name)
    again.import_(command.id)
    again.run("destroy", {})
    named = lost.items.keys() - before.items.keys()
    assert not named & Inventory.of(cloud).items.keys(), "the named one was the lost one"
    assert_settled(stack, changed, before)


@pytest.mark.parametrize("name", [*WRITTEN, "fleet_of_names"])
def test_after_a_change_of_the_program_a_written_name_is_a_conflict_with_an_import_command(cloud, name):
    stack, before = lose_creation(cloud, name)
    lost = Inventory.of(cloud)
    stack.run("up", CREATIONS[name].other)
    told = "\n".join([stack.failed.message, *stack.warnings])

    assert stack.state is None
    assert Inventory.of(cloud) == lost
    command = import_commands(told)[0]
    stack.import_(command.id)
    stack.run("destroy", {})
    assert Inventory.of(cloud) == before
    stack.end_plugin()


@pytest.mark.parametrize("name", TWO)
def test_stacks_of_one_name_do_not_adopt_from_each_other(cloud, name):
    before, inputs = prepare(cloud), CREATIONS[name].inputs
    one, other = stack_of(cloud, name), stack_of(cloud, name, provider_id=OTHER_PROVIDER)
    one.run("up", inputs)
    first = Inventory.of(cloud)
    other.run("up", inputs)

    assert one.state.id != other.state.id
    assert other.warnings == []
    assert_settled(other, inputs, first)
    assert_settled(one, inputs, before)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("is_changed", [False, True])
def test_what_another_resource_of_the_state_has_is_neither_adopted_nor_named(cloud, name, is_changed):
    prepare(cloud)
    scenario, stack = CREATIONS[name], stack_of(cloud, name)
    stack.run("up", scenario.inputs)
    stack.end_plugin()
    moved = attrs.evolve(stack.state, urn=stack.engine.urn(stack.token, "moved"))
    stack.engine.diff(moved, scenario.inputs)
    stack.state_delete()
    stack.up(scenario.other if is_changed else scenario.inputs)

    assert stack.state.id != moved.id
    assert stack.warnings == []
    stack.end_plugin()


@pytest.mark.parametrize("name", [*TWO, *WRITTEN])
def test_a_forced_replacement_of_an_adopted_resource_keeps_it(cloud, name):
    stack, before = lose_creation(cloud, name)
    made, inputs = Inventory.of(cloud), CREATIONS[name].inputs
    stack.run("up", inputs)
    stack.replace(inputs)

    assert Inventory.of(cloud) == made
    assert_settled(stack, inputs, before)


def test_a_forced_replacement_that_found_the_old_resource_but_could_not_read_it_keeps_it(cloud):
    before, inputs = prepare(cloud), CREATIONS["template_named"].inputs
    stack = stack_of(cloud, "template_named")
    stack.run("up", inputs)
    made = Inventory.of(cloud)
    stack.end_plugin()
    old = stack.state_delete()
    cloud.fail("compute.instanceTemplates.get", status=403, times=100)
    stack.up(inputs)
    cloud.emulator.faults.queue.clear()
    assert stack.state.id == old.id
    stack.end_plugin()
    stack.up(inputs)
    stack.engine.delete(old)

    assert Inventory.of(cloud) == made
    assert "was not replaced" in stack.warnings[0]
    assert_settled(stack, inputs, before)


@pytest.mark.parametrize("name", TWO)
def test_after_a_refresh_a_forced_replacement_creates_another_one(cloud, name):
    before, inputs = prepare(cloud), CREATIONS[name].inputs
    stack = stack_of(cloud, name)
    stack.run("up", inputs)
    state = stack.state
    stack.replace(inputs, refresh=True)

    assert stack.state.id != state.id
    assert stack.warnings == []
    assert_settled(stack, inputs, before)


def test_a_replacement_that_was_interrupted_before_its_deletion_keeps_what_its_creation_found(cloud):
    before, inputs = prepare(cloud), CREATIONS["template_named"].inputs
    stack = stack_of(cloud, "template_named")
    stack.run("up", inputs)
    old = stack.state_delete()
    stack.run("up", inputs)
    stack.end_plugin()
    assert not stack.preview(inputs)
    stack.engine.delete(old)

    assert "was not replaced" in stack.warnings[0]
    assert_settled(stack, inputs, before)


def test_a_creation_under_a_generated_name_lists_earlier_ones_once_in_a_process(cloud):
    prepare(cloud)
    stack, calls = stack_of(cloud, "template"), []
    for name in ("first", "second", "third"):
        stack.engine.create(stack.token, name, CREATIONS["template"].inputs)
        calls.append(cloud.calls())
        cloud.emulator.requests.kept.clear()
    stack.end_plugin()
    insert, wait, read = (
        "compute.instanceTemplates.insert",
        "compute.globalOperations.wait",
        "compute.instanceTemplates.get",
    )

    assert calls == [["compute.globalOperations.list", insert, wait, read], [insert, wait, read], [insert, wait, read]]


@pytest.mark.parametrize("name", TWO)
def test_a_recovery_that_is_interrupted_again_converges(cloud, name):
    before, inputs = prepare(cloud), CREATIONS[name].inputs
    stack = stack_of(cloud, name)
    cloud.hold_operations()
    stack.crash("up", inputs, None, "after")
    stack.cancel(inputs)
    assert stack.failed.partial is not None
    cloud.finish_operations()
    stack.run("up", inputs)
    if stack.failed is not None:  # an update cannot change the ID of the fleet
        assert "run `pulumi up --refresh`" in stack.failed.message
        stack.end_plugin()
        stack.up(inputs, refresh=True)

    assert stack.failed is None
    assert_settled(stack, inputs, before)


@pytest.mark.parametrize("refresh", [False, True])
def test_what_a_killed_replacement_made_is_named_and_not_made_again(cloud, refresh):
    one, two = (
        {"events": Declared(NOTIFICATION, notification(eventTypes=[kind]))} for kind in ("OBJECT_FINALIZE", "OBJECT_DELETE")
    )  # fmt: skip
    stack = Stack(cloud)
    stack.up(one)
    stack.crash("up", two, None, "after")
    made = Inventory.of(cloud)
    stack.up(two, refresh=refresh)

    assert "notificationConfigs/2 already publishes the same events: an interrupted run" in stack.failures[0].message
    assert Inventory.of(cloud) == made
    stack.end_plugin()
