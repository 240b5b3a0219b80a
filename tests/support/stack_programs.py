"""Programs of whole stacks, in which every resource may be, and faults of them."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from samples import SAMPLES
from stack import Declared, Program

SLOTS: Final = {
    name: sample.declared.map(lambda inputs, token=sample.token: Declared(token, inputs))
    for name, sample in SAMPLES.items()
}
"""What a program may declare under each name. The names are in the order of their registration."""
PROGRAMS: Final[st.SearchStrategy[Program]] = st.fixed_dictionaries({}, optional=SLOTS).map(
    lambda found: edited(found, [])
)
"""The first program of a stack."""
EDITS: Final = st.sampled_from(sorted(SLOTS)).flatmap(
    lambda name: st.tuples(st.just(name), st.none() | SLOTS[name] | SLOTS[name])
)
"""A name, and what is declared under it from then on; None for nothing."""


def edited(program: Program, edits: list[tuple[str, Declared | None]]) -> Program:
    """Return a program after some edits, in the order of the slots."""
    changed = {**program, **dict(edits)}
    return {name: declared for name in SLOTS if (declared := changed.get(name)) is not None}


_MUTATIONS: Final = [method for sample in SAMPLES.values() for method in sample.changed_by]
_STARTS_OPERATION: Final = [name for name in _MUTATIONS if name.startswith("compute.")]
_BROKEN: Final = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
_TIMES: Final = st.sampled_from([1, 3, 60])
_REFUSALS: Final = {"status": st.sampled_from([403, 429, 500, 503])}
_LOSSES: Final = {"drop": st.sampled_from(["before", "after"])}
FAULTS: Final = st.one_of(
    *(
        st.fixed_dictionaries({"method": method, "times": times, **what})
        for what in (_REFUSALS, _LOSSES)
        # An outage of everything is short: after a long one, nothing tells a creation of ours from somebody else's.
        for method, times in ((st.sampled_from(_MUTATIONS), _TIMES), (st.just("*"), st.sampled_from([1, 3])))
    ),
    st.fixed_dictionaries({"method": st.sampled_from(_STARTS_OPERATION), "operation": st.just(_BROKEN)}),
)
"""Faults of the emulator, as arguments of `Emulated.fail`."""
