"""After a fault in any call of any verb, nothing is lost, doubled or untracked, and the next run converges.

The calls are those that each verb makes without a fault. A normal run tries few cases, in which every pair of resource,
verb and kind of fault occurs; `make matrix` runs all of them.
"""

from __future__ import annotations

import functools

import emulated
import matrix
import pytest
from fault_case import Case, Expected, observe, run_case
from fault_selection import pairwise, product
from scenarios import FAULT_SCENARIOS


@functools.cache
def _expected() -> dict[str, Expected]:
    """Run every scenario without a fault."""
    with emulated.running() as cloud:
        return {str(scenario): observe(cloud, scenario) for scenario in FAULT_SCENARIOS}


def _cases() -> list[Case]:
    cases = list(product(_expected()))
    return list(matrix.part(cases)) if matrix.FULL else pairwise(cases)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("case", _cases(), ids=str)


def test_a_fault_loses_nothing_and_the_next_run_converges(cloud, case, record_property, caplog):
    run = run_case(cloud, case, _expected()[str(case.scenario)])
    record_property("problems", [figure for figure, _ in run.problems])
    record_property("waited", run.waited)

    assert not run.problems, "\n".join(f"{figure}: {words}" for figure, words in run.problems)
