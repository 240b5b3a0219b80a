"""Two stacks beside each other in one emulator, with all resources, whatever happens to them.

Each example is a sequence of runs, of what users and others do, and of trouble at any request of a run. The oracle judges
each run: who owns each thing, and what the run has lost, doubled, taken, forgotten or deleted. At the end nothing fails
any more: each stack must reach its program, and deleting both must leave nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Final

import attrs
from engines import outside_changes, worlds
from engines.driver import Resource
from engines.import_commands import import_commands
from engines.inventory import Inventory, identity
from engines.oracle import Cause, Oracle, Thing
from engines.promises import require
from engines.stack import Declared, Entry, Program, Stack
from engines.stack_programs import EDITS, FAULTS, PROGRAMS, edited
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from rolling.fleets import set_limits
from samples import BY_TOKEN
from servers.emulated import Emulated
from values.programs import FLEET, MARKER

from gcpx.model.fields import object_type
from gcpx.provider import resource_class

STACKS = st.sampled_from([0, 1])
POSITIONS = st.sampled_from([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12])
"""The request of a run at which something happens."""
PLACES = st.integers(0, 12)
LATE_CRASH: Final = "crash after a change"
"""A crash after the work of a request that changes something; only such requests count then."""
INTERRUPTIONS = st.sampled_from(
    ["crash", "crash after", LATE_CRASH, LATE_CRASH, LATE_CRASH, "cancel", "preempt", "shut down", "delete", "edit"]
)
TROUBLES = st.tuples(POSITIONS, INTERRUPTIONS) | st.tuples(POSITIONS, FAULTS)
"""What goes wrong in a run, and at which of its requests."""
EDIT_LISTS = st.lists(EDITS, min_size=1, max_size=3, unique_by=lambda edit: edit[0])
FEW_EDITS = st.lists(EDITS, max_size=1)
_ROUNDS: Final = 4
"""How many runs a stack may need to reach its program when nothing fails any more; after each, conflicts are solved."""


class StacksMachine(RuleBasedStateMachine):
    """Two stacks, their programs, and what happens to them.

    Attributes:
        cloud: the emulator.
        figures: what all examples together counted.
        waits: the longest wait of each stack of all examples.
        programs: what each stack's program declares.
        oracle: whose everything is.
        restored: how many instances others have restored from images of members.
    """

    cloud: ClassVar[Emulated]
    figures: ClassVar[Counter[str]]
    waits: ClassVar[list[float]]

    def __init__(self) -> None:
        super().__init__()
        self.cloud.reset()
        self.stacks = [Stack(self.cloud, stack_name=name, continues=True) for name in ("dev", "prod")]
        self.programs: list[Program] = [{}, {}]
        self.oracle = Oracle(self.cloud, self.figures)
        self.restored = 0
        self._requests = self._changes = 0
        self._is_killed = False
        self._cause: Cause | None = None
        """The step whose request may have changed something since the last observation."""

    @initialize(programs=st.tuples(PROGRAMS, PROGRAMS))
    def begin(self, programs: tuple[Program, Program]) -> None:
        """Make what exists before, which belongs to strangers, and create the two stacks."""
        self.programs = list(programs)
        self.cloud.prepare()
        self.oracle.observe(Cause())
        self.strangers = set(Inventory.of(self.cloud).things)
        for number in (0, 1):
            self._up(number, [], refresh=False)

    @rule(number=STACKS, edits=EDIT_LISTS, refresh=st.booleans(), trouble=st.none() | TROUBLES)
    def up(self, number: int, edits: list[tuple[str, Declared | None]], refresh: bool, trouble: Any) -> None:
        """Edit a program, and run `up`, perhaps while something goes wrong."""
        self._up(number, edits, refresh, trouble)

    @rule(number=STACKS, edits=EDIT_LISTS, trouble=st.tuples(POSITIONS, INTERRUPTIONS))
    def up_interrupted(self, number: int, edits: list[tuple[str, Declared | None]], trouble: Any) -> None:
        """Edit a program, and run `up`, which is interrupted."""
        self._up(number, edits, False, trouble)

    @rule(
        number=STACKS, world=st.sampled_from(sorted(worlds.WORLDS)), place=PLACES, edits=FEW_EDITS,
        refresh=st.booleans(), trouble=st.none() | TROUBLES,
    )  # fmt: skip
    def up_in_world(
        self, number: int, world: str, place: int, edits: list[tuple[str, Declared | None]], refresh: bool, trouble: Any
    ) -> None:
        """Let the user or somebody else do something that is rare, and run `up`."""
        if worlds.WORLDS[world](self, number, place):
            self.figures[f"world: {world}"] += 1
            self.oracle.observe(Cause())
        self._up(number, edits, refresh, trouble)

    @rule(number=STACKS, place=PLACES, trouble=st.none() | TROUBLES)
    def up_target_replace(self, number: int, place: int, trouble: Any) -> None:
        """Replace one resource of a program, as `up --target-replace` does."""
        entries = self.finished(number)
        names = [entry.name for entry in entries if entry.name in self.programs[number]]
        if names:
            self.figures["world: target-replace"] += 1
            name = names[place % len(names)]
            self.oracle.forced = name
            self.run(number, lambda stack: stack.up(self.programs[number], replaces=frozenset({name})), trouble)
            self.oracle.forced = ""

    @rule(number=STACKS, destroys=st.booleans(), trouble=st.none() | TROUBLES)
    def refresh_or_destroy(self, number: int, destroys: bool, trouble: Any) -> None:
        """Refresh or destroy a stack, perhaps while something goes wrong; its program stays."""
        self.run(number, lambda stack: stack.destroy() if destroys else stack.refresh(), trouble)

    @rule(number=STACKS)
    def preview(self, number: int) -> None:
        """Preview a program, which changes nothing."""
        before = Inventory.of(self.cloud)
        self.run(number, lambda stack: stack.preview(self.programs[number]))
        require(Inventory.of(self.cloud) == before, "touched", "a preview changed something")

    @rule(how=st.sampled_from(["edit", "delete", "preempt", "shut down"]), place=PLACES)
    def interfere(self, how: str, place: int) -> None:
        """Edit, delete or stop something without Pulumi."""
        things = [name for name in Inventory.of(self.cloud).things if name not in self.strangers]
        if things:
            self._interfere(how, things[place % len(things)])

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
                    self._destroy(number)
                self.figures["examples"] += 1
        finally:
            for stack in self.stacks:
                self.waits.append(stack.longest_wait)
                stack.end_plugin()
            self.cloud.reset()

    # What the worlds use.

    def finished(self, number: int) -> list[Entry]:
        """Return the entries of a state that nothing has left unfinished."""
        entries = self.stacks[number].entries
        return [entry for entry in entries if not (entry.init_errors or entry.is_replaced or entry.is_deleted)]

    def import_(self, number: int, resource_id: str, name: str, token: str) -> None:
        """Import a resource."""
        self.run(number, lambda stack: stack.import_(resource_id, name, token), imports=True)

    def run(
        self,
        number: int,
        act: Callable[[Stack], Any],
        trouble: Any = None,
        *,
        calm: bool = False,
        imports: bool = False,
    ) -> None:
        """Run Pulumi on a stack, with trouble at one of its requests; then let the oracle judge what it has done."""
        stack, self._requests, self._changes, self._is_killed = self.stacks[number], 0, 0, False
        self.oracle.programs = {one.stack_name: self.programs[place] for place, one in enumerate(self.stacks)}
        self.oracle.begin(stack)
        self.figures["runs"] += 1
        self.cloud.clock.advance(60)
        with self.cloud.interceptor.observed(lambda count, request: self._observe(number, count, request, trouble)):
            act(stack)
        self.cloud.interceptor.drain()  # a cancelled request may still be under way
        self.cloud.emulator.faults.queue.clear()
        self._look()
        self.oracle.judge(stack, was_killed=self._is_killed, imported=imports)
        require(not calm or not stack.failures, "not reached", stack.failures)
        require(not any(MARKER in message for message in stack.messages), "leaked", stack.messages)

    # Runs, and what happens in them.

    def _up(self, number: int, edits: list[tuple[str, Declared | None]], refresh: bool, trouble: Any = None) -> None:
        self.programs[number] = edited(self.programs[number], edits)
        self._forget_lost(1 - number)
        for declared in self.programs[number].values():
            self._count_options(declared)
        self.run(number, lambda stack: stack.up(self.programs[number], refresh=refresh), trouble)

    def _count_options(self, declared: Declared) -> None:
        for field in attrs.fields(Declared):
            if field.name not in {"token", "inputs"} and getattr(declared, field.name) != field.default:
                self.figures[f"world: {field.name}"] += 1

    def _look(self) -> None:
        """Let the oracle see what the last request has changed, if it may have changed something."""
        if self._cause is not None:
            self.oracle.observe(self._cause)
            self._cause = None

    def _observe(self, number: int, count: int, request: str, trouble: Any) -> None:
        """Look, and make trouble at its request; this runs in the emulator's thread."""
        self._look()
        self._requests = count
        changes = not (request.startswith("GET ") or request.endswith("/wait"))
        self._changes += changes
        if trouble is not None and trouble[1] == LATE_CRASH:
            if changes and self._changes == 1 + trouble[0] // 3:
                self._make_trouble(number, "crash after", request)
        elif trouble is not None and count == trouble[0]:
            self._make_trouble(number, trouble[1], request)
        if changes:
            stack = self.stacks[number]
            self._cause = Cause(stack.stack_name, *stack.doing)

    def _make_trouble(self, number: int, what: Any, request: str) -> None:
        self.figures["faults" if isinstance(what, dict) else what] += 1
        if isinstance(what, dict):
            self.figures["lost for good"] += "drop" in what and what["times"] >= 60
            self.cloud.fail(**what)
        elif what == "cancel":
            self.stacks[number].stop()
        elif what.startswith("crash"):
            self._crash(number, what, request)
        else:
            owned = self._owned(number)
            if owned:
                self._interfere(what, owned[self._requests % len(owned)])

    def _crash(self, number: int, what: str, request: str) -> None:
        """Crash before or after the work of a request. No later request of the plugin arrives."""
        self._is_killed = True
        changes = not (request.startswith("GET ") or request.endswith("/wait"))
        self.figures[f"{what} {'a change' if changes else 'a read'}"] += 1
        self.cloud.interceptor.lose("after" if what == "crash after" else "before")
        self.stacks[number].kill()

    def _interfere(self, how: str, name: str) -> None:
        if how in outside_changes.STOPS:
            outside_changes.stop(self.cloud, name, how)
        elif how == "edit":
            outside_changes.edit(self.cloud, name)
        else:
            outside_changes.delete(self.cloud, name)
        self.oracle.observe(Cause())

    def _owned(self, number: int) -> list[str]:
        """Return the identities of what a stack's state has, and exists."""
        things = Inventory.of(self.cloud).things
        return sorted(name for name in map(_identity_of, self.stacks[number].entries) if name in things)

    def _forget_lost(self, number: int) -> None:
        """Refresh a stack that has lost something, if nothing tells a new one from the old one."""
        lost = [entry for entry in self.stacks[number].entries if not self.oracle.claimed(entry)]
        if any(_may_be_another(entry) for entry in lost):
            self.run(number, lambda stack: stack.refresh())

    # The end.

    def _reach(self, number: int) -> None:
        """Reach a program, while the user solves conflicts; then nothing is left to do."""
        stack = self.stacks[number]
        self._forget_lost(1 - number)
        for place in range(_ROUNDS):
            self.run(number, lambda stack: stack.up(self.programs[number], refresh=True), calm=place == _ROUNDS - 1)
            if not (stack.failures or _has_too_few(stack)):
                break
            self._solve_conflicts(number)
        self.oracle.settle(stack)
        if number:  # one stack after a refresh, to save time
            self.run(number, lambda stack: stack.refresh(), calm=True)
        self._assert_settled(number)

    def _assert_settled(self, number: int) -> None:
        """Assert that nothing is left to do, and that everything declared exists."""
        stack = self.stacks[number]
        steps = stack.preview(self.programs[number])
        require(not steps and not stack.failures, "not reached", (steps, stack.failures))
        names = Counter(entry.name for entry in stack.entries)
        require(names == Counter(list(self.programs[number])), "not reached", names)
        for entry in stack.entries:
            found = self.oracle.claimed(entry)
            require(found, "lost", entry)
            if entry.urn.split("::")[2] == FLEET:
                running = [thing for thing in found if thing.content["status"] == "RUNNING"]
                count = self.programs[number][entry.name].inputs["count"]
                require(len(running) >= count, "lost", running)
                require(len(running) <= count, "doubled", running)

    def _solve_conflicts(self, number: int) -> None:
        """Do what users do about conflicts: leave to others what is theirs, and import what a killed run has left."""
        stack = self.stacks[number]
        for failure in stack.failures:
            name = failure.urn.rpartition("::")[2]
            names = {name, *self.programs[number][name].aliases}
            entries = [entry for entry in stack.entries if entry.name in names]
            if "set the resource option deleteBeforeReplace, and run" in failure.message:
                self._let_delete_first(number, name, entries)
                continue
            if self._stop_forcing(number, name, entries):
                continue
            if name.endswith("-second") and "of this stack manages it" in failure.message:
                del self.programs[number][name]  # what both have was deleted, and the first one has created it again
                continue
            commands = import_commands(failure.message)
            require(commands, "not reached", failure)
            wanted = _wanted(failure.urn, self.programs[number][name].inputs, commands[0].id)
            things = self.oracle.at(wanted)
            if any(not self._may_be_imported(number, thing) for thing in things):
                del self.programs[number][name]
                self.figures["conflicts: left to others"] += 1
            elif entries:
                self._delete_orphans(things)  # the replacement of a resource was interrupted
            else:
                self.figures["conflicts: imported"] += 1
                self.import_(number, commands[0].id, name, failure.urn.split("::")[2])

    def _let_delete_first(self, number: int, name: str, entries: list[Entry]) -> None:
        """Set deleteBeforeReplace, as the error says; give a resource up that is retained, whose name stays in use."""
        declared = self.programs[number][name]
        self.figures["conflicts: deleted first"] += 1
        if declared.delete_before_replace or any(entry.declared.retain_on_delete for entry in entries):
            del self.programs[number][name]
        else:
            self.programs[number][name] = attrs.evolve(declared, delete_before_replace=True)

    def _stop_forcing(self, number: int, name: str, entries: list[Entry]) -> bool:
        """Take back what forces the replacement of a resource; return whether there was something."""
        declared, forced = self.programs[number].get(name), False
        for entry in entries:
            forced = forced or entry.is_tainted
            entry.is_tainted = False
            if declared is not None and (
                declared.replace_with or declared.replacement_trigger != entry.declared.replacement_trigger
            ):
                trigger = entry.declared.replacement_trigger
                self.programs[number][name] = attrs.evolve(declared, replacement_trigger=trigger, replace_with=())
                forced = True
        return forced

    def _may_be_imported(self, number: int, thing: Thing) -> bool:
        """Return whether a user would import something: nobody has it, and this stack has made it."""
        return not thing.owners - {self.stacks[number].stack_name} and bool(thing.maker)

    def _delete_orphans(self, things: list[Thing]) -> None:
        for thing in things:
            self.figures["conflicts: deleted"] += 1
            outside_changes.delete(self.cloud, outside_changes.place_of(thing.key, thing.number))
        self.oracle.observe(Cause())

    def _destroy(self, number: int) -> None:
        """Destroy a stack; assert that nothing of it is left but what the user knows of."""
        stack = self.stacks[number]
        self.run(number, lambda stack: stack.destroy(), calm=True)
        left = [thing for thing in self.oracle.owned(stack.stack_name) if not (thing.is_named or thing.is_pending)]
        require(not left, "untracked", ", ".join(map(str, left)))


def _identity_of(entry: Entry) -> str:
    return identity(entry.resource)


def _wanted(urn: str, inputs: dict[str, Any], named: str) -> str:
    """Return the identity of what a program wants: by its inputs, or by the ID that an error names."""
    sample = BY_TOKEN[urn.split("::")[2]]
    declared = sample.identity(inputs) if sample.identity is not None else None
    return declared or sample.identity_of(Resource(urn, named, {}, {}))


def _has_too_few(stack: Stack) -> bool:
    """Return whether the state shows a fleet with a member that does not run, or with too few of them.

    The next `up` with a refresh starts it, or creates what was missing when an earlier run had no room.
    """
    fleets = [entry.resource for entry in stack.entries if entry.urn.split("::")[2] == FLEET]
    return any(
        sum(member.get("status") == "RUNNING" for member in fleet.outputs.get("members") or ()) < fleet.inputs["count"]
        for fleet in fleets
    )


def _may_be_another(entry: Entry) -> bool:
    """Return whether another resource at the same place cannot be told from this one: neither a number nor an ID differs."""
    token = entry.urn.split("::")[2]
    return "numericId" not in object_type(resource_class(token).model).properties and token != FLEET
