"""Inverts each cell of the table of ownership, and tells after how many random programs the oracle finds it.

Each cell is tried in a process of its own, with a changed copy of the plugin's source. Cells that no program
reaches are listed as such. `make planted-faults` runs this.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
KNOWN: Final = ("NOTHING", "ID", "NUMBER", "UNFINISHED", "SHARED")
SHOWN: Final = ("NOTHING", "SAME", "OTHER", "UNREADABLE")
MAKERS: Final = ("OURS", "OTHERS", "UNTOLD")
CELLS: Final = tuple(itertools.product(KNOWN, SHOWN, MAKERS))
"""The cells of the table: what is known, what is shown, who made it."""
INVERTED: Final = {"NOBODY": "OURS", "OURS": "THEIRS", "ENTRY": "OURS", "THEIRS": "OURS", "UNKNOWN": "OURS"}
"""What each owner becomes if its cell is inverted."""
_CHANGE: Final = '''

_INVERTED = {inverted!r}
_WRONG = json.loads(os.environ["GCPX_CELL"])
_table_owner = owner


def owner(known, shown, maker):
    """Decide as the table says, except for one cell; write down which cells were reached."""
    row = TABLE[known, shown]
    place = (known.name, shown.name)
    is_asked = not (row[0] is row[1] is row[2]) or _WRONG[:2] == [*place]
    made = maker() if is_asked else None
    found = row[list(Maker).index(made)] if made else row[0]
    with open(os.environ["GCPX_REACHED"], "a") as file:
        print(*place, made.name if made else "ANY", file=file)
    return Owner[_INVERTED[found.name]] if made and [*place, made.name] == _WRONG else found
'''


def changed_source(folder: Path) -> Path:
    """Copy the plugin's source, in which the environment chooses a cell that is inverted; return where it is."""
    source = folder / "provider"
    shutil.copytree(ROOT / "provider", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    module = source / "gcpx" / "model" / "ownership.py"
    text = module.read_text().replace("import enum\n", "import enum\nimport json\nimport os\n", 1)
    module.write_text(text + _CHANGE.format(inverted=INVERTED))
    return source


def search(
    source: Path, cell: tuple[str, ...], programs: int, seconds: float, seed: int
) -> tuple[str, int, Counter[str]]:
    """Search with a cell inverted, or none; return what was found, after how many programs, and the cells reached."""
    with tempfile.TemporaryDirectory() as folder:
        reached = Path(folder) / "reached"
        reached.touch()
        paths = (source, *sorted(source.glob("gcpx_*")), ROOT / "tests" / "support", ROOT / "tools")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "GCPX_CELL": json.dumps(cell)}
        env |= {"GCPX_REACHED": str(reached), "GRPC_VERBOSITY": "NONE", "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "ownership_search", "--programs", str(programs), "--seconds", str(seconds)]
        command += ["--seed", str(seed), *(["--first"] if cell else [])]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=folder)
        counts = Counter(reached.read_text().splitlines())
    kinds = re.findall(r"^broken: (.+): \d+$", ran.stdout, re.MULTILINE)
    tried = re.search(r"^programs: ([\d,]+)$", ran.stdout, re.MULTILINE)
    if tried is None:
        return f"the search failed: {ran.stderr[-300:]}", 0, counts
    return ", ".join(kinds), int(tried[1].replace(",", "")), counts


def main() -> int:
    """Search with each cell; print what was found; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = changed_source(Path(folder))
        found, tried, counts = search(source, (), given.programs, given.seconds, given.seed)
        print(f"no cell: {found or 'nothing'} in {tried} programs", flush=True)
        missed, unreached = 0, list[str]()
        for cell in CELLS:
            reached = counts[" ".join(cell)] + counts[" ".join((*cell[:2], "ANY"))]
            if not reached:
                unreached.append(" ".join(cell))
                continue
            found, tried, own = search(source, cell, given.programs, given.seconds, given.seed)
            missed += not found
            words = f"{found} after {tried} programs" if found else f"NOT FOUND in {tried} programs"
            print(f"{' '.join(cell)}: reached {own[' '.join(cell)]} times; {words}", flush=True)
    print(f"not reached: {', '.join(unreached)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
