"""Small programs that the random ones of two stacks have found, with what the oracle of ownership said of them."""

from __future__ import annotations

import pytest
from engines.inventory import Inventory
from engines.stack import Declared, Stack
from values.programs import NOTIFICATION, notification


@pytest.mark.parametrize("refresh", [False, True])
def test_doubled_what_a_killed_replacement_made_is_named_and_not_made_again(cloud, refresh):
    one, two = (
        {"events": Declared(NOTIFICATION, notification(eventTypes=[kind]))} for kind in ("OBJECT_FINALIZE", "OBJECT_DELETE")
    )  # fmt: skip
    stack = Stack(cloud)
    stack.up(one)
    stack.crash("up", two, None, "after")
    made = Inventory.of(cloud)

    stack.up(two, refresh=refresh)

    assert "notificationConfigs/2" in stack.failures[0].message
    assert Inventory.of(cloud) == made
