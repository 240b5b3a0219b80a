"""`Context.tries`: the one sequence by which everything waits for Google."""

from __future__ import annotations

import pytest
from engines.clock import FakeClock
from engines.clocked import context


def moments(clock, call, seconds, *, takes=0.0, **how):
    """Return when each try begins; a try takes some time itself."""
    found = []
    for _ in call.tries(seconds, **how):
        found.append(clock.now())
        clock.advance(takes)
    return found


def test_tries_begin_at_once_and_after_pauses_that_double():
    clock = FakeClock()

    assert moments(clock, context(clock), 20.0) == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 20.0]


def test_pauses_do_not_grow_beyond_the_longest():
    clock = FakeClock()

    assert moments(clock, context(clock), 10.0, pause=1.0, longest=4.0) == [0.0, 1.0, 3.0, 7.0, 10.0]


def test_a_pause_is_counted_from_the_beginning_of_the_try_before():
    clock = FakeClock()

    assert moments(clock, context(clock), 10.0, takes=0.75, pause=1.0) == [0.0, 1.0, 3.0, 7.0, 10.0]


def test_a_try_that_takes_longer_than_the_pause_is_followed_at_once_and_the_pause_grows():
    clock = FakeClock()

    assert moments(clock, context(clock), 30.0, takes=3.0, pause=1.0) == [0.0, 3.0, 6.0, 10.0, 18.0, 30.0]
    assert clock.pauses == [1.0, 5.0, 9.0]


def test_tries_end_with_the_time_of_the_call():
    clock = FakeClock()

    assert moments(clock, context(clock, timeout=2.0), 20.0) == [0.0, 0.5, 1.5, 2.0]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_there_is_one_try_even_without_time(seconds):
    clock = FakeClock()

    assert moments(clock, context(clock), seconds) == [0.0]


def test_a_cancellation_ends_the_pause_and_the_tries():
    clock = FakeClock()

    assert moments(clock, context(clock, cancelled_at_first_pause=True), 20.0) == [0.0]
    assert clock.pauses == [0.5]


def test_nothing_is_tried_again_after_a_cancellation_during_a_try():
    clock = FakeClock()
    call = context(clock)
    tried = 0
    for _ in call.tries(20.0):
        tried += 1
        call.cancelled.set()
        clock.advance(5.0)

    assert (tried, clock.pauses) == (1, [])
