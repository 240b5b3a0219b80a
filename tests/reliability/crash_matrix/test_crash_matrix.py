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

import pytest
from engines.disturbed import Run, undisturbed
from values import matrix
from values.scenarios import CRASH_SCENARIOS

FIRST = {item.token: item.program for item in reversed(CRASH_SCENARIOS)}
"""The first program of each resource."""


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
    expected = undisturbed(cloud, scenario)
    killed = points(len(expected.calls))
    record_property("crashes", len(killed))
    command = "destroy" if scenario.verb == "delete" else "up"
    for number, moment in killed:
        with Run.begun(cloud, scenario) as run:
            run.stack.crash(command, scenario.changed, number, moment)
            run.settle(expected, imports=True)
