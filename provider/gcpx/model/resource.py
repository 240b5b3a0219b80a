"""What a resource is to the engine: a declaration and five verbs."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import attrs

from gcpx.errors import ProviderError, UserError
from gcpx.model.call import Call
from gcpx.model.compare import Comparison
from gcpx.model.fields import ObjectType, object_type
from gcpx.model.links import NOWHERE, Home
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname
from gcpx.model.rules import Failure
from gcpx.model.values import Path


class InvalidId(UserError):  # noqa: N818 - it names the thing that is wrong
    """An ID in none of the forms a resource takes."""

    def __init__(self, token: str, given: str, forms: tuple[str, ...]) -> None:
        super().__init__(f"{given!r} is not an ID of {token}; allowed forms are {', '.join(forms)}")


class PartialError(Exception):
    """The resource exists, but the work on it is not finished.

    Attributes:
        live: what is known of it; it goes into state, so that nothing half-made is forgotten.
    """

    def __init__(self, live: Live, reason: str) -> None:
        super().__init__(reason)
        self.live = live


@attrs.frozen
class Live:
    """A resource as Google has it: its canonical ID and its properties."""

    id: str
    properties: dict[str, Any]

    @classmethod
    def unread(cls, resource_id: str, known: dict[str, Any]) -> Live:
        """Describe what was made, or may have been, by what is known without reading it."""
        present = {name: value for name, value in known.items() if value is not None}
        return cls(resource_id, {**present, UNREAD: True})


@attrs.frozen
class Found:
    """A resource in a list: an ID that can be imported, and the name to show."""

    id: str
    name: str


@attrs.frozen
class Page:
    """A part of a list; the token leads to the next, and is empty at the end."""

    found: list[Found]
    token: str = ""


class Resource(abc.ABC):
    """One resource type. Verbs take and return plain values: no secrets, no unknowns.

    Attributes:
        token: Pulumi's type token.
        model: the record that declares inputs and outputs.
        query: the record that declares what a list can be asked for.
        id_forms: what `import` accepts; the first is the canonical form.
        autoname: how a missing name is made up, if it is.
        derived: inputs that an import leaves out, because others say what came of them.
        in_place: the paths whose properties, and all below them, change in place; any other change replaces it.
    """

    token: ClassVar[str]
    model: ClassVar[type]
    query: ClassVar[type]
    id_forms: ClassVar[tuple[str, ...]]
    autoname: ClassVar[Autoname | None] = None
    derived: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[frozenset[Path]] = frozenset()

    @abc.abstractmethod
    def __init__(self, google: Any, lookups: Any) -> None:
        """Take the client of Google's APIs, and the cached lookups of online checks."""

    @property
    def type(self) -> ObjectType:
        """The declaration as data."""
        return object_type(self.model)

    @property
    def query_type(self) -> ObjectType:
        """The list's declaration as data."""
        return object_type(self.query)

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Name what is wrong with inputs beyond their declaration; offline, and unknowns are allowed.

        A reason says what is required and holds no value, which may be secret; as a rule's.
        """
        del inputs
        return []

    def query_problems(self, query: dict[str, Any]) -> list[Failure]:
        """Name what is wrong with a list's query beyond its declaration; offline."""
        del query
        return []

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Ask Google, where the user wants that at preview, whether what known inputs name exists and fits."""
        del call, olds, inputs
        return []

    def explained(self, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Say of an error of creation or update what in the inputs it is about, and what to do."""
        del call, inputs
        return error

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name the outputs that are certain before creation."""
        del inputs
        return {}

    def defaults(self) -> dict[str, Any]:
        """Name the inputs that the provider's configuration already gives, so that an import leaves them out."""
        return {}

    def home(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Home:
        """Say where the resource is, which is what completes short names in its inputs.

        What the inputs say counts first, then where it was made, then what the provider's configuration says.
        """
        del inputs, outputs
        return NOWHERE

    def meaning(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Comparison:
        """Compare what a user wrote with what Google shows: both in the same place."""
        home = self.home(inputs, outputs)
        return Comparison((home, home))

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Say what two resources may not share; a replacement that keeps it has to delete first.

        None, as with a name that was made up and is another for the replacement, lets the replacement come first.
        """
        del inputs
        return None

    def collides(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Tell whether a replacement has to wait until the resource is deleted.

        A name that was made up is taken, too, where the program now writes it out.
        """
        identity = self.identity(new)
        taken = {name: value for name, value in old.items() if name != AUTONAMED}
        return identity is not None and identity == self.identity(taken)

    @abc.abstractmethod
    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Create it and wait until it is ready."""

    @abc.abstractmethod
    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Read it; None only when Google says it is not there. No inputs means import."""

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Bring it from old to new inputs in place; equal ones mean that earlier work is to be finished.

        Without an override there is nothing that can change in place, so the live object is the answer.
        """
        del old
        live = self.read(call, resource_id, new)
        if live is None:
            raise UserError(f"{resource_id} is gone; run `pulumi refresh`, then `pulumi up` to create it again")
        return live

    @abc.abstractmethod
    def delete(self, call: Call, resource_id: str) -> None:
        """Delete it and wait until it is gone; one that is already gone is a success."""

    @abc.abstractmethod
    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List what exists, one page from a token on; `size` is the most that a page of Google's should hold."""
