"""One case of the fault matrix: a fault in one call of a verb, and what the user does next."""

from __future__ import annotations

from functools import partial
from typing import Final

import attrs
from engines.clock import FakeClock
from engines.clocked import ClockedProvider
from engines.disturbed import Recovery, Run, Undisturbed
from engines.promises import require
from engines.stack import Stack
from faults.fault_kinds import FaultKind
from faults.fault_plan import ApiCall, FaultPlan
from faults.faulty_connection import FaultyConnection
from servers.emulated import Emulated
from values.scenarios import Scenario

from gcpx_emulator.core.faults import Faults

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


def run_case(cloud: Emulated, case: Case, expected: Undisturbed) -> Stack:
    """Run a case; return its stack. What must not be raises an AssertionError."""
    plan = FaultPlan(operations=cloud.emulator.operations)
    connection = FaultyConnection(plan, FakeClock())
    provider = partial(ClockedProvider, connection.clock, connection)
    try:
        with Run.begun(cloud, case.scenario, make_provider=provider) as run:
            cloud.emulator.faults = plan
            _have_fault(run, case, plan, connection)
            run.settle(expected, case.recovery)
            return run.stack
    finally:
        cloud.emulator.faults = Faults()
        cloud.emulator.operations.latency = 0.0


def _have_fault(run: Run, case: Case, plan: FaultPlan, connection: FaultyConnection) -> None:
    """Do the verb with the fault, then let everything end that was still under way."""
    before = run.made
    plan.begin(case.call, case.kind, lasts=case.lasts)
    run.stack.engine.timeout = _SHORT if case.kind.operation == "never ends" else 0.0
    run.act()
    run.stack.engine.timeout = 0.0
    assert plan.happened, "the call of the fault was not made"
    plan.clear()
    connection.deliver()
    run.cloud.clock.advance(10_000 * 3600)
    untracked = run.made - before
    require(run.stack.state is not None or not untracked, "untracked", f"in no state: {dict(untracked)}")
