"""What the tests that cover every resource know about one of them; each resource has a module in `samples`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
from engines.driver import Resource
from hypothesis import strategies as st
from servers.emulated import Emulated

Inputs = dict[str, Any]
Change = Callable[[Emulated], None]
"""A change in the emulator that the engine does not know of."""


@attrs.frozen
class ApiObject:
    """The object in Google's published API descriptions that a resource is compared with.

    Attributes:
        name: the object's name.
        v1, beta: the documents that describe it; equal if the API has no beta version.
    """

    name: str
    v1: str
    beta: str

    @classmethod
    def compute(cls, name: str) -> ApiObject:
        """Name an object of the Compute API."""
        return cls(name, "compute.v1", "compute.beta")


@attrs.frozen
class Edit:
    """A change of inputs, with what the preview must say about it.

    Attributes:
        inputs: the inputs that change; None removes one.
        step: `update` or `replace`.
        paths: the paths that differ.
    """

    inputs: Inputs
    step: str
    paths: set[str]


@attrs.frozen(kw_only=True)
class Life:
    """One resource's life under the real CLI.

    Attributes:
        inputs: what it is created from.
        path: where the emulator stores it, or what it belongs to.
        drift: a change made without Pulumi, and the path at which a refresh shows it; None if nobody can change it.
        edits: changes of its inputs, one after another.
        imports: IDs by which it can be imported.
        remove: takes it away without Pulumi; by default the path is deleted.
        is_gone: tells whether it is gone; by default whether nothing is stored at the path.
    """

    inputs: Inputs
    path: str
    drift: tuple[Change, str] | None
    edits: list[Edit]
    imports: list[str]
    remove: Change = attrs.field(
        default=attrs.Factory(lambda life: lambda cloud: cloud.delete(life.path), takes_self=True)
    )
    is_gone: Callable[[Emulated], bool] = attrs.field(
        default=attrs.Factory(lambda life: lambda cloud: cloud.get(life.path) is None, takes_self=True)
    )


FAULTS: Final = "faults"
CRASHES: Final = "crashes"
CANCELLATIONS: Final = "cancellations"
SUITES: Final = frozenset({FAULTS, CRASHES, CANCELLATIONS})
"""The suites that disturb runs of single resources."""


@attrs.frozen(kw_only=True)
class Program:
    """A program of one resource, whose verbs are disturbed.

    Attributes:
        inputs: what the program that creates it declares.
        updates: changes in place, by a name of the change: the inputs that differ, in one program or several ones after
            another, of which the last is the update.
        other: the inputs that differ in a program that makes another resource of it, which a user may write after an
            interrupted creation; None if there is none.
        suites: which suites run it.
    """

    inputs: Inputs
    updates: dict[str, Inputs | tuple[Inputs, ...]] = attrs.Factory(dict)
    other: Inputs | None = None
    suites: frozenset[str] = SUITES


def _nothing(_: Emulated) -> None:
    """Make nothing."""


@attrs.frozen(kw_only=True)
class Sample:
    """One resource.

    Attributes:
        token: its type token.
        inputs: small valid inputs.
        any_inputs: a strategy for valid inputs of many kinds.
        api: the object that its properties are compared with.
        own: its properties that are no fields of that object: parts of a URL, or made by gcpx.
        query: what a list of it requires.
        read_method: the API method that reads it.
        changed_by: the API methods that change it; the first one creates it.
        lives: its lives under the real CLI, by a name that no other life has.
        programs: its programs for the suites that disturb runs, by names that no other program has.
        surround: makes what these programs need, and a resource of its kind that is not theirs and as similar to them as
            it can be. It runs once, and what it makes is there before each run.
        declared: a strategy for its inputs in programs of whole stacks, some of which two stacks cannot both have; by
            default those of its programs.
        identity: gives the path in the emulator that follows from inputs, or None if gcpx chooses it; None if Google does.
        identity_of: gives that of a resource in the state.
        provisional_ids: the IDs that the state may have for its programs until Google's response says the final one.
    """

    token: str
    inputs: Inputs
    any_inputs: st.SearchStrategy[Inputs]
    api: ApiObject
    own: set[str]
    query: Inputs = attrs.Factory(dict)
    read_method: str
    changed_by: tuple[str, ...]
    lives: dict[str, Life]
    programs: dict[str, Program]
    surround: Change = _nothing
    declared: st.SearchStrategy[Inputs] = attrs.field(
        default=attrs.Factory(lambda sample: st.sampled_from(_declared(sample.programs)), takes_self=True)
    )
    identity: Callable[[Inputs], str | None] | None = None
    identity_of: Callable[[Resource], str] = lambda resource: resource.id
    provisional_ids: frozenset[str] = frozenset()


def _declared(programs: dict[str, Program]) -> list[Inputs]:
    """Return everything that programs declare."""
    return [
        program.inputs | changed
        for program in programs.values()
        for changed in ({}, *(steps[-1] if isinstance(steps, tuple) else steps for steps in program.updates.values()), program.other or {})
    ]  # fmt: skip


def inputs_with(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Inputs]:
    """Return a strategy for inputs with the required properties and any of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


def changing(path: str, change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change what the emulator stores at a path."""
    return lambda cloud: cloud.change(path, change)
