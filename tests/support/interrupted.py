"""Runs of one resource that are stopped while the server holds a request, and what comes after them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import attrs
import grpc
from clock import HANGS
from driver import Failed, failing
from emulated import Emulated
from google.protobuf import empty_pb2
from interception import Hold
from programs import (
    ATTACHMENT,
    BUCKET,
    DEBIAN,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)
from stack_state import StackState

Inputs = dict[str, Any]
_ROLLING: Final = {"strategy": "ROLLING", "maxUnavailable": 2}
_READY: Final = {**_ROLLING, "ready": {"guestAttribute": "app/state"}}
_BIGGER: Final = [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN, "diskSizeGb": "20"}}]
_READS: Final = (".get", ".list", "List", ".wait", "getGuestAttributes", "getLoginProfile")
"""The ends of the methods that change nothing."""


@attrs.frozen(kw_only=True)
class Scenario:
    """One verb of one resource.

    Attributes:
        program: the inputs that the run brings the resource to; None for a deletion.
        before: the inputs that it has before the run; None if it does not exist yet.
        refresh: whether the run only reads the resource.
    """

    name: str
    token: str
    program: Inputs | None
    before: Inputs | None = None
    refresh: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def creates(self) -> bool:
        """Whether the run creates the resource."""
        return self.before is None

    def run(self, stack: StackState) -> None:
        """Do what is going to be cancelled."""
        if self.refresh:
            stack.refresh()
        elif self.program is None:
            destroy(stack)
        else:
            stack.up(self.program)


def _scenarios() -> list[Scenario]:
    named = fleet(None, perInstanceProperties={"a-1": {}, "a-2": {}})
    del named["namePattern"], named["count"]
    made = {
        "template": (TEMPLATE, {"name": "web", **template()}),
        "image": (IMAGE, image(name="golden")),
        "attachment": (ATTACHMENT, attachment(deviceName="data")),
        "key": (KEY, key()),
        "notification": (NOTIFICATION, notification()),
        "fleet": (FLEET, fleet(2)),
    }
    variants = {
        "template without a name": (TEMPLATE, template()),
        "key with an account": (KEY, key(projectId=PROJECT)),
        "fleet with names": (FLEET, named),
    }
    updates = {
        "relabel image": (IMAGE, image(name="golden"), image(name="golden", labels={"a": "1"})),
        "keep disk of attachment": (ATTACHMENT, attachment(), attachment(autoDelete=True)),
        "let key expire": (KEY, key(), key(expirationTimeUsec=EXPIRY)),
        "scale fleet up": (FLEET, fleet(2), fleet(4)),
        "scale fleet down": (FLEET, fleet(3), fleet(1)),
        "relabel fleet": (FLEET, fleet(2), fleet(2, labels={"a": "1"})),
        "restart fleet": (FLEET, fleet(2, updatePolicy=_ROLLING), fleet(2, machineType="e2-medium", updatePolicy=_ROLLING)),
        "replace fleet": (FLEET, fleet(2, updatePolicy=_READY), fleet(2, disks=_BIGGER, updatePolicy=_READY)),
    }  # fmt: skip
    return [
        *(Scenario(name=f"create {name}", token=token, program=inputs) for name, (token, inputs) in (made | variants).items()),
        *(Scenario(name=name, token=token, before=before, program=after) for name, (token, before, after) in updates.items()),
        *(Scenario(name=f"read {name}", token=token, before=inputs, program=inputs, refresh=True) for name, (token, inputs) in made.items()),
        *(Scenario(name=f"delete {name}", token=token, before=inputs, program=None) for name, (token, inputs) in made.items()),
    ]  # fmt: skip


SCENARIOS: Final = _scenarios()
TIMEOUT: Final = 3600.0
"""The custom timeout of all calls, in seconds of the provider's clock."""


def is_read(method: str) -> bool:
    """Return whether a method of an API changes nothing."""
    return method.endswith(_READS)


def destroy(stack: StackState) -> None:
    """Delete the resource of a stack; an error is recorded as that of the run."""
    stack.failed = None
    try:
        stack.destroy()
    except grpc.RpcError:
        with failing() as found:
            raise
        stack.failed = found[0]


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


def cancel(stack: StackState) -> None:
    """Cancel what a plugin does, as the engine does when the user presses ^C."""
    stack.engine.stub.Cancel(empty_pb2.Empty())


def let_time_pass(stack: StackState) -> None:
    """Let the custom timeout of what a plugin does be over."""
    stack.provider.time.advance(2 * TIMEOUT)


@attrs.frozen
class World:
    """An emulator, which is brought back to the same state for every run."""

    cloud: Emulated

    def begin(self, scenario: Scenario) -> StackState:
        """Return a stack in the state before the run of a scenario."""
        cloud = self.cloud
        cloud.reset()
        cloud.emulator.store.put(
            f"b/{BUCKET}", {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT}
        )
        cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
        cloud.make_topics()
        cloud.make_disk()
        cloud.make_instance()
        stack = StackState(scenario.token, "kept", {"project": PROJECT, "emulatorHost": cloud.host})
        if scenario.before is not None:
            stack.up(scenario.before)
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
        destroy(stack)
        stack.end_plugin()
        return Undisturbed(calls, resource.id if resource else "", exists, self.exists())

    def interrupt(self, scenario: Scenario, stack: StackState, hold: Held, stop: Callable[[StackState], None]) -> Ended:
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
