"""One case of the fault matrix: a fault in one call of a verb, what the engine does next, and what must hold then."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Final, Literal

import attrs
from engines.clock import FakeClock
from engines.clocked import ClockedProvider
from engines.inventory import Inventory
from engines.stack import UNCLEAR, Stack
from faults.fault_kinds import FaultKind
from faults.fault_plan import ApiCall, FaultPlan
from faults.faulty_connection import FaultyConnection
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import DISK_KEY, MARKER
from values.scenarios import Scenario

from gcpx_emulator.core.faults import Faults

Recovery = Literal["up", "up_refresh", "destroy"]
"""What the user does after the fault."""
_SHORT: Final = 0.3
"""Seconds of a custom timeout, for operations that never end."""


@attrs.frozen
class Case:
    """A fault in one call of a scenario.

    Attributes:
        scenario: the verb, and the programs before and after it.
        call: the call that has the fault.
        kind: the kind of the fault.
        lasts: whether it lasts until the verb ends.
        recovery: what the user does next.
    """

    scenario: Scenario
    call: ApiCall
    kind: FaultKind
    lasts: bool
    recovery: Recovery

    def __str__(self) -> str:
        lasting = "lasting" if self.lasts else "once"
        return f"{self.scenario}-{self.call}-{self.kind.name}-{lasting}-{self.recovery}"


@attrs.define
class CaseRun:
    """One run of a case, or of a scenario without a fault.

    Attributes:
        problems: what was found that must not be, by figure: `lost`, `doubled`, `untracked`, ...
        waited: seconds of the injected clock that the longest verb took.
    """

    cloud: Emulated
    scenario: Scenario
    plan: FaultPlan
    connection: FaultyConnection
    stack: Stack
    problems: list[tuple[str, str]] = attrs.Factory(list)
    waited: float = 0.0
    before: Inventory = attrs.Factory(lambda: Inventory({}))
    _imported: str = ""

    @classmethod
    def of(cls, cloud: Emulated, scenario: Scenario) -> CaseRun:
        """Prepare a run: make the surroundings, and what exists before the verb."""
        make_surroundings(cloud)
        plan = FaultPlan(operations=cloud.emulator.operations)
        cloud.emulator.faults = plan
        connection = FaultyConnection(plan, FakeClock())
        provider = partial(ClockedProvider, connection.clock, connection)
        run = cls(cloud, scenario, plan, connection, Stack(cloud, scenario.token, "kept", make_provider=provider))
        run.before = Inventory.of(cloud)
        run.prepare()
        return run

    def prepare(self) -> None:
        """Create what the verb changes."""
        for program in self.scenario.before:
            self.stack.up(program)
            assert self.stack.failed is None, self.stack.failed
        if self.scenario.verb == "import":
            self._imported = self.stack.state_delete().id
        self.cloud.emulator.requests.kept.clear()

    def verb(self) -> None:
        """Do what the scenario is about."""
        start = self.connection.clock.now()
        if self.scenario.verb == "import":
            self.stack.import_(self._imported)
        else:
            self.scenario.run(self.stack)
        self.waited = max(self.waited, self.connection.clock.now() - start)

    def recover(self, recovery: Recovery) -> None:
        """Do what the user does next; it must succeed."""
        if self.scenario.verb == "import" and self.stack.state is None:
            self.stack.import_(self._imported)
        if recovery == "destroy":
            self.stack.destroy()
        else:
            self.stack.up(self.scenario.changed, refresh=recovery == "up_refresh")
        if self.stack.failed is not None:
            self.note("stuck", f"after the fault, {recovery} failed: {self.stack.failed.message}")

    def note(self, figure: str, words: str) -> None:
        """Record a problem."""
        self.problems.append((figure, words))

    def added(self) -> Counter[str]:
        """Count what the program has made, by kind."""
        return Inventory.of(self.cloud).added_since(self.before)

    def close(self) -> None:
        """End the plugin."""
        self.stack.end_plugin()
        self.cloud.emulator.faults = Faults()
        self.cloud.emulator.operations.latency = 0.0


@attrs.frozen
class Expected:
    """What a scenario does without a fault: its calls, and what exists if the resource does afterwards, by kind."""

    calls: tuple[ApiCall, ...]
    made: Counter[str]


def observe(cloud: Emulated, scenario: Scenario) -> Expected:
    """Run a scenario without a fault; read its calls from the emulator's journal."""
    run = CaseRun.of(cloud, scenario)
    try:
        before = run.added()
        run.verb()
        assert run.stack.failed is None, (str(scenario), run.stack.failed)
        calls, seen = [], Counter[str]()
        for entry in cloud.emulator.requests.kept:
            method = entry["method"]
            seen[method] += 1
            changes = entry["httpMethod"] != "GET" and not method.endswith(".wait")
            calls.append(ApiCall(method, seen[method], changes))
        return Expected(tuple(sorted(calls)), before if scenario.verb == "delete" else run.added())
    finally:
        run.close()


def run_case(cloud: Emulated, case: Case, expected: Expected) -> CaseRun:
    """Run a case; the result has what is wrong afterwards."""
    run = CaseRun.of(cloud, case.scenario)
    try:
        _have_fault(run, case)
        made = expected.made if case.recovery != "destroy" else Counter[str]()
        run.recover(case.recovery)
        if case.recovery != "destroy" and not run.problems:
            _check_made(run, made)
            _check_settled(run)
            run.stack.destroy()
            if run.stack.failed is not None:
                run.note("stuck", f"it could not be deleted: {run.stack.failed.message}")
        _check_gone(run)
        _check_messages(run)
    except AssertionError as error:
        failed = run.stack.failed
        figure = "INTERNAL" if failed is not None and failed.code in UNCLEAR else "broken"
        run.note(figure, str(error).partition("\n")[0] or repr(error))
    finally:
        run.close()
    return run


def _have_fault(run: CaseRun, case: Case) -> None:
    """Do the verb with the fault, then let everything end that was still under way."""
    plan, before = run.plan, run.added()
    plan.begin(case.call, case.kind, lasts=case.lasts)
    run.stack.engine.timeout = _SHORT if case.kind.operation == "never ends" else 0.0
    run.verb()
    run.stack.engine.timeout = 0.0
    if not plan.happened:
        run.note("broken", "the call of the fault was not made")
    plan.clear()
    run.connection.deliver()
    run.cloud.clock.advance(10_000 * 3600)
    untracked = run.added() - before
    if run.stack.state is None and untracked:
        run.note("untracked", f"in no state: {dict(untracked)}")


def _check_made(run: CaseRun, expected: Counter[str]) -> None:
    """Compare what exists with what the program says."""
    found = run.added()
    if expected - found:
        run.note("lost", f"missing: {dict(expected - found)}")
    if found - expected:
        run.note("doubled", f"too many: {dict(found - expected)}")


def _check_settled(run: CaseRun) -> None:
    """Require that a refresh finds the resource as it is in the state, and that a preview is empty."""
    before = run.stack.state
    run.stack.refresh()
    if run.stack.failed is not None or run.stack.state is None or before is None:
        run.note("stuck", f"it could not be refreshed: {run.stack.failed}")
        return
    if run.stack.state.inputs != before.inputs:
        run.note("drift", f"a refresh changed the inputs: {before.inputs} -> {run.stack.state.inputs}")
    if run.stack.preview(run.scenario.changed):
        run.note("drift", "a preview after a refresh is not empty")


def _check_gone(run: CaseRun) -> None:
    """Require that nothing of ours is left, and that what others made is as it was."""
    now = Inventory.of(run.cloud)
    left = now.added_since(run.before)
    if left:
        run.note("left over", f"after a deletion: {dict(left)}")
    touched = now.changed_since(run.before)
    if touched:
        run.note("touched", f"made by others: {touched}")


def _check_messages(run: CaseRun) -> None:
    said = json.dumps(run.stack.messages)
    for marker in (MARKER, DISK_KEY):
        if marker in said:
            run.note("leaked", "a message contains a secret")
