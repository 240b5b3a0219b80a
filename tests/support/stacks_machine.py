"""Two stacks beside each other in one emulator, with all resources, whatever happens to them.

Each example is a sequence of runs, of what others do, and of trouble at any request of a run. After each step, everything
that exists belongs to exactly one stack or to nobody's, and no run has touched what is not its own. At the end nothing
fails any more: each stack must reach its program, and deleting both must leave nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import outside_changes
from driver import Resource
from emulated import Emulated
from fleets import set_limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from import_commands import import_commands
from inventory import Inventory, identity
from programs import FLEET, MARKER
from promises import require
from samples import BY_TOKEN
from stack import Declared, Entry, Program, Stack
from stack_programs import EDITS, FAULTS, PROGRAMS, edited

from gcpx.model.fields import object_type
from gcpx.provider import resource_class

STACKS = st.sampled_from([0, 1])
POSITIONS = st.sampled_from([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8])
"""The request of a run at which something happens."""
INTERRUPTIONS = st.sampled_from(["crash", "crash after", "cancel", "preempt", "shut down", "delete", "edit"])
TROUBLES = st.tuples(POSITIONS, INTERRUPTIONS) | st.tuples(POSITIONS, FAULTS)
"""What goes wrong in a run, and at which of its requests."""
EDIT_LISTS = st.lists(EDITS, min_size=1, max_size=3, unique_by=lambda edit: edit[0])


class StacksMachine(RuleBasedStateMachine):
    """Two stacks, their programs, and what happens to them.

    Attributes:
        cloud: the emulator.
        figures: what all examples together counted.
        waits: the longest wait of each stack of all examples.
        programs: what each stack's program declares.
        orphans: what runs that crashed have made and no state has.
    """

    cloud: ClassVar[Emulated]
    figures: ClassVar[Counter[str]]
    waits: ClassVar[list[float]]

    def __init__(self) -> None:
        super().__init__()
        self.cloud.reset()
        self.stacks = [Stack(self.cloud, stack_name=name, continues=True) for name in ("dev", "prod")]
        self.programs: list[Program] = [{}, {}]
        self.orphans: set[str] = set()
        self._requests = 0

    @initialize(programs=st.tuples(PROGRAMS, PROGRAMS))
    def begin(self, programs: tuple[Program, Program]) -> None:
        """Make what exists before, which belongs to strangers, and create the two stacks."""
        self.programs = list(programs)
        self.cloud.prepare()
        self.strangers = set(Inventory.of(self.cloud).things)
        for number in (0, 1):
            self._up(number, [], refresh=False)

    @rule(number=STACKS, edits=EDIT_LISTS, refresh=st.booleans())
    def up(self, number: int, edits: list[tuple[str, Declared | None]], refresh: bool) -> None:
        """Edit a program, and run `up`."""
        self._up(number, edits, refresh)

    @rule(number=STACKS, edits=EDIT_LISTS, refresh=st.booleans(), trouble=TROUBLES)
    def up_in_trouble(self, number: int, edits: list[tuple[str, Declared | None]], refresh: bool, trouble: Any) -> None:
        """Edit a program, and run `up` while something goes wrong."""
        self._up(number, edits, refresh, trouble)

    @rule(number=STACKS, edits=EDIT_LISTS, trouble=st.tuples(POSITIONS, INTERRUPTIONS))
    def up_interrupted(self, number: int, edits: list[tuple[str, Declared | None]], trouble: Any) -> None:
        """Edit a program, and run `up`, which is interrupted."""
        self._up(number, edits, False, trouble)

    @rule(number=STACKS, destroys=st.booleans(), trouble=st.none() | TROUBLES)
    def refresh_or_destroy(self, number: int, destroys: bool, trouble: Any) -> None:
        """Refresh or destroy a stack, perhaps while something goes wrong; its program stays."""
        self._run(number, lambda stack: stack.destroy() if destroys else stack.refresh(), trouble)

    @rule(number=STACKS)
    def preview(self, number: int) -> None:
        """Preview a program, which changes nothing."""
        before = Inventory.of(self.cloud)
        self._run(number, lambda stack: stack.preview(self.programs[number]))
        require(Inventory.of(self.cloud) == before, "touched", "a preview changed something")

    @rule(number=STACKS, position=st.integers(0, 6))
    def import_again(self, number: int, position: int) -> None:
        """Take a finished resource out of the state, and import it."""
        finished = [entry for entry in self.stacks[number].entries if _is_finished(entry)]
        if not finished:
            return
        entry = finished[position % len(finished)]
        self.orphans.add(identity(self.stacks[number].state_delete(entry.name)))
        self._run(number, lambda stack: stack.import_(entry.resource.id, entry.name, entry.declared.token))

    @rule(how=st.sampled_from(["edit", "delete", "preempt", "shut down"]), position=st.integers(0, 12))
    def interfere(self, how: str, position: int) -> None:
        """Edit, delete or stop something without Pulumi."""
        things = [name for name in Inventory.of(self.cloud).things if name not in self.strangers]
        if things:
            self._interfere(how, things[position % len(things)])

    @rule(room=st.none() | st.integers(0, 3), quota=st.none() | st.integers(0, 4))
    def limit(self, room: int | None, quota: int | None) -> None:
        """Limit the capacity of each zone and the quota of the region, or neither."""
        zones = {} if room is None else {"zones": {f"us-east1-{letter}": room for letter in "bcd"}}
        set_limits(self.cloud, **zones, **({} if quota is None else {"instances": {"us-east1": quota}}))

    def teardown(self) -> None:
        """Let both stacks reach their programs, and destroy them."""
        try:
            if hasattr(self, "strangers"):
                set_limits(self.cloud)
                for number in (0, 1):
                    self._reach(number)
                for number in (0, 1):
                    self._run(number, lambda stack: stack.destroy(), calm=True)
                self._assert_nothing_is_left()
                self.figures["examples"] += 1
        finally:
            for stack in self.stacks:
                self.waits.append(stack.longest_wait)
                stack.end_plugin()
            self.cloud.reset()

    def _up(self, number: int, edits: list[tuple[str, Declared | None]], refresh: bool, trouble: Any = None) -> None:
        self.programs[number] = edited(self.programs[number], edits)
        self._forget_lost(1 - number)
        self._run(number, lambda stack: stack.up(self.programs[number], refresh=refresh), trouble)

    def _reach(self, number: int) -> None:
        """Reach a program by one `up`, or by a second one after the user has solved conflicts; then nothing is left to do."""
        stack = self.stacks[number]
        self._forget_lost(1 - number)
        self._run(number, lambda stack: stack.up(self.programs[number], refresh=True))
        if stack.failures:
            self._solve_conflicts(number)
            self._run(number, lambda stack: stack.up(self.programs[number], refresh=True), calm=True)
        self._assert_settled(number)
        self._run(number, lambda stack: stack.refresh(), calm=True)
        self._assert_settled(number)

    def _assert_settled(self, number: int) -> None:
        """Assert that nothing is left to do, and that everything declared exists."""
        stack, things = self.stacks[number], Inventory.of(self.cloud)
        steps = stack.preview(self.programs[number])
        require(not steps and not stack.failures, "not reached", (steps, stack.failures))
        names = Counter(entry.name for entry in stack.entries)
        require(names == Counter(list(self.programs[number])), "not reached", names)
        for entry in stack.entries:
            require(things.holds(entry.resource), "lost", entry)
        for entry in stack.entries:
            if entry.declared.token != FLEET:
                continue
            running = [item for item in things.fleet(identity(entry.resource)).values() if item["status"] == "RUNNING"]
            count = self.programs[number][entry.name].inputs["count"]
            require(len(running) >= count, "lost", running)
            require(len(running) <= count, "doubled", running)

    def _solve_conflicts(self, number: int) -> None:
        """Do what users do about conflicts: leave to others what is theirs, and import what a crashed run has left."""
        others = self.strangers | self._owned(1 - number)
        for failure in self.stacks[number].failures:
            name = failure.urn.rpartition("::")[2]
            commands = import_commands(failure.message)
            require(commands, "not reached", failure)
            require(commands[0].name == name, "not reached", failure)
            wanted = _wanted(failure.urn, self.programs[number][name].inputs, commands[0].id)
            require(wanted in others | self.orphans, "not reached", failure)
            if wanted in others:
                del self.programs[number][name]
            elif any(entry.urn == failure.urn for entry in self.stacks[number].entries):
                self._delete_orphan(wanted)  # the replacement of a resource was interrupted
            else:
                self.figures["imports of orphans"] += 1
                self._run(number, lambda stack, one=commands[0]: stack.import_(one.id, one.name, one.token))

    def _delete_orphan(self, orphan: str) -> None:
        while orphan in Inventory.of(self.cloud).things:
            outside_changes.delete(self.cloud, orphan)
        self.orphans.discard(orphan)
        self.figures["orphans"] += 1

    def _assert_nothing_is_left(self) -> None:
        """Assert that only what existed before is left, after the user has deleted what crashed runs have left."""
        for orphan in sorted(self.orphans):
            self._delete_orphan(orphan)
        left = set(Inventory.of(self.cloud).things)
        require(left <= self.strangers, "untracked", left - self.strangers)
        require(left >= self.strangers, "touched", self.strangers - left)

    def _run(self, number: int, act: Callable[[Stack], Any], trouble: Any = None, *, calm: bool = False) -> None:
        """Run Pulumi on a stack, with trouble at one of its requests; then check what it has done."""
        stack, before, self._requests = self.stacks[number], Inventory.of(self.cloud), 0
        others = {name: before.things[name] for name in self.strangers | self._owned(1 - number)}
        self.figures["runs"] += 1
        self.cloud.clock.advance(60)
        with self.cloud.interceptor.observed(lambda count, _: self._observe(number, count, trouble)):
            act(stack)
        self.cloud.interceptor.drain()  # a cancelled request may still be under way
        self.cloud.emulator.faults.queue.clear()
        require(not calm or not stack.failures, "not reached", stack.failures)
        self._check(number, others, trouble)

    def _observe(self, number: int, count: int, trouble: Any) -> None:
        """Make trouble at its request, in the emulator's thread."""
        self._requests = count
        if trouble is None or count != trouble[0]:
            return
        what = trouble[1]
        self.figures["faults" if isinstance(what, dict) else what] += 1
        if isinstance(what, dict):
            self.cloud.fail(**what)
        elif what == "cancel":
            self.stacks[number].stop()
        elif what.startswith("crash"):  # before or after the work of the request; no later one arrives
            self.cloud.interceptor.lose("after" if what == "crash after" else "before")
            self.stacks[number].kill()
        else:
            self._interfere_with_own(number, what)

    def _interfere_with_own(self, number: int, how: str) -> None:
        things = Inventory.of(self.cloud).things
        mine = [name for name in sorted(self._owned(number)) if name in things]
        if mine:
            self._interfere(how, mine[self._requests % len(mine)])

    def _interfere(self, how: str, name: str) -> None:
        if how in outside_changes.STOPS:
            outside_changes.stop(self.cloud, name, how)
        elif how == "edit":
            outside_changes.edit(self.cloud, name)
        else:
            outside_changes.delete(self.cloud, name)

    def _owned(self, number: int) -> set[str]:
        """Return what a stack's state has, and exists.

        If a creation was interrupted before Google's response, the state has its resource as unfinished, although it may
        be the other stack's. The provider leaves it alone until a response shows whose it is.
        """
        return self._held(number) - self._held(1 - number, finished=True) | self._held(number, finished=True)

    def _held(self, number: int, *, finished: bool = False) -> set[str]:
        """Return what entries of a stack's state name, and exists; those of finished entries only, if asked."""
        inventory = Inventory.of(self.cloud)
        return {
            identity(entry.resource)
            for entry in self.stacks[number].entries
            if not entry.is_deleted and not (finished and entry.init_errors) and inventory.holds(entry.resource)
        }

    def _forget_lost(self, number: int) -> None:
        """Refresh a stack that has lost something, if nothing tells a new one from the old one."""
        things = Inventory.of(self.cloud).things
        lost = [entry for entry in self.stacks[number].entries if identity(entry.resource) not in things]
        if any(_may_be_another(entry) for entry in lost):
            self._run(number, lambda stack: stack.refresh())

    def _check(self, number: int, others: dict[str, Any], trouble: Any) -> None:
        """Check that everything belongs to one stack or to nobody's, and that a run has touched only its own."""
        stack, things = self.stacks[number], Inventory.of(self.cloud).things
        for name, content in others.items():
            require(things.get(name) == content, "touched", f"{name} is not the stack's, and was changed")
        twice = self._owned(0) & self._owned(1)
        require(not twice, "doubled", f"two stacks have {twice}")
        untracked = set(things) - self._owned(0) - self._owned(1) - self.strangers
        self.orphans &= untracked
        found = untracked - self.orphans
        may_leave_orphans = trouble is not None and str(trouble[1]).startswith("crash")
        require(not found or may_leave_orphans, "untracked", f"{found} is in no state")
        self.orphans |= found
        require(not any(MARKER in message for message in stack.messages), "leaked", stack.messages)


def _wanted(urn: str, inputs: dict[str, Any], named: str) -> str:
    """Return the identity of what a program wants: by its inputs, or by the ID that an error names."""
    sample = BY_TOKEN[urn.split("::")[2]]
    declared = sample.identity(inputs) if sample.identity is not None else None
    return declared or sample.identity_of(Resource(urn, named, {}, {}))


def _may_be_another(entry: Entry) -> bool:
    """Return whether another resource at the same place cannot be told from this one: neither a number nor an ID differs."""
    token = entry.declared.token
    has_number = "numericId" in object_type(resource_class(token).model).properties
    return not has_number and BY_TOKEN[token].identity is not None


def _is_finished(entry: Entry) -> bool:
    return not (entry.init_errors or entry.is_replaced or entry.is_deleted)
