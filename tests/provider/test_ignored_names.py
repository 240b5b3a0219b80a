"""The option ignoreChanges for a generated name: the name stays a generated one."""

from __future__ import annotations

import attrs
import pytest
from inventory import Inventory
from programs import FLEET
from scenarios import CREATIONS
from stack import Declared, Stack
from surroundings import make_surroundings

GENERATED = ["template", "template_regional_generated", "image", "fleet_generated"]


def _program(name, **options):
    scenario = CREATIONS[name]
    return {"web": Declared(scenario.token, scenario.inputs, **options)}


def _ignoring(name, **options):
    return _program(name, ignore_changes=("fleetId" if CREATIONS[name].token == FLEET else "name",), **options)


@pytest.fixture
def before(cloud):
    make_surroundings(cloud)
    return Inventory.of(cloud)


@pytest.fixture(params=GENERATED)
def name(request):
    return request.param


@pytest.fixture
def stack(cloud, before, name):
    """A stack with a resource whose name is generated, and was then ignored."""
    made = Stack(cloud)
    for program in (_program(name), _ignoring(name)):
        made.up(program)
        assert made.failed is None
    yield made
    made.destroy()
    assert made.failed is None
    assert Inventory.of(cloud) == before
    made.end_plugin()


def _id(stack):
    (entry,) = stack.entries
    return entry.resource.id


@pytest.mark.parametrize("refreshes", [False, True])
def test_a_name_that_is_no_longer_ignored_stays(stack, name, refreshes):
    if refreshes:
        stack.refresh()

    assert stack.preview(_ignoring(name)) == {}
    assert stack.preview(_program(name)) == {}


def test_a_replacement_by_a_trigger_gets_a_new_name(stack, name):
    stack.up(_ignoring(name, replacement_trigger="1"))
    old = _id(stack)
    stack.up(_ignoring(name, replacement_trigger="2"))

    assert stack.failed is None
    assert _id(stack) != old
    assert stack.preview(_program(name)) == {}


def test_a_replacement_by_a_change_gets_a_new_name(stack, name):
    old, changed = _id(stack), {"web": attrs.evolve(_ignoring(name)["web"], inputs=CREATIONS[name].other or {})}
    if name == "fleet_generated":
        changed = {"web": attrs.evolve(changed["web"], replace_on_changes=("count",))}
    elif CREATIONS[name].other is None:
        pytest.skip("the sample has no other program")
    assert stack.preview(changed)["web"] == "delete-replace", "the program may have written the name"
    stack.up(changed)

    assert stack.failed is None
    assert _id(stack) != old
    assert stack.preview(changed) == {}


def test_a_name_that_the_program_writes_out_is_replaced_after_a_deletion_only(stack, name):
    key = "fleetId" if CREATIONS[name].token == FLEET else "name"
    inputs = CREATIONS[name].inputs | {key: stack.entries[0].resource.inputs[key]}
    program = {"web": Declared(CREATIONS[name].token, inputs, replacement_trigger="1")}
    stack.up(program)
    assert stack.steps == {}
    made, old = Inventory.of(stack.cloud), _id(stack)
    program = {"web": attrs.evolve(program["web"], replacement_trigger="2")}
    stack.up(program)
    assert "set the resource option deleteBeforeReplace" in stack.failed.message
    assert Inventory.of(stack.cloud) == made
    program = {"web": attrs.evolve(program["web"], delete_before_replace=True)}
    stack.up(program)

    assert stack.failed is None
    assert _id(stack) == old
    assert Inventory.of(stack.cloud).changed_since(made) != []
    assert stack.preview(program) == {}
