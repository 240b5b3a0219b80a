"""A verb that something disturbs: begin it, disturb it, converge as a user does, and compare what exists with what should.

The disturbances are the tests' own: a fault in a call, a kill, a cancellation, or a Google of another kind.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, Self

import attrs
from engines.import_commands import import_commands
from engines.inventory import Inventory
from engines.promises import require
from engines.stack import Given, Stack
from faults.fault_plan import ApiCall
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import DISK_KEY, MARKER
from values.sample import Change
from values.scenarios import Scenario

Recovery = Literal["again", "up", "up_refresh", "destroy"]
"""What the user does after a disturbance; `again` is `destroy` after a deletion, and `up` after another verb."""

NOTHING: Final = Counter[str]()


@attrs.frozen
class Undisturbed:
    """What a verb does if nothing disturbs it.

    Attributes:
        calls: its calls of Google's APIs, in order.
        resource_id: the ID of the resource after it; empty if the state does not have it.
        made: what exists of the program after the verb, or before a deletion, by kind.
        left: what is left of it when the resource is deleted; Google keeps the account that it makes for a key.
    """

    calls: tuple[ApiCall, ...]
    resource_id: str
    made: Counter[str]
    left: Counter[str]


@attrs.define
class Run:
    """One verb of one program, in a stack of its own.

    Attributes:
        before: what existed before the program.
    """

    cloud: Emulated
    scenario: Scenario
    stack: Stack
    before: Inventory
    _imported: str = ""

    @classmethod
    @contextmanager
    def begun(
        cls, cloud: Emulated, scenario: Scenario, *, surround: Change = make_surroundings, **options: Any
    ) -> Iterator[Self]:
        """Bring a new stack with these options to the state in which the verb begins; end its plugin after the block."""
        surround(cloud)
        stack = Stack(cloud, scenario.token, **options)
        run = cls(cloud, scenario, stack, Inventory.of(cloud))
        try:
            for program in scenario.before:
                stack.succeed(program)
            if scenario.verb == "import":
                run._imported = stack.state_delete().id
            cloud.emulator.requests.kept.clear()
            yield run
        finally:
            stack.end_plugin()

    @property
    def made(self) -> Counter[str]:
        """What exists of the program, by kind."""
        return Inventory.of(self.cloud).added_since(self.before)

    def act(self) -> None:
        """Run the verb."""
        if self.scenario.verb == "import":
            self.stack.import_(self._imported)
        else:
            self.scenario.run(self.stack)

    def settle(self, expected: Undisturbed, recovery: Recovery = "again", *, imports: bool = False) -> None:
        """Converge, and compare what exists with what should; with `imports`, after the import that an error may name."""
        if self.scenario.verb == "import" and self.stack.state is None:
            self.act()
        if recovery == "destroy" or (recovery == "again" and self.scenario.verb == "delete"):
            require_deleted(self.stack, self.before, expected.left)
            return
        self.stack.up(self.scenario.changed, refresh=recovery == "up_refresh")
        if imports and self.stack.failed is not None:
            (command,) = import_commands(self.stack.failed.message)
            assert command.name == self.stack.name
            self.stack.import_(command.id)
            self.stack.up(self.scenario.changed)
        require(self.stack.failed is None, "not reached", f"{recovery} after the disturbance: {self.stack.failed}")
        require_made(self.made, expected.made)
        require_settled(self.stack, self.scenario.changed, self.before, expected.left)


def undisturbed(cloud: Emulated, scenario: Scenario, **options: Any) -> Undisturbed:
    """Run a verb that nothing disturbs; options as for `Run.begun`."""
    with Run.begun(cloud, scenario, **options) as run:
        made = run.made
        run.act()
        assert run.stack.failed is None, (str(scenario), run.stack.failed)
        calls, seen = [], Counter[str]()
        for entry in cloud.emulator.requests.kept:
            method = entry["method"]
            seen[method] += 1
            changes = entry["httpMethod"] != "GET" and not method.endswith(".wait")
            calls.append(ApiCall(method, seen[method], changes))
        resource_id = run.stack.state.id if run.stack.state is not None else ""
        made = made if scenario.verb == "delete" else run.made
        run.stack.destroy()
        assert run.stack.failed is None, (str(scenario), run.stack.failed)
        return Undisturbed(tuple(calls), resource_id, made, run.made)


def require_made(found: Counter[str], expected: Counter[str], when: str = "") -> None:
    """Require that what exists is what should, by kind."""
    require(not expected - found, "lost", f"{when} {dict(expected - found)}")
    require(not found - expected, "doubled", f"{when} {dict(found - expected)}")


def require_settled(stack: Stack, given: Given, before: Inventory, left: Counter[str] = NOTHING) -> None:
    """Require that a program is reached, that a refresh changes no input, and that a deletion leaves what was before."""
    require(not stack.preview(given), "drift", f"a preview is not empty: {stack.steps} {stack.failed}")
    inputs = [entry.resource.inputs for entry in stack.entries]
    stack.refresh()
    require(stack.failed is None, "not reached", f"it could not be refreshed: {stack.failed}")
    refreshed = [entry.resource.inputs for entry in stack.entries]
    require(refreshed == inputs, "drift", f"a refresh changed the inputs: {inputs} -> {refreshed}")
    require(not stack.preview(given), "drift", f"a preview after a refresh is not empty: {stack.steps} {stack.failed}")
    require_deleted(stack, before, left)


def require_deleted(stack: Stack, before: Inventory, left: Counter[str] = NOTHING) -> None:
    """Require that `destroy` leaves what was before, and that no message of the stack has shown a secret."""
    stack.destroy()
    require(stack.failed is None, "not reached", f"it could not be deleted: {stack.failed}")
    now, said = Inventory.of(stack.cloud), json.dumps(stack.messages)
    require_made(now.added_since(before), left, "after a deletion")
    require(not now.changed_since(before), "touched", now.changed_since(before))
    require(not any(marker in said for marker in (MARKER, DISK_KEY)), "leaked", "a message contains a secret")
