"""An unfinished creation is still ours after an alias or another version of the SDK: the state has who sent its requests."""

from __future__ import annotations

import pytest
from engines.disturbed import require_settled
from engines.inventory import Inventory
from engines.stack import provider_id_of
from values.scenarios import FLEETS, GENERATED, GIVEN, lose_answers, program_of


def _rename(stack, name):
    """Give the resource another name in the program, with an alias."""
    del stack
    return program_of(name, "renamed", aliases=("web",))


def _change_provider(stack, name):
    """Give the provider another ID, as another version of the SDK does."""
    stack.provider_id = provider_id_of("another version")
    return program_of(name)


@pytest.fixture(params=[*GENERATED, *GIVEN])
def name(request):
    return request.param


@pytest.fixture
def stack(cloud, before, stack, name):
    """A stack with a creation that Google has carried out, while the state does not know its result."""
    if name in FLEETS:
        cloud.hold_operations()
        stack.cancel(program_of(name))
        cloud.finish_operations()
    else:
        lose_answers(stack, name)
    assert stack.entries[0].init_errors
    assert Inventory.of(cloud) != before
    return stack


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
    require_settled(stack, program, before)


def test_it_is_deleted(cloud, before, stack, name):
    _change_provider(stack, name)
    stack.destroy()

    assert stack.failed is None
    assert stack.warnings == []
    assert Inventory.of(cloud) == before
