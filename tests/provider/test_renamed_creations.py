"""An unfinished creation is still ours after an alias or another version of the SDK: the state has who sent its requests."""

from __future__ import annotations

import pytest
from inventory import Inventory
from programs import FLEET
from samples import BY_TOKEN
from scenarios import CREATIONS
from stack import Declared, Stack, provider_id_of
from surroundings import make_surroundings

FLEETS = [name for name, item in CREATIONS.items() if item.token == FLEET]
INSERTIONS = {
    name: BY_TOKEN[item.token].changed_by[0]
    for name, item in CREATIONS.items()
    if item.token.startswith("gcpx:compute")
} | {"template_regional_generated": "compute.regionInstanceTemplates.insert"}


def _program(name, resource="web", **options):
    return {resource: Declared(CREATIONS[name].token, CREATIONS[name].inputs, **options)}


def _rename(stack, name):
    """Give the resource another name in the program, with an alias."""
    del stack
    return _program(name, "renamed", aliases=("web",))


def _change_provider(stack, name):
    """Give the provider another ID, as another version of the SDK does."""
    stack.provider_id = provider_id_of("another version")
    return _program(name)


@pytest.fixture
def before(cloud):
    make_surroundings(cloud)
    return Inventory.of(cloud)


@pytest.fixture(params=INSERTIONS)
def name(request):
    return request.param


@pytest.fixture
def stack(cloud, before, name):
    """A stack with a creation that Google has carried out, while the state does not know its result."""
    made = Stack(cloud)
    if name in FLEETS:
        cloud.hold_operations()
        made.cancel(_program(name))
        cloud.finish_operations()
    else:
        cloud.fail(INSERTIONS[name], drop="after")
        cloud.fail("*", status=403, times=1000)
        made.up(_program(name))
        cloud.emulator.faults.queue.clear()
    assert made.entries[0].init_errors
    assert Inventory.of(cloud) != before
    yield made
    made.end_plugin()


@pytest.mark.parametrize("change", [_rename, _change_provider])
@pytest.mark.parametrize("refreshes", [False, True])
def test_it_is_finished(cloud, before, stack, name, change, refreshes):
    made, program = Inventory.of(cloud), change(stack, name)
    if refreshes:
        stack.refresh()
        assert stack.failed is None
        assert stack.entries != []
    stack.up(program)

    assert stack.failed is None, stack.failed
    assert stack.warnings == []
    assert Inventory.of(cloud) == made, "nothing is created twice"
    assert stack.preview(program) == {}
    stack.destroy()
    assert Inventory.of(cloud) == before


def test_it_is_deleted(cloud, before, stack, name):
    _change_provider(stack, name)
    stack.destroy()

    assert stack.failed is None
    assert stack.warnings == []
    assert Inventory.of(cloud) == before
