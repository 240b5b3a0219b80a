"""Compare settings of Pulumi's engine and its backends, with a provider that does nothing.

    PYTHONPATH=tools:tests/support .venv/bin/python benchmarks/engine_settings.py [RESOURCES] [ROUNDS] [SETTING ...]

For each setting, a stack of so many resources (300 by default) is created in a new backend. The table gives the CPU
time of the CLI and of everything that it starts, and what it wrote to files, as ratios to the same without settings.
Other programs disturb CPU times little and clock times much, so clock times, which are printed for each run, only mean
something on an idle machine. PostgreSQL's own CPU time is not counted. The settings take turns, and the medians of the
rounds are compared.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import attrs
from cli import postgres
from plugin_process import nothing_plugin
from workspace import Workspace, environment, pulumi_folder

from gcpx import __version__

_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"


@attrs.frozen
class Cost:
    """What an `up` cost: seconds of CPU and of the clock, and MB that processes wrote to files."""

    cpu: float
    clock: float
    written: float


@contextmanager
def _files(folder: Path) -> Iterator[str]:
    (folder / "state").mkdir()
    yield f"file://{folder / 'state'}"


@contextmanager
def _memory(_: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="gcpx-", dir="/dev/shm") as folder:
        yield f"file://{folder}"


@contextmanager
def _database(_: Path) -> Iterator[str]:
    with postgres.running() as server:
        yield server.url


@attrs.frozen
class Setting:
    """A way to run `up`.

    Attributes:
        options: of the command.
        backend: opens a backend in a folder, and gives its URL.
    """

    variables: Mapping[str, str] = {}
    options: tuple[str, ...] = ()
    backend: Callable[[Path], AbstractContextManager[str]] = _files


SETTINGS: Final = {
    "none": Setting(),
    "one resource at a time (--parallel 1)": Setting(options=("--parallel", "1")),
    "gzip": Setting({"PULUMI_DIY_BACKEND_GZIP": "true"}),
    "zstd": Setting({"PULUMI_DIY_BACKEND_ZSTD": "true"}),
    "no checkpoint backups": Setting({"PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true"}),
    "every checkpoint is kept": Setting({"PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS": "true"}),
    "no checkpoints": Setting({"PULUMI_SKIP_CHECKPOINTS": "true"}),
    "state in memory (tmpfs)": Setting(backend=_memory),
    "PostgreSQL": Setting(backend=_database),
    "PostgreSQL, no checkpoints": Setting({"PULUMI_SKIP_CHECKPOINTS": "true"}, backend=_database),
}


def main(words: list[str]) -> None:
    """Measure the settings, and print a table."""
    count, rounds = (int(word) for word in (*words[:2], *("300", "2")[len(words[:2]) :]))
    chosen = ["none", *(words[2:] or list(SETTINGS)[1:])]
    found: dict[str, list[Cost]] = {name: [] for name in chosen}
    for _ in range(rounds):
        for name in chosen:
            found[name].append(measured(SETTINGS[name], count))
            print(f"{name:<40}{found[name][-1]}", file=sys.stderr, flush=True)
    print(
        f"\n{count} resources, {rounds} rounds\n\n| setting | CPU | written | CPU seconds |\n| --- | --- | --- | --- |"
    )
    base = _medians(found["none"])
    for name, costs in found.items():
        cost = _medians(costs)
        print(f"| {name} | {cost.cpu / base.cpu:.2f} | {cost.written / base.written:.2f} | {cost.cpu:.1f} |")


def _medians(costs: list[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*(attrs.astuple(cost) for cost in costs), strict=True)))


def measured(setting: Setting, count: int) -> Cost:
    """Create a stack of so many resources with a setting."""
    with tempfile.TemporaryDirectory(prefix="gcpx-engine-") as name:
        folder = Path(name)
        workspace = _workspace(folder, count)
        with setting.backend(folder) as url:
            variables = {**setting.variables, "PULUMI_BACKEND_URL": url}
            workspace.run("stack", "init", "dev", variables=variables)
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            workspace.run("up", "--yes", "--skip-preview", *setting.options, variables=variables)
            after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, ended - began, (after.ru_oublock - before.ru_oublock) * 512 / 1e6)


def _workspace(folder: Path, count: int) -> Workspace:
    """Prepare a program in YAML whose resources the provider that does nothing creates."""
    program = folder / "program"
    program.mkdir()
    (folder / "plugin").mkdir()
    nothing_plugin(folder / "plugin" / "pulumi-resource-gcpx")
    machine = "{machineType: e2-small, disks: [{boot: true, initializeParams: {sourceImage: family/debian-12}}]}"
    resources = "".join(
        f"  template-{number}: {{type: {_TEMPLATE}, properties: {{properties: {machine}}}}}\n"
        for number in range(count)
    )
    (program / "Pulumi.yaml").write_text(f"name: bench\nruntime: yaml\nresources:\n{resources}")
    variables = environment(pulumi_folder(), folder / "home", folder)
    workspace = Workspace(program, {**variables, "GOOGLE_PROJECT": "bench"})
    workspace.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(folder / "plugin"))
    return workspace


if __name__ == "__main__":
    main(sys.argv[1:])
