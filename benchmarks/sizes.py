"""How large measurements are, and where their results go.

If `GCPX_BENCH_SMALL` names a folder, each measurement is tried with as little as it can take, and the results go there.
The figures then mean nothing: tests see that every benchmark still works.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TypeVar

from workspace import ROOT

_SMALL: Final = os.environ.get("GCPX_BENCH_SMALL", "")
T = TypeVar("T")


def sized(full: T, small: T) -> T:
    """Choose between the size of a measurement and that of a trial."""
    return small if _SMALL else full


DOCS: Final = sized(ROOT / "docs", Path(_SMALL))
"""The folder whose page benchmarks.md and whose images show the results."""
RESULTS: Final = sized(ROOT / "build" / "bench.json", Path(_SMALL) / "bench.json")
