"""Runs of one resource that the user cancels while the server holds a request, and what comes after them."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import attrs
import grpc
from driver import Failed, failing
from emulated import Emulated
from gate import Hold
from google.protobuf import empty_pb2
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
from steered import HANGS

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
        was: the same before everything.
    """

    calls: list[str]
    resource_id: str
    exists: dict[str, int]
    was: dict[str, int]

    def may_exist(self, number: int) -> bool:
        """Return whether something may have been created when the request of a number was held."""
        return any(not call.endswith(_READS) for call in self.calls[:number])


@attrs.frozen
class Cancelled:
    """How a run ended that was cancelled while the server held a request.

    Attributes:
        seconds: the time from the cancellation to the end of the call.
        failed: the error of the call.
    """

    seconds: float
    failed: Failed


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
        empty = attrs.evolve(scenario, before=None)
        self.begin(empty).end_plugin()
        was, stack = self.exists(), self.begin(scenario)
        before = stack.state
        scenario.run(stack)
        stack.end_plugin()
        assert stack.failed is None, stack.failed
        resource = stack.state or before
        return Undisturbed(self.cloud.calls(), resource.id if resource else "", self.exists(), was)

    def cancel(self, scenario: Scenario, stack: StackState, number: int, hold: Hold) -> Cancelled:
        """Run a scenario, and cancel it when the request of a number is held, with all requests after it.

        The call has ended before the server answers, so nothing waited for the server.
        """
        gate, provider = self.cloud.gate, stack.engine
        gate.watch(number, hold)
        run = threading.Thread(target=scenario.run, args=(stack,))
        run.start()
        assert gate.arrived.wait(HANGS), "the request has not been sent"
        begun = time.monotonic()
        provider.stub.Cancel(empty_pb2.Empty())
        run.join(HANGS)
        seconds = time.monotonic() - begun
        assert not run.is_alive(), "the call waits for the server"
        gate.drain()
        stack.end_plugin()
        assert stack.failed is not None, "the call succeeded"
        return Cancelled(seconds, stack.failed)

    def exists(self) -> dict[str, int]:
        """Count what exists, by kind."""
        self.cloud.emulator.operations.settle()
        kinds = self.cloud.emulator.store.counts()
        return {kind: number for kind, number in kinds.items() if "perations" not in kind}
