"""What was kept on purpose and is added to the program again is taken over, and a message says so.

Holds reliability.md: "If gcpx takes something over"; "Under a given name".
"""

from __future__ import annotations

import pytest
from engines.disturbed import require_settled
from engines.inventory import Inventory
from values.scenarios import GENERATED, GIVEN, program_of


def _retain(stack, name):
    stack.up(program_of(name, retain_on_delete=True))
    stack.up({})


def _forget(stack, name):
    stack.up(program_of(name))
    stack.state_delete("web")


HOW = pytest.mark.parametrize("keep", [_retain, _forget])


def _add_again(before, stack, keep, name, *, minutes):
    """Create a resource, keep it, and add it again after some minutes; return what is said of its taking over."""
    stack.cloud.clock.advance(-60 * minutes)
    keep(stack, name)
    stack.cloud.clock.advance(60 * minutes)
    made = Inventory.of(stack.cloud)
    assert made != before
    assert stack.entries == []
    stack.up(program_of(name))
    assert stack.failed is None
    assert stack.warnings == []
    assert Inventory.of(stack.cloud) == made, "nothing is created twice"
    said = [text for text in stack.messages if "is taken over" in text]
    (entry,) = stack.entries
    require_settled(stack, program_of(name), before)
    return said, entry.resource.id


@pytest.mark.parametrize(("keep", "minutes"), [(_retain, 0), (_forget, 0), (_forget, 2)])
@pytest.mark.parametrize("name", GENERATED)
def test_under_a_generated_name_it_is_told_at_once(before, stack, keep, minutes, name):
    (said,), resource_id = _add_again(before, stack, keep, name, minutes=minutes)

    assert said.startswith(f"{resource_id} is taken over: a request of this resource created it at 20")


@HOW
@pytest.mark.parametrize("name", GIVEN)
def test_under_a_given_name_it_is_told_after_a_minute(before, stack, keep, name):
    (said,), _ = _add_again(before, stack, keep, name, minutes=2)

    assert "is taken over: a request of this resource created it at 20" in said


@pytest.mark.parametrize("name", GIVEN)
def test_under_a_given_name_what_may_be_of_the_same_run_is_not_told(before, stack, name):
    """An operation that is done in its first response, and was begun just now, is usually this run's own."""
    said, _ = _add_again(before, stack, _forget, name, minutes=0)

    assert said == []


@pytest.mark.parametrize("name", [*GENERATED, *GIVEN])
def test_a_first_creation_takes_nothing_over(stack, name):
    stack.cloud.emulator.operations.done_at_once = True
    stack.up(program_of(name))

    assert stack.failed is None
    assert [text for text in stack.messages if "taken over" in text] == []


def test_the_warning_about_what_a_replacement_has_kept_says_that_it_may_be_there_on_purpose(stack):
    for text in ("one", "two"):
        stack.up(program_of("template", changed={"description": text}, retain_on_delete=True))
    stack.up({})
    stack.up(program_of("template"))

    assert ["retainOnDelete has kept it on purpose" in said for said in stack.warnings] == [True, True]
