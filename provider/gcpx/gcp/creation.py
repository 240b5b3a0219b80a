"""Creations: nothing is created twice, taken from others, or forgotten, whatever happens on the way.

Whatever has a creation of its own (a request, and a way to find what came of it) extends `Creation`, and says what
differs. `gcpx.model.ownership` decides whose something is.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import attrs

from gcpx.errors import safe_message
from gcpx.gcp.errors import Unfinished
from gcpx.model.resource import Context, PartialError, State

Made = TypeVar("Made")


@attrs.frozen(kw_only=True)
class Creation(abc.ABC, Generic[Made]):
    """The creation of one thing. `Made` is what Google says of it: an operation, or the thing itself.

    Attributes:
        context: the engine's call.
    """

    context: Context

    @abc.abstractmethod
    def make(self) -> Made:
        """Send the request, once or as often as is needed, and find out what came of it.

        Raises:
            Unfinished: Google may have created it.
            Conflict: what exists was not created by this resource.
            ProviderError: nothing was created.
        """

    @abc.abstractmethod
    def unread(self, operation: dict[str, Any]) -> State:
        """Describe what was created, or may have been, without reading it; `operation` is `{}` if none is known."""

    @abc.abstractmethod
    def read(self, made: Made) -> State:
        """Read what was created, once Google shows it."""

    def run(self) -> State:
        """Create it, and read it.

        Raises:
            PartialError: it exists, or may exist.
            ProviderError: nothing was created.
        """
        with keeping_state(self.unread) as progress:
            made = self.make()
            progress.created(self.operation_of(made))
            return self.read(made)

    def operation_of(self, made: Made) -> dict[str, Any]:
        """Return the operation (REST JSON) that created it; `{}` for an API without operations."""
        del made
        return {}


@attrs.define
class CreationProgress:
    """How far a creation has got.

    Attributes:
        describe: describes the resource without reading it, by Google's operation; `{}` without an operation.
    """

    describe: Callable[[dict[str, Any]], State]
    _created: State | None = attrs.field(default=None, init=False)
    _outcome: object = attrs.field(default="", init=False)

    def created(self, operation: dict[str, Any] | None = None, outcome: object = "it was created") -> None:
        """Record that the resource exists; `outcome` is what messages say about its creation."""
        self._created, self._outcome = self.describe(operation or {}), outcome

    def partial(self, error: Exception) -> PartialError | None:
        """Return what is kept in state after an error; None if nothing was created."""
        if self._created is not None:
            words = f"{self._created.id}: {self._outcome}, but it could not be read: {safe_message(error)}"
            return PartialError(self._created, f"{words.rstrip('.')}. Run `pulumi up` again to finish it.")
        return PartialError(self.describe(error.operation), str(error)) if isinstance(error, Unfinished) else None


@contextmanager
def keeping_state(describe: Callable[[dict[str, Any]], State]) -> Iterator[CreationProgress]:
    """Raise `PartialError` for each error after which the resource exists, or may exist.

    Before `CreationProgress.created` is called, that is `Unfinished`: Google accepted the request, and its result is
    unknown. Afterwards it is every error. Other errors are raised as they are: nothing was created.
    """
    progress = CreationProgress(describe)
    try:
        yield progress
    except PartialError:
        raise
    except Exception as error:
        partial = progress.partial(error)
        if partial is None:
            raise
        raise partial from error
