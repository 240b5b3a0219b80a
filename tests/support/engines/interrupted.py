"""Runs of one resource that are stopped while the server holds a request, and what comes after them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import attrs
from engines.clock import HANGS
from engines.driver import Failed
from engines.stack import Stack
from faults.interception import Hold
from google.protobuf import empty_pb2
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.scenarios import Scenario

_READS: Final = (".get", ".list", "List", ".wait", "getGuestAttributes", "getLoginProfile")
"""The ends of the methods that change nothing."""


TIMEOUT: Final = 3600.0
"""The custom timeout of all calls, in seconds of the provider's clock."""


def is_read(method: str) -> bool:
    """Return whether a method of an API changes nothing."""
    return method.endswith(_READS)


@attrs.frozen
class Undisturbed:
    """A run without a cancellation.

    Attributes:
        calls: the API methods that it called, in order.
        resource_id: the ID of the resource.
        exists: how many resources of each kind exist after it.
        left: how many are left when the resource is deleted.
    """

    calls: list[str]
    resource_id: str
    exists: dict[str, int]
    left: dict[str, int]

    def may_exist(self, number: int) -> bool:
        """Return whether something may have been created when the request of a number was held."""
        return not all(map(is_read, self.calls[:number]))


@attrs.frozen
class Held:
    """The request that the server holds: its number, counted from 1, and what happens to its work."""

    number: int
    how: Hold


@attrs.frozen
class Ended:
    """How a run ended that was stopped while the server held a request.

    Attributes:
        seconds: the time until the end of the call.
        failed: the error of the call.
    """

    seconds: float
    failed: Failed


def cancel(stack: Stack) -> None:
    """Cancel what a plugin does, as the engine does when the user presses ^C."""
    stack.engine.stub.Cancel(empty_pb2.Empty())


def let_time_pass(stack: Stack) -> None:
    """Let the custom timeout of what a plugin does be over."""
    stack.provider.time.advance(2 * TIMEOUT)


@attrs.frozen
class World:
    """An emulator, which is brought back to the same state for every run."""

    cloud: Emulated

    def begin(self, scenario: Scenario) -> Stack:
        """Return a stack in the state before the run of a scenario."""
        cloud = self.cloud
        make_surroundings(cloud)
        stack = Stack(cloud, scenario.token, "kept")
        if scenario.verb == "create":
            # With an ID of the provider, a creation ends with reads that only help; it survives their cancellation.
            stack.provider_id = ""
        for program in scenario.before:
            stack.up(program)
            assert stack.failed is None, stack.failed
        cloud.emulator.requests.kept.clear()
        return stack

    def learn(self, scenario: Scenario) -> Undisturbed:
        """Run a scenario without a cancellation."""
        stack = self.begin(scenario)
        before = stack.state
        scenario.run(stack)
        assert stack.failed is None, stack.failed
        calls, exists, resource = self.cloud.calls(), self.exists(), stack.state or before
        stack.destroy()
        assert stack.failed is None, stack.failed
        stack.end_plugin()
        return Undisturbed(calls, resource.id if resource else "", exists, self.exists())

    def interrupt(self, scenario: Scenario, stack: Stack, hold: Held, stop: Callable[[Stack], None]) -> Ended:
        """Run a scenario, and stop it when the server holds a request, and all requests after it.

        The call has ended before the server answers, so nothing waited for the server.
        """
        interceptor, engine = self.cloud.interceptor, stack.engine
        engine.timeout = TIMEOUT
        interceptor.hold(hold.number, hold.how)
        run = threading.Thread(target=scenario.run, args=(stack,))
        run.start()
        interceptor.wait_until_held()
        begun = time.monotonic()
        stop(stack)
        run.join(HANGS)
        seconds = time.monotonic() - begun
        assert not run.is_alive(), "the call waits for the server"
        interceptor.drain()
        stack.end_plugin()
        assert stack.failed is not None, "the call succeeded"
        return Ended(seconds, stack.failed)

    def exists(self) -> dict[str, int]:
        """Count what exists, by kind."""
        self.cloud.emulator.operations.settle()
        kinds = self.cloud.emulator.store.counts()
        return {kind: number for kind, number in kinds.items() if "perations" not in kind}
