"""Inverts each cell of the table of ownership, and tells what finds it: the tests of the cells, and random programs.

Each cell is inverted in a changed copy of the plugin's source, in processes of their own. The tests stop at the first
failure. Of the random programs, some hundred show first which cells they reach; then each cell is tried with those that
reach it, until the oracle finds something. A cell that nothing reaches is one that no resource asks for.
`make planted-faults` runs this.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import attrs

from gcpx.model.ownership import TABLE, Maker

ROOT: Final = Path(__file__).resolve().parents[1]
ANY: Final = "ANY"
"""The maker of cells whose answer does not depend on it."""
CELLS: Final = tuple(
    (known.name, shown.name, maker)
    for (known, shown), owners in TABLE.items()
    for maker in ([one.name for one in Maker] if len(set(owners)) > 1 else [ANY])
)
"""The cells of the table: what is known, what is shown, who made it, if that makes a difference."""
TESTS: Final = tuple(f"tests/provider/test_{name}.py" for name in ("ownership", "whose_it_is", "replacing_options"))
"""The tests of the cells."""
INVERTED: Final = {"NOBODY": "OURS", "OURS": "THEIRS", "ENTRY": "OURS", "THEIRS": "OURS", "UNKNOWN": "OURS"}
"""What each owner becomes if its cell is inverted."""
_CHANGE: Final = '''

_INVERTED = {inverted!r}
_WRONG = json.loads(os.environ["GCPX_CELL"])
_table_owner = owner


def owner(known, shown, maker):
    """Decide as the table says, except for one cell; write down which cells were reached."""
    row = TABLE[known, shown]
    made = Maker.UNTOLD if len(set(row)) == 1 else maker()
    found, cell = row[list(Maker).index(made)], [known.name, shown.name, {any!r} if len(set(row)) == 1 else made.name]
    with open(os.environ["GCPX_REACHED"], "a") as file:
        print(os.environ.get("GCPX_PROGRAM", "0"), *cell, file=file)
    return Owner[_INVERTED[found.name]] if cell == _WRONG else found
'''


def changed_source(folder: Path) -> Path:
    """Copy the plugin's source, in which the environment chooses a cell that is inverted; return where it is."""
    source = folder / "provider"
    shutil.copytree(ROOT / "provider", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    module = source / "gcpx" / "model" / "ownership.py"
    text = module.read_text().replace("import enum\n", "import enum\nimport json\nimport os\n", 1)
    module.write_text(text + _CHANGE.format(inverted=INVERTED, any=ANY))
    return source


@attrs.frozen
class Run:
    """A run of tests or programs with a cell inverted, or none.

    Attributes:
        found: what it found; empty if nothing.
        reached: the number of a program, and a cell that it reached, in each line.
    """

    found: str
    reached: tuple[tuple[str, ...], ...]
    output: str

    @classmethod
    def of(cls, source: Path, cell: tuple[str, ...], arguments: Iterable[str], found: Callable[[str], str]) -> Run:
        """Run a module of Python with the changed source; `found` reads from its output what it found."""
        with tempfile.TemporaryDirectory() as folder:
            reached = Path(folder) / "reached"
            reached.touch()
            paths = (source, *sorted(source.glob("gcpx_*")), ROOT / "tests" / "support", ROOT / "tools")
            env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "GCPX_CELL": json.dumps(cell)}
            env |= {"GCPX_REACHED": str(reached), "GRPC_VERBOSITY": "NONE", "PYTHONHASHSEED": "0"}
            command = [sys.executable, "-m", *arguments]
            ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=ROOT)
            lines = dict.fromkeys(reached.read_text().splitlines())
        return cls(found(ran.stdout), tuple(tuple(line.split()) for line in lines), ran.stdout + ran.stderr[-500:])


def tested(source: Path, cell: tuple[str, ...]) -> Run:
    """Run the tests of the cells."""

    def first_failure(output: str) -> str:
        return next(iter(re.findall(r"^(?:FAILED|ERROR) \S+::(\S+)", output, re.MULTILINE)), "")

    return Run.of(source, cell, ("pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS), first_failure)


def searched(source: Path, cell: tuple[str, ...], programs: Iterable[int]) -> Run:
    """Run random programs, until the oracle finds something if a cell is inverted."""

    def broken(output: str) -> str:
        return ", ".join(re.findall(r"^broken: (.+): \d+$", output, re.MULTILINE))

    arguments = ("ownership_search", *(["--first"] if cell else []), "--only", *map(str, programs))
    return Run.of(source, cell, arguments, broken)


def main() -> int:
    """Try each cell; print what was found; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=600, help="how many programs show which cells they reach")
    parser.add_argument("--each", type=int, default=60, help="how many of those that reach a cell are tried with it")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = changed_source(Path(folder))
        usual, tests = searched(source, (), range(given.seed, given.seed + given.programs)), tested(source, ())
        print(f"no cell: {usual.found or 'nothing'}, {tests.found or 'nothing'}", flush=True)
        for cell in CELLS:
            programs = [int(number) for number, *one in usual.reached if tuple(one) == cell][: given.each]
            is_tested = cell in {one[1:] for one in tests.reached}
            by_tests = tested(source, cell).found if is_tested else ""
            by_programs = searched(source, cell, programs).found if programs else ""
            missed += not (by_tests or by_programs) and bool(is_tested or programs)
            words = by_tests or ("NOT FOUND" if is_tested else "not reached")
            print(f"{' '.join(cell)}: tests: {words}; {len(programs)} programs: {by_programs or 'nothing'}", flush=True)
    return 1 if missed or usual.found or tests.found else 0


if __name__ == "__main__":
    sys.exit(main())
