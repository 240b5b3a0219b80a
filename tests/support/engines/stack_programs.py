"""Programs of whole stacks, in which every resource may be, and faults of them."""

from __future__ import annotations

from typing import Any, Final

import attrs
from engines.stack import Declared, Program
from hypothesis import strategies as st
from samples import SAMPLES

_NO_OPTIONS: Final[dict[str, Any]] = {}
_REPLACERS: Final = ("labels", "description", "autoDelete", "expirationTimeUsec", "count", "#initerror")
OPTIONS: Final = st.sampled_from(
    [
        *([_NO_OPTIONS] * 12),
        {"retain_on_delete": True},
        {"delete_before_replace": True},
        {"delete_before_replace": False},
        {"ignore_changes": ("name", "fleetId", "deviceName")},
        {"replace_on_changes": _REPLACERS},
        {"replace_with": ("bulk_instances", "instance_template")},
        {"replacement_trigger": "one"},
        {"replacement_trigger": "two"},
        {"replacement_trigger": "one", "delete_before_replace": True},
        {"replacement_trigger": "two", "delete_before_replace": True},
    ]
)
"""The resource options of a resource in a program; most have none."""
SLOTS: Final = {
    name: st.builds(
        lambda inputs, options, token=sample.token: Declared(token, inputs, **options), sample.declared, OPTIONS
    )
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


def slot_of(name: str) -> str:
    """Return the slot of a name: the user may have renamed it, or imported it under a second name."""
    return name.partition("-")[0]


def edited(program: Program, edits: list[tuple[str, Declared | None]]) -> Program:
    """Return a program after some edits, in the order of the slots; an edit changes a slot under its present name."""
    changed: dict[str, Declared | None] = {**program}
    for slot, declared in edits:
        names = [name for name in program if slot_of(name) == slot and not name.endswith("-second")]
        name = names[0] if names else slot
        aliases = program[name].aliases if name in program else ()
        changed[name] = declared and attrs.evolve(declared, aliases=aliases)
    order = {slot: place for place, slot in enumerate(SLOTS)}
    names = sorted(changed, key=lambda name: (order[slot_of(name)], name.endswith("-second")))
    return {name: declared for name in names if (declared := changed[name]) is not None}


_MUTATIONS: Final = [method for sample in SAMPLES.values() for method in sample.changed_by]
_STARTS_OPERATION: Final = [name for name in _MUTATIONS if name.startswith("compute.")]
_OPERATION_LISTS: Final = [f"compute.{scope}Operations.list" for scope in ("global", "region", "zone")]
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
    st.fixed_dictionaries({"method": st.sampled_from(_OPERATION_LISTS), "status": st.just(403), "times": st.just(60)}),
)
"""Faults of the emulator, as arguments of `Emulated.fail`."""
