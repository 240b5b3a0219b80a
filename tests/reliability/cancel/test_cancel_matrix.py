"""A cancellation or a custom timeout ends every verb at every call without waiting, and the next `up` goes on.

For each verb of each resource, an undisturbed run shows which calls it makes. Then the server holds one of them, and
all calls after it, until the verb has ended: either before it does the work, or after it, or without ever doing it.
The normal run tries some calls of each verb with one of these; `make matrix` tries
all calls with all of them.

Holds reliability.md: "^C does not wait"; "A request that changes something".
"""

from __future__ import annotations

import threading
import time

import grpc
import pytest
from engines.clock import HANGS
from engines.disturbed import Run, undisturbed
from faults.interception import HOLDS
from google.protobuf import empty_pb2
from samples import BY_TOKEN
from values import matrix
from values.scenarios import CANCEL_SCENARIOS

ENDED = {grpc.StatusCode.CANCELLED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED}
TIMEOUT = 3600.0
"""The custom timeout of all calls, in seconds of the provider's clock."""


def _cancel(stack):
    """Cancel what a plugin does, as the engine does when the user presses ^C."""
    stack.engine.stub.Cancel(empty_pb2.Empty())


def _let_time_pass(stack):
    """Let the custom timeout of what a plugin does be over."""
    stack.provider.time.advance(2 * TIMEOUT)


STOPS = (_cancel, _let_time_pass)
MOST = 3
"""How many calls of a verb the normal run holds."""


@pytest.mark.parametrize("scenario", matrix.part(CANCEL_SCENARIOS), ids=str)
def test_a_stopped_call_does_not_wait_for_the_server(cloud, scenario, record_property):
    # With an ID of the provider, a creation ends with reads that only help; it survives their cancellation.
    options = {"provider_id": ""} if scenario.verb == "create" else {}
    expected = undisturbed(cloud, scenario, **options)
    number = len(expected.calls)
    cases = _all_cases(number) if matrix.FULL else _some_cases(number, CANCEL_SCENARIOS.index(scenario))
    seconds = []
    for stop, held, how in cases:
        with Run.begun(cloud, scenario, **options) as run:
            seconds.append(_interrupt(run, stop, held, how))
            _assert_told(run.stack.failed, scenario, expected, held)
            run.settle(expected)
    record_property("stopped", {"cases": len(seconds), "longest": max(seconds)})


def _all_cases(calls):
    """Return all cases: how the verb is stopped, which of its calls the server holds, and what happens to its work."""
    return [(stop, number, how) for stop in STOPS for number in range(1, calls + 1) for how in HOLDS]


def _some_cases(calls, shift):
    """Return a few cases, in which the ways to stop and to hold alternate, also from scenario to scenario."""
    numbers = range(1, calls + 1)
    chosen = numbers if len(numbers) <= MOST else [numbers[len(numbers) * part // MOST] for part in range(MOST)]
    return [
        (STOPS[index // 2 % len(STOPS)], number, HOLDS[index % len(HOLDS)])
        for index, number in enumerate(chosen, shift)
    ]


def _interrupt(run, stop, held, how):
    """Run the verb, and stop it when the server holds a request, and all requests after it; return how long it still took.

    The call has ended before the server answers, so nothing waited for the server.
    """
    interceptor, stack = run.cloud.interceptor, run.stack
    stack.engine.timeout = TIMEOUT
    interceptor.hold(held, how)
    verb = threading.Thread(target=run.act)
    verb.start()
    interceptor.wait_until_held()
    begun = time.monotonic()
    stop(stack)
    verb.join(HANGS)
    seconds = time.monotonic() - begun
    assert not verb.is_alive(), "the call waits for the server"
    interceptor.drain()
    stack.end_plugin()
    return seconds


def _assert_told(failed, scenario, expected, held):
    """Assert that the call has failed as one that was stopped; what may have been created is kept in the state."""
    what = f"held {held} of {expected.calls}: {failed}"
    assert failed is not None, what
    assert failed.code in ENDED, what
    if scenario.verb != "create":
        return
    if not any(call.changes for call in expected.calls[:held]):
        assert failed.partial is None, what
    else:
        assert failed.partial is not None, what
        assert failed.partial.id in {expected.resource_id} | BY_TOKEN[scenario.token].provisional_ids, what
