"""Generated matrices: a normal run tries few of their cases, and `make matrix` all of them, or one part of several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

Case = TypeVar("Case")
_INDEX, _, _NUMBER = os.environ.get("GCPX_MATRIX", "").partition("/")
FULL: Final = bool(_INDEX)
"""Whether this run tries all cases, or a part of all."""


def part(cases: Sequence[Case]) -> Sequence[Case]:
    """Return the cases of this run: with GCPX_MATRIX=2/8 every eighth one, from the second on; without it, all."""
    return cases[int(_INDEX) - 1 :: int(_NUMBER or 1)] if FULL else cases
