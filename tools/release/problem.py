"""A problem that prevents a release."""

from __future__ import annotations

import attrs


@attrs.frozen
class Problem:
    """A problem, and how to solve it."""

    what: str
    next_step: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.what}; {self.next_step}"
