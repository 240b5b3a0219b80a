"""A rolling fleet, whatever happens to it: preemptions, stock-outs, crashes, lost answers, cancellations, outside edits.

Each example is a sequence of actions. A normal run sends requests one after the other, so that every example takes the
same course each time. At every request that the provider sends, the fleet must be as the update policy promises, and as
the words of the last preview say. At the end nothing fails any more, and the fleet must reach its program.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest
from engines.stack import Stack
from google.protobuf import empty_pb2
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from rolling.fleets import set_limits
from rolling.rolling_program import (
    CHANGES,
    FAULTS,
    FIRST,
    INTERFERENCES,
    INTERRUPTIONS,
    NAMES,
    POLICIES,
    ROLLED,
    Program,
)
from rolling.rollouts import BROKEN
from rolling.watched_fleet import LOOKALIKES, WatchedFleet
from servers import emulated
from values import search
from values.programs import FLEET

from gcpx.compute.bulk_instances.member import hash_for_label
from gcpx.model.context import PARALLEL
from gcpx_emulator.core.json_data import Json

ZONES = ("us-east1-b", "us-east1-c", "us-east1-d")
POSITIONS = st.integers(0, 4)
TROUBLE = st.none() | INTERRUPTIONS | FAULTS
pytestmark = pytest.mark.search


class FleetMachine(RuleBasedStateMachine):
    """One fleet, its program, and what happens to them.

    Attributes:
        program: what the program says.
        kept: what the inputs in the state say, apart from a refresh.
        is_fresh: whether the state shows the members as they are.
        was_killed: whether a run was killed, so that the state may not tell which labels and metadata it has set.
    """

    cloud: ClassVar[emulated.Emulated]
    program: Program
    kept: Program
    is_fresh: bool
    was_killed: bool

    def __init__(self) -> None:
        super().__init__()
        self.cloud.reset()
        parallel = PARALLEL if search.SEARCHING else 1
        self.stack = Stack(self.cloud, FLEET, "workers", parallel=parallel)
        self.fleet = WatchedFleet(self.cloud, self.stack)
        self.is_fresh, self.was_killed = True, False

    @initialize(program=FIRST, lookalike=st.none() | st.sampled_from(LOOKALIKES))
    def create(self, program: Program, lookalike: str | None) -> None:
        """Create the fleet; perhaps others make what looks like its members then."""
        valid = self.stack.is_valid(program.inputs)
        self.program = self.kept = program if valid else attrs.evolve(program, policy={})
        self.fleet.boot("ready")
        self.stack.up(self.program.inputs)
        assert self.stack.state is not None, self.stack.failed
        self.fleet.make_strangers()
        if lookalike is not None:
            self.fleet.make_lookalike(lookalike)

    @rule(change=CHANGES, refresh=st.booleans(), trouble=TROUBLE, position=POSITIONS)
    def up(self, change: dict[str, Any], refresh: bool, trouble: Any, position: int) -> None:
        """Change the program in any way, and run `up`; perhaps it is interrupted, or requests fail."""
        self.program = self._changed(change)
        self._run(refresh=refresh, trouble=trouble, position=position)

    @rule(name=st.sampled_from(list(ROLLED)), refresh=st.booleans(), trouble=TROUBLE, position=POSITIONS)
    def roll(self, name: str, refresh: bool, trouble: Any, position: int) -> None:
        """Change one property of all members; perhaps it is interrupted, or requests fail."""
        self.program = self._valid(self.program.rolled(name))
        self._run(refresh=refresh, trouble=trouble, position=position)

    @rule(
        how=st.sampled_from(["break", "shut down", "shut down", "change generation"]),
        position=POSITIONS,
        name=st.sampled_from(["machine", "disk", "metadata"]),
        refresh=st.booleans(),
    )
    def disturb_and_roll(self, how: str, position: int, name: str, refresh: bool) -> None:
        """Let others do something to a member, and change one property of all members."""
        self.interfere(how, position)
        self.roll(name, refresh, None, position)

    @rule(what=st.sampled_from(["crash", "crash after", "cancel"]), number=st.integers(1, 12), goes_back=st.booleans())
    def interrupt_restart(self, what: str, number: int, goes_back: bool) -> None:
        """Change the machine type, for which members restart, and interrupt that; perhaps go back then."""
        before = self.program.machine
        self.program = self._valid(self.program.rolled("machine"))
        self._run(refresh=False, trouble=(what, number))
        if goes_back:
            self.program = self._changed({"machine": before})
            self._run(refresh=False)

    @rule(more=st.sampled_from([-2, -1, -1, 1]), policy=st.none() | POLICIES, refresh=st.booleans())
    def resize(self, more: int, policy: dict[str, Any] | None, refresh: bool) -> None:
        """Change the size, and perhaps the policy, in the middle of a rollout or after it."""
        count = min(6, max(0, self.program.count + more))
        self.program = self._changed({"count": count, "policy": self.program.policy if policy is None else policy})
        self._run(refresh=refresh)

    @rule(refreshes=st.integers(0, 2), runs=st.booleans())
    def again(self, refreshes: int, runs: bool) -> None:
        """Refresh the state, perhaps twice, and perhaps run `up` without a change."""
        for _ in range(refreshes):
            self.stack.refresh()
            assert not self.stack.has_failed, self.stack.failed
            self.is_fresh = True
        if runs:
            self._run(refresh=False)

    @rule(
        name=st.sampled_from(["machine", "disk"]),
        method=st.sampled_from(["start", "setLabels", "delete"]),
        successes=st.integers(1, 3),
    )
    def fail_late(self, name: str, method: str, successes: int) -> None:
        """Change one property of all members; something fails after some members, and the change is rolled back."""
        self.program = self._changed({"policy": {"onFailure": "ROLL_BACK"}})
        self.cloud.fail(f"compute.instances.{method}", times=successes, delay=0.0)
        self.roll(name, False, {"method": f"compute.instances.{method}", "operation": BROKEN}, 0)

    @rule(change=CHANGES)
    def preview(self, change: dict[str, Any]) -> None:
        """Preview a change, which changes nothing."""
        before = self.fleet.members
        self.stack.preview(self._changed(change).inputs)
        assert self.fleet.members == before

    @rule(how=st.sampled_from(INTERFERENCES), position=POSITIONS)
    def interfere(self, how: str, position: int) -> None:
        """Stop, delete or edit a member."""
        self.is_fresh = False
        self.fleet.interfere(how, position)

    @rule(state=st.sampled_from(["ready", "broken"]))
    def boot(self, state: str) -> None:
        """From now on, members report this when they have booted."""
        self.fleet.boot(state)

    @rule(room=st.none() | st.integers(0, 5), quota=st.none() | st.integers(0, 6))
    def limit(self, room: int | None, quota: int | None) -> None:
        """Limit the capacity of each zone and the quota of the region, or neither."""
        zones = {} if room is None else {"zones": dict.fromkeys(ZONES, room)}
        self.fleet.is_short = self.fleet.is_short or bool(zones) or quota is not None
        set_limits(self.cloud, **zones, **({} if quota is None else {"instances": {"us-east1": quota}}))

    def teardown(self) -> None:
        """Let the fleet reach its program, and delete it."""
        try:
            if hasattr(self, "program"):
                self._reach()
                self._destroy()
        finally:
            self.stack.end_plugin()
            self.cloud.reset()

    def _reach(self) -> None:
        """Reach the program when nothing fails any more, by two runs of `up --refresh`."""
        set_limits(self.cloud)
        self.fleet.boot("ready")
        for member in self.fleet.members:
            self.fleet.report(member, "ready")
        policy = {name: value for name, value in self.program.policy.items() if name != "maxDeleted"}
        if not self.program.unavailable:  # a restart would be refused
            policy["maxUnavailable"] = 1
        self.program = self._changed({"policy": policy})
        for _ in range(2):
            self._run(refresh=True)
            assert self.stack.failed is None, self.stack.failed
        self._assert_reached(self.fleet.members)
        self.stack.refresh()
        assert self.stack.failed is None, self.stack.failed
        assert not self.stack.preview(self.program.inputs), "a second preview is empty"

    def _destroy(self) -> None:
        self.stack.destroy()
        assert self.stack.failed is None, self.stack.failed
        assert self.fleet.is_gone()

    def _changed(self, change: dict[str, Any]) -> Program:
        """Return the program with a change, or as it was if the plugin refuses that."""
        return self._valid(attrs.evolve(self.program, **change))

    def _valid(self, program: Program) -> Program:
        """Return a changed program, or the program as it was if the plugin refuses the change."""
        return program if self.stack.is_valid(program.inputs) else self.program

    def _run(self, *, refresh: bool, trouble: Any = None, position: int = 0) -> None:
        """Run `up`, watched and with trouble: a fault, or an interruption at the request of a number."""
        if self.stack.state is None:  # a creation that fails is not the subject
            trouble = None
            set_limits(self.cloud)
            self.fleet.boot("ready")
        if self.stack.state is None or not self.fleet.members:
            self.fleet.free_id()
        self.fleet.program, self.fleet.programs = self.program, [self.program, self.kept, self._refreshed()]
        crashes = self._arrange(trouble, position)
        self.was_killed |= crashes
        with self.fleet.watched():
            self.stack.up(self.program.inputs, refresh=refresh, crashes=crashes)
        self.cloud.interceptor.drain()  # a cancelled request may still be under way
        self.cloud.emulator.faults.queue.clear()
        if isinstance(trouble, tuple):  # it may be cancelled for good
            self.stack.end_plugin()
        assert not self.fleet.violations, self.fleet.violations
        is_clean = not crashes and trouble is None and self.stack.failed is None
        if is_clean and (refresh or self.is_fresh) and self.fleet.observer is not None and not self.fleet.is_short:
            self.fleet.observer.hold_all_done({item["id"]: item for item in self.fleet.members})
            assert not self.fleet.observer.violations, (self.fleet.observer.violations, self.fleet.observer.words)
        self.is_fresh = is_clean and (refresh or self.is_fresh)
        message = "" if self.stack.failed is None else self.stack.failed.message
        if not crashes and self.stack.failed is None:
            self.kept = self.program
        if not crashes and not self.stack.has_failed and "was rolled back" not in message:
            is_free = not (self.program.named or self.program.action or self.fleet.edited)
            if is_free and "could not be rolled back" not in message:  # it takes new members away
                self._assert_thrift()

    def _arrange(self, trouble: Any, position: int) -> bool:
        """Arrange trouble for the next run; return whether the plugin is going to crash."""
        if isinstance(trouble, dict):
            self.cloud.fail(**trouble)
        elif trouble is not None:
            what, number = trouble
            self.fleet.interruption = number, lambda: self._interrupt(what, position)
            return what.startswith("crash")
        return False

    def _interrupt(self, what: str, position: int) -> None:
        """Interrupt a run, in the emulator's thread. After a crash, no request of the plugin arrives any more."""
        if what.startswith("crash"):
            self.cloud.interceptor.lose("after" if what == "crash after" else "before")
            self.stack.kill()
        elif what == "cancel":
            self.stack.engine.stub.Cancel(empty_pb2.Empty())
        else:
            self.fleet.interfere(what, position)

    def _refreshed(self) -> Program:
        """Return what the inputs in the state say after a refresh, which leaves stopped members out."""
        if self.stack.state is None:
            return self.kept
        inputs = self.stack.state.inputs
        count = int(inputs.get("count", len(inputs.get("perInstanceProperties", ()))))
        return attrs.evolve(self.kept, count=min(count, self.kept.count))

    def _assert_thrift(self) -> None:
        """Assert that no member was taken away that had the properties, unless there were too many of these."""
        if "pauseAfter" in self.program.policy:  # new members beyond the pause leave first
            return
        if self.program.shape == "BALANCED":  # members of the zone that has the most leave first
            return
        generation = self.stack.state.outputs.get("generation") if self.stack.state is not None else ""
        for label, others in self.fleet.wasted:
            assert label != generation or others >= self.program.count

    def _assert_reached(self, members: list[Json]) -> None:
        program = self.program
        assert len(members) == program.count
        if program.named:
            assert {item["name"] for item in members} == set(NAMES[: program.count])
        kept = self.fleet.stopped | self.fleet.edited if program.keeps_stopped else set()
        stopped = [item["name"] for item in members if item["status"] != "RUNNING" and item["id"] not in kept]
        assert not stopped
        assert self.stack.state is not None
        if program.action is not None and program.updated >= program.count > 0:
            assert self.stack.state.outputs["__kept"]["lastRollingAction"] == hash_for_label(program.action[1])
        generation = self.stack.state.outputs["generation"]
        current = [item for item in members if item["labels"].get("gcpx-generation") == generation]
        assert len(current) >= program.updated, [item["labels"] for item in members]
        for item in current:
            self._assert_has_properties(item)

    def _assert_has_properties(self, item: Json) -> None:
        program = self.program
        if "gcpx-fallback" not in item["labels"]:
            assert item["machineType"].endswith(f"/{program.machine}")
        assert int(item["disks"][0]["diskSizeGb"]) == program.disk
        if self.was_killed:
            return
        metadata = {one["key"]: one["value"] for one in item.get("metadata", {}).get("items", [])}
        assert metadata == ({"a": program.metadata} if program.metadata else {})
        if item["id"] not in self.fleet.edited:
            assert {key: value for key, value in item["labels"].items() if key in {"tier", "team"}} == program.labels


def test_a_rolling_fleet_keeps_its_promises_whatever_happens(cloud: emulated.Emulated) -> None:
    machine = type("Machine", (FleetMachine,), {"cloud": cloud})
    steps = 8 if search.SEARCHING else 4
    run_state_machine_as_test(
        machine, settings=settings(search.examples(steady=100, searched=2000), stateful_step_count=steps)
    )
