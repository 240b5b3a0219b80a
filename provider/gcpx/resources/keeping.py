"""What was made at Google is kept in the state, whatever goes wrong afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gcpx.errors import words_of
from gcpx.google.operations import Unfinished
from gcpx.model.resource import Live, PartialError


@contextmanager
def possibly_made(known: Callable[[dict[str, Any]], Live]) -> Iterator[None]:
    """Keep the ID when Google took on the work and its end was not seen; `known` reads what the operation tells."""
    try:
        yield
    except Unfinished as error:
        raise PartialError(known(error.operation), str(error)) from error


@contextmanager
def certainly_made(known: Live, outcome: object = "it was created") -> Iterator[None]:
    """Keep the ID whatever goes wrong after Google said what the work came to, which `outcome` tells."""
    try:
        yield
    except PartialError:
        raise
    except Exception as error:
        words = f"{known.id}: {outcome}, but it could not be read: {words_of(error)}"
        raise PartialError(known, f"{words.rstrip('.')}. Run `pulumi up` again to finish it.") from error
