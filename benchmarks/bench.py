"""Compare gcpx with a provider that does nothing; `make bench` runs this.

Machines are shared, so only ratios within one run are meaningful. The providers take turns, and medians are compared.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs
import checks
import fleets
import lookups
from generate import package_schema
from plugin_process import Process
from workspace import ROOT, SCRIPTS, Workspace, emulator

from gcpx import __version__
from gcpx.protocol import proto
from gcpx.protocol.wire import encode
from release import archive_check, plugin_archive

_SCRIPT: Final = SCRIPTS / "pulumi-resource-gcpx"
_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"
_PROGRAM: Final = """
import pulumi
import pulumi_gcpx as gcpx

for number in range(pulumi.Config().require_int("count")):
    gcpx.compute.InstanceTemplate(
        f"template-{number}",
        properties={
            "machine_type": "e2-small",
            "disks": [{"boot": True, "initialize_params": {"source_image": "family/debian-12"}}],
            "network_interfaces": [{"network": "default"}],
            "labels": {"number": str(number)},
        },
    )
"""


@attrs.frozen
class Row:
    """A measurement of both providers, and the limit of their ratio."""

    name: str
    ours: float
    nothing: float
    limit: float
    unit: str

    def __str__(self) -> str:
        """Format the measurement with its verdict."""
        ratio = self.ours / self.nothing
        verdict = "ok" if ratio <= self.limit else "OVER"
        values = f"{self.ours:9.1f} {self.unit:<3} {self.nothing:9.1f} {self.unit:<3}"
        return f"{self.name:<38}{values} {ratio:6.2f}x   at most {self.limit:.2f}x  {verdict}"


def _preview_one_template(process: Process) -> None:
    """Make the calls of a preview of one template."""
    message = proto.provider
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    news = encode({"name": "web", "properties": {"machineType": "e2-small", "disks": [disk]}})
    urn = f"urn:pulumi:dev::bench::{_TEMPLATE}::web"
    process.stub.CheckConfig(message.CheckRequest(urn="urn:pulumi:dev::b::pulumi:providers:gcpx::p"))
    process.stub.Configure(message.ConfigureRequest(args=encode({"project": "p", "emulatorHost": "127.0.0.1:1"})))
    process.stub.Check(message.CheckRequest(urn=urn, news=news, type=_TEMPLATE))
    process.stub.Diff(message.DiffRequest(urn=urn, olds=news, old_inputs=news, news=news, type=_TEMPLATE))
    process.stub.Create(message.CreateRequest(urn=urn, properties=news, type=_TEMPLATE, preview=True))


def processes(rounds: int) -> tuple[Row, Row]:
    """Compare the start time and the memory."""
    ours, nothing = _measured(rounds, [str(_SCRIPT)], [sys.executable, str(_here("noop.py"))])
    return (
        Row("plugin start to Handshake", ours.start, nothing.start, 1.5, "ms"),
        Row("plugin memory after a preview's calls", ours.memory, nothing.memory, 1.3, "MiB"),
    )


def archive(root: Path, rounds: int) -> Iterator[object]:
    """Build the archive, compare the start of its plugin with that of the wheel's script, and tell its size."""
    root.mkdir()
    packed = plugin_archive.write(root, package_schema.text())
    archive_check.unpack(packed, root / "unpacked")
    frozen, wheel = _measured(rounds, [str(root / "unpacked" / plugin_archive.NAME)], [str(_SCRIPT)])
    yield "The plugin of the archive beside the script of the wheel:"
    yield Row("plugin start to Handshake", frozen.start, wheel.start, 1.2, "ms")
    yield Row("plugin memory after a preview's calls", frozen.memory, wheel.memory, 1.3, "MiB")
    size = sum(path.stat().st_size for path in (root / "unpacked").rglob("*") if path.is_file())
    yield f"{'archive':<38}{packed.stat().st_size / 1e6:9.1f} MB  {size / 1e6:9.1f} MB unpacked"


@attrs.frozen
class Measured:
    """The medians of a plugin's measurements: milliseconds, and MiB."""

    start: float
    memory: float


def _measured(rounds: int, *commands: list[str]) -> list[Measured]:
    """Start plugins in turn, and make the calls of a preview."""
    found: list[list[tuple[float, float]]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, measurements in zip(commands, found, strict=True):
            process = Process(*command)
            _preview_one_template(process)
            measurements.append((process.start, process.memory()))
            process.close()
    return [Measured(*map(statistics.median, zip(*measurements, strict=True))) for measurements in found]


def previews(root: Path, count: int, rounds: int) -> Row:
    """Compare previews of `count` new templates under the real CLI."""
    ours, nothing = _workspace(root / "ours", count, _ours), _workspace(root / "nothing", count, nothing_plugin)
    times: dict[str, list[float]] = {"ours": [], "nothing": []}
    for _ in range(rounds):
        for name, workspace in (("ours", ours), ("nothing", nothing)):
            begun = time.perf_counter()
            workspace.run("preview")
            times[name].append(time.perf_counter() - begun)
    middle = statistics.median
    plural = "s" if count > 1 else ""
    return Row(f"preview of {count:,} template{plural}", middle(times["ours"]), middle(times["nothing"]), 1.15, "s")


def _workspace(root: Path, count: int, plugin: Callable[[Path], None]) -> Workspace:
    program = root / "source"
    program.mkdir(parents=True)
    (program / "Pulumi.yaml").write_text("name: bench\nruntime: python\n")
    (program / "__main__.py").write_text(_PROGRAM)
    (root / "plugin").mkdir()
    plugin(root / "plugin" / "pulumi-resource-gcpx")
    workspace = Workspace.make(program, root, "127.0.0.1:1", root / "home")
    workspace.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(root / "plugin"))
    workspace.run("config", "set", "count", str(count))
    return workspace


def _ours(path: Path) -> None:
    shutil.copy(_SCRIPT, path)


def nothing_plugin(path: Path) -> None:
    """Write a plugin that does nothing."""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {_here("noop.py")} "$@"\n')
    path.chmod(0o755)


def _here(name: str) -> Path:
    return ROOT / "benchmarks" / name


def look_ups() -> Iterator[str]:
    """Time lists against a separate emulator."""
    with emulator() as host:
        process = Process(str(_SCRIPT))
        yield from lookups.lists(process.stub, host)
        process.close()


def main() -> None:
    """Run the benchmarks and print their results."""
    print(f"{'':<38}{'gcpx':>9} {'':<3} {'nothing':>9} {'':<3} {'ratio':>7}")
    with tempfile.TemporaryDirectory(prefix="gcpx-bench-") as folder:
        for row in processes(15):
            print(row, flush=True)
        print(previews(Path(folder) / "one", 1, 7), flush=True)
        print(previews(Path(folder) / "many", 1000, 3), flush=True)
    for line in (*fleets.fleets(), *look_ups(), *lookups.tokens(), *checks.checks()):
        print(line, flush=True)
    with tempfile.TemporaryDirectory(prefix="gcpx-bench-") as folder:
        for row in archive(Path(folder) / "archive", 15):
            print(row, flush=True)


if __name__ == "__main__":
    main()
