"""A stack with one resource, kept as Pulumi's engine keeps it: over updates that fail, and plugins that crash."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import attrs
import driver
import grpc
from driver import Engine, Failed, Resource, failing, rpc
from hurried import HurriedProvider

from gcpx.model.resource import PARALLEL


@attrs.define
class StackState:
    """One resource in a stack; each run may have a new plugin.

    Attributes:
        state: the resource as the state holds it; None if it does not exist.
        init_errors: why the last operation left the resource unfinished, so that the next `up` calls Update.
        failed: the error of the last run; None if it succeeded.
        parallel: how many requests a call of the plugin may have under way; with 1, their order is always the same.
        provider: the provider of the plugin that runs.
    """

    token: str
    name: str
    config: dict[str, Any]
    state: Resource | None = None
    init_errors: list[str] = attrs.Factory(list)
    failed: Failed | None = None
    parallel: int = PARALLEL
    provider: HurriedProvider = attrs.Factory(HurriedProvider)
    _plugin: ExitStack = attrs.Factory(ExitStack)
    _engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The engine with a plugin, which is started if none runs."""
        if self._engine is None:
            self.provider = HurriedProvider()
            self.provider.parallel = self.parallel
            self._engine = self._plugin.enter_context(driver.engine(self.provider, **self.config))
        return self._engine

    def end_plugin(self) -> None:
        """End the plugin; the next call starts another one."""
        self._plugin.close()
        self._engine = None

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

    @property
    def has_failed(self) -> bool:
        """Whether the last run failed and left the state as it was."""
        return self.failed is not None and self.failed.partial is None

    def up(self, inputs: dict[str, Any], *, refresh: bool = False, crashes: bool = False) -> None:
        """Bring the resource to a program, perhaps after a refresh.

        With `crashes`, the plugin crashes: what it reports is lost.
        """
        before = self.state, self.init_errors
        if refresh:
            self.refresh()
        if not refresh or not self.has_failed:
            self._up(inputs)
        if crashes:
            self.state, self.init_errors = before
            self.end_plugin()

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

    def _keep(self, partial: Any) -> None:
        """Keep what a failed call says about the resource."""
        urn = self.engine.urn(self.token, self.name)
        self.state = Resource(urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))
        self.init_errors = list(partial.reasons)

    def _attempt(self, call: Any) -> Any:
        """Make a call; record its error, and return None if it fails."""
        try:
            return call()
        except grpc.RpcError:
            with failing() as found:
                raise
            self.failed = found[0]
            assert self.failed.code != grpc.StatusCode.INTERNAL, self.failed.message
            return None

    def _checked(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return self.engine.checked(self.token, self.name, inputs, self._old_inputs)

    @property
    def _old_inputs(self) -> dict[str, Any]:
        return self.state.inputs if self.state is not None else {}
