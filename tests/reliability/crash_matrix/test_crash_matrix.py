"""The plugin is killed at each request, before or after its work; the next runs converge and leave nothing behind.

After the crash no request arrives, and nothing reaches the state. Then a new plugin runs `up` or `destroy` again; if
that is refused with a command to import what exists, the user runs that command. A normal run takes one point of each
creation and of a few other verbs: after the work of the first request that changes something. `make matrix` takes all.
"""

from __future__ import annotations

import attrs
import matrix
import pytest
from crash_scenarios import SCENARIOS, Scenario
from crashing_stack import CrashingStack
from import_commands import import_commands
from inventory import Inventory
from programs import PROJECT
from surroundings import prepare

VERBS = [
    (name, verb)
    for name, scenario in SCENARIOS.items()
    for verb in ("create", *(f"edit {number}" for number in range(len(scenario.edits))), "delete")
]
STEADY = {"generated image": {"edit 0"}, "attachment": {"edit 0"}, "fleet": {"edit 0", "delete"}}
"""The verbs besides the creation that a normal run takes."""


@attrs.define
class Case:
    """One verb of one scenario, in a stack and an emulator of its own."""

    cloud: object
    scenario: Scenario
    verb: str
    before: Inventory
    stack: CrashingStack

    @classmethod
    def of(cls, cloud, name, verb):
        """Bring a new stack to the state in which the verb begins."""
        scenario = SCENARIOS[name]
        before = prepare(cloud)
        config = {"project": PROJECT, "emulatorHost": cloud.host}
        case = cls(cloud, scenario, verb, before, CrashingStack(scenario.token, "web", config, cloud=cloud))
        for program in case.programs[:-1]:
            case.stack.run("up", program)
            assert case.stack.failed is None, case.stack.failed
        return case

    @property
    def programs(self):
        """The programs up to that of the verb, which is the last one."""
        inputs, edits = self.scenario.inputs, self.scenario.edits
        if self.verb == "create":
            return [inputs]
        if self.verb == "delete":
            return [inputs, inputs]
        return [inputs, *edits[: int(self.verb.split()[1]) + 1]]

    @property
    def command(self):
        return "destroy" if self.verb == "delete" else "up"

    def run(self):
        """Run the verb without a crash; return the number of its requests."""
        return self.stack.run(self.command, self.programs[-1])

    def crash(self, number, moment):
        self.stack.crash(self.command, self.programs[-1], number, moment)

    def recover(self):
        """Run the command again, as a user does; run the one command that an error names."""
        self.run()
        if self.stack.failed is not None:
            (command,) = import_commands(self.stack.failed.message)
            assert command.name == self.stack.name
            self.stack.import_(command.id)
            self.run()
        assert self.stack.failed is None, self.stack.failed

    def assert_settled(self):
        """Assert that the program is reached, that nothing is left over, and that nothing is left after `destroy`."""
        if self.verb != "delete":
            self.assert_program_is_reached()
            self.stack.run("destroy", {})
        assert Inventory.of(self.cloud) == self.before
        self.stack.end_plugin()

    def assert_program_is_reached(self):
        stack, inputs = self.stack, self.programs[-1]
        assert stack.state is not None
        made = Inventory.of(self.cloud).added_since(self.before)
        assert not stack.preview(inputs)
        stack.refresh()
        assert stack.failed is None
        assert stack.state is not None
        assert not stack.preview(inputs)
        count = int(inputs.get("count") or len(inputs.get("perInstanceProperties", ())) or 1)
        number = count * self.scenario.number // 2 if self.scenario.number > 1 else 1
        assert made.total() == number, made


def points(cloud, name, verb):
    """Return the points of a verb at which the plugin is killed: number of the request, and moment."""
    if not matrix.FULL:
        return [(None, "after")]
    requests = Case.of(cloud, name, verb).run()
    return [(number, moment) for number in range(1, requests + 1) for moment in ("before", "after")]


def selected():
    """Return the verbs to run, by the name of their scenario."""
    if not matrix.FULL:
        return [(name, verb) for name, verb in VERBS if verb == "create" or verb in STEADY.get(name, ())]
    return matrix.part(VERBS)


@pytest.mark.parametrize(("name", "verb"), selected())
def test_after_a_crash_the_next_run_converges(cloud, name, verb, record_property):
    killed = points(cloud, name, verb)
    record_property("crashes", len(killed))
    for number, moment in killed:
        case = Case.of(cloud, name, verb)
        case.crash(number, moment)
        case.recover()
        case.assert_settled()
