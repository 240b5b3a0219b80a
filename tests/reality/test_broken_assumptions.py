"""While any one assumption of gcpx about Google is wrong, it is slower or stops with a clear error, and is never wrong.

A normal run lives one life of each resource with each assumption; `make matrix` lives all of every program.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any, Final

import emulated
import matrix
import pytest
from assumptions import ASSUMPTIONS, Assumption
from other_google import Answer, Asked, Google, replaced_by
from sample import FAULTS
from whole_life import KINDS, PROGRAMS, TOKENS, Kind, Life, expected_of, life_under
from workspace import ROOT

_IN_TWO: Final = "a second operation makes another one, because gcpx does not look for the first one before it repeats"
_AT_ONCE: Final = "gcpx takes over what was just deleted, because Google still shows it; no operation is asked"
EXCEPTIONS: Final = {
    r"request ID is refused with 400/(template_\w+|image_named)/killed": "the refusal does not name what was created",
    r"request ID makes a second operation/(fleet|fleet_rolling)/(lost once|killed)": _IN_TWO,
    r"request ID makes a second operation/(template|image)/killed": _IN_TWO,
    r"end in the numeric ID/(template|image)/killed": "what a link without a name leads to is not found",
    r"no status of each location/(fleet|fleet_rolling)/killed": "without zones, the instances are not looked for",
    r"lists lag by \d+ seconds/fleet\w*/again": _AT_ONCE,
    r"reads lag by \d+ seconds/(attachment|template|image)\w*/again": _AT_ONCE,
    r"reads lag by 60 seconds/key\w*/again": "the command in the error imports what was just deleted",
}
"""Where gcpx is wrong, as patterns of `assumption/program/kind`, and why."""


@functools.cache
def _expected(program: str, kind: Kind) -> Life:
    with emulated.running() as cloud:
        return expected_of(cloud, program, kind)


def _marks(case: str) -> list[Any]:
    return [
        pytest.mark.xfail(reason=reason, strict=True)
        for pattern, reason in EXCEPTIONS.items()
        if re.search(f"{pattern}$", case)
    ]


def _is_usual(assumption: Assumption, kind: Kind, case: str) -> bool:
    """Return whether a normal run has a case: the first kind, where filters matter, and where gcpx is wrong."""
    return kind == KINDS[0] or (kind == "killed" and assumption.name.startswith("filters")) or bool(_marks(case))


def _cases() -> list[Any]:
    programs = [name for name, program in PROGRAMS.items() if FAULTS in program.suites]
    firsts = {TOKENS[name]: name for name in reversed(programs)}.values()
    cases = [
        pytest.param(assumption, program, kind, id=case, marks=_marks(case))
        for assumption in ASSUMPTIONS
        for program in programs
        if TOKENS[program] in assumption.concerns
        for kind in KINDS
        for case in [f"{assumption.name}/{program}/{kind}"]
        if matrix.FULL or (program in firsts and _is_usual(assumption, kind, case))
    ]
    return list(matrix.part(cases))


@pytest.mark.parametrize(("assumption", "program", "kind"), _cases())
def test_a_life_while_an_assumption_is_wrong(cloud, assumption: Assumption, program: str, kind: Kind) -> None:
    life = life_under(cloud, program, kind, assumption, _expected(program, kind))

    assert not life.problems, "\n".join([*life.problems, *map(str, life.failures)])


@pytest.mark.parametrize(
    "kind", [pytest.param("lost once", marks=pytest.mark.xfail(reason=_IN_TWO, strict=True)), "cut off"]
)
def test_a_fleets_creation_is_not_sent_again_before_a_look_up_by_its_label(cloud, kind: Kind) -> None:
    life = Life.begin(cloud, "fleet")
    requests: list[str] = []

    async def observe(asked: Asked, google: Google) -> Answer:
        requests.append(f"{asked.method} {asked.parameter('filter')}")
        return await google(asked)

    with replaced_by(cloud, observe):
        life.live(kind)
    life.stack.end_plugin()
    sent = [number for number, request in enumerate(requests) if "bulkInsert" in request]
    between = [requests[first:second] for first, second in itertools.pairwise(sent)]

    assert all(any("instances.list labels.gcpx-bulk" in request for request in part) for part in between)


def test_the_document_lists_every_assumption():
    named = re.findall(r'"([^"|]+)"', (ROOT / "docs" / "verified.md").read_text())

    assert sorted(item.name for item in ASSUMPTIONS) == sorted(named)
