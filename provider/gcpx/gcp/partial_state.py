"""State of a resource whose creation failed half-way: what Google may have created is never lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from gcpx.errors import words_of
from gcpx.gcp.errors import Unfinished
from gcpx.model.resource import Live, PartialError


@attrs.define
class Creation:
    """One creation, as far as it has come.

    Attributes:
        known: gives what is known of the resource without reading it, from Google's operation; `{}` if there is none.
    """

    known: Callable[[dict[str, Any]], Live]
    _created: Live | None = None
    _outcome: object = ""

    def created(self, operation: dict[str, Any] | None = None, outcome: object = "it was created") -> None:
        """Note that the resource exists; `outcome` says in a message what Google reported."""
        self._created, self._outcome = self.known(operation or {}), outcome

    def partial(self, error: Exception) -> PartialError | None:
        """Say what goes into state after an error; None if nothing was created."""
        if self._created is not None:
            words = f"{self._created.id}: {self._outcome}, but it could not be read: {words_of(error)}"
            return PartialError(self._created, f"{words.rstrip('.')}. Run `pulumi up` again to finish it.")
        return PartialError(self.known(error.operation), str(error)) if isinstance(error, Unfinished) else None


@contextmanager
def keeping_state(known: Callable[[dict[str, Any]], Live]) -> Iterator[Creation]:
    """Raise `PartialError` for each error after which the resource exists, or may exist.

    Before `Creation.created` is called, that is `Unfinished`: Google accepted the request, and its result is unknown.
    Afterwards it is every error. Other errors are raised as they are: nothing was created.
    """
    creation = Creation(known)
    try:
        yield creation
    except PartialError:
        raise
    except Exception as error:
        partial = creation.partial(error)
        if partial is None:
            raise
        raise partial from error
