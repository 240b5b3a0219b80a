"""The base class of resources: a declaration, its checks, and the verbs that call Google."""

from __future__ import annotations

import abc
import functools
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

import attrs

from gcpx.errors import MalformedResponse, ProviderError, UserError, sentences
from gcpx.model.compare import Comparison
from gcpx.model.context import Context
from gcpx.model.fields import Failure, ObjectType, object_type
from gcpx.model.links import NO_LOCATION, PLACES, Location
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname, CreationMark
from gcpx.model.values import Path

Values = TypeVar("Values", bound=Mapping[str, Any])
"""The type of a resource's inputs: `dict[str, Any]`, or a typed dictionary with the declared properties."""


class InvalidId(UserError):  # noqa: N818 - it names the thing that is wrong
    """An ID in none of the forms that a resource accepts."""

    def __init__(self, token: str, given: str, forms: tuple[str, ...]) -> None:
        super().__init__(f"{given!r} is not an ID of {token}; allowed forms are {', '.join(forms)}")


class NothingToImport(ProviderError):  # noqa: N818 - it names the outcome
    """Nothing exists at the ID of an import, or of the function `get` of an SDK's class."""

    code = "NOT_FOUND"

    def __init__(self, given: str, looked_for: str, forms: tuple[str, ...]) -> None:
        where = f"gcpx looked for {looked_for}" if looked_for != given else ""
        super().__init__(sentences(f"{given!r} does not exist", where, f"The forms of an ID are {', '.join(forms)}"))


class PartialError(Exception):
    """The resource exists, or may exist, but the work on it is not finished.

    Attributes:
        state: what is known about it, for the state, so that the next `pulumi up` continues with it.
        inputs: the inputs that it has now: the old ones after a reverted update; None for the new ones.
    """

    def __init__(self, state: State, reason: str, inputs: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.state = state
        self.inputs = inputs


@attrs.frozen
class State:
    """A resource as Google has it: its canonical ID and its properties, including outputs.

    Attributes:
        adopted: whether `create` found, or may have found, it as the result of an earlier run with a lost state.
        mark: the record of its creation; None for an import, and in the result of `create`.
    """

    id: str
    properties: dict[str, Any]
    adopted: bool = False
    mark: CreationMark | None = None

    @classmethod
    def unread(cls, resource_id: str, known: dict[str, Any], target: str | None = None) -> State:
        """Describe a resource that was created, or may have been, without reading it.

        `target` is the numeric ID of the resource that the creation changes, if known.
        """
        present = {name: value for name, value in known.items() if value is not None}
        return cls(resource_id, {**present, UNREAD: target or True})


@attrs.frozen
class ListedResource:
    """A resource in a list: its ID, which `pulumi import` accepts, and the name to show."""

    id: str
    name: str

    def __attrs_post_init__(self) -> None:
        """Refuse a name that is not a string."""
        if not all(isinstance(text, str) and text for text in (self.id, self.name)):
            raise MalformedResponse("Google's list has a resource whose ID or name is not a string")


@attrs.frozen
class Page:
    """A page of a list; `token` is the next page's, and empty on the last page."""

    resources: list[ListedResource]
    token: str = ""


class Resource(abc.ABC, Generic[Values]):
    """One resource type.

    One object serves all resources of its type, in many threads at once. The verbs (`create`, `read`, `update`,
    `delete`, `page`) take and return plain values, without secrets and unknowns. They raise `ProviderError` for
    everything that the user has to know. While they wait, they watch `Context.cancelled`. Abilities that few resources
    have are classes of their own: `Growing`, `Announcing`.

    Attributes:
        token: Pulumi's type token.
        model: the record that declares inputs and outputs.
        query: the record that declares the query of a list.
        id_forms: the forms of an ID that `pulumi import` accepts; the first is the canonical one.
        autoname: the form of generated names; None for resources that have no name or require one.
        left_out_of_imports: inputs that an import omits, because other inputs describe the result.
        operation_timeout: the longest wait for an operation of Google in seconds, without a custom timeout; None if
            Google answers without operations.
        in_place: the paths that change in place, with everything below them; every other change replaces the resource.
        compared: the paths of `in_place` that a refresh, or an update after an import, compares with Google; None: all.
        compared_if_given: further paths that an update after an import compares if the program gives a value there;
            Google may have chosen what the program leaves out.
    """

    token: ClassVar[str]
    model: ClassVar[type]
    query: ClassVar[type]
    id_forms: ClassVar[tuple[str, ...]]
    autoname: ClassVar[Autoname | None] = None
    left_out_of_imports: ClassVar[frozenset[str]] = frozenset()
    operation_timeout: ClassVar[float | None] = None
    in_place: ClassVar[frozenset[Path]] = frozenset()
    compared: ClassVar[frozenset[Path] | None] = None
    compared_if_given: ClassVar[frozenset[Path]] = frozenset()

    @abc.abstractmethod
    def __init__(self, google: Any, lookups: Any) -> None:
        """Take the client of Google's APIs, and the cached lookups of online checks."""

    @functools.cached_property
    def type(self) -> ObjectType:
        """The declaration as data."""
        return object_type(self.model)

    @property
    def query_type(self) -> ObjectType:
        """The list's declaration as data."""
        return object_type(self.query)

    def failures(self, inputs: Values) -> list[Failure]:
        """Return the failures of inputs, which may contain unknowns, beyond their declaration; offline.

        A reason states the requirement. It contains no value, because that may be secret.
        """
        del inputs
        return []

    def creation_failures(self, inputs: Values) -> list[Failure]:
        """Return further failures of inputs if the resource is about to be created; offline."""
        del inputs
        return []

    def query_failures(self, query: dict[str, Any]) -> list[Failure]:
        """Return the failures of a list's query beyond its declaration; offline."""
        del query
        return []

    def check_online(self, context: Context, olds: Values, inputs: Values) -> list[Failure]:
        """Ask Google whether the resources that inputs name exist and fit; for users who set `validateOnline`.

        `olds` are the inputs of the last deployment, `inputs` the new ones, which may hold unknowns.
        """
        del context, olds, inputs
        return []

    def explain_error(self, context: Context, inputs: Values, error: ProviderError) -> ProviderError:
        """Return an error of `create` or `update` with a message that names the property at fault and the next step."""
        del context, inputs
        return error

    def predict(self, inputs: Values) -> dict[str, Any]:
        """Return the outputs that are certain before a creation; `inputs` may hold unknowns."""
        del inputs
        return {}

    def provider_defaults(self) -> dict[str, Any]:
        """Return the inputs that equal the provider's defaults, so that an import leaves them out."""
        return {}

    def location(self, inputs: Values, outputs: dict[str, Any]) -> Location:
        """Return the resource's project, region and zone, which complete short names in its inputs.

        Each is taken from the inputs, then from the outputs, then from the provider's configuration.
        """
        del inputs, outputs
        return NO_LOCATION

    def comparison(self, inputs: Values, outputs: dict[str, Any]) -> Comparison:
        """Return the comparison of the user's values with Google's; short names on both sides share one location."""
        location = self.location(inputs, outputs)
        return Comparison((location, location))

    def moved(self, old: Values, new: Values, outputs: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """Return the inputs that place a replacement elsewhere than the resource, with their old and new values.

        A resource stays where it is until the program moves it, even if the provider's project, region or zone changes.
        Only its replacement follows the provider.
        """
        here, there = self.location(old, outputs), self.location(new, {})
        of_program = self.location(old, {})
        found: dict[str, tuple[str, str]] = {}
        for name in (place for place in PLACES if place in self.type.inputs):
            present, future = getattr(here, name), getattr(there, name)
            if getattr(of_program, name) != future:
                continue  # the program itself changed it
            if None not in {present, future} and present != future:
                found[name] = (present, future)
        return found

    def unique_key(self, inputs: Values) -> Any:
        """Return a key that two resources cannot share, such as a name with its scope.

        A replacement with an equal key has to delete the old resource first. None means that there is no such key, as
        with a generated name: the replacement gets another one.
        """
        del inputs
        return None

    def must_delete_first(self, old: Values, new: Values) -> bool:
        """Return whether a replacement must delete the old resource before it creates the new one.

        It must do so, too, if the program now sets the name that was generated before.
        """
        key = self.unique_key(new)
        taken = {name: value for name, value in old.items() if name != AUTONAMED}
        return key is not None and key == self.unique_key(cast("Values", taken))

    def deleted_first(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> str:
        """Say what a replacement loses if it deletes the resource first; empty if it needs no mention.

        It is called only if `must_delete_first` is true. `outputs` are the last ones.
        """
        del old, new, outputs
        return ""

    def may_create(self, resource_id: str) -> bool:
        """Return whether a creation can result in this ID; false if Google assigned the ID."""
        del resource_id
        return True

    def identity(self, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return a key that all IDs of one Google resource share; `outputs` are the last ones. Never raises."""
        del outputs
        return resource_id

    @abc.abstractmethod
    def create(self, context: Context, inputs: Values) -> State:
        """Create the resource, wait until it is ready, and read it.

        Raises:
            PartialError: Google created the resource, or may have; `gcpx.gcp.creation` raises it.
            ProviderError: nothing was created.
        """

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for creations by interrupted runs of the resource, before it is read or deleted.

        It is called if the state does not have the result of the creation and, for a `Growing` resource, before each
        deletion. Raises ProviderError if something is, or may be, still being created.
        """
        del context, resource_id

    @abc.abstractmethod
    def read(self, context: Context, resource_id: str, inputs: Values | None) -> State | None:
        """Read the resource; None only if Google says that it does not exist, or another resource has its name.

        `inputs` are the last inputs, or None in an import. Errors of any kind are raised, and never mean absence.
        PartialError says that the resource exists, and that the next `pulumi up` has to finish it.
        """

    def update(self, context: Context, resource_id: str, old: Values, new: Values) -> State:
        """Change the resource in place from old to new inputs, and read it.

        Equal inputs mean that an earlier creation or update has to be finished. This default, for resources that never
        change in place, only reads.

        Raises:
            PartialError: the change started, but is not finished.
            ProviderError: the state stays as it was; a refresh shows what was changed before the error.
        """
        del old
        state = self.read(context, resource_id, new)
        if state is None:
            raise gone(resource_id)
        return state

    @abc.abstractmethod
    def delete(self, context: Context, resource_id: str) -> None:
        """Delete the resource and wait until it is gone. Does nothing if it is gone already, or is no longer ours."""

    @abc.abstractmethod
    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List existing resources.

        Args:
            context: the engine's call.
            query: values of the record `query`.
            token: the page to read; empty for the first.
            size: the maximum number of results on a page.
        """


class Growing(abc.ABC):
    """A resource that consists of many things at Google: an update may create some, and leave others to a later one.

    Each deletion first looks for what a killed update was creating.
    """

    @abc.abstractmethod
    def left_over(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> list[Path]:
        """Return the paths of inputs that an update has to enforce although they equal the last ones; offline.

        `inputs` are the new ones, which may hold unknowns; `outputs` are the last ones.
        """

    @abc.abstractmethod
    def ignoring(self, outputs: dict[str, Any], paths: Collection[Path]) -> dict[str, Any]:
        """Return the last outputs without the parts that would cause a change at an ignored path (`ignoreChanges`)."""


class Announcing(abc.ABC):
    """A resource that says in previews, offline, what a change does beyond the changed properties."""

    @abc.abstractmethod
    def announce_creation(self, context: Context, inputs: dict[str, Any]) -> None:
        """Say in a preview what a creation will do; inputs may hold unknowns."""

    @abc.abstractmethod
    def announce_update(self, context: Context, old: dict[str, Any], new: dict[str, Any]) -> Collection[str]:
        """Say in a preview what an update will do.

        Returns the names of volatile outputs that the update does not change. `new` may hold unknowns. Raises
        ProviderError for an update that is certain to be refused.
        """

    @abc.abstractmethod
    def reminder(self, outputs: dict[str, Any]) -> str:
        """Return what users should know of a resource that is not replaced, if no change shows it; empty if nothing."""


def gone(resource_id: str) -> UserError:
    """Return the error of an update of a resource that no longer exists."""
    return UserError(f"{resource_id} no longer exists; run `pulumi up --refresh` to create it again")
