"""While any one assumption of gcpx about Google is wrong, it is slower or stops with a clear error, and is never wrong.

A normal run lives, with each assumption, one life of a fleet, and one of another resource, which is another one with the
next assumption, but no image, which is created as a template is; `make matrix` lives all of every program.

Holds reliability.md: "It repeats the creation of a fleet".
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any, Final

import pytest
from faults.assumptions import ASSUMPTIONS, Assumption
from faults.other_google import Answer, Asked, Google, replaced_by
from faults.whole_life import KINDS, LIVES, Kind, Life, expected_of, live_under
from servers import emulated
from values import matrix
from values.programs import FLEET, IMAGE
from workspace import ROOT

_USUAL: Final = re.compile(
    r"a repeated request ID .*/(lost once|killed)"
    r"|(filters|links of targets|bulk creations) .*/killed"
    r"|(lists|reads) .*/again"
)
"""Where an assumption matters most, as `assumption/program/kind`."""


@functools.cache
def _expected(program: str, kind: Kind) -> Life:
    with emulated.running() as cloud:
        return expected_of(cloud, program, kind)


def _cases() -> list[Any]:
    cases = [
        pytest.param(assumption, program, kind, id=case)
        for number, assumption in enumerate(ASSUMPTIONS)
        for concerned in [[name for name, item in LIVES.items() if item.token in assumption.concerns]]
        for program in concerned
        for kind in KINDS
        for case in [f"{assumption.name}/{program}/{kind}"]
        if matrix.FULL or _is_usual(case, program, kind, concerned, number)
    ]
    return list(matrix.part(cases))


def _is_usual(case: str, program: str, kind: Kind, concerned: list[str], number: int) -> bool:
    """Return whether a normal run has a case; `concerned` are the programs that the assumption with a number concerns."""
    firsts = {LIVES[name].token: name for name in reversed(concerned) if LIVES[name].token != IMAGE}
    if firsts.get(LIVES[program].token) != program:
        return False
    others = sorted(firsts.keys() - {FLEET})
    in_turn = [FLEET, *others[number % max(len(others), 1) :][:1]]
    return (kind == KINDS[0] and LIVES[program].token in in_turn) or _USUAL.fullmatch(case) is not None


@pytest.mark.parametrize(("assumption", "program", "kind"), _cases())
def test_a_life_while_an_assumption_is_wrong(cloud, assumption: Assumption, program: str, kind: Kind) -> None:
    live_under(cloud, program, kind, assumption, _expected(program, kind))


@pytest.mark.parametrize(("kind", "drop"), [("lost once", "after"), ("cut off", "after"), ("quiet", "before")])
def test_a_fleets_creation_is_not_sent_again_before_a_look_up_by_its_label(cloud, kind: Kind, drop: str) -> None:
    requests: list[str] = []

    async def observe(asked: Asked, google: Google) -> Answer:
        requests.append(f"{asked.method} {asked.parameter('filter')}")
        return await google(asked)

    with Life.of(cloud, "fleet") as life, replaced_by(cloud, observe):
        if drop == "before":
            cloud.fail("compute.regionInstances.bulkInsert", drop=drop)
        life.live(kind)
    sent = [number for number, request in enumerate(requests) if "bulkInsert" in request]
    between = [requests[first:second] for first, second in itertools.pairwise(sent)]

    assert all(any("instances.list labels.gcpx-bulk" in request for request in part) for part in between)


def test_the_document_lists_every_assumption():
    named = re.findall(r'"([^"|]+)"', (ROOT / "docs" / "verified.md").read_text())

    assert sorted(item.name for item in ASSUMPTIONS) == sorted(named)
