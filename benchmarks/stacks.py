"""What stacks of more and more templates cost, beside three other ways to manage them.

Each contender makes the same templates at an emulator: gcpx; a provider that does nothing, which is the cost of Pulumi
itself; a dynamic provider in Python, which is what users write if no provider has a resource; and a script with
Google's own client, which has no state and no preview.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
from measurement import Cost, measured
from plugin_process import nothing_plugin, our_plugin
from sizes import sized
from workspace import ROOT, SCRIPTS, Workspace, emulator

from gcpx import __version__

ALL_AT_ONCE: Final = "refresh --parallel 1000"
VERBS: Final = ("preview", "up", "refresh", ALL_AT_ONCE, "destroy")
BUSY: Final = "preview on a busy machine"
"""A preview of 1,000 templates while each core has other work."""
_ROUNDS: Final[Mapping[int, int]] = sized({1: 5, 10: 3, 100: 2, 1_000: 5, 5_000: 1, 20_000: 1}, {1: 1, 2: 1})
"""How often each size is measured; the medians are compared."""
SIZES: Final = tuple(_ROUNDS)
_ONLY_PREVIEWED: Final = sized(1_000, 2)
"""From this size on, only previews are measured, because the engine itself takes minutes for the other verbs."""
_ALL_COMPARED: Final = _ONLY_PREVIEWED
"""The largest size at which the dynamic provider is measured, too."""
_LATENCY: Final = sized(0.2, 0.01)
"""The seconds that each operation takes."""
_PROGRAMS: Final = ROOT / "benchmarks" / "programs"
_COMMANDS: Final = {
    "preview": ("preview",),
    BUSY: ("preview",),
    "up": ("up", "--yes", "--skip-preview"),
    "refresh": ("refresh", "--yes", "--skip-preview"),
    ALL_AT_ONCE: ("refresh", "--yes", "--skip-preview", "--parallel", "1000"),
    "destroy": ("destroy", "--yes", "--skip-preview"),
}


Costs = dict[tuple[str, int, str], Cost]
"""Costs by contender, number of templates, and verb."""


def costs(root: Path, size: int) -> Costs:
    """Measure every contender at a size; return the medians."""
    found: dict[tuple[str, int, str], list[Cost]] = {}
    with emulator("--latency", str(_LATENCY)) as host:
        compared = _CONTENDERS if size <= _ALL_COMPARED else ("gcpx", "nothing")
        verbs = {name: _CONTENDERS[name](root / f"{name}-{size}", host, size) for name in compared}
        for _ in range(_ROUNDS[size]):
            for name, commands in verbs.items():
                for verb in _verbs(size):
                    if verb in commands:
                        with _busy_cores() if verb == BUSY else nullcontext():
                            found.setdefault((name, size, verb), []).append(measured(host, commands[verb]).cost)
    return {
        key: Cost(*map(statistics.median, zip(*map(attrs.astuple, taken), strict=True))) for key, taken in found.items()
    }


def _verbs(size: int) -> tuple[str, ...]:
    if size < _ONLY_PREVIEWED:
        return VERBS
    return ("preview", BUSY) if size == _ONLY_PREVIEWED else ("preview",)


@contextmanager
def _busy_cores() -> Iterator[None]:
    """Keep each core busy during the block."""
    cores = sized(os.cpu_count() or 1, 0)
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _stack(program: str, plugin: Callable[[Path], None] | None) -> Callable[[Path, str, int], dict[str, Any]]:
    """Return what prepares a stack of a program with a plugin, or with none, and gives a command for each verb."""

    def make(root: Path, host: str, size: int) -> dict[str, Callable[[], None]]:
        home = root / "home"
        workspace = Workspace.make(_PROGRAMS / program, root, host, home)
        if plugin is None:
            _install_dynamic_host(root)
            path = os.pathsep.join((str(root), workspace.variables["PATH"]))
            found = {"PATH": path, "PULUMI_IGNORE_AMBIENT_PLUGINS": "false"}
            workspace = attrs.evolve(workspace, variables={**workspace.variables, **found})
        else:
            (root / "plugin").mkdir()
            plugin(root / "plugin" / "pulumi-resource-gcpx")
            workspace.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(root / "plugin"))
        workspace.run("config", "set", "count", str(size))
        return {verb: _command(workspace, arguments) for verb, arguments in _COMMANDS.items()}

    return make


def _command(workspace: Workspace, arguments: tuple[str, ...]) -> Callable[[], None]:
    return lambda: (workspace.run(*arguments), None)[1]


def _install_dynamic_host(folder: Path) -> None:
    """Write the two lines by which the CLI starts dynamic providers in Python."""
    script = folder / "pulumi-resource-pulumi-python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -u -m pulumi.dynamic "$@"\n')
    script.chmod(0o755)


def _script(_: Path, host: str, size: int) -> dict[str, Callable[[], None]]:
    """Return the verbs of the script with Google's client, which has no preview."""

    def run(verb: str) -> None:
        program = _PROGRAMS / "google_client.py"
        subprocess.run([sys.executable, program, verb, host, str(size)], check=True, cwd=SCRIPTS)

    return {verb: partial(run, verb) for verb in ("up", "refresh", "destroy")}


_CONTENDERS: Final = {
    "gcpx": _stack("templates", our_plugin),
    "nothing": _stack("templates", nothing_plugin),
    "dynamic": _stack("dynamic", None),
    "script": _script,
}
