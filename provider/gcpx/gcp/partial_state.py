"""Keep what Google created in the state, even after a later error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gcpx.errors import words_of
from gcpx.gcp.errors import Unfinished
from gcpx.model.resource import Live, PartialError


@contextmanager
def possibly_made(known: Callable[[dict[str, Any]], Live]) -> Iterator[None]:
    """Keep the ID if Google accepted a request and its result is unknown; `known` derives it from the operation."""
    try:
        yield
    except Unfinished as error:
        raise PartialError(known(error.operation), str(error)) from error


@contextmanager
def certainly_made(known: Live, outcome: object = "it was created") -> Iterator[None]:
    """Keep the ID after any error that follows Google's result, which `outcome` describes."""
    try:
        yield
    except PartialError:
        raise
    except Exception as error:
        words = f"{known.id}: {outcome}, but it could not be read: {words_of(error)}"
        raise PartialError(known, f"{words.rstrip('.')}. Run `pulumi up` again to finish it.") from error
