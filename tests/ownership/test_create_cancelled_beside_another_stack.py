"""A cancelled creation of what another stack has already."""

from __future__ import annotations

import threading

import pytest
from engines.stack import Declared, Stack
from values.programs import ATTACHMENT, attachment

PROGRAM = {"data": Declared(ATTACHMENT, attachment())}


@pytest.fixture
def stacks(cloud):
    """Two stacks of one program. The first one has the attachment; the creation of the second one was cancelled."""
    cloud.make_instance()
    cloud.make_disk()
    first, second = (Stack(cloud, stack_name=name) for name in ("first", "second"))
    first.up(PROGRAM)
    second.up({})
    cloud.interceptor.hold(1)
    running = threading.Thread(target=lambda: second.up(PROGRAM))
    running.start()
    cloud.interceptor.wait_until_held()
    second.stop()
    running.join()
    cloud.interceptor.drain()
    yield first, second
    first.end_plugin()
    second.end_plugin()


@pytest.mark.parametrize("recovery", ["up", "destroy"])
def test_what_another_stack_has_is_left_alone_after_a_cancelled_creation(stacks, recovery):
    first, second = stacks
    assert second.entries[0].init_errors
    if recovery == "up":
        second.up(PROGRAM, refresh=True)
        assert "is attached already and was not attached by this resource" in second.failures[0].message
    else:
        second.destroy()
    first.refresh()

    assert second.entries == []
    assert [entry.init_errors for entry in first.entries] == [[]]
    assert first.preview(PROGRAM) == {}
