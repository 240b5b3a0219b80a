"""Inverts each cell of the table of ownership, and tells after how many random programs the oracle finds it.

First, some hundred programs show which cells each of them reaches. Then each cell is tried with programs that reach it,
in a process of its own, with a changed copy of the plugin's source. `make planted-faults` runs this.
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
from collections.abc import Iterable
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
    made = maker() if not (row[0] is row[1] is row[2]) or list(place) == _WRONG[:2] else Maker.UNTOLD
    found = row[list(Maker).index(made)]
    with open(os.environ["GCPX_REACHED"], "a") as file:
        print(os.environ.get("GCPX_PROGRAM", ""), *place, made.name, file=file)
    return Owner[_INVERTED[found.name]] if [*place, made.name] == _WRONG else found
'''


def changed_source(folder: Path) -> Path:
    """Copy the plugin's source, in which the environment chooses a cell that is inverted; return where it is."""
    source = folder / "provider"
    shutil.copytree(ROOT / "provider", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    module = source / "gcpx" / "model" / "ownership.py"
    text = module.read_text().replace("import enum\n", "import enum\nimport json\nimport os\n", 1)
    module.write_text(text + _CHANGE.format(inverted=INVERTED))
    return source


def search(source: Path, cell: tuple[str, ...], programs: Iterable[int]) -> tuple[str, int, list[str]]:
    """Search with a cell inverted, or none; return what was found, after how many programs, and what they reached."""
    with tempfile.TemporaryDirectory() as folder:
        reached = Path(folder) / "reached"
        reached.touch()
        paths = (source, *sorted(source.glob("gcpx_*")), ROOT / "tests" / "support", ROOT / "tools")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "GCPX_CELL": json.dumps(cell)}
        env |= {"GCPX_REACHED": str(reached), "GRPC_VERBOSITY": "NONE", "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "ownership_search", *(["--first"] if cell else []), "--only"]
        command += map(str, programs)
        ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=folder)
        lines = reached.read_text().splitlines()
    kinds = re.findall(r"^broken: (.+): \d+$", ran.stdout, re.MULTILINE)
    tried = re.search(r"^programs: ([\d,]+)$", ran.stdout, re.MULTILINE)
    if tried is None:
        return f"the search failed: {ran.stderr[-300:]}", 0, lines
    return ", ".join(kinds), int(tried[1].replace(",", "")), lines


def programs_by_cell(lines: Iterable[str]) -> dict[tuple[str, ...], list[int]]:
    """Return which programs reach each cell, from what a search without an inverted cell has written."""
    found: dict[tuple[str, ...], list[int]] = {}
    for number, *cell in map(str.split, dict.fromkeys(lines)):
        makers = MAKERS if cell[2] == "UNTOLD" else cell[2:]  # where the maker makes no difference, it is not asked
        for maker in makers:
            found.setdefault((*cell[:2], maker), []).append(int(number))
    return found


def main() -> int:
    """Search with each cell; print what was found; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=600, help="how many programs show which cells they reach")
    parser.add_argument("--each", type=int, default=60, help="how many of those that reach a cell are tried with it")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = changed_source(Path(folder))
        found, tried, lines = search(source, (), range(given.seed, given.seed + given.programs))
        print(f"no cell: {found or 'nothing'} in {tried} programs", flush=True)
        missed, by_cell = 0, programs_by_cell(lines)
        for cell in CELLS:
            programs = list(dict.fromkeys(by_cell.get(cell, ())))
            if not programs:
                continue
            found, tried, own = search(source, cell, programs[: given.each])
            is_reached = any(line.split()[1:] == [*cell] for line in own)
            missed += is_reached and not found
            words = f"{found} after {tried} programs" if found else f"NOT FOUND in {tried} programs"
            print(f"{' '.join(cell)}: {words if is_reached else 'not reached by this maker'}", flush=True)
    print("not reached:", ", ".join(" ".join(cell) for cell in CELLS if cell not in by_cell))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
