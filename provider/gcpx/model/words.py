"""Numbers and names in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_NAMED: Final = 3
"""The number of names in a message that counts the others."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the words that follow it, in the singular or the plural.

    >>> counted(1, "instance"), counted(2_000, "instance"), counted(2, "batch", "batches")
    ('1 instance', '2,000 instances', '2 batches')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def names_in_words(names: Iterable[str], unnamed: int = 0) -> str:
    """List some names, and count the others; `unnamed` is the number of others with unknown names.

    >>> names_in_words(["web-1", "web-2", "web-3", "web-4", "web-5"])
    'web-1, web-2, web-3 and 2 more'
    >>> names_in_words(["web-1"], 1)
    'web-1 and 1 more'
    """
    every = list(names)
    rest = len(every) + unnamed - _NAMED
    shown = every if rest <= 1 else every[:_NAMED]
    more = len(every) + unnamed - len(shown)
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)
