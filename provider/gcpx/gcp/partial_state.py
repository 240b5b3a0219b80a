"""The state of a resource whose creation failed halfway, so that nothing that Google may have created is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from gcpx.errors import safe_message
from gcpx.gcp.errors import Unfinished
from gcpx.model.resource import PartialError, State


@attrs.define
class CreationProgress:
    """How far a creation has got.

    Attributes:
        describe: describes the resource without reading it, by Google's operation (REST JSON); `{}` without one.
    """

    describe: Callable[[Any], State]
    _created: State | None = attrs.field(default=None, init=False)
    _outcome: object = attrs.field(default="", init=False)

    def created(self, operation: Mapping[str, Any] | None = None, outcome: object = "it was created") -> None:
        """Record that the resource exists; `outcome` is what messages say about its creation."""
        self._created, self._outcome = self.describe(operation or {}), outcome

    def partial(self, error: Exception) -> PartialError | None:
        """Return what is kept in state after an error; None if nothing was created."""
        if self._created is not None:
            words = f"{self._created.id}: {self._outcome}, but it could not be read: {safe_message(error)}"
            return PartialError(self._created, f"{words.rstrip('.')}. Run `pulumi up` again to finish it.")
        return PartialError(self.describe(error.operation), str(error)) if isinstance(error, Unfinished) else None


@contextmanager
def keeping_state(describe: Callable[[Any], State]) -> Iterator[CreationProgress]:
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
