"""The option ignoreChanges for a generated name: the name stays a generated one."""

from __future__ import annotations

import attrs
import pytest
from engines.disturbed import require_deleted
from engines.inventory import Inventory
from values.scenarios import CREATIONS, FLEETS, GENERATED, program_of

NAMES = [name for name in GENERATED if "perInstanceProperties" not in CREATIONS[name].inputs]
"""The creations whose program says no name at all."""


def _key(name):
    """Return the property that has the name."""
    return "fleetId" if name in FLEETS else "name"


def _ignoring(name, **options):
    return program_of(name, ignore_changes=(_key(name),), **options)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def stack(cloud, before, stack, name):
    """A stack with a resource whose name is generated, and was then ignored."""
    stack.succeed(program_of(name))
    stack.succeed(_ignoring(name))
    yield stack
    require_deleted(stack, before)


def _id(stack):
    (entry,) = stack.entries
    return entry.resource.id


@pytest.mark.parametrize("refreshes", [False, True])
def test_a_name_that_is_no_longer_ignored_stays(stack, name, refreshes):
    if refreshes:
        stack.refresh()

    assert stack.preview(_ignoring(name)) == {}
    assert stack.preview(program_of(name)) == {}


def test_a_replacement_by_a_trigger_gets_a_new_name(stack, name):
    stack.up(_ignoring(name, replacement_trigger="1"))
    old = _id(stack)
    stack.up(_ignoring(name, replacement_trigger="2"))

    assert stack.failed is None
    assert _id(stack) != old
    assert stack.preview(program_of(name)) == {}


@pytest.mark.parametrize("name", [name for name in NAMES if CREATIONS[name].other is not None], indirect=True)
def test_a_replacement_by_a_change_gets_a_new_name(stack, name):
    options = {"replace_on_changes": ("count",)} if name in FLEETS else {}
    old, changed = _id(stack), _ignoring(name, changed=CREATIONS[name].other, **options)
    assert stack.preview(changed)["web"] == "delete-replace", "the program may have written the name"
    stack.up(changed)

    assert stack.failed is None
    assert _id(stack) != old
    assert stack.preview(changed) == {}


def test_a_name_that_the_program_writes_out_is_replaced_after_a_deletion_only(stack, name):
    written = {_key(name): stack.entries[0].resource.inputs[_key(name)]}
    program = program_of(name, changed=written, replacement_trigger="1")
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
