"""The life of a program's resource while Google differs from an assumption of gcpx, and what must hold at every step."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final, Literal, Self, get_args

import attrs
from engines.clocked import ClockedProvider
from engines.disturbed import Run, require_made
from engines.import_commands import import_commands
from engines.inventory import Inventory
from engines.promises import require
from engines.stack import changes_something
from faults.assumptions import Assumption
from faults.other_google import replaced_by
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import PROJECT, VM, ZONE, template
from values.scenarios import FAULT_SCENARIOS, VERBS, insertion_of

Kind = Literal["cut off", "quiet", "lost once", "killed", "again"]
"""What happens to the creation: the responses to it and to all later requests are lost, and the next run goes on;
nothing; only its response is lost, and the run goes on; the run is killed, and the next run goes on; it comes right after
the deletion of an equal resource."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LIVES: Final = {item.program: item for item in FAULT_SCENARIOS if item.verb == "create"}
"""The creations with which lives begin, by program."""
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
class Life(Run):
    """One life of a resource, which begins with its creation.

    Attributes:
        lag: seconds by which what Google shows lags behind.
        steps: what existed after each step that succeeded, by kind.
        failures: the step and the message of each failure.
    """

    lag: float = 0.0
    steps: dict[str, Counter[str]] = attrs.Factory(dict)
    failures: list[tuple[str, str]] = attrs.Factory(list)

    @classmethod
    def of(cls, cloud: Emulated, program: str) -> AbstractContextManager[Self]:
        """Begin the life of a program's resource; the plugin ends after the block."""
        provider = partial(ClockedProvider, cloud.clock)
        return cls.begun(cloud, LIVES[program], surround=_surround, make_provider=provider, is_strict=False)

    def live(self, kind: Kind) -> None:
        """Live from the creation to the deletion; raise Stopped if an error stays."""
        inputs = self.scenario.inputs
        match kind:
            case "cut off":
                self._cut_off()
            case "lost once":
                self.cloud.fail(insertion_of(self.scenario), drop="after")
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
            self._up_or_import(self.scenario.inputs)
            if self.stack.failed is None:
                break
            self.failures.append(("end", self.stack.failed.message))
        self.require(self.stack.failed is None, "not reached", "at the end, up fails")
        require_made(self.made, expected.steps["create"], "at the end")
        self.stack.destroy()
        require_made(self.made, Counter(), "after the end")

    def require(self, holds: object, kind: str, what: str) -> None:
        """Require something of this life."""
        require(holds, kind, f"{what}; failures: {self.failures}")

    def _cut_off(self) -> None:
        """Lose the response of the creation, and let no later request of that run arrive."""
        interceptor = self.cloud.interceptor

        def lose(_: int, request: str) -> None:
            if changes_something(request) and not interceptor.is_lost:
                interceptor.lose("after")

        with interceptor.observed(lose):
            self.act()
        self.stack.end_plugin()
        interceptor.drain()

    def _change(self) -> None:
        for update in FAULT_SCENARIOS:
            if update.program == self.scenario.program and update.verb not in VERBS:
                for number, inputs in enumerate((*update.between, update.changed)):
                    self._up(f"{update.verb} {number}", inputs)
                    self._read(f"read after {update.verb} {number}", inputs)

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
        self.require(self.stack.state is not None, "lost", f"{step}: the state has lost the resource")
        is_empty = not self.stack.preview(inputs)
        self.require(is_empty, "drift", f"{step}: the preview is not empty: {self.stack.steps} {self.stack.failed}")

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
        self.require(not now.changed_since(self.before), "touched", f"{step}: {now.changed_since(self.before)}")
        if failed is None:
            self.steps[step] = now.added_since(self.before)
            return
        message = failed.message or f"refused: {failed.refusals}"
        self.failures.append((step, message))
        self.require(_NEXT_STEP.search(message), "not reached", f"{step}: the error does not say what to do next")
        names = {path.rpartition("/")[2] for path in now.new_since(self.before)}
        is_told = not names or self.stack.state is not None or any(name in message for name in names)
        self.require(is_told or untracked, "untracked", f"{step}: in no state, and in no message: {names}")


def _surround(cloud: Emulated) -> None:
    """Make what programs need, and what others have, also by requests with IDs: their operations are listed before ours."""
    make_surroundings(cloud)
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


def expected_of(cloud: Emulated, program: str, kind: Kind) -> Life:
    """Live while Google is as gcpx assumes. Only what a killed run has made may have to be imported."""
    with Life.of(cloud, program) as life:
        life.live(kind)
    assert not life.failures or (kind == "killed" and import_commands(life.failures[-1][1])), life.failures
    return life


def live_under(cloud: Emulated, program: str, kind: Kind, assumption: Assumption, expected: Life) -> None:
    """Live while an assumption is wrong; raise an AssertionError if that does harm."""
    try:
        with Life.of(cloud, program) as life:
            life.lag = assumption.lag
            has_stopped = False
            with replaced_by(cloud, assumption.other(cloud)):
                try:
                    life.live(kind)
                except Stopped:
                    has_stopped = True
            for step, made in life.steps.items():
                require_made(made, expected.steps[step], step)
            if has_stopped:
                life.end(expected)
            is_slower = len(life.failures) <= len(expected.failures) or assumption.may_stop
            life.require(is_slower, "not reached", "it may only be slower")
    finally:
        cloud.emulator.faults.queue.clear()
