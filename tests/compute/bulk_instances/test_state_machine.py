"""A rolling fleet, whatever happens to it: preemptions, stock-outs, crashes, lost answers, cancellations, outside edits.

Each example is a sequence of actions. The invariants are checked at every request that the provider sends. At the end,
nothing fails any more, and the fleet must reach its program.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import emulated
import pytest
import search
from emulated import Emulated
from fleets import set_limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from observed import observing
from programs import FLEET, PROJECT, fleet
from stack_state import StackState

from gcpx_emulator.compute.interruptions import fail_host, preempt, terminate_from_within
from gcpx_emulator.core.json_data import Json

ZONES = ("us-east1-b", "us-east1-c", "us-east1-d")
COLLECTIONS = [f"projects/{PROJECT}/zones/{zone}/instances" for zone in ZONES]
DISKS = [f"projects/{PROJECT}/zones/{zone}/disks" for zone in ZONES]
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
FOREIGN = {"web-100": {}, "web-stranger": {"gcpx-bulk": "crew-2"}}
"""Instances beside the fleet: one with a name that fits its pattern, and one with the label of another fleet."""
STOPPED = ("TERMINATED", "SUSPENDED", "STOPPING", "SUSPENDING")
MUTATIONS = [
    "compute.regionInstances.bulkInsert",
    *(
        f"compute.instances.{name}"
        for name in ("delete", "stop", "start", "setLabels", "setMetadata", "setMachineType")
    ),
]
READS = [
    "compute.instances.list",
    "compute.instances.aggregatedList",
    "compute.zoneOperations.get",
    "compute.zoneOperations.list",
    "compute.regionOperations.wait",
]
BROKEN = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
pytestmark = pytest.mark.search


@attrs.frozen
class Program:
    """What the program says about the fleet."""

    count: int
    named: bool
    shape: str
    policy: dict[str, Any] = attrs.Factory(dict)
    machine: str = "e2-small"
    disk: int = 10
    labels: dict[str, str] = attrs.Factory(dict)
    metadata: str = ""
    on_stopped: str = "START"
    minimum: int = 1

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the resource."""
        disk = {
            "boot": True,
            "autoDelete": True,
            "initializeParams": {
                "diskSizeGb": self.disk,
                "sourceImage": "projects/debian-cloud/global/images/family/debian-12",
            },
        }
        more: dict[str, Any] = {"metadata": {"items": [{"key": "a", "value": self.metadata}]}} if self.metadata else {}
        more |= {"labels": self.labels} if self.labels else {}
        if self.minimum < self.count:
            more["minCount"] = self.minimum
        made = fleet(
            self.count,
            fleetId="crew",
            updatePolicy={"strategy": "ROLLING", **self.policy},
            onStopped=self.on_stopped,
            locationPolicy={"targetShape": self.shape},
            machineType=self.machine,
            disks=[disk],
            scheduling={"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"},
            **more,
        )
        if self.named:
            del made["namePattern"]
            made["perInstanceProperties"] = {name: {} for name in NAMES[: self.count or 1]}
        return made

    def share(self, name: str, rounded: Any) -> int | None:
        """Resolve a number or a percentage of the policy."""
        value = self.policy.get(name)
        return rounded(int(value[:-1]) * self.count / 100) if isinstance(value, str) else value

    @property
    def surge(self) -> int:
        return self.share("maxSurge", math.ceil) or 0

    @property
    def unavailable(self) -> int:
        least = 0 if self.surge else 1
        number = self.share("maxUnavailable", math.floor)
        return least if number is None else max(least, number)

    @property
    def updated(self) -> int:
        """How many members have the new properties at the end, at least."""
        pause = self.share("pauseAfter", math.ceil)
        return self.count if pause is None else min(self.count, pause)


def some(name: str, *values: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{}, *({name: value} for value in values)])


SIZES = st.one_of(
    st.tuples(some("maxUnavailable", 2, "50%"), some("keepNames", True)),
    st.tuples(some("maxUnavailable", 0, 1, 2), some("maxSurge", 1, 2, "50%")),
)
POLICIES = st.tuples(
    SIZES, some("pauseAfter", 1, 2, "50%"), some("minimalAction", "RESTART", "REPLACE"), some("onFailure", "ROLL_BACK")
).map(lambda parts: {**parts[0][0], **parts[0][1], **parts[1], **parts[2], **parts[3]})
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "count": st.integers(0, 5),
        "policy": POLICIES,
        "machine": st.sampled_from(["e2-small", "e2-medium"]),
        "disk": st.sampled_from([10, 20]),
        "labels": st.sampled_from([{}, {"tier": "web"}, {"tier": "db", "team": "a"}]),
        "metadata": st.sampled_from(["", "1", "2"]),
        "on_stopped": st.sampled_from(["START", "REPLACE", "KEEP"]),
        "minimum": st.integers(1, 5),
    },
)
ROLLS: dict[str, tuple[Any, Any]] = {
    "machine": ("e2-small", "e2-medium"),
    "disk": (10, 20),
    "labels": ({}, {"tier": "web"}),
    "metadata": ("", "1"),
}
"""Properties with two values each; the first are those of a new fleet."""
INTERFERENCES = (
    *("preempt", "fail", "shut down", "suspend", "delete"),
    *("add label", "change label", "remove generation", "change generation"),
)
INTERRUPTIONS = st.none() | st.tuples(
    st.sampled_from(["crash", "crash after", "cancel", "preempt", "suspend", "delete"]), st.integers(1, 30)
)
FAULTS = st.one_of(
    st.fixed_dictionaries({"method": st.sampled_from(MUTATIONS), "operation": st.just(BROKEN)}),
    st.fixed_dictionaries({"method": st.sampled_from(MUTATIONS), "status": st.sampled_from([400, 403, 412])}),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from([*MUTATIONS, *READS]),
            "status": st.sampled_from([403, 429, 500, 503]),
            "times": st.sampled_from([1, 3, 30]),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from([*MUTATIONS, *READS, "*"]),
            "drop": st.sampled_from(["before", "after"]),
            "times": st.sampled_from([1, 3, 30]),
        }
    ),
)


@attrs.define
class Observer:
    """Looks at the fleet at each request, and notes what must not be.

    Attributes:
        programs: those that a run may lead to: the new one and, as it may be rolled back, the old one.
        interruption: what happens at the request of a number.
        interrupt: does it.
        unknown: the running members that somebody else has stopped during the run, when the provider may have read the
            members already.
    """

    cloud: Emulated
    programs: list[Program] = attrs.Factory(list)
    violations: list[str] = attrs.Factory(list)
    foreign: list[Json] = attrs.Factory(list)
    running: int = 0
    existing: int = 0
    requests: int = 0
    unknown: int = 0
    members_before: list[Json] = attrs.Factory(list)
    taken: list[tuple[Json, list[Json]]] = attrs.Factory(list)
    interruption: tuple[str, int] | None = None
    interrupt: Any = None

    def instances(self) -> list[tuple[str, Json]]:
        store = self.cloud.emulator.store
        return [(f"{one}/{item['name']}", item) for one in COLLECTIONS for item in store.list(one)]

    def members(self) -> list[tuple[str, Json]]:
        return [item for item in self.instances() if item[1].get("labels", {}).get("gcpx-bulk") == "crew"]

    def reset(self) -> None:
        """Take the fleet as it is for granted."""
        self.unknown = self.requests = 0
        self.taken.clear()
        self.cloud.emulator.operations.settle()
        self._count(self.members())

    def _count(self, members: list[tuple[str, Json]]) -> None:
        self.members_before = [item for _, item in members]
        self.running = sum(item["status"] == "RUNNING" for _, item in members)
        self.existing = len(members)

    def _note_deleted(self, members: list[tuple[str, Json]]) -> None:
        """Note which running members are being deleted, and which stay."""
        gone = {"STOPPING", None}
        now = {item["id"]: item["status"] for _, item in members}
        for item in self.members_before:
            if item["status"] == "RUNNING" and now.get(item["id"]) in gone:
                staying = [other for _, other in members if other["id"] != item["id"]]
                self.taken.append((item, staying))

    def wasted(self, generation: str, count: int) -> list[str]:
        """Return the members that had the generation and were taken away, though they were not too many."""
        return [
            item["name"]
            for item, staying in self.taken
            if item["labels"].get("gcpx-generation") == generation
            and sum(other["labels"].get("gcpx-generation") == generation for other in staying) < count
        ]

    def __call__(self) -> None:
        self.requests += 1
        self.check()
        if self.interruption and self.requests == self.interruption[1]:
            before = self.running
            self.interrupt(self.interruption[0])
            self._count(self.members())
            self.unknown += before - self.running

    def check(self) -> None:
        """Compare the fleet with the last look at it."""
        running, existing, members = self.running, self.existing, self.members()
        self._note_deleted(members)
        self._count(members)
        names = [item["name"] for _, item in members]
        stopped = sum(item["status"] in STOPPED for _, item in members)
        least = min((self._least(program, stopped) for program in self.programs), default=running)
        most = max((program.count + program.surge for program in self.programs), default=existing)
        self._note(self.running < min(running, least), f"{self.running} of at least {least} run: {self._show(members)}")
        self._note(self.existing > max(existing, most), f"{self.existing} of at most {most} exist: {names}")
        self._note(len(set(names)) < len(names), f"a name is used twice: {names}")
        self._note([item for item in self.instances() if item[1]["name"] in FOREIGN] != self.foreign, "others changed")

    def _least(self, program: Program, stopped: int) -> int:
        kept = stopped if program.on_stopped == "KEEP" else 0
        return program.count - kept - program.unavailable - self.unknown

    @staticmethod
    def _show(members: list[tuple[str, Json]]) -> list[str]:
        return [f"{item['name']} {item['status']}" for _, item in members]

    def _note(self, violated: bool, words: str) -> None:
        if violated:
            self.violations.append(f"request {self.requests}: {words}")


class FleetMachine(RuleBasedStateMachine):
    """One fleet, and what happens to it."""

    cloud: ClassVar[Emulated]

    def __init__(self) -> None:
        super().__init__()
        self.cloud.reset()
        self.stack = StackState(FLEET, "crew", {"project": PROJECT, "emulatorHost": self.cloud.host})
        self.observer = Observer(self.cloud)
        self.relabelled: set[str] = set()
        self.stopped: set[str] = set()

    @initialize(
        count=st.integers(1, 4),
        named=st.booleans(),
        shape=st.sampled_from(["ANY_SINGLE_ZONE", "BALANCED"]),
        policy=POLICIES,
        on_stopped=st.sampled_from(["START", "REPLACE", "KEEP"]),
    )
    def create(self, count: int, named: bool, shape: str, policy: dict[str, Any], on_stopped: str) -> None:
        for name, labels in FOREIGN.items():
            path = self.cloud.make_instance(name)
            self.cloud.change(path, lambda body, labels=labels: body.update(labels=labels))
        self.observer.foreign = [item for item in self.observer.instances() if item[1]["name"] in FOREIGN]
        self.program = self.kept = Program(count, named, shape, policy, on_stopped=on_stopped)
        if not self.stack.is_valid(self.program.inputs):
            self.program = self.kept = attrs.evolve(self.program, policy={})
        self.stack.up(self.program.inputs)
        assert self.stack.state is not None, self.stack.failed

    @rule(
        change=CHANGES,
        refresh=st.booleans(),
        interruption=INTERRUPTIONS,
        fault=st.none() | FAULTS,
        position=st.integers(0, 4),
    )
    def up(self, change: dict[str, Any], refresh: bool, interruption: Any, fault: Any, position: int) -> None:
        """Change the program, and run `up`, with or without a refresh before it."""
        self._change(change)
        if fault:
            self._fail(fault)
        self._run(refresh, interruption, position)

    @rule(
        change=st.sampled_from(list(ROLLS)),
        refresh=st.booleans(),
        interruption=INTERRUPTIONS.filter(bool) | FAULTS,
        position=st.integers(0, 4),
    )
    def roll(self, change: str, refresh: bool, interruption: Any, position: int) -> None:
        """Change one property of all members; it is interrupted, or a request fails."""
        values = ROLLS[change]
        self._change({change: values[0] if getattr(self.program, change) == values[1] else values[1]})
        if isinstance(interruption, dict):
            self._fail(interruption)
            interruption = None
        self._run(refresh, interruption, position)

    @rule(count=st.integers(0, 5), policy=POLICIES, refresh=st.booleans())
    def resize(self, count: int, policy: dict[str, Any], refresh: bool) -> None:
        """Change the number of members and the policy, perhaps in the middle of a rollout."""
        self._change({"count": count, "policy": policy})
        self._run(refresh, None, 0)

    @rule(refresh=st.booleans())
    def up_again(self, refresh: bool) -> None:
        self._run(refresh, None, 0)

    @rule()
    def refresh(self) -> None:
        self.stack.refresh()
        self._assert_unchanged_by_reads()

    @rule(change=CHANGES)
    def preview(self, change: dict[str, Any]) -> None:
        program = self._changed(change)
        before = self.observer.instances()
        self.stack.preview(program.inputs)
        assert self.observer.instances() == before, "a preview changes nothing"

    @rule(how=st.sampled_from(INTERFERENCES), position=st.integers(0, 4))
    def interfere(self, how: str, position: int) -> None:
        """Stop, delete or edit a member, as Google or somebody else does."""
        self._interfere(how, position)

    @rule(room=st.none() | st.integers(0, 5), quota=st.none() | st.integers(0, 6))
    def limit(self, room: int | None, quota: int | None) -> None:
        """Limit the capacity of each zone and the quota of the region, or neither."""
        zones = {} if room is None else {"zones": dict.fromkeys(ZONES, room)}
        regions = {} if quota is None else {"instances": {"us-east1": quota}}
        set_limits(self.cloud, **zones, **regions)

    def _fail(self, fault: dict[str, Any]) -> None:
        self.cloud.fail(fault["method"], **{key: value for key, value in fault.items() if key != "method"})

    def _changed(self, change: dict[str, Any]) -> Program:
        """Return the program with a change, or as it was if the plugin refuses that."""
        program = attrs.evolve(self.program, **change)
        return program if self.stack.is_valid(program.inputs) else self.program

    def _change(self, change: dict[str, Any]) -> None:
        self.program = self._changed(change)

    def _run(self, refresh: bool, interruption: Any, position: int) -> None:
        if self.stack.state is None:  # what a creation that failed has left is another test's matter
            interruption = None
            self.cloud.emulator.faults.queue.clear()
            set_limits(self.cloud)
        crashes = interruption is not None and interruption[0].startswith("crash")
        self.observer.programs = [self.program, self.kept, self._refreshed()]
        self.observer.interruption = interruption
        self.observer.interrupt = lambda how: self._interrupt(how, position)
        self.observer.reset()
        with observing(self.cloud, self.observer):
            if crashes:
                with self.stack.crashing():
                    self._go(refresh)
            else:
                self._go(refresh)
        self.cloud.emulator.faults.queue.clear()
        self.cloud.emulator.operations.settle()
        self.observer.check()
        if interruption is not None:
            self.stack.end_plugin()
        assert not self.observer.violations, self.observer.violations
        if not crashes and (self.stack.failed is None or self.stack.failed.partial is not None):
            self.kept = self.program
        if self.stack.failed is None and self.stack.state is not None and not crashes:
            generation = self.stack.state.outputs["generation"]
            assert not self.observer.wasted(generation, self.program.count), (
                "members that had the properties were taken"
            )

    def _refreshed(self) -> Program:
        """Return the program that the state has, with the size that a refresh has found."""
        if self.stack.state is None:
            return self.kept
        inputs = self.stack.state.inputs
        count = int(inputs.get("count", len(inputs.get("perInstanceProperties", ()))))
        return attrs.evolve(self.kept, count=min(count, self.kept.count))

    def _go(self, refresh: bool) -> None:
        if refresh:
            self.stack.refresh()
            if self.stack.failed is not None and self.stack.failed.partial is None:
                return
        self.stack.up(self.program.inputs)

    def _interrupt(self, how: str, position: int) -> None:
        """Interrupt a run, in the emulator's thread."""
        if how.startswith("crash"):
            drops = ["after", "before"] if how.endswith("after") else ["before"]
            self.cloud.emulator.faults.queue.clear()
            for drop in drops:
                self.cloud.fail("*", drop=drop, times=1 if drop == "after" else 10**9)
            self.stack.engine.stub.Cancel(rpc_empty())
        elif how == "cancel":
            self.stack.engine.stub.Cancel(rpc_empty())
        else:
            self._interfere(how, position)

    def _interfere(self, how: str, position: int) -> None:
        """Do something to a member from outside."""
        members = self.observer.members()
        if not members:
            return
        path, member = members[position % len(members)]
        emulator, labels = self.cloud.emulator, member.get("labels", {})
        store = emulator.store
        if how == "delete":
            store.delete(path)
            for disk in member["disks"]:
                store.delete(disk["source"].partition("/v1/")[2] or disk["source"].partition("/beta/")[2])
        elif how == "suspend":
            store.put(path, member | {"status": "SUSPENDED"})
            self.stopped.add(member["id"])
        elif how in {"preempt", "fail", "shut down"}:
            if member["status"] == "RUNNING":
                act = {"preempt": preempt, "fail": fail_host, "shut down": terminate_from_within}[how]
                act(emulator.cloud, {"instances": [path]})
                self.stopped.add(member["id"])
        else:
            changed = {
                "add label": {**labels, "note": "mine"},
                "change label": {**labels, "tier": "other"},
                "remove generation": {key: value for key, value in labels.items() if key != "gcpx-generation"},
                "change generation": {**labels, "gcpx-generation": "unknown"},
            }[how]
            store.put(path, member | {"labels": changed, "labelFingerprint": f"edited{store.next()}"})
            if how != "add label":
                self.relabelled.add(member["id"])

    def _assert_unchanged_by_reads(self) -> None:
        assert self.stack.failed is None or self.stack.failed.partial is not None, self.stack.failed

    def teardown(self) -> None:
        try:
            if hasattr(self, "program"):
                self._finish()
        finally:
            self.stack.end_plugin()
            self.cloud.reset()

    def _finish(self) -> None:
        """Reach the program when nothing fails any more, and delete the fleet."""
        set_limits(self.cloud)
        for _ in range(2):
            self._run(True, None, 0)
            assert self.stack.failed is None, self.stack.failed
        self._assert_reached()
        self.stack.refresh()
        assert self.stack.failed is None, self.stack.failed
        assert not self.stack.preview(self.program.inputs), "a second preview is empty"
        self.stack.destroy()
        self.cloud.emulator.operations.settle()
        left = [path for path, _ in self.observer.instances()]
        assert sorted(path.rpartition("/")[2] for path in left) == sorted(FOREIGN)
        disks = [item["name"] for one in DISKS for item in self.cloud.emulator.store.list(one)]
        assert sorted(disks) == sorted(FOREIGN), disks

    def _assert_reached(self) -> None:
        program, members = self.program, [item for _, item in self.observer.members()]
        if program.named:
            assert sorted(item["name"] for item in members) == sorted(NAMES[: program.count])
        assert len(members) == program.count
        kept = self.stopped | self.relabelled if program.on_stopped == "KEEP" else set()
        stopped = [item["name"] for item in members if item["status"] != "RUNNING" and item["id"] not in kept]
        assert not stopped, stopped
        assert self.stack.state is not None
        generation = self.stack.state.outputs["generation"]
        current = [item for item in members if item["labels"].get("gcpx-generation") == generation]
        assert len(current) >= program.updated, [item["labels"] for item in members]
        for item in current:
            self._assert_has_properties(item)

    def _assert_has_properties(self, item: Json) -> None:
        program = self.program
        assert item["machineType"].endswith(f"/{program.machine}")
        assert int(item["disks"][0]["diskSizeGb"]) == program.disk
        metadata = {one["key"]: one["value"] for one in item.get("metadata", {}).get("items", [])}
        assert metadata == ({"a": program.metadata} if program.metadata else {})
        if item["id"] not in self.relabelled:
            own = {key: value for key, value in item["labels"].items() if key in {"tier", "team"}}
            assert own == program.labels


def rpc_empty() -> Any:
    from google.protobuf import empty_pb2

    return empty_pb2.Empty()


def test_a_rolling_fleet_keeps_its_promises_whatever_happens(_emulator: emulated.Emulated) -> None:
    class Machine(FleetMachine):
        cloud = _emulator

    settings = search.examples(steady=60, searched=3000)
    run_state_machine_as_test(Machine, settings=settings)
