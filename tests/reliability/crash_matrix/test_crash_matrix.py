"""The plugin is killed at each request, before or after its work; the next runs converge and leave nothing behind.

After the crash no request arrives, and nothing reaches the state. Then a new plugin runs `up` or `destroy` again; if
that is refused with a command to import what exists, the user runs that command. A normal run takes one point of each
creation, and of the other verbs of the first program of each resource: after the work of the first request that changes
something. `make matrix` takes all.

Holds reliability.md: "Nothing is lost"; "What Google has or may have created"; "Nothing is created twice"; "The work is
finished"; "When the faults have stopped"; "After a lost response"; "An import can be run again"; "What the killed run
was creating"; "It finishes".
"""

from __future__ import annotations

import attrs
import pytest
from engines.import_commands import import_commands
from engines.inventory import Inventory
from engines.stack import Stack
from servers.surroundings import make_surroundings
from values import matrix
from values.scenarios import CRASH_SCENARIOS, Scenario

FIRST = {item.token: item.program for item in reversed(CRASH_SCENARIOS)}
"""The first program of each resource."""


@attrs.define
class Case:
    """One scenario, in a stack and an emulator of its own."""

    cloud: object
    scenario: Scenario
    before: Inventory
    stack: Stack

    @classmethod
    def of(cls, cloud, scenario):
        """Bring a new stack to the state in which the verb begins."""
        make_surroundings(cloud)
        stack = Stack(cloud, scenario.token)
        case = cls(cloud, scenario, Inventory.of(cloud), stack)
        for program in scenario.before:
            stack.run("up", program)
            assert stack.failed is None, stack.failed
        return case

    @property
    def command(self):
        return "destroy" if self.scenario.verb == "delete" else "up"

    @property
    def made(self):
        """What the program has made, by kind."""
        return Inventory.of(self.cloud).added_since(self.before)

    def run(self):
        """Run the verb without a crash; return the number of its requests."""
        return self.stack.run(self.command, self.scenario.changed)

    def crash(self, number, moment):
        self.stack.crash(self.command, self.scenario.changed, number, moment)

    def recover(self):
        """Run the command again, as a user does; run the one command that an error names."""
        self.run()
        if self.stack.failed is not None:
            (command,) = import_commands(self.stack.failed.message)
            assert command.name == self.stack.name
            self.stack.import_(command.id)
            self.run()
        assert self.stack.failed is None, self.stack.failed

    def assert_settled(self, made):
        """Assert that the program is reached, that nothing is left over, and that nothing is left after `destroy`."""
        assert self.made == made
        if self.scenario.verb != "delete":
            self.assert_program_is_reached()
            self.stack.run("destroy", {})
        assert Inventory.of(self.cloud) == self.before
        self.stack.end_plugin()

    def assert_program_is_reached(self):
        stack, inputs = self.stack, self.scenario.changed
        assert stack.state is not None
        assert not stack.preview(inputs)
        stack.refresh()
        assert stack.failed is None
        assert stack.state is not None
        assert not stack.preview(inputs)


def points(requests):
    """Return the points of a verb at which the plugin is killed: number of the request, and moment."""
    if not matrix.FULL:
        return [(None, "after")]
    return [(number, moment) for number in range(1, requests + 1) for moment in ("before", "after")]


def selected():
    """Return the scenarios to run."""
    if not matrix.FULL:
        return [item for item in CRASH_SCENARIOS if item.verb == "create" or item.program == FIRST[item.token]]
    return matrix.part(CRASH_SCENARIOS)


@pytest.mark.parametrize("scenario", selected(), ids=str)
def test_after_a_crash_the_next_run_converges(cloud, scenario, record_property):
    undisturbed = Case.of(cloud, scenario)
    killed = points(undisturbed.run())
    made = undisturbed.made
    undisturbed.stack.end_plugin()
    record_property("crashes", len(killed))
    for number, moment in killed:
        case = Case.of(cloud, scenario)
        case.crash(number, moment)
        case.recover()
        case.assert_settled(made)
