"""What the tests that cover every resource know about one of them; each resource has a module in `samples`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from emulated import Emulated
from hypothesis import strategies as st

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
        later_calls: the API methods that the plugin calls after the one that creates it.
        lives: its lives under the real CLI, by a name that no other life has.
    """

    token: str
    inputs: Inputs
    any_inputs: st.SearchStrategy[Inputs]
    api: ApiObject
    own: set[str]
    query: Inputs = attrs.Factory(dict)
    read_method: str
    later_calls: tuple[str, ...]
    lives: dict[str, Life]


def inputs_with(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Inputs]:
    """Return a strategy for inputs with the required properties and any of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


def changing(path: str, change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change what the emulator stores at a path."""
    return lambda cloud: cloud.change(path, change)
