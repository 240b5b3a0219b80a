"""Runs random programs, faults, cancellations and crashes for MINUTES, an environment variable.

It alternates between the state machine of the tests and one plugin in a process of its own, which must not leak
memory. It prints every broken promise, and the figures at the end. Everything stays on this machine's loopback.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Final

from engines.plugin_process import PluginProcess, plugin_process
from engines.promises import KINDS, BrokenPromise
from engines.stack import Program, Stack
from engines.stack_programs import FAULTS, PROGRAMS
from engines.stacks_machine import StacksMachine
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from servers import emulated
from values import programs

_SLICE: Final = 20
"""The number of examples between samples of the memory and checks of the time."""
_WARM_UP: Final = 2
"""The number of samples until the plugin has loaded all of its modules."""
_GROWTH: Final = 1.1
"""The allowed growth of memory from the first sample after the warm-up to the last one."""
_ONE_FAULT: Final = FAULTS.map(lambda fault: {**fault, "times": 1})
"""A fault that happens only once, because the process really waits before it tries again."""


def _options(examples: int) -> settings:
    """Return settings for new random examples, without a search for a smaller one after a failure."""
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        stateful_step_count=12,
        suppress_health_check=list(HealthCheck),
    )


def _live_in_process(cloud: emulated.Emulated, plugin: PluginProcess, figures: Counter[str]) -> None:
    """Run several programs of a stack with the plugin's process, with a fault in the first run."""

    @given(st.tuples(PROGRAMS, PROGRAMS), st.none() | _ONE_FAULT)
    @_options(_SLICE // 2)
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
        figures["examples"] += 1

    live()


def _counting(step: Callable[[], None], figures: Counter[str]) -> None:
    """Do something; count and print the promises that it breaks."""
    try:
        step()
    except BrokenPromise as broken:
        figures[broken.kind] += 1
        traceback.print_exception(broken)
    except Exception as error:  # noqa: BLE001 - a soak goes on after any failure, and reports it
        figures["not reached"] += 1
        traceback.print_exception(error)


def _print_figures(figures: Counter[str], plugin: PluginProcess, longest_wait: float) -> bool:
    """Print the closing figures; return whether all promises were kept."""
    first, last, peak = plugin.samples[:_WARM_UP][-1], plugin.samples[-1], max(plugin.samples)
    is_flat = last <= first * _GROWTH
    happened = ("runs", "examples", "faults", "crash", "crash after", "cancel", "pending")
    print(", ".join(f"{name}: {figures[name]:,}" for name in happened))
    print(", ".join(f"{kind}: {figures[kind]}" for kind in KINDS))
    print(f"longest wait of one call, by its own clock: {longest_wait:.0f} s")
    print(f"memory of the plugin in MiB: first {first:.1f}, last {last:.1f}, peak {peak:.1f}")
    return is_flat and not any(figures[kind] for kind in KINDS)


def main() -> int:
    """Run until the time is over; return the exit code."""
    ends, figures = time.monotonic() + 60 * float(os.environ.get("MINUTES") or 30), Counter[str]()
    with emulated.running() as cloud, plugin_process(project=programs.PROJECT, emulatorHost=cloud.host) as plugin:
        machine = type("Machine", (StacksMachine,), {"cloud": cloud, "figures": figures, "waits": []})
        while time.monotonic() < ends:
            _counting(lambda: _live_in_process(cloud, plugin, figures), figures)
            plugin.sample()
            _counting(lambda: run_state_machine_as_test(machine, settings=_options(_SLICE)), figures)
        return 0 if _print_figures(figures, plugin, max(machine.waits, default=0.0)) else 1


if __name__ == "__main__":
    sys.exit(main())
