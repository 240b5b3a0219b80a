"""The life of a program's resource while Google differs from an assumption of gcpx, and what must hold at every step."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, get_args

import attrs
from engines.clocked import ClockedProvider
from engines.import_commands import import_commands
from engines.inventory import Inventory
from engines.stack import Stack, changes_something
from faults.assumptions import Assumption
from faults.other_google import replaced_by
from samples import SAMPLES
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import PROJECT, VM, ZONE, template
from values.sample import Program

Kind = Literal["cut off", "quiet", "lost once", "killed", "again"]
"""What happens to the creation: the responses to it and to all later requests are lost, and the next run goes on;
nothing; only its response is lost, and the run goes on; the run is killed, and the next run goes on; it comes right after
the deletion of an equal resource."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
TOKENS: Final = {name: sample.token for sample in SAMPLES.values() for name in sample.programs}
"""The tokens of the resources, by program."""
PROGRAMS: Final = {name: program for sample in SAMPLES.values() for name, program in sample.programs.items()}
_BETWEEN: Final = 2.0
"""Seconds between two commands, in addition to the time that Google takes to show what the first one did."""
_PAUSE: Final = 30.0
"""Seconds after which the user runs a command again that has failed."""
_RUNS: Final = 4
"""How often the user runs it."""
_NEXT_STEP: Final = re.compile(
    r"\b[Rr]un (?:the command again|`?pulumi)|try again|[Ii]mport it|delete it|raise customTimeouts|choose another name"
    r"|[(]HTTP 4\d\d, \w+[)]|does not exist|^refused: .*(?:must be|is required)"
)
"""What a clear error says: what to do next, which request Google refused and why, or which property it is about."""


class Stopped(Exception):  # noqa: N818 - it names the event
    """A life stops at an error that stays, however often the command is run again."""


@attrs.define
class Life:
    """One life of a resource.

    Attributes:
        program: the name of its program.
        lag: seconds by which what Google shows lags behind.
        made: what existed after each step that succeeded, by kind.
        failures: the step and the message of each failure.
        problems: what must not be.
    """

    cloud: Emulated
    program: str
    stack: Stack
    before: Inventory
    lag: float
    made: dict[str, Counter[str]] = attrs.Factory(dict)
    failures: list[tuple[str, str]] = attrs.Factory(list)
    problems: list[str] = attrs.Factory(list)

    @classmethod
    def begin(cls, cloud: Emulated, program: str, lag: float = 0.0) -> Life:
        """Make what the resource needs, and what others have."""
        make_surroundings(cloud)
        _make_operations_of_others(cloud)
        stack = Stack(cloud, TOKENS[program], "kept", make_provider=partial(ClockedProvider, cloud.clock))
        stack.is_strict = False
        return cls(cloud, program, stack, Inventory.of(cloud), lag)

    @property
    def declared(self) -> Program:
        """What the program declares."""
        return PROGRAMS[self.program]

    def live(self, kind: Kind) -> None:
        """Live from the creation to the deletion; raise Stopped if an error stays."""
        inputs = self.declared.inputs
        match kind:
            case "cut off":
                self._cut_off()
            case "lost once":
                self.cloud.fail(_creation(self.program), drop="after")
            case "killed":
                self.stack.crash("up", inputs, None, "after")
            case "again":
                self._up("create first", inputs)
                self._tried("delete first", self.stack.destroy)
        self._up("create", inputs, at_once=kind == "again")
        self._read("read", inputs)
        if kind in {"cut off", "quiet"}:
            self._change()
            self._import()
        self._tried("delete", self.stack.destroy)

    def end(self, expected: Life) -> None:
        """When Google is as gcpx assumes, bring a resource whose life has stopped to its program, and delete it."""
        self.cloud.clock.advance(_PAUSE)
        for refresh in (False, True):
            self.stack.end_plugin()
            if refresh:
                self.stack.refresh()
            self._up_or_import(self.declared.inputs)
            if self.stack.failed is None:
                break
            self.failures.append(("end", self.stack.failed.message))
        else:
            self.problems.append(f"at the end, up fails: {self.failures[-1][1]}")
            return
        self._compare("at the end", self._added(), expected.made["create"])
        self.stack.destroy()
        self._compare("after the end", self._added(), Counter())

    def compare(self, expected: Life) -> None:
        """Compare what existed after each step with what should have."""
        for step, made in self.made.items():
            self._compare(step, made, expected.made[step])

    def _compare(self, step: str, made: Counter[str], expected: Counter[str]) -> None:
        if lost := expected - made:
            self.problems.append(f"{step}: lost: {dict(lost)}")
        if doubled := made - expected:
            self.problems.append(f"{step}: doubled or left over: {dict(doubled)}")

    def _cut_off(self) -> None:
        """Lose the response of the creation, and let no later request of that run arrive."""
        interceptor = self.cloud.interceptor

        def lose(_: int, request: str) -> None:
            if changes_something(request) and not interceptor.is_lost:
                interceptor.lose("after")

        with interceptor.observed(lose):
            self.stack.up(self.declared.inputs)
        self.stack.end_plugin()
        interceptor.drain()

    def _change(self) -> None:
        for name, changes in self.declared.updates.items():
            for number, change in enumerate(changes if isinstance(changes, tuple) else (changes,)):
                inputs = self.declared.inputs | change
                self._up(f"{name} {number}", inputs)
                self._read(f"read after {name} {number}", inputs)

    def _up(self, step: str, inputs: dict[str, Any], *, at_once: bool = False) -> None:
        """Bring the resource to a program, after an import if a message of the last run has the command."""
        self._tried(step, lambda: self._up_or_import(inputs, has_deleted=at_once), at_once=at_once)

    def _up_or_import(self, inputs: dict[str, Any], *, has_deleted: bool = False) -> None:
        said = self.failures[-1][1] if self.failures and self.stack.state is None else ""
        is_for_others = has_deleted and "if you have just deleted it" in said
        commands = [] if is_for_others else import_commands(said)
        if commands:
            self.stack.import_(commands[0].id)
        if self.stack.state is not None or not commands:
            self.stack.up(inputs)

    def _read(self, step: str, inputs: dict[str, Any]) -> None:
        """Refresh, and require that a preview is empty."""
        self._tried(step, self.stack.refresh)
        if self.stack.state is None:
            self.problems.append(f"{step}: the state has lost the resource")
            raise Stopped
        if self.stack.preview(inputs):
            self.problems.append(f"{step}: the preview is not empty: {self.stack.steps} {self.stack.failed}")

    def _import(self) -> None:
        assert self.stack.state is not None
        resource_id = self.stack.state.id

        def run() -> None:
            if self.stack.state is not None:
                self.stack.state_delete()
            self.stack.import_(resource_id)

        self._tried("import", run, untracked=True)
        self._tried("read after the import", self.stack.refresh)

    def _tried(self, step: str, run: Callable[[], None], *, untracked: bool = False, at_once: bool = False) -> None:
        """Run a command; again after a while if it fails, with a new plugin each time."""
        for _ in range(_RUNS):
            self.stack.end_plugin()
            self.cloud.clock.advance(_BETWEEN + (0.0 if at_once else self.lag))
            run()
            self._record(step, untracked=untracked)
            if self.stack.failed is None:
                return
            self.cloud.clock.advance(_PAUSE)
        raise Stopped

    def _record(self, step: str, *, untracked: bool) -> None:
        now, failed = Inventory.of(self.cloud), self.stack.failed
        made = now.added_since(self.before)
        if touched := now.changed_since(self.before):
            self.problems.append(f"{step}: made by others, and changed: {touched}")
        if failed is None:
            self.made[step] = made
            return
        message = failed.message or f"refused: {failed.refusals}"
        self.failures.append((step, message))
        if not _NEXT_STEP.search(message):
            self.problems.append(f"{step}: the error does not say what to do next: {message}")
        names = {path.rpartition("/")[2] for path in now.items.keys() - self.before.items.keys()}
        if names and self.stack.state is None and not untracked and not any(name in message for name in names):
            self.problems.append(f"{step}: in no state, and in no message: {dict(made)}; {message}")

    def _added(self) -> Counter[str]:
        return Inventory.of(self.cloud).added_since(self.before)


def _make_operations_of_others(cloud: Emulated) -> None:
    """Create what others have by requests with IDs, whose operations come before ours in every list."""
    for path, query, body in (
        ("v1/projects/{}/global/instanceTemplates", "", {"name": "a-stranger", **template()}),
        ("v1/projects/{}/regions/us-east1/instanceTemplates", "", {"name": "a-stranger", **template()}),
        ("beta/projects/{}/global/machineImages", f"&sourceInstance={VM}", {"name": "a-stranger"}),
        ("v1/projects/{}/zones/us-east1-b/disks", "", {"name": "a-stranger", "sizeGb": "10"}),
        (f"v1/{VM}/attachDisk", "", {"source": f"projects/{PROJECT}/zones/{ZONE}/disks/a-stranger"}),
        (
            "beta/projects/{}/regions/us-east1/instances/bulkInsert",
            "",
            {"count": "1", "namePattern": "a-stranger-#", "instanceProperties": template()["properties"]},
        ),
    ):
        cloud.post(f"/compute/{path.format(PROJECT)}?requestId={uuid.uuid4()}{query}", body)


def _creation(program: str) -> str:
    """Return the API method that creates the resource of a program."""
    inputs, changes = PROGRAMS[program].inputs, next(s for s in SAMPLES.values() if program in s.programs).changed_by
    return changes[1 if TOKENS[program].endswith("InstanceTemplate") and inputs.get("region") else 0]


def expected_of(cloud: Emulated, program: str, kind: Kind) -> Life:
    """Live while Google is as gcpx assumes. Only what a killed run has made may have to be imported."""
    life = Life.begin(cloud, program)
    life.live(kind)
    life.stack.end_plugin()
    assert not life.failures or (kind == "killed" and import_commands(life.failures[-1][1])), life.failures
    assert not life.problems, life.problems
    return life


def life_under(cloud: Emulated, program: str, kind: Kind, assumption: Assumption, expected: Life) -> Life:
    """Live while an assumption is wrong; return the life with the problems that this has caused."""
    life = Life.begin(cloud, program, assumption.lag)
    try:
        with replaced_by(cloud, assumption.other(cloud)):
            try:
                life.live(kind)
                has_stopped = False
            except Stopped:
                has_stopped = True
        life.compare(expected)
        if has_stopped:
            life.end(expected)
        if len(life.failures) > len(expected.failures) and not assumption.may_stop:
            life.problems.append(f"it may only be slower: {life.failures}")
    except AssertionError as error:
        life.problems.append(str(error).partition("\n")[0] or repr(error))
    finally:
        life.stack.end_plugin()
        cloud.emulator.faults.queue.clear()
    return life
