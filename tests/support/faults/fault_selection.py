"""The cases of the fault matrix: the full product, one shard of it, or a few in which every pair occurs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from engines.disturbed import Recovery, Undisturbed
from faults.fault_case import Case
from faults.fault_kinds import KINDS, FaultKind
from faults.fault_plan import ApiCall
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
