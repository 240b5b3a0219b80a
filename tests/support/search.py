"""How many examples a property-based test tries: few and always the same, or, when asked to search, many and new."""

from __future__ import annotations

import functools
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, settings

SECONDS = float(os.environ.get("GCPX_SEARCH") or 0)
"""How long one test may search; 0 when nobody asked for it."""
SEARCHING = SECONDS > 0


def examples(steady: int, searched: int) -> settings:
    """Give hypothesis the number of examples of this run."""
    return settings(
        max_examples=searched if SEARCHING else steady,
        derandomize=not SEARCHING,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


class Chance(random.Random):
    """A source of chance that says which number it came from."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Budget:
    """The time that a search may take; a run that does not search has no limit, and ends by its count."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + SECONDS

    def is_spent(self) -> bool:
        """Tell whether the rest of the search is left out."""
        return SEARCHING and time.monotonic() > self._ends


def bounded(example: Callable[..., None]) -> Callable[..., None]:
    """Try examples until the time of a search is over; one that failed is tried on, to be made small and shown."""
    budget, failures = Budget(), []

    @functools.wraps(example)
    def tried(*arguments: Any, **named: Any) -> None:
        if budget.is_spent() and not failures:
            return
        try:
            example(*arguments, **named)
        except Exception as error:
            failures.append(error)
            raise

    return tried


def chances(*, steady: int, searched: int) -> Iterator[random.Random]:
    """Give sources of chance, each from a number that a failure shows; a search draws new numbers."""
    budget, system = Budget(), random.SystemRandom()
    for index in range(searched if SEARCHING else steady):
        if budget.is_spent():
            return
        yield Chance(system.randrange(2**32) if SEARCHING else index)
