"""What the suites that disturb runs do with each resource: the verbs of the programs of its sample."""

from __future__ import annotations

from typing import Any, Final

import attrs
from engines.stack import Declared, Stack
from samples import BY_TOKEN, SAMPLES
from values.programs import FLEET, TEMPLATE
from values.sample import CANCELLATIONS, CRASHES, FAULTS, Inputs, Program, Sample

from gcpx.provider import RESOURCES

VERBS: Final = ("create", "read", "delete", "import")
"""The verbs that every program has; the others are updates."""


@attrs.frozen(kw_only=True)
class Scenario:
    """One verb of one program.

    Attributes:
        program: the name of the program.
        token: the type token of its resource.
        verb: `create`, `read`, `delete`, `import`, or the name of an update.
        inputs: what the program declares first.
        between: what it declares after that, one after another, before the verb.
        changed: what it declares when the verb runs.
        other: what a user may declare instead; None if the program has no such thing.
    """

    program: str
    token: str
    verb: str
    inputs: Inputs
    between: tuple[Inputs, ...] = ()
    changed: Inputs
    other: Inputs | None = None

    def __str__(self) -> str:
        return f"{self.program}.{self.verb}"

    @property
    def resource(self) -> str:
        """The resource's name without its package."""
        return self.token.rpartition(":")[2]

    @property
    def before(self) -> tuple[Inputs, ...]:
        """The programs that lead to the state in which the verb begins."""
        return () if self.verb == "create" else (self.inputs, *self.between)

    def run(self, stack: Stack) -> None:
        """Run the verb, which is not an import."""
        match self.verb:
            case "read":
                stack.refresh()
            case "delete":
                stack.destroy()
            case _:
                stack.up(self.changed)


def scenarios(suite: str, *verbs: str) -> list[Scenario]:
    """Return what a suite runs: these verbs, and the updates, of its programs of every resource."""
    tokens = {sample.token for sample in SAMPLES.values() if _programs(sample, suite)}
    lacking = sorted(RESOURCES.keys() - tokens)
    assert not lacking, f"no sample in tests/support/samples has programs for {suite} of {', '.join(lacking)}"
    return [
        scenario
        for sample in SAMPLES.values()
        for name, program in _programs(sample, suite).items()
        for scenario in _of_program(sample.token, name, program, verbs)
    ]


def _programs(sample: Sample, suite: str) -> dict[str, Program]:
    return {name: program for name, program in sample.programs.items() if suite in program.suites}


def _of_program(token: str, name: str, program: Program, verbs: tuple[str, ...]) -> list[Scenario]:
    inputs = program.inputs
    other = None if program.other is None else inputs | program.other
    made = [
        Scenario(program=name, token=token, verb=verb, inputs=inputs, changed=inputs, other=other) for verb in verbs
    ]
    for verb, changes in program.updates.items():
        *between, changed = (inputs | change for change in (changes if isinstance(changes, tuple) else (changes,)))
        made.append(
            Scenario(program=name, token=token, verb=verb, inputs=inputs, between=tuple(between), changed=changed)
        )
    return made


def insertion_of(item: Scenario) -> str:
    """Return the API method that creates the resource of a scenario."""
    is_regional = item.token == TEMPLATE and "region" in item.inputs
    return BY_TOKEN[item.token].changed_by[1 if is_regional else 0]


FAULT_SCENARIOS: Final = scenarios(FAULTS, *VERBS)
CRASH_SCENARIOS: Final = scenarios(CRASHES, "create", "delete")
CANCEL_SCENARIOS: Final = scenarios(CANCELLATIONS, "create", "read", "delete")
CREATIONS: Final = {item.program: item for item in CRASH_SCENARIOS if item.verb == "create"}
"""The creations that the crash matrix interrupts, by the names of their programs."""
UNTOLD: Final = [name for name, item in CREATIONS.items() if not item.token.startswith("gcpx:compute:")]
"""The creations of which Google does not tell who requested them: only Compute has operations."""
GENERATED: Final = [
    name
    for name, item in CREATIONS.items()
    if not {"name", "fleetId", "disk"} & item.inputs.keys() and name not in UNTOLD
]
"""The other creations under generated names."""
GIVEN: Final = [name for name in CREATIONS if name not in {*GENERATED, *UNTOLD}]
"""The other creations of what the program identifies."""
FLEETS: Final = [name for name, item in CREATIONS.items() if item.token == FLEET]
INSERTIONS: Final = {name: insertion_of(item) for name, item in CREATIONS.items()}
"""The API method of each creation."""
READS: Final = {name: BY_TOKEN[item.token].read_method for name, item in CREATIONS.items()} | {
    "template_regional_generated": "compute.regionInstanceTemplates.get"
}
"""The API method that reads what each creation makes."""
OPERATION_LISTS: Final = [f"compute.{scope}Operations.list" for scope in ("global", "region", "zone")]
"""The API methods that tell what earlier requests created."""


def program_of(
    name: str, resource: str = "web", *, changed: Inputs | None = None, **options: Any
) -> dict[str, Declared]:
    """Return a program with the resource of a creation: its name, inputs that differ, and resource options."""
    return {resource: Declared(CREATIONS[name].token, CREATIONS[name].inputs | (changed or {}), **options)}


def lose_answers(stack: Stack, name: str, *, is_made: bool = True) -> None:
    """Run a creation, and lose what Google says of it, so that the state knows only that it may have been made."""
    stack.cloud.fail(INSERTIONS[name], drop="after" if is_made else "before")
    for method in (INSERTIONS[name], *OPERATION_LISTS):
        stack.cloud.fail(method, status=403, times=1000)
    stack.up(CREATIONS[name].inputs if stack.token else program_of(name))
    stack.cloud.emulator.faults.queue.clear()
    assert stack.entries[0].init_errors
    assert "numericId" not in stack.entries[0].resource.outputs
