"""A stack of several resources, kept as Pulumi's engine keeps it.

The rules are those of the engine's step generator and of its steps: what a failed, partial, crashed or cancelled
operation leaves in the state, in which order a replacement is made, and when something is deleted.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import attrs
import driver
import grpc
from clocked import ClockedProvider
from driver import Engine, Failed, Resource, failing, rpc
from google.protobuf import empty_pb2
from promises import require
from stack import UNCLEAR, kept


@attrs.frozen
class Declared:
    """A resource as a program declares it."""

    token: str
    inputs: dict[str, Any]


Program = dict[str, Declared]
"""The resources that a program declares, by name, in the order of their registration."""


@attrs.define
class Entry:
    """A resource in the state.

    Attributes:
        init_errors: why the last operation left the resource unfinished; the next `up` calls Update.
        is_replaced: it was replaced, and the next `up` deletes it (the engine's `Delete`).
        is_deleted: it was deleted for a replacement that is not created yet (the engine's `PendingReplacement`).
    """

    resource: Resource
    init_errors: list[str] = attrs.Factory(list)
    is_replaced: bool = False
    is_deleted: bool = False

    @property
    def urn(self) -> str:
        """The URN of the resource."""
        return self.resource.urn


@attrs.frozen
class Failure:
    """A step of a run that failed.

    Attributes:
        urn: the resource.
        message: what the user reads.
        refusals: the reasons by path, if Check refused the inputs.
        partial: what the state keeps of the resource; None if nothing.
    """

    urn: str
    message: str
    refusals: dict[str, str] = attrs.Factory(dict)
    partial: Any = attrs.field(default=None, repr=False)

    @classmethod
    def of(cls, urn: str, failed: Failed) -> Failure:
        """Describe a failed call."""
        require(failed.code not in UNCLEAR, "INTERNAL", f"{urn}: {failed.code}: {failed.message}")
        return cls(urn, failed.message, partial=failed.partial)


class RunEnded(Exception):  # noqa: N818 - it names the event
    """A run ends before its last step: after a failure, a cancellation or a crash."""


@attrs.define
class PulumiStack:
    """The resources of one stack; each run has a new plugin, or the same one configured again.

    Attributes:
        name: the stack's name.
        config: the provider's configuration.
        entries: the state.
        failures: the steps of the last run that failed.
        messages: everything that runs showed the user.
        continues: whether a run goes on after a failed step, as with `--continue-on-error`.
        start_plugin: starts a plugin; None for one in this process, whose pauses end at once.
        longest_wait: the longest time that one call has waited, in seconds of the clock that such a plugin has.
    """

    name: str
    config: dict[str, Any]
    start_plugin: Callable[[], AbstractContextManager[Engine]] | None = None
    longest_wait: float = 0.0
    entries: list[Entry] = attrs.Factory(list)
    failures: list[Failure] = attrs.Factory(list)
    messages: list[str] = attrs.Factory(list)
    continues: bool = False
    _plugin: ExitStack = attrs.Factory(ExitStack)
    _engine: Engine | None = None
    _provider: ClockedProvider | None = None
    _runs: int = 0
    _has_crashed: bool = False
    _is_cancelled: bool = False

    @property
    def engine(self) -> Engine:
        """The engine with a plugin, which is started if none runs."""
        if self._engine is None:
            self._engine = self._plugin.enter_context(
                self.start_plugin() if self.start_plugin else self._start_clocked()
            )
            self._engine.stack, self._engine.run = self.name, self._runs
            self._engine.provider_id = str(uuid.uuid5(uuid.NAMESPACE_DNS, self.name))
            self._engine.configure(**self.config)
        return self._engine

    def _start_clocked(self) -> AbstractContextManager[Engine]:
        self._provider = ClockedProvider()
        return driver.engine(self._provider, **self.config)

    def end_plugin(self) -> None:
        """End the plugin; the next call starts another one."""
        self._keep_messages()
        self._plugin.close()
        self._engine = None

    def up(self, program: Program, *, refresh: bool = False) -> None:
        """Bring the stack to a program, perhaps after a refresh."""
        with self._run():
            if refresh:
                self._refresh()
            for name, declared in program.items():
                self._step(lambda name=name, declared=declared: self._bring(name, declared))
            self._delete(lambda entry: entry.is_replaced or self._name(entry.urn) not in program)

    def preview(self, program: Program) -> dict[str, str]:
        """Preview a program; return the steps that change something, by the names of their resources."""
        steps: dict[str, str] = {}
        with self._run():
            for name, declared in program.items():
                self._step(lambda name=name, declared=declared: self._preview(name, declared, steps))
        for entry in self.entries:
            if entry.is_replaced or self._name(entry.urn) not in program:
                steps.setdefault(self._name(entry.urn), "delete")
        return steps

    def refresh(self) -> None:
        """Read every resource of the state."""
        with self._run():
            self._refresh()

    def import_(self, name: str, token: str, resource_id: str) -> bool:
        """Import a resource into the state, as `pulumi import` does; return whether it exists."""
        with self._run():
            urn = self.engine.urn(token, name)
            assert self._current(urn) is None, urn
            found = self._call(urn, lambda: (self.engine.import_(token, name, resource_id),))[0]
            if found is not None:
                checked = self.engine.checked(token, name, found.inputs, found.inputs)
                self.entries.append(Entry(attrs.evolve(found, inputs=checked)))
                return True
        return False

    def destroy(self) -> None:
        """Delete everything, the last first."""
        with self._run():
            self._delete(lambda _: True)

    def crash(self) -> None:
        """Kill engine and plugin in the middle of a run: nothing that happens from now on reaches the state."""
        self._has_crashed = True
        self.engine.stub.Cancel(empty_pb2.Empty())  # only lets the plugin's thread end soon

    def cancel(self) -> None:
        """Cancel the run: the call under way is told to end, and no further step begins."""
        self._is_cancelled = True
        self.engine.stub.Cancel(empty_pb2.Empty())

    @contextmanager
    def _run(self) -> Iterator[None]:
        self.end_plugin()
        self._runs += 1
        self.failures = []
        try:
            yield
        except RunEnded:
            pass
        finally:
            self._keep_messages()
            if self._has_crashed or self._is_cancelled:
                self.end_plugin()
            self._has_crashed = self._is_cancelled = False

    def _keep_messages(self) -> None:
        if self._engine is not None:
            self.messages += [message for _, _, message in self._engine.log.messages]
            self._engine.log.messages.clear()

    def _step(self, step: Callable[[], None]) -> None:
        """Make a step, unless the run is cancelled; a failed step ends the run unless runs continue after errors."""
        if self._is_cancelled:
            raise RunEnded
        try:
            step()
        except RunEnded:
            if self._has_crashed or not self.continues:
                raise

    def _call(self, urn: str, call: Callable[[], Any]) -> Any:
        """Call the plugin; raise `RunEnded` if the call fails, or if its answer comes after a crash."""
        began = self._now()
        try:
            answer = call()
        except grpc.RpcError:
            with failing() as found:
                raise
            if not self._has_crashed:
                self._fail(Failure.of(urn, found[0]))
            raise RunEnded from None
        finally:
            self.longest_wait = max(self.longest_wait, self._now() - began)
        if self._has_crashed:
            raise RunEnded
        return answer

    def _now(self) -> float:
        """Return the time by the clock of the plugin in this process; 0 for another one."""
        return self._provider.clock() if self._provider is not None else 0.0

    def _fail(self, failure: Failure) -> None:
        self.failures.append(failure)
        self.messages += [failure.message, *failure.refusals.values()]

    def _checked(self, name: str, declared: Declared, entry: Entry | None) -> dict[str, Any]:
        """Check what a program declares; return the checked inputs."""
        olds = entry.resource.inputs if entry is not None else {}
        urn = self.engine.urn(declared.token, name)
        answer = self._call(urn, lambda: self.engine.check(declared.token, name, declared.inputs, olds))
        if answer.failures:
            self._fail(Failure(urn, "", driver.reasons(answer.failures)))
            raise RunEnded
        return driver.plain(answer.inputs)

    def _bring(self, name: str, declared: Declared) -> None:
        """Create, update or replace a resource, or leave it as it is."""
        urn = self.engine.urn(declared.token, name)
        entry = self._current(urn)
        step, checked = self._plan(name, declared)
        if step == "same" and entry is not None:
            entry.resource = attrs.evolve(entry.resource, inputs=checked)
        elif step == "update" and entry is not None:
            self._update(entry, declared)
        else:
            if step == "delete-replace" and entry is not None and not entry.is_deleted:
                self._call(urn, lambda: self.engine.delete(entry.resource))
                entry.is_deleted = True
            self._create(name, declared, entry)

    def _plan(self, name: str, declared: Declared) -> tuple[str, dict[str, Any]]:
        """Return which step a resource needs, and its checked inputs."""
        urn = self.engine.urn(declared.token, name)
        entry = self._current(urn)
        checked = self._checked(name, declared, entry)
        if entry is None:
            return "create", checked
        difference = self._call(urn, lambda: self.engine.diff_checked(entry.resource, checked))
        changes = difference.changes == rpc.DiffResponse.DIFF_SOME
        if entry.is_deleted or (changes and difference.replaces):
            deletes_first = entry.is_deleted or difference.deleteBeforeReplace
            return "delete-replace" if deletes_first else "replace", checked
        return "update" if changes or entry.init_errors else "same", checked

    def _preview(self, name: str, declared: Declared, steps: dict[str, str]) -> None:
        urn = self.engine.urn(declared.token, name)
        entry = self._current(urn)
        step, checked = self._plan(name, declared)
        if step == "update" and entry is not None:
            self._call(urn, lambda: self.engine.preview_update(entry.resource, declared.inputs))
        elif step != "same":
            self._call(urn, lambda: self.engine.preview(declared.token, name, checked))
        if step != "same":
            steps[name] = step

    def _create(self, name: str, declared: Declared, replaced: Entry | None) -> None:
        """Create a resource, perhaps in place of another, which is marked for its deletion."""
        urn = self.engine.urn(declared.token, name)

        def keep(resource: Resource, init_errors: list[str]) -> None:
            if replaced is not None and replaced.is_deleted:
                self.entries.remove(replaced)
            elif replaced is not None:
                replaced.is_replaced = True
            self.entries.append(Entry(resource, init_errors))

        try:
            resource = self._call(urn, lambda: self.engine.create(declared.token, name, declared.inputs))
        except RunEnded:
            partial = self._partial(urn)
            if partial is not None:
                keep(*partial)
            raise
        keep(resource, [])

    def _update(self, entry: Entry, declared: Declared) -> None:
        before = entry.resource
        try:
            entry.resource = self._call(entry.urn, lambda: self.engine.update(before, declared.inputs))
        except RunEnded:
            partial = self._partial(entry.urn)
            if partial is not None:  # after a failed update, the engine keeps the old inputs with the new outputs
                entry.resource, entry.init_errors = attrs.evolve(partial[0], inputs=before.inputs), partial[1]
            raise
        entry.init_errors = []

    def _partial(self, urn: str) -> tuple[Resource, list[str]] | None:
        """Return what the last failure says about a resource, if it says anything."""
        last = self.failures[-1] if self.failures and not self._has_crashed else None
        if last is None or last.urn != urn or last.partial is None:
            return None
        return kept(urn, last.partial), list(last.partial.reasons)

    def _refresh(self) -> None:
        for entry in list(self.entries):
            if not entry.is_deleted:
                self._step(lambda entry=entry: self._read(entry))

    def _read(self, entry: Entry) -> None:
        """Read a resource; one that is gone leaves the state."""
        before = entry.resource
        try:
            found = self._call(entry.urn, lambda: (self.engine.refresh(before),))[0]
        except RunEnded:
            partial = self._partial(entry.urn)
            if partial is None:
                raise
            entry.resource, entry.init_errors = partial
            self.failures.pop()  # the engine shows it as a warning
            return
        if found is None:
            self.entries.remove(entry)
        else:
            self._call(entry.urn, lambda: self.engine.diff_checked(found, before.inputs))
            entry.resource, entry.init_errors = found, []

    def _delete(self, chosen: Callable[[Entry], bool]) -> None:
        for entry in reversed(list(self.entries)):
            if chosen(entry):
                self._step(lambda entry=entry: self._delete_one(entry))

    def _delete_one(self, entry: Entry) -> None:
        if not entry.is_deleted:
            self._call(entry.urn, lambda: self.engine.delete(entry.resource))
        self.entries.remove(entry)

    def _current(self, urn: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.urn == urn and not entry.is_replaced), None)

    @staticmethod
    def _name(urn: str) -> str:
        return urn.rpartition("::")[2]
