"""Runs random programs of two stacks, judged by the oracle of ownership; prints events and broken promises.

`make ownership PROGRAMS=1 SEED=17` repeats the program 17.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import attrs
from engines.promises import KINDS, BrokenPromise
from engines.stacks_machine import StacksMachine
from engines.worlds import EXPECTED
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData
from servers import emulated
from servers.emulated import Emulated

STEPS: Final = 5
"""The number of a program's steps, besides its beginning and its end."""
_WEIGHTS: Final = {"up_in_world": 6, "up_interrupted": 4, "up": 2}
"""The relative frequency of a rule."""
_ENOUGH: Final = 400
"""The number of programs after which all expected events must have occurred."""


@attrs.frozen
class Broken:
    """A program that broke a promise.

    Attributes:
        number: the seed of the program.
        steps: its steps.
    """

    number: int
    steps: list[str]
    error: Exception

    @property
    def kind(self) -> str:
        """The name of the broken promise in `promises.KINDS`, or of another exception."""
        return self.error.kind if isinstance(self.error, BrokenPromise) else type(self.error).__name__

    def __str__(self) -> str:
        is_known = isinstance(self.error, BrokenPromise)
        words = f"{self.error}" if is_known else "".join(traceback.format_exception(self.error))
        steps = [re.sub(r", \w+=(\(\)|''|None|False|0)(?=[,)])", "", step) for step in self.steps]
        return "\n  ".join([f"program {self.number}: {words}", *steps])


def search(cloud: Emulated, numbers: Iterable[int], figures: Counter[str]) -> Iterator[Broken]:
    """Try the random programs of seeds, which determine them; yield those that break a promise."""
    for number in numbers:
        figures["programs"] += 1
        broken = try_program(cloud, number, figures)
        if broken is not None:
            figures[f"broken: {broken.kind}"] += 1
            yield broken


def try_program(cloud: Emulated, number: int, figures: Counter[str]) -> Broken | None:
    """Run the random program of a seed; return it if it breaks a promise."""
    machine = type("Machine", (StacksMachine,), {"cloud": cloud, "figures": figures, "waits": []})()
    # Hypothesis would spend its time on small examples and on repetitions of earlier ones.
    chosen, data = random.Random(number), ConjectureData(random=random.Random(number))
    rules = {rule.function.__name__: rule for rule in machine.rules}
    names = sorted(name for name in rules for _ in range(_WEIGHTS.get(name, 1)))
    (first,) = machine._initialize_rules_to_run  # noqa: SLF001 - hypothesis has no other access
    steps: list[str] = []
    try:
        for rule in (first, *(rules[chosen.choice(names)] for _ in range(STEPS))):
            with BuildContext(data, is_final=False, wrapped_test=try_program):
                given = {name: data.draw(strategy) for name, strategy in rule.arguments.items()}
            steps.append(f"{rule.function.__name__}({given})")
            rule.function(machine, **given)
    except Exception as error:  # noqa: BLE001 - the search goes on after any failure
        with contextlib.suppress(Exception):
            machine.teardown()
        return Broken(number, steps, error)
    try:
        machine.teardown()
    except Exception as error:  # noqa: BLE001 - as above
        return Broken(number, [*steps, "teardown()"], error)
    return None


def main() -> int:
    """Search, and print the figures; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    figures, began, used = Counter[str](), time.monotonic(), time.process_time()
    with emulated.running() as cloud:
        for broken in search(cloud, range(given.seed, given.seed + given.programs), figures):
            print(broken, flush=True)
    never = sorted(name for name in EXPECTED if not figures[name]) if figures["programs"] >= _ENOUGH else []
    for name in sorted(figures):
        print(f"{name}: {figures[name]:,}")
    print(", ".join(f"{kind}: {figures[f'broken: {kind}']}" for kind in KINDS))
    spent = time.process_time() - used
    print(f"{spent / figures['programs']:.2f} s of CPU a program, {time.monotonic() - began:.0f} s in all")
    print(*(f"never occurred: {name}" for name in never), sep="\n")
    return 1 if never or any(name.startswith("broken: ") for name in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
