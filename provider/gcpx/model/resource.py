"""Resources and functions: a declaration, what it says about its values, and the verbs that call Google."""

from __future__ import annotations

import abc
import functools
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Protocol, TypeVar

import attrs

from gcpx.errors import CancelledError, MalformedResponse, OutOfTimeError, ProviderError, UserError, sentences
from gcpx.model.compare import Comparison
from gcpx.model.fields import Failure, ObjectType, object_type
from gcpx.model.links import NO_LOCATION, PLACES, Location
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname, CreationMark
from gcpx.model.values import Path

Item = TypeVar("Item")
Result = TypeVar("Result")
PARALLEL: Final = 32
"""How many requests a call has under way at most; one connection carries more at the same time."""
NOTICED_WITHIN: Final = 0.2
"""The most seconds until a wait that nothing else ends notices a cancellation or the end of the time."""
READING_TIME: Final = 1.0
"""Seconds after the custom timeout in which what exists may still be read, so that the state is complete."""

URN_PARTS: Final = 4
"""Parts of a URN: `urn:pulumi:STACK`, the project, the qualified type, and the name, which may contain `::` itself."""


class Lock(Protocol):
    """What only some calls may hold at the same time."""

    def acquire(self, *, timeout: float) -> bool:
        """Take it if it becomes free within some seconds; return whether it did."""

    def release(self) -> None:
        """Give it back."""


@attrs.frozen
class Replaced:
    """What the engine has shown of an entry of the state before it replaces it.

    Attributes:
        known: IDs, numeric IDs, IDs of bulk creations, generated names.
        inputs: the last inputs, with secrets revealed; empty if the engine has deleted it, has not shown them, or has
            called Diff after it showed them.
    """

    known: frozenset[str] = frozenset()
    inputs: Mapping[str, Any] = attrs.Factory(dict)


@attrs.define
class Sharing:
    """The leave to answer a read by what was asked for together with others.

    Attributes:
        used: whether such an answer was given: one of a list, or one that is some seconds old.
    """

    used: bool = False


@attrs.frozen(kw_only=True)
class Context:
    """One call of the engine.

    A custom timeout is one limit for the whole call: it counts from the beginning of the call, and includes all
    requests, retries, pauses and waits. Nothing that changes something is sent after it.

    Attributes:
        urn: the resource's URN.
        timeout: the user's custom timeout in seconds; None without one.
        begun: when the call began, in the time of the clock.
        cancelled: set when the user asks to stop; every wait watches it.
        progress: shows a line in the engine's Info column; the next line replaces it.
        inform: prints a line with the resource's name, which stays in the output.
        warn: prints a warning with the resource's name.
        prior: the outputs in state before this call, with secrets revealed.
        changed: in an update, the paths of the inputs that differ.
        autonamed: whether the resource's name was generated.
        provider_urn: the URN of the provider's resource; empty if the engine does not tell.
        requester: who sends the requests that create something for the resource, as `gcpx.model.naming.requester` says.
        replaces: in a creation, the entry of the state that the engine replaces with it; None for a first creation.
        is_blocked: whether the replaced one has not been deleted, and both cannot exist at the same time.
        urn_of: gives the URN of the resource that has an ID, of all resources that the engine has shown or that were
            created since Configure; None if none has.
        claim: tells the other calls that the resource has an ID, which `urn_of` knows otherwise only after the call.
        clock: gives the time in seconds, from any starting point.
        parallel: how many requests the call may have under way at the same time.
        sent: set when a request that changes something was carried out.
        sharing: in a refresh or an import, the leave to answer reads together with those of other calls; None requires
            that each read asks for itself, and now.
    """

    urn: str
    timeout: float | None
    begun: float
    cancelled: threading.Event
    progress: Callable[[str], None]
    inform: Callable[[str], None]
    warn: Callable[[str], None]
    prior: dict[str, Any] = attrs.Factory(dict)
    changed: tuple[Path, ...] = ()
    autonamed: bool = False
    provider_urn: str = ""
    requester: str = ""
    replaces: Replaced | None = None
    is_blocked: bool = False
    urn_of: Callable[[str], str | None] = lambda _: None
    claim: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    parallel: int = PARALLEL
    sent: threading.Event = attrs.Factory(threading.Event)
    sharing: Sharing | None = None

    def end(self, default: float) -> float:
        """Return when work has to end that may take `default` seconds if the user sets no custom timeout."""
        return self.begun + self.timeout if self.timeout else self.clock() + default

    def seconds_left(self, *, reading: bool = False) -> float:
        """Return the seconds until nothing more may be sent; with `reading`, for requests that only read.

        It is infinite without a custom timeout, and negative after the limit.
        """
        if not self.timeout:
            return math.inf
        return self.begun + self.timeout + (READING_TIME if reading else 0.0) - self.clock()

    @property
    def is_over(self) -> bool:
        """Whether the user has cancelled, or the time of the call is over, so that a wait may have ended too early."""
        return self.cancelled.is_set() or self.seconds_left() <= 0

    def tries(self, seconds: float, *, pause: float = 0.5, longest: float = math.inf) -> Iterator[None]:
        """Yield each time to try, or to look, again: at once, and then after growing pauses, for some seconds.

        Every wait for Google is such a sequence. Ends earlier if the user cancels, or if the time of the call is over.

        Args:
            seconds: how long to go on.
            pause: the seconds between the beginnings of the first two tries; then they double.
            longest: the most seconds between the beginnings of two tries.
        """
        begun = self.clock()
        end = begun + min(seconds, self.seconds_left())
        while True:
            yield
            now = self.clock()
            rest = min(begun + pause, end) - now
            if now >= end or self.cancelled.is_set() or (rest > 0 and self.cancelled.wait(rest)):
                return
            pause = min(pause * 2, longest)
            begun = self.clock()

    def side_by_side(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do work on each item, on some of them at the same time; yield the results in the order of the items.

        Raises what the work raises, when everything that was begun has ended.
        """
        with ThreadPoolExecutor(self.parallel) as pool:
            yield from pool.map(work, items)

    @contextmanager
    def holding(self, lock: Lock, what: str, *, reading: bool = False) -> Iterator[None]:
        """Hold a lock during the block, once it is free; `what` is what waits for it, in messages.

        Raises CancelledError if the user cancels before that, and OutOfTimeError if the call's time ends before that.
        """
        while not lock.acquire(timeout=NOTICED_WITHIN):
            if self.cancelled.is_set():
                raise CancelledError.before(what)
            if self.seconds_left(reading=reading) <= 0:
                raise OutOfTimeError(what, self.timeout)
        try:
            yield
        finally:
            lock.release()

    def is_replaced(self, *known: object) -> bool:
        """Return whether one of these is known of what this creation replaces."""
        return self.replaces is not None and not self.replaces.known.isdisjoint(known)

    def is_anothers(self, resource_id: str) -> bool:
        """Return whether the engine has shown that another resource of the stack has an ID."""
        return self.urn_of(resource_id) not in {None, self.urn}

    @property
    def request_mark(self) -> str:
        """How the IDs of the requests begin that create something for the resource; empty without a provider's ID."""
        digits = self.requester
        return f"{digits[:8]}-{digits[8:12]}-5{digits[12:15]}" if digits else ""

    @property
    def token(self) -> str:
        """The resource's type token."""
        return self.urn.split("::")[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """The resource's name in the program."""
        return name_in_urn(self.urn)


def name_in_urn(urn: str) -> str:
    """Return the name of a resource in the program."""
    return urn.split("::", URN_PARTS - 1)[-1]


class Function(abc.ABC):
    """One function. `invoke` takes and returns plain values, without secrets and unknowns.

    Attributes:
        token: Pulumi's token.
        description: Markdown for the package's documentation.
        arguments: the record that declares the arguments.
        result: the record that declares the result.
    """

    token: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type]
    result: ClassVar[type]

    @abc.abstractmethod
    def __init__(self, google: Any) -> None:
        """Take the client of Google's APIs."""

    @property
    def type(self) -> ObjectType:
        """The arguments' declaration as data."""
        return object_type(self.arguments)

    @property
    def result_type(self) -> ObjectType:
        """The result's declaration as data."""
        return object_type(self.result)

    def failures(self, arguments: dict[str, Any]) -> list[Failure]:
        """Find what is wrong with arguments beyond their declaration; offline."""
        del arguments
        return []

    @abc.abstractmethod
    def invoke(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the function; raises ProviderError for everything that the user has to know."""


class InvalidId(UserError):  # noqa: N818 - it names the thing that is wrong
    """An ID in none of the forms that a resource accepts."""

    def __init__(self, token: str, given: str, forms: tuple[str, ...]) -> None:
        super().__init__(f"{given!r} is not an ID of {token}; allowed forms are {', '.join(forms)}")


class NothingToImport(ProviderError):  # noqa: N818 - it names the outcome
    """Nothing exists at the ID that an import, or the function `get` of a class of the SDK, gives."""

    code = "NOT_FOUND"

    def __init__(self, given: str, looked_for: str, forms: tuple[str, ...]) -> None:
        where = f"gcpx looked for {looked_for}" if looked_for != given else ""
        super().__init__(sentences(f"{given!r} does not exist", where, f"The forms of an ID are {', '.join(forms)}"))


class PartialError(Exception):
    """The resource exists, or may exist, but the work on it is not finished.

    Attributes:
        state: what is known about it. It goes into state, so that the next `pulumi up` goes on with it.
        inputs: the inputs that it has; None for the new ones. An update that was taken back has the old ones.
    """

    def __init__(self, state: State, reason: str, inputs: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.state = state
        self.inputs = inputs


@attrs.frozen
class State:
    """A resource as Google has it: its canonical ID and its properties, outputs included.

    Attributes:
        adopted: whether `create` found it, or may have, as an earlier run had created it, in a state that was lost.
        mark: what the state keeps of its creation; None for an import, and in what `create` returns.
    """

    id: str
    properties: dict[str, Any]
    adopted: bool = False
    mark: CreationMark | None = None

    @classmethod
    def unread(cls, resource_id: str, known: dict[str, Any], target: str | None = None) -> State:
        """Describe a resource that was created, or may have been, by what is known without reading it.

        `target` is the numeric ID of what the creation changes, if it is known.
        """
        present = {name: value for name, value in known.items() if value is not None}
        return cls(resource_id, {**present, UNREAD: target or True})


@attrs.frozen
class ListedResource:
    """A resource in a list: its ID, which `pulumi import` accepts, and the name to show."""

    id: str
    name: str

    def __attrs_post_init__(self) -> None:
        """Refuse what a response has instead of a name."""
        if not all(isinstance(text, str) and text for text in (self.id, self.name)):
            raise MalformedResponse("Google's list has a resource whose ID or name is not a text")


@attrs.frozen
class Page:
    """A page of a list; `token` is the next page's, and empty on the last page."""

    resources: list[ListedResource]
    token: str = ""


class Resource(abc.ABC):
    """One resource type.

    One object serves all resources of its type, and many threads at once. The verbs (`create`, `read`, `update`,
    `delete`, `page`) take and return plain values, without secrets and unknowns. They raise `ProviderError` for
    everything that the user has to know. They may wait, and then watch `Context.cancelled`.

    Attributes:
        token: Pulumi's type token.
        model: the record that declares inputs and outputs.
        query: the record that declares what a list can be asked for.
        id_forms: the forms of an ID that `pulumi import` accepts; the first is the canonical one.
        autoname: how a missing name is generated; None for resources that have no name or require it.
        left_out_of_imports: inputs that an import leaves out, because other inputs describe the result.
        operation_timeout: how long it waits for an operation of Google, in seconds, if the user sets no custom timeout;
            None if Google answers without operations.
        grows: whether an update may create something. If so, each deletion looks for what a killed update has begun.
        in_place: the paths that change in place, with everything below them; every other change replaces the resource.
        compared: those of them that a refresh, or an update after an import, compares with Google; None stands for all.
    """

    token: ClassVar[str]
    model: ClassVar[type]
    query: ClassVar[type]
    id_forms: ClassVar[tuple[str, ...]]
    autoname: ClassVar[Autoname | None] = None
    left_out_of_imports: ClassVar[frozenset[str]] = frozenset()
    operation_timeout: ClassVar[float | None] = None
    grows: ClassVar[bool] = False
    in_place: ClassVar[frozenset[Path]] = frozenset()
    compared: ClassVar[frozenset[Path] | None] = None

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

    def failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Find what is wrong with inputs, which may contain unknowns, beyond their declaration; offline.

        A reason says what is required. It contains no value, because that may be secret.
        """
        del inputs
        return []

    def creation_failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Find what is wrong with inputs only if the resource is about to be created; as `failures` does."""
        del inputs
        return []

    def query_failures(self, query: dict[str, Any]) -> list[Failure]:
        """Find what is wrong with the query of a list beyond its declaration; offline."""
        del query
        return []

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Ask Google whether what inputs name exists and fits; for users who set `validateOnline`.

        `olds` are the inputs of the last deployment, `inputs` the new ones, which may hold unknowns.
        """
        del context, olds, inputs
        return []

    def explain_error(self, context: Context, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Return an error of `create` or `update` in words that name the property that caused it and the next step."""
        del context, inputs
        return error

    def left_over(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> list[Path]:
        """Return the paths of inputs that an update has to enforce although they are equal to the last ones; offline.

        `inputs` are the new ones, which may hold unknowns, and `outputs` describe what there is.
        """
        del inputs, outputs
        return []

    def reminder(self, outputs: dict[str, Any]) -> str:
        """Return what users should know of a resource that is not replaced, and that no change shows; offline."""
        del outputs
        return ""

    def announce_creation(self, context: Context, inputs: dict[str, Any]) -> None:
        """Say in a preview what a creation will do, where inputs, which may hold unknowns, do not show it; offline."""
        del context, inputs

    def announce_update(self, context: Context, old: dict[str, Any], new: dict[str, Any]) -> Collection[str]:
        """Say in a preview what an update will do, where the changed properties do not show it; offline.

        Returns the names of volatile outputs that the update does not change. `new` may hold unknowns. Raises
        ProviderError for an update that is certain to be refused.
        """
        del context, old, new
        return ()

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs that are certain before a creation; `inputs` may hold unknowns."""
        del inputs
        return {}

    def provider_defaults(self) -> dict[str, Any]:
        """Return the inputs that equal the provider's defaults, so that an import leaves them out."""
        return {}

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Return the resource's project, region and zone, which complete short names in its inputs.

        Each is taken from the inputs, then from the outputs, then from the provider's configuration.
        """
        del inputs, outputs
        return NO_LOCATION

    def comparison(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Comparison:
        """Return the comparison of the user's values with Google's; short names on both sides share one location."""
        location = self.location(inputs, outputs)
        return Comparison((location, location))

    def moved(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """Return the inputs by which a replacement is elsewhere than the resource, with their values here and there.

        A resource stays where it is until the program says otherwise, also if the provider's project, region or zone
        changes. Only its replacement follows the provider.
        """
        here, there = self.location(old, outputs), self.location(new, {})
        of_program = self.location(old, {})
        found: dict[str, tuple[str, str]] = {}
        for name in (place for place in PLACES if place in self.type.inputs):
            present, future = getattr(here, name), getattr(there, name)
            if getattr(of_program, name) != future:
                continue  # the program itself has changed it
            if None not in {present, future} and present != future:
                found[name] = (present, future)
        return found

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return what two resources cannot share, such as a name with its scope.

        A replacement with an equal key has to delete the old resource first. None means that there is none, as
        with a generated name, because the replacement gets another one.
        """
        del inputs
        return None

    def must_delete_first(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Return whether a replacement must delete the old resource before it creates the new one.

        A generated name is taken, too, if the program now writes it out.
        """
        key = self.unique_key(new)
        taken = {name: value for name, value in old.items() if name != AUTONAMED}
        return key is not None and key == self.unique_key(taken)

    def deleted_first(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> str:
        """Say what is missing meanwhile if a replacement deletes the resource first; empty if that needs no words.

        It is asked only if `must_delete_first` says so. `outputs` are the last ones.
        """
        del old, new, outputs
        return ""

    def may_create(self, resource_id: str) -> bool:
        """Return whether a creation can lead to a resource of this ID; not if Google has assigned the ID."""
        del resource_id
        return True

    def identity(self, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return a key that all IDs of one Google resource share; `outputs` are the last ones. Never raises."""
        del outputs
        return resource_id

    @abc.abstractmethod
    def create(self, context: Context, inputs: dict[str, Any]) -> State:
        """Create the resource, wait until it is ready, and read it.

        Raises:
            PartialError: Google created the resource, or may have; `gcpx.gcp.creation` raises it.
            ProviderError: nothing was created.
        """

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for what interrupted runs of the resource are still creating, before it is read or deleted.

        It is called if the state does not know the result of the creation and, for what `grows`, before each deletion.
        Raises ProviderError if something is, or may be, still being created.
        """
        del context, resource_id

    @abc.abstractmethod
    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read the resource; None only if Google says that it does not exist, or another one has its name.

        `inputs` are the last inputs, or None in an import. An error of any kind is raised, never taken for absence.
        PartialError says that the resource exists, and that the next `pulumi up` has to finish it.
        """

    def update(self, context: Context, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> State:
        """Change the resource in place from old to new inputs, and read it.

        Equal inputs mean that an earlier creation or update is to be finished. This default, for resources of which
        nothing changes in place, only reads.

        Raises:
            PartialError: the change was begun and not finished.
            ProviderError: the state stays as it was; a refresh shows what was changed before the error.
        """
        del old
        state = self.read(context, resource_id, new)
        if state is None:
            raise gone(resource_id)
        return state

    @abc.abstractmethod
    def delete(self, context: Context, resource_id: str) -> None:
        """Delete the resource and wait until it is gone. It is no error if it is gone already, or is no longer ours."""

    @abc.abstractmethod
    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List what exists.

        Args:
            context: the engine's call.
            query: values of the record `query`.
            token: the page to read; empty for the first.
            size: the most results that Google should put on a page.
        """


def gone(resource_id: str) -> UserError:
    """Return the error of an update of a resource that no longer exists."""
    return UserError(f"{resource_id} no longer exists; run `pulumi up --refresh` to create it again")
