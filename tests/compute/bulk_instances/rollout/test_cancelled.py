"""What an update says that the user has cancelled: what was under way, how far it got, and once what to do."""

from __future__ import annotations

import re

import pytest
from engines.stack import Stack
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, rolling
from values.programs import FLEET

MEDIUM = {"machineType": "e2-medium"}
POLICY = {"ready": {"guestAttribute": "app/state=ready", "within": 60, "stableFor": 60}}
WAITS = "cancelled while Google was still working on it"


@pytest.fixture
def stack(cloud):
    """A stack whose requests arrive one after the other; its instances report that they are ready."""
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    made = Stack(cloud, FLEET, "workers", parallel=1)
    yield made
    made.end_plugin()


def cancelled_at(stack, inputs, end, number, then):
    """Run `up`, and cancel it after the request of a number whose path has this end; return the error.

    From that request on, operations do not end. The run is cancelled at the next one whose path contains `then`.
    """
    seen = []

    def observe(_, request):
        seen.extend([request] if request.endswith(end) else [])
        if len(seen) == number and request.endswith(end):
            stack.cloud.hold_operations()
        if len(seen) >= number and then in request:
            stack.stop()

    with stack.cloud.interceptor.observed(observe):
        stack.up(inputs)
    stack.cloud.finish_operations()
    assert stack.failed is not None
    return stack.failed.message


@pytest.mark.parametrize(
    ("change", "end", "number", "then", "words"),
    [
        (MEDIUM, "/stop", 2, "/operations", WAITS),
        (MEDIUM, "/start", 1, "/operations", WAITS),
        (BIGGER_DISK, "/bulkInsert", 2, "/operations", WAITS),
        (BIGGER_DISK, "/bulkInsert", 2, "/bulkInsert", "cancelled"),
        (MEDIUM, "/getGuestAttributes", 4, "/getGuestAttributes", "cancelled"),
    ],
)
@pytest.mark.parametrize("policy", [{}, {"onFailure": "ROLL_BACK"}], ids=["stops", "rolls back"])
def test_an_error_after_a_cancellation_says_once_what_to_do(stack, change, end, number, then, words, policy):
    before, after = (rolling(3, {**POLICY, **policy}, **ATTRIBUTES, **more) for more in ({}, change))
    stack.succeed(before)
    message = cancelled_at(stack, after, end, number, then)
    assert words in message
    assert re.findall(r"[Rr]un (?:the command|`pulumi \w+`)", message) == ["run `pulumi up`"]
    assert message.endswith("; run `pulumi up` to go on from there")
    stack.succeed(after)


ADVICE = "Run the command again to go on"


def is_advised_once(message):
    """Return whether a message ends with what to do, and says it nowhere else."""
    return message.endswith(ADVICE) and len(re.findall(r"[Rr]un (?:the command|`pulumi \w+`)", message)) == 1


def report(cloud, state):
    """Let all instances of this fleet report a state when they have booted, and now."""
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": state}})
    for path, body in cloud.emulator.store.of_kind("instances"):
        cloud.emulator.store.put(path, body | {"_guestAttributes": {"app/state": state}})


@pytest.fixture
def waiting(cloud, stack):
    """The inputs of a fleet whose members are not ready yet, as its creation has found; the next update waits for them."""
    report(cloud, "booting")
    inputs = rolling(3, POLICY, **ATTRIBUTES)
    stack.up(inputs)
    assert "3 instances were created, but not ready within 60 seconds" in stack.failed.message
    assert stack.failed.message.endswith("; run `pulumi up` to wait for them again")
    stack.end_plugin()
    return inputs


@pytest.mark.parametrize(
    ("path", "number"),
    [("/aggregated/instances", 1), ("/getGuestAttributes", 1), ("/getGuestAttributes", 4), ("/instances", 3)],
)
def test_an_update_that_is_cancelled_before_it_has_changed_anything_says_what_to_do(
    cloud, stack, waiting, path, number
):
    seen = []

    def observe(_, request):
        if path in request:
            seen.append(request)
        if len(seen) == number:
            stack.stop()

    with cloud.interceptor.observed(observe):
        stack.up(waiting)
    assert "cancelled" in stack.failed.message
    assert is_advised_once(stack.failed.message)
    report(cloud, "ready")
    stack.succeed(waiting)


def test_an_update_that_is_cancelled_in_a_pause_says_what_to_do(cloud, stack, waiting):
    assert stack.engine.stub  # the plugin has started
    stack.provider.cancelled = stack.provider.time.cancellation(at_first_pause=True)
    stack.up(waiting)
    assert stack.failed.message == f"cancelled while members were starting. {ADVICE}"


def test_an_update_that_only_waits_says_what_to_do_if_members_are_not_ready_in_time(stack, waiting):
    stack.up(waiting)
    assert stack.failed.message.startswith("not ready within 60 seconds: web-001 (RUNNING)")
    assert is_advised_once(stack.failed.message)
