"""How many examples a property-based test tries.

A normal run tries a few examples, always the same ones. With GCPX_SEARCH set, a run tries many new ones for that time.
"""

from __future__ import annotations

import functools
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

SECONDS = float(os.environ.get("GCPX_SEARCH") or 0)
"""How many seconds one test may search; 0 means that it does not search."""
SEARCHING = SECONDS > 0
if not SEARCHING:
    # Hypothesis also draws constants of the loaded modules, and which are loaded depends on the tests before.
    providers._get_local_constants = Constants  # noqa: SLF001 - there is no setting for it


def examples(steady: int, searched: int) -> settings:
    """Return the settings of hypothesis with the number of examples for this run."""
    return settings(
        max_examples=searched if SEARCHING else steady,
        derandomize=not SEARCHING,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


class SeededRandom(random.Random):
    """A random generator that keeps the number that seeded it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Budget:
    """The time that a search may take; a run that does not search has no time limit."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + SECONDS

    def is_spent(self) -> bool:
        """Return whether the time of the search is over."""
        return SEARCHING and time.monotonic() > self._ends


def bounded(example: Callable[..., None]) -> Callable[..., None]:
    """Skip examples when the time of a search is over.

    After a failure, examples still run, so that hypothesis can shrink and report the failing one.
    """
    budget, failures = Budget(), []

    @functools.wraps(example)
    def run_example(*arguments: Any, **named: Any) -> None:
        if budget.is_spent() and not failures:
            return
        try:
            example(*arguments, **named)
        except Exception as error:
            failures.append(error)
            raise

    return run_example


def seeded_randoms(*, steady: int, searched: int) -> Iterator[random.Random]:
    """Yield random generators; a failure shows the number of its generator, and a search draws new numbers."""
    budget, system = Budget(), random.SystemRandom()
    for index in range(searched if SEARCHING else steady):
        if budget.is_spent():
            return
        yield SeededRandom(system.randrange(2**32) if SEARCHING else index)
