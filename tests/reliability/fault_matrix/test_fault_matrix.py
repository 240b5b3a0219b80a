"""After a fault in any call of any verb, nothing is lost, doubled or untracked, and the next run converges.

The calls are those that each verb makes without a fault. A normal run tries few cases, in which every pair of resource,
verb and kind of fault occurs; `make matrix` runs all of them.

Holds reliability.md: "Nothing is lost"; "What Google has or may have created"; "Nothing is created twice"; "The work is
finished"; "When the faults have stopped"; "After a lost response"; "An import can be run again"; "It finishes".
"""

from __future__ import annotations

import pytest
from cli.run_wide import once_in_a_run
from engines.disturbed import Undisturbed, undisturbed
from faults.fault_case import Case, run_case
from faults.fault_selection import pairwise, product
from servers import emulated
from values import matrix
from values.scenarios import FAULT_SCENARIOS


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Undisturbed]:
    """What every scenario does without a fault."""

    def observed() -> dict[str, Undisturbed]:
        with emulated.running() as cloud:
            return {str(scenario): undisturbed(cloud, scenario) for scenario in FAULT_SCENARIOS}

    return once_in_a_run(tmp_path_factory, "expected", observed)


@pytest.fixture(scope="module")
def cases(expected: dict[str, Undisturbed]) -> list[Case]:
    """The cases of this run."""
    every = list(product(expected))
    return list(matrix.part(every)) if matrix.FULL else pairwise(every)


@pytest.mark.parametrize("scenario", [*map(str, FAULT_SCENARIOS)])
def test_a_fault_loses_nothing_and_the_next_run_converges(cloud, scenario, cases, expected, record_property):
    found = []
    for case in cases:
        if str(case.scenario) == scenario:
            try:
                record_property("waited", run_case(cloud, case, expected[scenario]).longest_wait)
            except AssertionError as error:
                record_property("broken", getattr(error, "kind", "broken"))
                found.append(f"{case}: {error}")

    assert not found, "\n".join(found)
