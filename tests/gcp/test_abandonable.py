"""A cancellation does not wait for a read that is under way."""

from __future__ import annotations

import threading

import attrs
import pytest
from pauses import Pauses
from steered import HANGS

from gcpx.errors import CancelledError
from gcpx.gcp.abandonable import unless_cancelled


@pytest.fixture
def call():
    return attrs.evolve(Pauses().call(), cancelled=threading.Event())


def test_the_result_and_the_error_of_the_work_are_passed_on(call):
    assert unless_cancelled(call, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        unless_cancelled(call, lambda: 1 / 0)


def test_a_cancellation_ends_the_wait_while_the_work_is_still_blocked(call):
    begun, released = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert released.wait(HANGS)

    canceller = threading.Thread(target=lambda: begun.wait(HANGS) and call.cancelled.set())
    canceller.start()
    with pytest.raises(CancelledError):
        unless_cancelled(call, work)
    assert not released.is_set()
    released.set()
    canceller.join()
