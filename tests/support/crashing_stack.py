"""A stack whose plugin is killed at a request: after that no request arrives, and nothing reaches the state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import attrs
from driver import Engine, Resource
from emulated import Emulated
from google.protobuf import empty_pb2
from stack_state import StackState

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.request_log import RequestLog

Moment = Literal["before", "after"]
PROVIDER_ID = "3f6c0c0e-5a0b-4d51-9d0e-3f1f7f0e5a11"


@attrs.define
class _CountingLog(RequestLog):
    """A log that counts requests.

    Attributes:
        observer: called at each request, before it has any effect, with its number, and its HTTP method and path.
    """

    observer: Callable[[int, str], None] = lambda _number, _request: None
    count: int = 0

    def add(self, http_method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Json:
        self.count += 1
        self.observer(self.count, f"{http_method} {path}")
        return super().add(http_method, path, query, headers)


@contextmanager
def counted_requests(cloud: Emulated, observer: Callable[[int, str], None]) -> Iterator[_CountingLog]:
    """Observe the requests during the block."""
    emulator = cloud.emulator
    kept, log = emulator.requests, _CountingLog(observer=observer)
    emulator.requests = log
    try:
        yield log
    finally:
        emulator.requests = kept


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
        """Run `up`, or `destroy`, which must succeed, with a new plugin; return the number of its requests."""
        self.end_plugin()
        with counted_requests(self.cloud, lambda _number, _request: None) as log:
            self._do(verb, inputs)
        assert verb == "up" or self.failed is None, self.failed
        return log.count

    def crash(self, verb: str, inputs: dict[str, Any], number: int | None, moment: Moment) -> None:
        """Run `up` or `destroy` with a new plugin, which is killed at the request of this number.

        None stands for the first request that changes something.
        """
        self.end_plugin()
        before = self.state, self.init_errors
        engine = self.engine

        def kill(count: int, request: str) -> None:
            is_it = count == number if number is not None else _changes_something(request)
            if not is_it or self.cloud.emulator.faults.queue:
                return
            if moment == "after":
                self.cloud.fail("*", drop="after")
            self.cloud.fail("*", drop="before", times=10**9)
            engine.stub.Cancel(empty_pb2.Empty())

        with counted_requests(self.cloud, kill):
            self._attempt(lambda: self._do(verb, inputs))
        self.state, self.init_errors, self.failed = *before, None
        self.end_plugin()
        self.cloud.gate.drain()  # the last request of the killed plugin may still be under way
        self.cloud.emulator.faults.queue.clear()

    def cancel(self, inputs: dict[str, Any]) -> None:
        """Run `up` with a new plugin, and cancel it when it waits for an operation; what it reports is kept."""
        self.end_plugin()
        engine = self.engine

        def cancel(_: int, request: str) -> None:
            if request.endswith("/wait"):
                engine.stub.Cancel(empty_pb2.Empty())

        with counted_requests(self.cloud, cancel):
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
