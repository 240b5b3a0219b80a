"""A stack, kept as Pulumi's engine keeps it: over failures, kills, cancellations, replacements and commands on its state.

The rules are those of the engine's step generator, its steps and its snapshots (version 3.259): which calls are made in
which order, what a failed, partial, killed or cancelled call leaves in the state, and when something is deleted.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, NoReturn

import attrs
import grpc
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import UNKNOWN, Engine, Resource, failing, rpc, struct
from engines.promises import require
from faults.interception import Loss
from google.protobuf import empty_pb2
from servers.emulated import Emulated
from values.programs import PROJECT

from gcpx.model.context import PARALLEL

UNCLEAR: Final = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS})
"""The codes that tell the engine that the state may be corrupt."""
INIT_ERROR: Final = "#initerror"
"""What `replace_on_changes` calls an operation that was left unfinished."""


def provider_id_of(stack_name: str) -> str:
    """Return the ID that the provider's resource has in the state of a stack."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, stack_name))


PROVIDER_ID: Final = provider_id_of("dev")


@attrs.frozen
class Output:
    """An output of a resource that the program declares before, as a value in the inputs of another one."""

    name: str
    property: str


@attrs.frozen
class Declared:
    """A resource as a program declares it, with its resource options.

    Attributes:
        aliases: the names that it had before.
        import_id: the ID of what it takes over if the state does not have it (the option `import`).
        ignore_changes: the paths of inputs that keep their old values.
        replace_on_changes: the paths of properties whose changes replace it.
        replace_with: the names of the resources with which it is replaced.
        replacement_trigger: what replaces it when it changes from one value to another.
        delete_before_replace: whether it is deleted before it is replaced; None leaves that to the provider.
        retain_on_delete: whether it stays at Google when it leaves the state.
        timeout: the custom timeout of its creation and its updates, in seconds; 0 for that of the engine.
    """

    token: str
    inputs: dict[str, Any]
    aliases: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    import_id: str = attrs.field(default="", kw_only=True)
    ignore_changes: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    replace_on_changes: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    replace_with: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    replacement_trigger: Any = attrs.field(default=None, kw_only=True)
    delete_before_replace: bool | None = attrs.field(default=None, kw_only=True)
    retain_on_delete: bool = attrs.field(default=False, kw_only=True)
    timeout: float = attrs.field(default=0, kw_only=True)


Program = dict[str, Declared]
"""The resources that a program declares, by name, in the order of their registration."""
Given = Mapping[str, Any]
"""What a run is given: a program or, in a stack of one resource, the inputs of that resource."""


@attrs.define(eq=False)
class Entry:
    """A resource in the state.

    Attributes:
        declared: how a program declared it last, for the options that are in the state.
        init_errors: why the last operation left the resource unfinished; the next `up` calls Update.
        is_replaced: it was replaced, and the next `up` deletes it (the engine's `Delete`).
        is_deleted: it was deleted for a replacement that is not created yet (the engine's `PendingReplacement`).
        is_tainted: the next `up` replaces it.
    """

    resource: Resource
    declared: Declared
    init_errors: list[str] = attrs.Factory(list)
    is_replaced: bool = False
    is_deleted: bool = False
    is_tainted: bool = False

    @property
    def urn(self) -> str:
        """The URN of the resource."""
        return self.resource.urn

    @property
    def name(self) -> str:
        """The name of the resource."""
        return self.urn.rpartition("::")[2]


@attrs.frozen
class Failure:
    """A step of a run that failed.

    Attributes:
        urn: the resource.
        message: what the user reads.
        code: the code of the failed call; None if no call failed.
        refusals: the reasons by path, if Check refused the inputs.
        partial: what the state keeps of the resource; None if nothing.
    """

    urn: str
    message: str
    code: grpc.StatusCode | None = None
    refusals: dict[str, str] = attrs.Factory(dict)
    partial: Any = attrs.field(default=None, repr=False)


@attrs.frozen
class Plan:
    """What a resource needs: `same`, `create`, `update`, `replace` or `delete-replace`; and the checked inputs."""

    step: str
    entry: Entry | None
    inputs: dict[str, Any]


class RunEnded(Exception):  # noqa: N818 - it names the event
    """A run ends before its last step: after a failure, a cancellation or a kill."""


@attrs.define
class Stack:
    """The resources of one stack, and the commands of Pulumi's CLI for it.

    A stack of one resource has a token and a name: instead of programs, its runs get the inputs of that resource.

    Attributes:
        token: the type token of the one resource; empty for a stack of programs.
        name: the name of the one resource.
        stack_name: the name of the stack.
        provider_id: the ID of the provider's resource in the state; empty as from an engine that attaches to a plugin.
        parallel: how many requests a call of the plugin may have under way; with 1, their order is always the same.
        make_provider: makes the provider of a new plugin in this process, whose pauses end at once.
        start_plugin: starts another plugin instead.
        continues: whether a run goes on after a failed step, as with `--continue-on-error`.
        previews: whether `up` previews the program first, as without `--skip-preview`.
        is_strict: whether a refusal, or a replacement that only the provider wants, fails the test.
        starts_anew: whether each run has a new plugin. Otherwise a plugin goes on until `end_plugin`.
        entries: the state.
        pending: the URNs of creations that were killed; a refresh asks the user about them, and forgets them here.
        doing: the verb and the URN of the step that is under way, or was the last one; the verb is empty in a preview.
        steps: the steps of the last run or preview that change something, by the names of their resources.
        failed: what failed last in the last run, also a refresh that the engine warns of; None if nothing did.
        failures: the steps of the last run that failed.
        provider: the provider of the plugin that runs, or ran last.
        longest_wait: the longest time that one call has waited, in seconds of the provider's clock.
    """

    cloud: Emulated
    token: str = ""
    name: str = "web"
    stack_name: str = attrs.field(default="dev", kw_only=True)
    provider_id: str = attrs.field(
        default=attrs.Factory(lambda stack: provider_id_of(stack.stack_name), takes_self=True), kw_only=True
    )
    parallel: int = attrs.field(default=PARALLEL, kw_only=True)
    make_provider: Callable[[], ClockedProvider] = attrs.field(default=ClockedProvider, kw_only=True)
    start_plugin: Callable[[], AbstractContextManager[Engine]] | None = attrs.field(default=None, kw_only=True)
    continues: bool = attrs.field(default=False, kw_only=True)
    previews: bool = attrs.field(default=True, kw_only=True)
    is_strict: bool = attrs.field(default=attrs.Factory(lambda stack: bool(stack.token), takes_self=True), kw_only=True)
    starts_anew: bool = attrs.field(default=attrs.Factory(lambda stack: not stack.token, takes_self=True), kw_only=True)
    entries: list[Entry] = attrs.field(factory=list, init=False)
    pending: list[str] = attrs.field(factory=list, init=False)
    doing: tuple[str, str] = attrs.field(default=("", ""), init=False)
    steps: dict[str, str] = attrs.field(factory=dict, init=False)
    failed: Failure | None = attrs.field(default=None, init=False)
    failures: list[Failure] = attrs.field(factory=list, init=False)
    provider: ClockedProvider = attrs.field(factory=ClockedProvider, init=False)
    longest_wait: float = attrs.field(default=0.0, init=False)
    _plugin: ExitStack = attrs.field(factory=ExitStack, init=False)
    _engine: Engine | None = attrs.field(default=None, init=False)
    _runs: int = attrs.field(default=0, init=False)
    _said: list[str] = attrs.field(factory=list, init=False)
    _lasting: list[str] = attrs.field(factory=list, init=False)
    _is_killed: bool = attrs.field(default=False, init=False)
    _is_cancelled: bool = attrs.field(default=False, init=False)
    _replaces: frozenset[str] = attrs.field(default=frozenset(), init=False)
    """The names for which the run has `--target-replace`."""
    _outputs: dict[str, dict[str, Any]] = attrs.field(factory=dict, init=False)
    """The outputs of what was registered in this pass over the program, by name: predicted ones in a preview."""
    _seen: list[Entry] = attrs.field(factory=list, init=False)
    """The entries of what was registered in this pass."""
    _replaced: set[str] = attrs.field(factory=set, init=False)
    """The names of what was replaced in this pass."""
    _condemned: list[Entry] = attrs.field(factory=list, init=False)
    """What was deleted in this pass because something was deleted on which it depends."""

    # The plugin.

    @property
    def engine(self) -> Engine:
        """The engine with a plugin, which is started and configured as in a run of the CLI if none runs."""
        if self._engine is None:
            self._engine = self._plugin.enter_context((self.start_plugin or self._start_plugin)())
            self._engine.stack, self._engine.provider_id = self.stack_name, self.provider_id
            self._engine.configure(**self._config)
            self._number_run()
        return self._engine

    @property
    def _config(self) -> dict[str, str]:
        return {"project": PROJECT, "emulatorHost": self.cloud.host}

    def _start_plugin(self) -> AbstractContextManager[Engine]:
        self.provider = self.make_provider()
        self.provider.parallel = self.parallel
        return driver.connected(self.provider)

    def end_plugin(self) -> None:
        """End the plugin; the next call starts another one."""
        if self._engine is not None:
            self._said += [text for _, _, text in self._engine.log.messages]
            self._engine.log.messages.clear()
            self._lasting += self._engine.log.lasting
            self._engine.log.lasting.clear()
        self._plugin.close()
        self._engine = None

    @property
    def messages(self) -> list[str]:
        """Everything that runs showed the user."""
        return self._said + [text for _, _, text in (self._engine.log.messages if self._engine else ())]

    @property
    def lasting_messages(self) -> list[str]:
        """What runs showed the user for good: everything except the progress."""
        return self._lasting + (self._engine.log.lasting if self._engine else [])

    @property
    def warnings(self) -> list[str]:
        """The warnings of the plugin that runs."""
        return [text for severity, _, text in self.engine.log.messages if severity == "WARNING"]

    # The state.

    @property
    def state(self) -> Resource | None:
        """The one resource; None if the state does not have it."""
        entry = self._entry()
        return entry.resource if entry is not None else None

    @property
    def init_errors(self) -> list[str]:
        """Why the last operation left the one resource unfinished."""
        entry = self._entry()
        return entry.init_errors if entry is not None else []

    @property
    def has_failed(self) -> bool:
        """Whether the last run failed and left the state as it was."""
        return self.failed is not None and self.failed.partial is None

    def _entry(self, name: str = "") -> Entry | None:
        """Return the entry of the resource of a name, or of the one resource."""
        wanted = name or self.name
        return next((entry for entry in self.entries if entry.name == wanted and not entry.is_replaced), None)

    def _taken_out(self, name: str) -> Entry:
        """Take an entry out of the state."""
        entry = self._entry(name)
        assert entry is not None, name
        self.entries.remove(entry)
        return entry

    def state_delete(self, name: str = "") -> Resource:
        """Take a resource out of the state, as `pulumi state delete` does; return it."""
        return self._taken_out(name).resource

    def state_move(self, other: Stack, name: str = "") -> None:
        """Move a resource to the state of another stack, as `pulumi state move` does."""
        entry = self._taken_out(name)
        urn = entry.urn.replace(f"urn:pulumi:{self.stack_name}::", f"urn:pulumi:{other.stack_name}::")
        other.entries.append(attrs.evolve(entry, resource=attrs.evolve(entry.resource, urn=urn)))

    def taint(self, name: str = "") -> None:
        """Let the next `up` replace a resource, as `pulumi state taint` does."""
        entry = self._entry(name)
        assert entry is not None, name
        entry.is_tainted = True

    # Commands.

    def is_valid(self, inputs: dict[str, Any]) -> bool:
        """Return whether the plugin accepts a program of the one resource."""
        old = self.state.inputs if self.state is not None else {}
        return not self.engine.check(self.token, self.name, inputs, old).failures

    def preview(self, given: Given) -> dict[str, str]:
        """Preview a program; return the steps that change something, or that fail, by the names of their resources."""
        program = self._program(given)
        with self._run():
            self._go_through(program, self._preview)
        for entry in self.entries:
            if self._is_left_over(entry, program):
                self.steps.setdefault(entry.name, "delete")
        return self.steps

    def up(
        self, given: Given, *, refresh: bool = False, replaces: frozenset[str] = frozenset(), crashes: bool = False
    ) -> None:
        """Bring the stack to a program, perhaps after a refresh.

        With `replaces`, only the resources of these names are touched, and they are replaced (`--target-replace`). With
        `crashes`, the engine is killed before the report of the last call reaches the state, if it was not killed before.
        """
        program = {name: it for name, it in self._program(given).items() if name in replaces or not replaces}
        with self._run(crashes=crashes):
            self._replaces = replaces
            if refresh:
                self._refresh()
            if self.previews:
                self._go_through(program, self._preview)
            self.failed, self.failures = None, []  # with `--continue-on-error`, what failed in the preview fails again
            self._go_through(program, self._bring)
            if not replaces:
                self._sort(list(program))
            self._delete(lambda entry: self._is_left_over(entry, program) and (not replaces or entry.name in replaces))

    def succeed(self, given: Given) -> None:
        """Bring the stack to a program, which must succeed."""
        self.up(given)
        assert self.failed is None, self.failed

    def refresh(self) -> None:
        """Read every resource of the state."""
        with self._run():
            self._refresh()

    def destroy(self, *, crashes: bool = False) -> None:
        """Delete everything, the last first; `crashes` as for `up`."""
        with self._run(crashes=crashes):
            self._delete(lambda _: True)

    def import_(self, resource_id: str, name: str = "", token: str = "") -> bool:
        """Import a resource into the state, as `pulumi import` does; return whether it exists."""
        with self._run():
            urn = self.engine.urn(token or self.token, name or self.name)
            assert self._current(urn) is None, urn
            entry = self._read_anew(urn, resource_id)
            self.entries.append(entry)
            if not entry.init_errors:
                checked = self._checked(urn, entry.resource.inputs, entry.resource.inputs)
                entry.resource = attrs.evolve(entry.resource, inputs=checked)
        return self.failed is None

    def replace(self, inputs: dict[str, Any], *, refresh: bool = False) -> None:
        """Replace the one resource with a new plugin, as `up --target-replace` does."""
        self.end_plugin()
        assert self.state is not None
        self.up(inputs, refresh=refresh, replaces=frozenset({self.name}))

    def run(self, verb: str, given: Given) -> None:
        """Run `up` or `destroy` with a new plugin; a `destroy` must succeed."""
        self.end_plugin()
        self._do(verb, given)
        assert verb == "up" or self.failed is None, self.failed

    # Interruptions.

    def kill(self) -> None:
        """Kill engine and plugin in the middle of a run: no report that comes from now on reaches the state."""
        self._is_killed = True
        self.engine.stub.Cancel(empty_pb2.Empty())  # only lets the plugin's thread end soon

    def stop(self) -> None:
        """Cancel the run that is under way: its call is told to end, and no further step begins."""
        self._is_cancelled = True
        self.engine.stub.Cancel(empty_pb2.Empty())

    def crash(self, verb: str, given: Given, number: int | None, moment: Loss) -> None:
        """Run `up` or `destroy` with a new plugin, which is killed at the request of this number.

        After that no request arrives, and nothing reaches the state. None stands for the first request that changes
        something. If the run sends fewer requests, the report of its last call is lost.
        """
        self.end_plugin()
        interceptor = self.cloud.interceptor

        def observe(count: int, request: str) -> None:
            is_it = count == number if number is not None else changes_something(request)
            if is_it and not interceptor.is_lost and not self.cloud.emulator.faults.queue:
                interceptor.lose(moment)
                self.kill()

        with interceptor.observed(observe):
            self._do(verb, given, crashes=True)
        self.failed = None
        self.end_plugin()
        interceptor.drain()  # the last request of the killed plugin may still be under way
        self.cloud.emulator.faults.queue.clear()

    def cancel(self, given: Given) -> None:
        """Run `up` with a new plugin, and cancel it when it waits for an operation; what it reports is kept."""
        self.end_plugin()

        def observe(_: int, request: str) -> None:
            if request.endswith("/wait"):
                self.stop()

        with self.cloud.interceptor.observed(observe):
            self.up(given)
        self.end_plugin()

    def _do(self, verb: str, given: Given, *, crashes: bool = False) -> None:
        if verb == "up":
            self.up(given, crashes=crashes)
        else:
            self.destroy(crashes=crashes)

    def _sort(self, names: list[str]) -> None:
        """Bring the state into the order of a program, with what is left of former programs after it."""
        places = {name: place for place, name in enumerate(names)}
        self.entries.sort(key=lambda entry: len(names) if entry.is_replaced else places.get(entry.name, len(names)))

    def _program(self, given: Given) -> Program:
        return {self.name: Declared(self.token, dict(given))} if self.token else dict(given)

    # Runs.

    @contextmanager
    def _run(self, *, crashes: bool = False) -> Iterator[None]:
        if self.starts_anew:
            self.end_plugin()
        self._number_run()
        self.failed, self.failures, self.steps, self._replaces = None, [], {}, frozenset()
        before = self._copied()
        try:
            yield
        except RunEnded:
            pass
        finally:
            if crashes and not self._is_killed:
                self.entries = before
            if crashes or self._is_killed or self._is_cancelled:
                self.end_plugin()
            self._is_killed = self._is_cancelled = False

    def _number_run(self) -> None:
        """Count a run, which gets random seeds of its own: other ones than those of stacks with another provider."""
        self._runs += 1
        if self._engine is not None:
            self._engine.run = self._runs + int(self.provider_id[:4] or "0", 16)

    def _copied(self) -> list[Entry]:
        return [attrs.evolve(entry) for entry in self.entries]

    def _step(self, step: Callable[[], None]) -> None:
        """Make a step, unless the run is cancelled; a failed step ends the run unless runs continue after errors."""
        if self._is_cancelled:
            raise RunEnded
        try:
            step()
        except RunEnded:
            if self._is_killed or not self.continues:
                raise

    def _call(self, urn: str, call: Callable[[], Any]) -> Any:
        """Call the plugin; raise `RunEnded` if the call fails, or if its answer comes after a kill."""
        began = self.provider.clock()
        try:
            answer = call()
        except grpc.RpcError:
            with failing() as found:
                raise
            self._fail(Failure(urn, found[0].message, found[0].code, partial=found[0].partial))
        finally:
            self.longest_wait = max(self.longest_wait, self.provider.clock() - began)
        if self._is_killed:
            raise RunEnded
        return answer

    def _fail(self, failure: Failure) -> NoReturn:
        """Record a failure, and end the run; the report of a killed plugin is not recorded."""
        if not self._is_killed:
            self.failed = failure
            self.failures.append(failure)
            said = [failure.message, *failure.refusals.values()]
            self._said += said
            self._lasting += said
        require(failure.code not in UNCLEAR, "INTERNAL", f"{failure.urn}: {failure.code}: {failure.message}")
        raise RunEnded

    # What each resource needs.

    def _go_through(self, program: Program, act: Callable[[str, Declared], None]) -> None:
        """Register every resource of a program, in its order."""
        self._outputs, self._replaced, self._condemned = {}, set(), []
        self._seen = []
        for name, declared in program.items():
            self._step(lambda name=name, declared=declared: act(self.engine.urn(declared.token, name), declared))

    def _plan(self, urn: str, declared: Declared, *, previews: bool = False) -> Plan:
        """Return what a resource needs; this makes the engine's calls of Check and Diff."""
        name, entry = _name(urn), self._current(urn, declared)
        if entry is not None:
            self._seen.append(entry)
        given = self._resolved(declared.inputs)
        if entry is None and declared.import_id:
            entry = self._read_anew(urn, declared.import_id)
            if not previews:
                self.entries.append(entry)
        if entry is None:
            return Plan("create", None, self._checked(urn, given, {}))
        if entry in self._condemned:
            return Plan("delete-replace", entry, self._checked(urn, given, {}))
        old = entry.resource.inputs
        if name in self._replaces or entry.is_tainted:
            checked, replaces, deletes_first = self._checked(urn, given, {}), True, False
        else:
            checked = self._checked(urn, _ignoring(given, old, declared.ignore_changes), old)
            if not self._is_forced(entry, declared):
                difference = self._difference(urn, entry, declared, checked)
                assert not (self.is_strict and difference.replaces), difference.replaces
                changes = difference.changes == rpc.DiffResponse.DIFF_SOME
                replaces = (changes and bool(difference.replaces)) or _is_replaced_by(difference, entry, declared)
                if not (replaces or entry.is_deleted):
                    return Plan("update" if changes or entry.init_errors else "same", entry, checked)
            deletes_first = not self._is_forced(entry, declared) and difference.deleteBeforeReplace
            checked = self._checked(urn, given, {})
        if declared.import_id and not previews:
            self._fail(Failure(urn, "resources that still specify an ID to import may not be replaced"))
        if declared.delete_before_replace is not None:
            deletes_first = declared.delete_before_replace
        self._replaced.add(name)
        return Plan("delete-replace" if deletes_first or entry.is_deleted else "replace", entry, checked)

    def _is_forced(self, entry: Entry, declared: Declared) -> bool:
        """Return whether the program replaces a resource without a question to the provider."""
        old, new = entry.declared.replacement_trigger, declared.replacement_trigger
        is_triggered = old != new and None not in (old, new)
        return is_triggered or not self._replaced.isdisjoint(declared.replace_with)

    def _preview(self, urn: str, declared: Declared) -> None:
        self.doing, self.steps[_name(urn)] = ("", urn), "failed"
        plan = self._plan(urn, declared, previews=True)
        entry, outputs = plan.entry, {}
        if plan.step == "same" and entry is not None:
            del self.steps[_name(urn)]
            outputs = {**entry.resource.outputs, "id": entry.resource.id}
        else:
            self.steps[_name(urn)] = plan.step
            if plan.step == "delete-replace" and entry is not None:
                self._condemned += self._dependents(entry)
            request = self._update_request if plan.step == "update" else self._create_request
            outputs = driver.plain(self._call(urn, lambda: request(urn, declared, plan, preview=True)).properties)
        self._outputs[_name(urn)] = outputs

    def _bring(self, urn: str, declared: Declared) -> None:
        """Create, update or replace a resource, or leave it as it is."""
        plan = self._plan(urn, declared)
        entry = plan.entry
        if plan.step == "same" and entry is not None:
            entry.resource, entry.declared = attrs.evolve(entry.resource, urn=urn, inputs=plan.inputs), declared
        elif plan.step == "update" and entry is not None:
            self._update(urn, declared, plan)
        else:
            if plan.step == "delete-replace" and entry is not None and not entry.is_deleted:
                for dependent in reversed(self._dependents(entry)):
                    self._condemned.append(dependent)
                    self._delete_one(dependent, for_replacement=True)
                self._delete_one(entry, for_replacement=True)
            entry = self._create(urn, declared, plan)
        if entry is not None:
            self._outputs[_name(urn)] = {**entry.resource.outputs, "id": entry.resource.id}

    def _checked(self, urn: str, inputs: dict[str, Any], olds: dict[str, Any]) -> dict[str, Any]:
        """Check inputs, and return them as the plugin gives them back."""
        _, _, token, name = urn.split("::")
        answer = self._call(urn, lambda: self.engine.check(token, name, inputs, olds))
        assert not (self.is_strict and answer.failures), answer.failures
        if answer.failures:
            self._fail(Failure(urn, "", refusals=driver.reasons(answer.failures)))
        return driver.plain(answer.inputs)

    def _difference(self, urn: str, entry: Entry, declared: Declared, inputs: dict[str, Any]) -> Any:
        request = rpc.DiffRequest(
            id=entry.resource.id, urn=urn, olds=struct(entry.resource.outputs), news=struct(inputs),
            old_inputs=struct(entry.resource.inputs), ignoreChanges=declared.ignore_changes,
        )  # fmt: skip
        return self._call(urn, lambda: self.engine.stub.Diff(request))

    def _dependents(self, root: Entry) -> list[Entry]:
        """Return what must be deleted before a resource, because it is replaced with it, in the order of the state."""
        names, found = {root.name}, []
        for entry in self.entries:
            if entry.is_replaced or entry is root or entry in self._seen:
                continue
            unknown = {key: UNKNOWN for key, value in entry.declared.inputs.items() if names & _names_in(value)}
            inputs = {**entry.resource.inputs, **unknown}
            if names.intersection(entry.declared.replace_with) or (
                unknown and self._difference(entry.urn, entry, entry.declared, inputs).replaces
            ):
                names.add(entry.name)
                found.append(entry)
        return found

    def _resolved(self, value: Any) -> Any:
        """Return inputs with the outputs that they refer to; a resource whose dependency has failed is left out."""
        if isinstance(value, Output):
            if value.name not in self._outputs:
                raise RunEnded
            return self._outputs[value.name].get(value.property, UNKNOWN)
        if isinstance(value, dict):
            return {key: self._resolved(item) for key, item in value.items()}
        return [self._resolved(item) for item in value] if isinstance(value, list) else value

    # Steps.

    def _create_request(self, urn: str, declared: Declared, plan: Plan, *, preview: bool = False) -> Any:
        _, _, token, name = urn.split("::")
        return self.engine.stub.Create(
            rpc.CreateRequest(
                urn=urn, name=name, type=token, properties=struct(plan.inputs), preview=preview,
                timeout=0 if preview else declared.timeout or self.engine.timeout,
            )
        )  # fmt: skip

    def _update_request(self, urn: str, declared: Declared, plan: Plan, *, preview: bool = False) -> Any:
        assert plan.entry is not None
        old = plan.entry.resource
        return self.engine.stub.Update(
            rpc.UpdateRequest(
                id=old.id, urn=urn, olds=struct(old.outputs), old_inputs=struct(old.inputs), news=struct(plan.inputs),
                ignoreChanges=declared.ignore_changes, preview=preview,
                timeout=0 if preview else declared.timeout or self.engine.timeout,
            )
        )  # fmt: skip

    def _create(self, urn: str, declared: Declared, plan: Plan) -> Entry:
        """Create a resource, perhaps in place of another, which is marked for its deletion."""
        self.pending.append(urn)
        self.doing = ("create", urn)
        report, reasons = self._reported(urn, lambda: self._create_request(urn, declared, plan))
        made = Resource(urn, report.id, plan.inputs, driver.plain(report.properties))
        replaced, entry = plan.entry, Entry(made, declared, reasons)
        self.entries.append(entry)
        if replaced is not None and replaced.is_deleted:
            self.entries.remove(replaced)
        elif replaced is not None:
            replaced.is_replaced = True
        if reasons:
            raise RunEnded
        return entry

    def _update(self, urn: str, declared: Declared, plan: Plan) -> None:
        entry, self.doing = plan.entry, ("update", urn)
        assert entry is not None
        report, reasons = self._reported(urn, lambda: self._update_request(urn, declared, plan))
        inputs = entry.resource.inputs if reasons else plan.inputs
        entry.resource = Resource(urn, entry.resource.id, inputs, driver.plain(report.properties))
        entry.declared, entry.init_errors = declared, reasons
        if reasons:
            raise RunEnded

    def _refresh(self) -> None:
        """Read everything; the state is written when all is read."""
        before, self.pending = self._copied(), []
        try:
            for entry in self.entries.copy():
                if not entry.is_deleted:
                    self._step(lambda entry=entry: self._refresh_one(entry))
        except RunEnded:
            if self._is_killed:
                self.entries = before
            raise

    def _refresh_one(self, entry: Entry) -> None:
        """Read a resource, and compare it with its inputs; one that is gone leaves the state."""
        before = entry.resource
        found, reasons = self._read(entry.urn, before.id, before)
        if reasons:
            self.failures.pop()  # the engine shows it as a warning
        if found is None:
            self.entries.remove(entry)
        else:
            self._difference(entry.urn, attrs.evolve(entry, resource=found), entry.declared, before.inputs)
            entry.resource, entry.init_errors = found, reasons

    def _read_anew(self, urn: str, resource_id: str) -> Entry:
        """Read what is imported; it must exist."""
        found, reasons = self._read(urn, resource_id, None)
        if found is None:
            self._fail(Failure(urn, f"resource '{resource_id}' does not exist"))
        return Entry(found, Declared(urn.split("::")[2], found.inputs), reasons)

    def _read(self, urn: str, resource_id: str, old: Resource | None) -> tuple[Resource | None, list[str]]:
        """Read a resource; return None if it does not exist, and why it is unfinished."""
        _, _, token, name = urn.split("::")
        self.doing = ("read", urn)
        request = rpc.ReadRequest(id=resource_id, urn=urn, name=name, type=token, timeout=self.engine.timeout)
        if old is not None:
            request.properties.update(old.outputs)
            request.inputs.update(old.inputs)
        report, reasons = self._reported(urn, lambda: self.engine.stub.Read(request))
        found = Resource(urn, report.id, driver.plain(report.inputs), driver.plain(report.properties))
        return (found if found.id else None), reasons

    def _reported(self, urn: str, call: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Call the plugin; return what it reports of a resource, also if the call fails, and why that is unfinished."""
        try:
            report, reasons = self._call(urn, call), []
        except RunEnded:
            report = self.failed.partial if self.failed is not None and not self._is_killed else None
            if report is None:
                raise
            reasons = list(report.reasons)
        finally:
            if urn in self.pending and not self._is_killed:
                self.pending.remove(urn)
        return report, reasons

    def _delete(self, chosen: Callable[[Entry], bool]) -> None:
        """Delete entries, the last first; what something depends on stays if that could not be deleted."""
        for entry in reversed(self.entries.copy()):
            if chosen(entry) and not any(
                entry.name in _names_in(other.declared.inputs)
                for other in self.entries
                if other is not entry and chosen(other)
            ):
                self._step(lambda entry=entry: self._delete_one(entry))

    def _delete_one(self, entry: Entry, *, for_replacement: bool = False) -> None:
        """Delete a resource; its entry stays if its replacement is created next."""
        if not (entry.is_deleted or entry.declared.retain_on_delete):
            self.doing = ("delete", entry.urn)
            self._call(entry.urn, lambda: self.engine.delete(entry.resource))
        if for_replacement:
            entry.is_deleted = True
        else:
            self.entries.remove(entry)

    def _is_left_over(self, entry: Entry, program: Program) -> bool:
        return entry.is_replaced or (entry.name not in program and entry not in self._seen)

    def _current(self, urn: str, declared: Declared | None = None) -> Entry | None:
        """Return the entry of a resource, by its URN or a former one."""
        former = [] if declared is None else [self.engine.urn(declared.token, alias) for alias in declared.aliases]
        found = {entry.urn: entry for entry in self.entries if not entry.is_replaced}
        return next((found[known] for known in (urn, *former) if known in found), None)


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def changes_something(request: str) -> bool:
    """Return whether a request, by its HTTP method and path, changes something."""
    return not request.startswith("GET ") and not request.endswith("/wait")


def _names_in(value: Any) -> set[str]:
    """Return the names of the resources that inputs refer to."""
    if isinstance(value, Output):
        return {value.name}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_names_in, items))


def _ignoring(news: dict[str, Any], olds: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Return inputs in which each of these paths, of keys with dots between them, has its old value."""
    for path in paths:
        key, _, rest = path.partition(".")
        if not rest:
            others = {name: value for name, value in news.items() if name != key}
            news = {**others, **({key: olds[key]} if key in olds else {})}
        elif isinstance(news.get(key), dict) and isinstance(olds.get(key), dict):
            news = {**news, key: _ignoring(news[key], olds[key], (rest,))}
    return news


def _is_replaced_by(difference: Any, entry: Entry, declared: Declared) -> bool:
    """Return whether the option `replaceOnChanges` makes a replacement of a change."""
    changed = [*difference.detailedDiff, *difference.diffs]
    if difference.changes != rpc.DiffResponse.DIFF_SOME:
        changed = []
    if entry.init_errors:
        changed.append(INIT_ERROR)
    paths = declared.replace_on_changes
    return any(one == path or one.startswith((f"{path}.", f"{path}[")) for one in changed for path in paths)
