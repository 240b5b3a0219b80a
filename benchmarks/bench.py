"""Measure gcpx beside other ways to do the same; `make bench` runs this.

Machines are shared, so only ratios within one run are meaningful. The contenders take turns, and medians are compared.
Each row has the figure of gcpx, another one, their ratio and, if there is one, the goal of the ratio. The results are
kept in build/bench.json and, when every part has been measured, written into docs/benchmarks.md and its charts.
`bench.py PART ...` measures some parts again, and keeps the others.
"""

from __future__ import annotations

import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import checks
import emulators
import fleets
import lookups
import many
import report
import stacks
from generate import package_schema
from measurement import Row, pages_and_one
from plugin_process import NOTHING, OURS, Process
from sizes import sized
from workspace import emulator

from gcpx.protocol import proto
from gcpx.protocol.wire import encode
from release import archive_check, plugin_archive

_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"
_ROUNDS: Final = sized(15, 1)


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


def processes(rounds: int) -> Iterator[Row]:
    """Compare the start time and the memory with those of the provider that does nothing."""
    ours, nothing = _measured(rounds, [str(OURS)], [sys.executable, str(NOTHING)])
    yield Row("plugin: start to Handshake", ours.start, nothing.start, "ms", "nothing", 0.6)
    yield Row("plugin: memory after a preview", ours.memory, nothing.memory, "MiB", "nothing", 1.3)


def archive(rounds: int) -> Iterator[Row]:
    """Build the archive, compare the start of its plugin with that of the wheel's script, and tell its size."""
    with tempfile.TemporaryDirectory(prefix="gcpx-bench-") as folder:
        root = Path(folder)
        packed = plugin_archive.write(root, package_schema.text())
        archive_check.unpack(packed, root / "unpacked")
        frozen, wheel = _measured(rounds, [str(root / "unpacked" / plugin_archive.NAME)], [str(OURS)])
        yield Row("archive: start to Handshake", frozen.start, wheel.start, "ms", "script of the wheel", 1.2)
        yield Row("archive: memory after a preview", frozen.memory, wheel.memory, "MiB", "script of the wheel", 1.3)
        size = sum(path.stat().st_size for path in (root / "unpacked").rglob("*") if path.is_file())
        yield Row("archive: size", packed.stat().st_size / 1e6, size / 1e6, "MB", "unpacked")


@attrs.frozen
class Plugin:
    """The medians of a plugin's measurements: milliseconds, and MiB."""

    start: float
    memory: float


def _measured(rounds: int, *commands: list[str]) -> list[Plugin]:
    """Start plugins in turn, and make the calls of a preview."""
    found: list[list[tuple[float, float]]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, measurements in zip(commands, found, strict=True):
            process = Process(*command)
            _preview_one_template(process)
            measurements.append((process.start, process.memory()))
            process.close()
    return [Plugin(*map(statistics.median, zip(*measurements, strict=True))) for measurements in found]


def stack_rows(costs: stacks.Costs, size: int) -> Iterator[Row]:
    """Compare the time of each verb with that of the other contenders, and count calls."""
    templates = f"{size:,} template{'s' if size > 1 else ''}"
    for verb in (verb for verb in (*stacks.VERBS, stacks.BUSY) if ("gcpx", size, verb) in costs):
        ours = costs["gcpx", size, verb]
        for other in ("nothing", "dynamic", "script"):
            if (other, size, verb) in costs:
                goal = 1.0 if other == "nothing" and verb in ("preview", stacks.BUSY) else None
                theirs = costs[other, size, verb]
                yield Row(f"{verb}, {templates}", ours.seconds, theirs.seconds, "s", other, goal)
    if ("gcpx", size, stacks.ALL_AT_ONCE) not in costs:
        return
    for verb in stacks.VERBS[1:]:
        ours, dynamic = costs["gcpx", size, verb], costs["dynamic", size, verb]
        yield Row(f"{verb}, {templates}: calls", ours.calls, dynamic.calls, "calls", "dynamic")
    ours, pages = costs["gcpx", size, stacks.ALL_AT_ONCE], pages_and_one(size)
    yield Row(f"{stacks.ALL_AT_ONCE}, {templates}: calls", ours.calls, pages, "calls", "first read and pages", 1.0)


def _plugin() -> Part:
    return Part(processes(_ROUNDS))


def _stacks() -> Part:
    costs: stacks.Costs = {}

    def rows() -> Iterator[Row]:
        with tempfile.TemporaryDirectory(prefix="gcpx-bench-") as folder:
            for size in stacks.SIZES:
                costs.update(stacks.costs(Path(folder), size))
                yield from stack_rows(costs, size)

    def data() -> list[Any]:
        return [
            {"contender": contender, "size": size, "verb": verb, **attrs.asdict(cost)}
            for (contender, size, verb), cost in costs.items()
        ]

    return Part(rows(), data)


def _many() -> Part:
    found: list[many.Many] = []

    def rows() -> Iterator[Row]:
        for parallel in many.PARALLEL:
            these = list(many.costs(parallel))
            found.extend(these)
            yield from many.rows(these)
        yield from many.previews()

    return Part(rows(), lambda: [attrs.asdict(one) for one in found])


def _fleets() -> Part:
    changes: list[fleets.Change] = []

    def rows() -> Iterator[Row]:
        yield fleets.creation()
        for change in fleets.changes():
            changes.append(change)
            print("\n".join(change.lines()), flush=True)

    return Part(rows(), lambda: [change.as_json() for change in changes])


def _lists() -> Part:
    listed = look_ups()
    return Part(lookups.growth(listed), lambda: [attrs.asdict(one) for one in listed])


def _tokens() -> Part:
    verified = list(lookups.tokens())
    return Part(lookups.verification(verified), lambda: [attrs.asdict(one) for one in verified])


def _checks() -> Part:
    return Part([checks.checks()])


def _emulator() -> Part:
    return Part(emulators.rows())


def _archive() -> Part:
    return Part(archive(_ROUNDS))


@attrs.frozen
class Part:
    """A part of the benchmarks: its rows, each measured when it is asked for, and then what its charts show."""

    rows: Iterable[Row]
    data: Callable[[], list[Any]] = list


PARTS: Final = {
    "plugin": _plugin,
    "checks": _checks,
    "stacks": _stacks,
    "many": _many,
    "fleets": _fleets,
    "lists": _lists,
    "tokens": _tokens,
    "emulator": _emulator,
    "archive": _archive,
}


def main(words: list[str]) -> None:
    """Measure all parts, or those that are named; print the results, and write them into the documentation."""
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        sys.exit(f"bench: {unknown[0]} is not a part of the benchmarks; choose from {', '.join(PARTS)}")
    # A shell may start this with SIGINT ignored, and commands inherit that: the CLI ends language hosts by this signal,
    # and would wait five seconds for each.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in words or PARTS:
        part, rows = PARTS[name](), []
        for row in part.rows:
            rows.append(row.as_json())
            print(row, flush=True)
        report.keep(name, {"rows": rows, "data": part.data()})
    report.write(PARTS)


def look_ups() -> list[lookups.Timed]:
    """Time lists against a separate emulator."""
    with emulator() as host:
        process = Process(str(OURS))
        try:
            return list(lookups.lists(process.stub, host))
        finally:
            process.close()


if __name__ == "__main__":
    main(sys.argv[1:])
