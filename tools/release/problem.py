"""What keeps a version from being released."""

from __future__ import annotations

import attrs


@attrs.frozen
class Problem:
    """Something that a release lacks, and what to do about it."""

    what: str
    next_step: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.what}; {self.next_step}"
