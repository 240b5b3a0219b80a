"""A stack whose plugin is killed at a request: after that no request arrives, and nothing reaches the state."""

from __future__ import annotations

from typing import Any

import attrs
from driver import Engine, Resource
from emulated import Emulated
from google.protobuf import empty_pb2
from interception import Loss
from stack_state import StackState

PROVIDER_ID = "3f6c0c0e-5a0b-4d51-9d0e-3f1f7f0e5a11"


@attrs.define
class CrashingStack(StackState):
    """One resource in a stack whose provider has an ID; each run has random seeds of its own."""

    cloud: Emulated = attrs.field(kw_only=True)
    provider_id: str = attrs.field(default=PROVIDER_ID, kw_only=True)
    _run: int = 0

    @property
    def engine(self) -> Engine:
        """The engine with a plugin, which is started and configured as in a run of the CLI."""
        if self._engine is None:
            self._run += 1
            engine = super().engine
            engine.run, engine.provider_id = self._run + int(self.provider_id[:4] or "0", 16), self.provider_id
            engine.configure(**self.config)
        assert self._engine is not None
        return self._engine

    @property
    def warnings(self) -> list[str]:
        """The warnings of the plugin that runs."""
        return [text for severity, _, text in self.engine.log.messages if severity == "WARNING"]

    def run(self, verb: str, inputs: dict[str, Any]) -> int:
        """Run `up` or `destroy` with a new plugin; return the number of its requests."""
        self.end_plugin()
        with self.cloud.interceptor.observed() as requests:
            self._do(verb, inputs)
        return len(requests)

    def crash(self, verb: str, inputs: dict[str, Any], number: int | None, moment: Loss) -> None:
        """Run `up` or `destroy` with a new plugin, which is killed at the request of this number.

        None stands for the first request that changes something.
        """
        self.end_plugin()
        before = self.state, self.init_errors
        engine, interceptor = self.engine, self.cloud.interceptor

        def kill(count: int, request: str) -> None:
            is_it = count == number if number is not None else _changes_something(request)
            if not is_it or interceptor.is_lost or self.cloud.emulator.faults.queue:
                return
            interceptor.lose(moment)
            engine.stub.Cancel(empty_pb2.Empty())

        with interceptor.observed(kill):
            self._attempt(lambda: self._do(verb, inputs))
        self.state, self.init_errors, self.failed = *before, None
        self.end_plugin()
        interceptor.drain()  # the last request of the killed plugin may still be under way
        self.cloud.emulator.faults.queue.clear()

    def cancel(self, inputs: dict[str, Any]) -> None:
        """Run `up` with a new plugin, and cancel it when it waits for an operation; what it reports is kept."""
        self.end_plugin()
        engine = self.engine

        def cancel(_: int, request: str) -> None:
            if request.endswith("/wait"):
                engine.stub.Cancel(empty_pb2.Empty())

        with self.cloud.interceptor.observed(cancel):
            self.up(inputs)
        self.end_plugin()

    def import_(self, resource_id: str) -> None:
        """Import the resource."""
        self.state, self.failed = self.engine.import_(self.token, self.name, resource_id), None
        self.init_errors = []
        assert self.state is not None, resource_id

    def replace(self, inputs: dict[str, Any], *, refresh: bool = False) -> None:
        """Replace the resource as `up --target-replace` does: create, then delete, and show nothing but the inputs."""
        self.end_plugin()
        if refresh:
            self.refresh()
        old, self.state, self.failed = self.state, None, None
        assert old is not None
        made = self._attempt(lambda: self.engine.create(self.token, self.name, inputs))
        self.state = old if made is None else made
        if made is not None:
            self.engine.delete(old)

    def _do(self, verb: str, inputs: dict[str, Any]) -> Resource | None:
        if verb == "up":
            self.up(inputs)
        else:
            self.destroy()
        return self.state


def _changes_something(request: str) -> bool:
    """Return whether a request, by its HTTP method and path, changes something."""
    return not request.startswith("GET ") and not request.endswith("/wait")
