"""After a fault in any call of any verb, nothing is lost, doubled or untracked, and the next run converges.

The calls are those that each verb makes without a fault. A normal run tries few cases, in which every pair of resource,
verb and kind of fault occurs; `make matrix` runs all of them.

Holds reliability.md: "Nothing is lost"; "What Google has or may have created"; "Nothing is created twice"; "The work is
finished"; "When the faults have stopped"; "After a lost response"; "An import can be run again"; "It finishes".
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

import pytest
from cli.run_wide import once_in_a_run
from engines.disturbed import Recovery, Undisturbed, undisturbed
from faults.fault_case import Case, run_case
from faults.fault_kinds import KINDS, FaultKind
from faults.fault_plan import ApiCall
from servers import emulated
from values import matrix
from values.scenarios import FAULT_SCENARIOS, VERBS, Scenario

_RECOVERIES: Mapping[str, tuple[Recovery, ...]] = {"import": ("up", "up_refresh"), "delete": ("up_refresh", "destroy")}


def product(expected: Mapping[str, Undisturbed]) -> Iterator[Case]:
    """Yield all cases; `expected` says by scenario which calls it makes."""
    for scenario in FAULT_SCENARIOS:
        for call in sorted(expected[str(scenario)].calls):
            for kind in KINDS.values():
                for lasts in (False, True) if _suits(scenario, call, kind) else ():
                    if lasts and kind.operation:
                        continue  # an operation has one result
                    for recovery in _RECOVERIES.get(scenario.verb, ("up", "up_refresh", "destroy")):
                        yield Case(scenario, call, kind, lasts, recovery)


def _suits(scenario: Scenario, call: ApiCall, kind: FaultKind) -> bool:
    """Return whether a kind of fault makes sense for a call."""
    if kind.operation:
        return call.starts_operation
    if kind.after_work:
        return call.changes
    # If Google says that the resource does not exist, it is gone: that is a response, not a fault.
    is_gone = kind.name == "404" and scenario.verb in {"read", "delete", "import"}
    return not (is_gone and call.method.endswith(".get"))


def pairwise(cases: Sequence[Case]) -> list[Case]:
    """Choose few cases in which every pair of resource, verb and kind occurs, and every method that a scenario calls."""
    pairs = [_pairs(case) for case in cases]
    missing, chosen = set().union(*pairs), []
    # The heap is ordered by how much was missing in a case when it was last looked at, which only becomes less.
    heap = [(-len(found), index) for index, found in enumerate(pairs)]
    heapq.heapify(heap)
    while missing:
        _, index = heapq.heappop(heap)
        gain = len(pairs[index] & missing)
        if heap and gain < -heap[0][0]:
            heapq.heappush(heap, (-gain, index))
            continue
        chosen.append(index)
        missing -= pairs[index]
    return [cases[index] for index in sorted(chosen)]


def _pairs(case: Case) -> frozenset[tuple[str, ...]]:
    """Name the pairs that a case has; all updates are one verb, and each of them is called in a case of its own."""
    scenario, kind = case.scenario, case.kind.name
    verb = scenario.verb if scenario.verb in VERBS else "update"
    return frozenset(
        {
            ("resource and verb", scenario.resource, verb),
            ("resource and kind", scenario.resource, kind),
            ("verb and kind", verb, kind),
            ("kind and duration", kind, str(case.lasts)),
            ("kind and recovery", kind, case.recovery),
            ("scenario and method", str(scenario), case.call.method),
        }
    )


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
