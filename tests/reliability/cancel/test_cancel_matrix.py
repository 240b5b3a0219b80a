"""A cancellation ends every verb at every call without waiting for the server, and the next `up` goes on.

For each verb of each resource, a run without a cancellation shows which calls it makes. Then the server holds one of
them, and all calls after it, until the verb has ended: either before it does the work, or after it, or without ever
doing it. The normal run tries each call with one of these, the full matrix with all of them.
"""

from __future__ import annotations

import grpc
import pytest
from gate import HOLDS
from interrupted import SCENARIOS, World, destroy
from programs import NOTIFICATION

ENDED = {grpc.StatusCode.CANCELLED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED}


@pytest.fixture(params=SCENARIOS, ids=str)
def scenario(request):
    return request.param


def _cases(scenario, calls):
    """Yield the number of each call, with one way to hold it."""
    for number in range(1, len(calls) + 1):
        yield number, HOLDS[(number + SCENARIOS.index(scenario)) % len(HOLDS)]


def test_a_cancelled_call_does_not_wait_for_the_server(cloud, scenario):
    _try(World(cloud), scenario, _cases)


@pytest.mark.matrix
def test_a_cancelled_call_does_not_wait_for_the_server_however_it_goes_on(cloud, scenario):
    _try(World(cloud), scenario, lambda _, calls: [(n, hold) for n in range(1, len(calls) + 1) for hold in HOLDS])


def _try(world, scenario, cases):
    undisturbed = world.learn(scenario)
    longest, count = 0.0, 0
    for number, hold in cases(scenario, undisturbed.calls):
        what = f"{scenario}, held {hold}: {number} of {undisturbed.calls}"
        stack = world.begin(scenario)
        ended = world.cancel(scenario, stack, number, hold)
        longest, count = max(longest, ended.seconds), count + 1
        _assert_told(ended, scenario, undisturbed, number, what)
        _assert_goes_on(world, stack, scenario, undisturbed, what)
    print(f"cancel, {scenario}: {count} cases, longest wait {longest:.2f} s")  # noqa: T201 - the figures of the matrix


def _assert_told(ended, scenario, undisturbed, number, what):
    failed = ended.failed
    assert failed.code in ENDED, (what, failed)
    if not scenario.creates:
        return
    if not undisturbed.may_exist(number):
        assert failed.partial is None, (what, failed)
    elif scenario.token == NOTIFICATION and failed.partial is None:  # its ID is in the response
        assert "pulumi do gcpx:storage:NotificationConfig list" in failed.message, (what, failed)
    else:
        assert failed.partial is not None, (what, failed)
        assert failed.partial.id == undisturbed.resource_id, (what, failed)


def _assert_goes_on(world, stack, scenario, undisturbed, what):
    """Assert that the next run does what was cancelled, that nothing else exists, and that it can be taken back."""
    if scenario.program is not None:
        stack.up(scenario.program)
        if stack.failed is not None and "pulumi refresh" in stack.failed.message:
            stack.up(scenario.program, refresh=True)
        assert stack.failed is None, (what, stack.failed)
        assert stack.engine.drift(stack.state) == set(), what
        assert not stack.preview(scenario.program), what
        assert world.exists() == undisturbed.exists, what
    destroy(stack)
    stack.end_plugin()
    assert stack.failed is None, (what, stack.failed)
    assert world.exists() == undisturbed.was, what
