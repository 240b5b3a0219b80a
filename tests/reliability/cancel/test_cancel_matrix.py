"""A cancellation or a custom timeout ends every verb at every call without waiting, and the next `up` goes on.

For each verb of each resource, an undisturbed run shows which calls it makes. Then the server holds one of them, and
all calls after it, until the verb has ended: either before it does the work, or after it, or without ever doing it.
The normal run tries some calls of each verb with one of these; `make matrix` tries
all calls with all of them.

Holds reliability.md: "^C does not wait"; "A request that changes something".
"""

from __future__ import annotations

import grpc
import pytest
from engines.interrupted import Held, World, cancel, let_time_pass
from faults.interception import HOLDS
from samples import BY_TOKEN
from values import matrix
from values.scenarios import CANCEL_SCENARIOS

ENDED = {grpc.StatusCode.CANCELLED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED}


@pytest.fixture(params=matrix.part(CANCEL_SCENARIOS), ids=str)
def scenario(request):
    return request.param


STOPS = {"cancel": cancel, "timeout": let_time_pass}
MOST = 3
"""How many calls of a verb the normal run holds."""


def test_a_stopped_call_does_not_wait_for_the_server(cloud, scenario, record_property):
    world = World(cloud)
    undisturbed = world.learn(scenario)
    cases = (
        _all_cases(undisturbed.calls)
        if matrix.FULL
        else _some_cases(undisturbed.calls, CANCEL_SCENARIOS.index(scenario))
    )
    seconds = [_try(world, scenario, undisturbed, stop, held) for stop, held in cases]
    record_property("stopped", {"cases": len(seconds), "longest": max(seconds)})


def _all_cases(calls):
    """Return all cases: how the verb is stopped, and what the server holds."""
    return [(stop, Held(number, hold)) for stop in STOPS for number in range(1, len(calls) + 1) for hold in HOLDS]


def _some_cases(calls, shift):
    """Return a few cases, in which the ways to stop and to hold alternate, also from scenario to scenario."""
    numbers = range(1, len(calls) + 1)
    chosen = numbers if len(numbers) <= MOST else [numbers[len(numbers) * part // MOST] for part in range(MOST)]
    return [
        ([*STOPS][index // 2 % len(STOPS)], Held(number, HOLDS[index % len(HOLDS)]))
        for index, number in enumerate(chosen, shift)
    ]


def _try(world, scenario, undisturbed, stop, held):
    """Try one case; return how many seconds the call still took."""
    what = f"{stop}, {scenario}, held {held.how}: {held.number} of {undisturbed.calls}"
    stack = world.begin(scenario)
    ended = world.interrupt(scenario, stack, held, STOPS[stop])
    _assert_told(ended.failed, scenario, undisturbed, held.number, what)
    _assert_goes_on(world, stack, scenario, undisturbed, what)
    return ended.seconds


def _assert_told(failed, scenario, undisturbed, number, what):
    assert failed.code in ENDED, (what, failed)
    if scenario.verb != "create":
        return
    if not undisturbed.may_exist(number):
        assert failed.partial is None, (what, failed)
    else:
        assert failed.partial is not None, (what, failed)
        expected = {undisturbed.resource_id} | BY_TOKEN[scenario.token].provisional_ids
        assert failed.partial.id in expected, (what, failed)


def _assert_goes_on(world, stack, scenario, undisturbed, what):
    """Assert that the next run does what was cancelled, that nothing else exists, and that it can be taken back."""
    if scenario.verb != "delete":
        stack.up(scenario.changed)
        assert stack.failed is None, (what, stack.failed)
        assert stack.engine.drift(stack.state) == set(), what
        assert not stack.preview(scenario.changed), what
        assert world.exists() == undisturbed.exists, what
    stack.destroy()
    stack.end_plugin()
    assert stack.failed is None, (what, stack.failed)
    assert world.exists() == undisturbed.left, what
