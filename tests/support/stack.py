"""A stack of one resource, kept as Pulumi's engine keeps it: over failures, kills, cancellations and replacements."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import attrs
import driver
import grpc
from clocked import ClockedProvider
from driver import Engine, Failed, Resource, failing, rpc
from emulated import Emulated
from google.protobuf import empty_pb2
from interception import Loss
from programs import PROJECT

from gcpx.model.resource import PARALLEL

PROVIDER_ID: Final = "3f6c0c0e-5a0b-4d51-9d0e-3f1f7f0e5a11"
UNCLEAR: Final = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS})
"""The codes that tell the engine that the state may be corrupt."""


@attrs.define
class Stack:
    """One resource in a stack; a run may have a new plugin, or that of the run before.

    Attributes:
        provider_id: the ID of the provider's resource in the state; empty as from an engine that attaches to a plugin.
        parallel: how many requests a call of the plugin may have under way; with 1, their order is always the same.
        make_provider: makes the provider of a new plugin.
        state: the resource as the state holds it; None if it does not exist.
        init_errors: why the last operation left the resource unfinished, so that the next `up` calls Update.
        failed: the error of the last run; None if it succeeded.
        messages: the errors of the runs that failed.
        provider: the provider of the plugin that runs, or ran last.
    """

    cloud: Emulated
    token: str
    name: str = "web"
    provider_id: str = attrs.field(default=PROVIDER_ID, kw_only=True)
    parallel: int = attrs.field(default=PARALLEL, kw_only=True)
    make_provider: Callable[[], ClockedProvider] = attrs.field(default=ClockedProvider, kw_only=True)
    state: Resource | None = attrs.field(default=None, init=False)
    init_errors: list[str] = attrs.field(factory=list, init=False)
    failed: Failed | None = attrs.field(default=None, init=False)
    messages: list[str] = attrs.field(factory=list, init=False)
    provider: ClockedProvider = attrs.field(factory=ClockedProvider, init=False)
    _plugin: ExitStack = attrs.field(factory=ExitStack, init=False)
    _engine: Engine | None = attrs.field(default=None, init=False)
    _runs: int = attrs.field(default=0, init=False)

    @property
    def engine(self) -> Engine:
        """The engine with a plugin, which is started and configured as in a run of the CLI if none runs."""
        if self._engine is None:
            self.provider = self.make_provider()
            self.provider.parallel = self.parallel
            config = {"project": PROJECT, "emulatorHost": self.cloud.host}
            self._engine = self._plugin.enter_context(driver.engine(self.provider, **config))
            self._engine.provider_id = self.provider_id
            self._engine.configure(**config)
            self._begin_run()
        return self._engine

    def _begin_run(self) -> None:
        """Count a run, which gets random seeds of its own: other ones than those of stacks with another provider."""
        engine = self.engine
        self._runs += 1
        engine.run = self._runs + int(self.provider_id[:4] or "0", 16)

    def end_plugin(self) -> None:
        """End the plugin; the next call starts another one."""
        self._plugin.close()
        self._engine = None

    @property
    def warnings(self) -> list[str]:
        """The warnings of the plugin that runs."""
        return [text for severity, _, text in self.engine.log.messages if severity == "WARNING"]

    @property
    def has_failed(self) -> bool:
        """Whether the last run failed and left the state as it was."""
        return self.failed is not None and self.failed.partial is None

    def is_valid(self, inputs: dict[str, Any]) -> bool:
        """Return whether the plugin accepts a program."""
        return not self.engine.check(self.token, self.name, inputs, self._old_inputs).failures

    def preview(self, inputs: dict[str, Any]) -> bool:
        """Preview a program; return whether it changes anything. A refused preview is recorded as the run's error."""
        self.failed = None
        if self.state is None:
            self.engine.preview(self.token, self.name, self._checked(inputs))
            return True
        difference = self.engine.diff(self.state, inputs)
        assert not difference.replaces, difference.replaces
        if difference.changes != rpc.DiffResponse.DIFF_SOME and not self.init_errors:
            return False
        self._attempt(lambda: self.engine.preview_update(self.state, inputs))
        return True

    def up(self, inputs: dict[str, Any], *, refresh: bool = False, crashes: bool = False) -> None:
        """Bring the resource to a program, perhaps after a refresh.

        With `crashes`, the plugin crashes: what it reports is lost.
        """
        before = self.state, self.init_errors
        if refresh:
            self.refresh()
        if not refresh or not self.has_failed:
            self._begin_run()
            self._up(inputs)
        if crashes:
            self.state, self.init_errors = before
            self.end_plugin()

    def refresh(self) -> None:
        """Read the resource."""
        self.failed, before = None, self.state
        if before is None:
            return
        read = self._attempt(lambda: (self.engine.refresh(before),))
        if read is not None:
            self.state, self.init_errors = read[0], []
        elif self.failed is not None and self.failed.partial is not None:
            self._keep(self.failed.partial)

    def destroy(self) -> None:
        """Delete the resource."""
        self.failed, state = None, self.state
        if state is None or self._attempt(lambda: (self.engine.delete(state),)) is not None:
            self.state = None

    def import_(self, resource_id: str) -> None:
        """Import the resource."""
        self.failed = None
        found = self._attempt(lambda: (self.engine.import_(self.token, self.name, resource_id),))
        if found is not None:
            self.state, self.init_errors = found[0], []

    def replace(self, inputs: dict[str, Any], *, refresh: bool = False) -> None:
        """Replace the resource as `up --target-replace` does: create, then delete; Create gets only the inputs."""
        self.end_plugin()
        if refresh:
            self.refresh()
        old, self.state, self.failed = self.state, None, None
        assert old is not None
        made = self._attempt(lambda: self.engine.create(self.token, self.name, inputs))
        self.state = old if made is None else made
        if made is not None:
            self.engine.delete(old)

    def run(self, verb: str, inputs: dict[str, Any]) -> int:
        """Run `up` or `destroy` with a new plugin, and return the number of its requests; a `destroy` must succeed."""
        self.end_plugin()
        with self.cloud.interceptor.observed() as requests:
            self._do(verb, inputs)
        assert verb == "up" or self.failed is None, self.failed
        return len(requests)

    def crash(self, verb: str, inputs: dict[str, Any], number: int | None, moment: Loss) -> None:
        """Run `up` or `destroy` with a new plugin, which is killed at the request of this number.

        After that no request arrives, and nothing reaches the state. None stands for the first request that changes
        something.
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
            self._do(verb, inputs)
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

    def _do(self, verb: str, inputs: dict[str, Any]) -> None:
        if verb == "up":
            self.up(inputs)
        else:
            self.destroy()

    def _up(self, inputs: dict[str, Any]) -> None:
        if not self.preview(inputs) or self.failed is not None:
            return
        state, engine = self.state, self.engine
        if state is None:
            done = self._attempt(lambda: engine.create(self.token, self.name, inputs))
        else:
            done = self._attempt(lambda: engine.update(state, inputs))
        if done is not None:
            self.state, self.init_errors = done, []
        elif self.failed is not None and self.failed.partial is not None:
            self._keep(self.failed.partial)
            if state is not None:  # after a failed update, the engine keeps the old inputs with the new outputs
                self.state = attrs.evolve(self.state, inputs=state.inputs)

    def _keep(self, partial: Any) -> None:
        """Keep what a failed call says about the resource."""
        self.state = kept(self.engine.urn(self.token, self.name), partial)
        self.init_errors = list(partial.reasons)

    def _attempt(self, call: Any) -> Any:
        """Make a call; record its error, and return None if it fails."""
        try:
            return call()
        except grpc.RpcError:
            with failing() as found:
                raise
            self.failed = found[0]
            assert self.failed.code not in UNCLEAR, self.failed.message
            self.messages.append(self.failed.message)
            return None

    def _checked(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return self.engine.checked(self.token, self.name, inputs, self._old_inputs)

    @property
    def _old_inputs(self) -> dict[str, Any]:
        return self.state.inputs if self.state is not None else {}


def kept(urn: str, partial: Any) -> Resource:
    """Return the resource that the state keeps of a failed call."""
    return Resource(urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))


def _changes_something(request: str) -> bool:
    """Return whether a request, by its HTTP method and path, changes something."""
    return not request.startswith("GET ") and not request.endswith("/wait")
