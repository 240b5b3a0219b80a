"""Random programs of a fleet under the real CLI: an update does what its preview has said, seen at every request."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from cli.yaml_program import Stack
from hypothesis import given
from hypothesis import strategies as st
from rolling.rolling_program import CHANGES, FIRST, INTERFERENCES, ROLLED, Program
from rolling.watched_fleet import WatchedFleet
from servers.emulated import Emulated
from values import search
from values.programs import FLEET

pytestmark = [pytest.mark.pulumi, pytest.mark.usefixtures("no_pauses")]
CHANGED = st.tuples(CHANGES, st.none() | st.sampled_from(list(ROLLED)))
"""A change of the program, and the name of a property that changes for all members."""
DISTURBED = st.none() | st.tuples(st.sampled_from(INTERFERENCES), st.integers(0, 4))


@attrs.define
class State:
    """The fleet in the state on disk.

    Attributes:
        outputs: its outputs.
    """

    outputs: dict[str, Any]


@attrs.define
class CliStack:
    """A stack of the real CLI with one fleet, as `WatchedFleet` reads it.

    Attributes:
        stack: the stack.
        messages: what the previews have said.
        doing: the verb that the CLI runs.
        parallel: how many requests the plugin may send at a time, which is more than one.
    """

    stack: Stack
    messages: list[str] = attrs.Factory(list)
    doing: tuple[str] = ("preview",)
    parallel: int = 32

    @property
    def state(self) -> State:
        return State(self.stack.resource("workers")["outputs"])

    def preview(self, program: Program) -> bool:
        """Preview a program; return whether it is valid and can be reached."""
        self.doing = ("preview",)
        self.stack.write(workers={"type": FLEET, "properties": program.inputs})
        done = self.stack.workspace.run("preview", "--json", check=False)
        said = json.loads(done.stdout).get("diagnostics", ())
        self.messages += [item["message"].removeprefix(item.get("prefix", "")).strip() for item in said]
        return not done.returncode

    def up(self) -> None:
        self.doing = ("update",)
        self.stack.up()


@given(first=FIRST, changes=st.lists(st.tuples(CHANGED, DISTURBED, st.booleans()), min_size=3, max_size=3))
@search.examples(steady=6, searched=100)
def test_an_update_does_what_its_preview_has_said(
    stack: Stack, cloud: Emulated, first: Program, changes: list[tuple[Any, Any, bool]]
) -> None:
    cloud.reset()
    made = CliStack(stack)
    fleet = WatchedFleet(cloud, made)
    fleet.boot("ready")
    program = first if made.preview(first) else attrs.evolve(first, policy={})
    assert made.preview(program), made.messages
    made.up()
    fleet.make_strangers()
    for (change, rolled), disturbed, refresh in changes:
        if disturbed is not None:
            fleet.interfere(*disturbed)
        if refresh:
            stack.workspace.run("refresh", "--yes", "--skip-preview")
        changed = attrs.evolve(program, **change)
        if rolled is not None:
            changed = changed.rolled(rolled)
        fleet.program, fleet.programs = changed, [changed, program]
        with fleet.watched():
            if not made.preview(changed):
                continue
            made.up()
        program = changed
        assert not fleet.violations, fleet.violations
        if fleet.observer is not None and (refresh or disturbed is None):
            fleet.observer.hold_all_done({item["id"]: item for item in fleet.members})
            assert not fleet.observer.violations, (fleet.observer.violations, fleet.observer.words)
    stack.destroy()
    assert fleet.is_gone()
