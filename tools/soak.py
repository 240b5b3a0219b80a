"""Runs random programs, judged by the oracle of ownership; prints broken promises, and the figures at the end.

For `--minutes`, it alternates between random programs of two stacks and one plugin in a process of its own, which must
not leak memory. With `--programs`, it runs so many programs only: `make soak PROGRAMS=1 SEED=17` repeats program 17.
Everything stays on this machine's loopback.
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
from itertools import count, islice
from typing import Final

import attrs
from engines.plugin_process import PluginProcess, plugin_process
from engines.promises import KINDS, BrokenPromise
from engines.stack import Program, Stack
from engines.stack_programs import FAULTS, PROGRAMS
from engines.stacks_machine import StacksMachine
from engines.worlds import EXPECTED
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData
from servers import emulated
from values.programs import PROJECT

_STEPS: Final = 5
"""The number of a program's steps, besides its beginning and its end."""
_WEIGHTS: Final = {"up_in_world": 6, "up_interrupted": 4, "up": 2}
"""The relative frequency of a rule."""
_ENOUGH: Final = 400
"""The number of programs after which all expected events must have occurred."""
_SLICE: Final = 20
"""The number of programs between samples of the memory and checks of the time."""
_WARM_UP: Final = 2
"""The number of samples until the plugin has loaded all of its modules."""
_GROWTH: Final = 1.1
"""The allowed growth of memory from the first sample after the warm-up to the last one."""
_ONE_FAULT: Final = FAULTS.map(lambda fault: {**fault, "times": 1})
"""A fault that happens only once, because the process really waits before it tries again."""


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

    def __str__(self) -> str:
        is_known = isinstance(self.error, BrokenPromise)
        words = f"{self.error}" if is_known else "".join(traceback.format_exception(self.error))
        steps = [re.sub(r", \w+=(\(\)|''|None|False|0)(?=[,)])", "", step) for step in self.steps]
        return "\n  ".join([f"program {self.number}: {words}", *steps])


def search(cloud: emulated.Emulated, numbers: Iterable[int], figures: Counter[str]) -> Iterator[Broken]:
    """Try the random programs of seeds, which determine them; yield those that break a promise."""
    for number in numbers:
        figures["programs"] += 1
        broken = try_program(cloud, number, figures)
        if broken is not None:
            _count(broken.error, figures)
            yield broken


def try_program(cloud: emulated.Emulated, number: int, figures: Counter[str]) -> Broken | None:
    """Run the random program of a seed; return it if it breaks a promise."""
    machine = type("Machine", (StacksMachine,), {"cloud": cloud, "figures": figures, "waits": []})()
    # Hypothesis would spend its time on small examples and on repetitions of earlier ones.
    chosen, data = random.Random(number), ConjectureData(random=random.Random(number))
    rules = {rule.function.__name__: rule for rule in machine.rules}
    names = sorted(name for name in rules for _ in range(_WEIGHTS.get(name, 1)))
    (first,) = machine._initialize_rules_to_run  # noqa: SLF001 - hypothesis has no other access
    steps: list[str] = []
    try:
        for rule in (first, *(rules[chosen.choice(names)] for _ in range(_STEPS))):
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


def _count(error: Exception, figures: Counter[str]) -> None:
    """Count an error by the promise that it breaks, or else by its type."""
    figures[f"broken: {error.kind if isinstance(error, BrokenPromise) else type(error).__name__}"] += 1


def _live_in_process(cloud: emulated.Emulated, plugin: PluginProcess, figures: Counter[str]) -> None:
    """Run several programs of a stack with the plugin's process, with a fault in the first run."""

    @given(st.tuples(PROGRAMS, PROGRAMS), st.none() | _ONE_FAULT)
    @settings(
        max_examples=_SLICE // 2,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def live(both: tuple[Program, Program], fault: dict[str, object] | None) -> None:
        cloud.reset()
        cloud.prepare()
        stack = Stack(cloud, stack_name="soak", start_plugin=plugin.connected, continues=True)
        if fault is not None:
            cloud.fail(**fault)
        for program in both:
            stack.up(program)
            stack.refresh()
        cloud.emulator.faults.queue.clear()
        stack.destroy()
        figures["runs"] += 5

    try:
        live()
    except Exception as error:  # noqa: BLE001 - a soak goes on after any failure, and reports it
        _count(error, figures)
        traceback.print_exception(error)


def _soak(cloud: emulated.Emulated, minutes: float, numbers: Iterator[int], figures: Counter[str]) -> None:
    """Alternate between random programs and the plugin's process, until the time is over."""
    ends = time.monotonic() + 60 * minutes
    with plugin_process(project=PROJECT, emulatorHost=cloud.host) as plugin:
        while time.monotonic() < ends:
            _live_in_process(cloud, plugin, figures)
            plugin.sample()
            for broken in search(cloud, islice(numbers, _SLICE), figures):
                print(broken, flush=True)
        first, last = plugin.samples[:_WARM_UP][-1], plugin.samples[-1]
        print(f"memory of the plugin in MiB: first {first:.1f}, last {last:.1f}, peak {max(plugin.samples):.1f}")
        figures["broken: memory"] += last > first * _GROWTH


def main() -> int:
    """Search, and print the figures; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    figures, used, numbers = Counter[str](), time.process_time(), count(given.seed)
    with emulated.running() as cloud:
        if given.programs:
            for broken in search(cloud, islice(numbers, given.programs), figures):
                print(broken, flush=True)
        else:
            _soak(cloud, given.minutes, numbers, figures)
    never = sorted(name for name in EXPECTED if not figures[name]) if figures["programs"] >= _ENOUGH else []
    for name in sorted(figures):
        print(f"{name}: {figures[name]:,}")
    print(", ".join(f"{kind}: {figures[f'broken: {kind}']}" for kind in KINDS))
    print(f"{time.process_time() - used:.0f} s of CPU")
    print(*(f"never occurred: {name}" for name in never), sep="\n")
    return 1 if never or any(number for name, number in figures.items() if name.startswith("broken: ")) else 0


if __name__ == "__main__":
    sys.exit(main())
