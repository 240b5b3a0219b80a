"""Many templates at once: the calls and the seconds of each verb, and previews of thousands.

The plugin is called as the engine calls it with `--parallel 8`, `100` and `1000`; the engine itself would take minutes.
It is compared with a program that sends requests of its own for each template, with httpx, in as many threads; and
previews with the provider that does nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import attrs
from google.protobuf.struct_pb2 import Struct
from measurement import Cost, Row, measured, pages_and_one
from plugin_process import NOTHING, OURS, Process
from sizes import sized
from workspace import ROOT, SCRIPTS, emulator

from gcpx.protocol import proto
from gcpx.protocol.wire import encode

PARALLEL: Final = sized((8, 100, 1000), (2, 3))
_COUNT: Final = sized(1000, 4)
_PREVIEWED: Final = sized((1000, 5000, 20000), (4,))
_BY_HAND: Final = ROOT / "benchmarks" / "programs" / "many_httpx.py"
_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"
_URN: Final = f"urn:pulumi:dev::bench::{_TEMPLATE}::template-"
_LATENCY: Final = sized(0.2, 0.01)
"""The seconds that each operation takes."""
_ENGINE_STEPS: Final = 16
"""The calls of a preview that are under way at a time."""


@attrs.frozen
class Many:
    """What a verb costs for many templates: of all together, and the median of the seconds of one of them."""

    contender: str
    parallel: int
    verb: str
    cost: Cost
    median: float


def costs(parallel: int) -> Iterator[Many]:
    """Create, refresh, import and delete many templates by each contender, so many at a time."""
    for contender, make in (("gcpx", _Plugin), ("httpx", _ByHand)):
        with emulator("--latency", str(_LATENCY)) as host:
            contestant = make(host, parallel)
            for verb in contestant.verbs:
                seconds: list[float] = []
                found = measured(host, partial(contestant.run, verb, seconds))
                yield Many(contender, parallel, verb, found.cost, sorted(seconds)[len(seconds) // 2])
            contestant.close()


def rows(found: Sequence[Many]) -> Iterator[Row]:
    """Compare with requests for each template, and the calls of reads with the pages of a list."""
    by_key = {(one.contender, one.verb): one for one in found}
    parallel, pages = found[0].parallel, pages_and_one(_COUNT)
    for verb in _Plugin.verbs:
        ours, theirs = by_key["gcpx", verb], by_key.get(("httpx", verb))
        name = f"{verb} {_COUNT:,} templates, {parallel:,} in parallel"
        if theirs is not None:
            yield Row(f"{name}: calls", ours.cost.calls, theirs.cost.calls, "calls", "httpx")
            yield Row(f"{name}: all", ours.cost.seconds, theirs.cost.seconds, "s", "httpx")
            yield Row(f"{name}: median of one", ours.median, theirs.median, "s", "httpx")
        if verb in ("refresh", "import"):
            goal = 1.0 if parallel >= _COUNT else None
            yield Row(f"{name}: calls", ours.cost.calls, pages, "calls", "first read and pages", goal)


def previews() -> Iterator[Row]:
    """Compare the calls of previews of thousands of templates with the provider that does nothing."""
    for count in _PREVIEWED:
        ours, nothing = (_previewed(count, *command) for command in ((str(OURS),), (sys.executable, str(NOTHING))))
        name = f"calls of a preview, {count:,} templates"
        yield Row(name, ours[0], nothing[0], "s", "nothing")
        yield Row(f"{name}: CPU", ours[1], nothing[1], "s", "nothing")
        yield Row(f"{name}: memory", ours[2], nothing[2], "MiB", "nothing", 1.3)


def _previewed(count: int, *command: str) -> tuple[float, float, float]:
    """Return the seconds, those of CPU, and the memory of a plugin after the calls of a preview."""
    process = _Plugin.start("127.0.0.1:1", *command)
    message, before, began = proto.provider, process.cpu(), time.perf_counter()

    def check(number: int) -> Any:
        return process.stub.Check.future(
            message.CheckRequest(urn=f"{_URN}{number}", news=_inputs(number), type=_TEMPLATE)
        )

    def create(number: int) -> Any:
        inputs = _inputs(number)
        return process.stub.Create.future(
            message.CreateRequest(urn=f"{_URN}{number}", properties=inputs, type=_TEMPLATE, preview=True)
        )

    for call in (check, create):
        _in_parallel(call, count, _ENGINE_STEPS)
    found = time.perf_counter() - began, process.cpu() - before, process.memory()
    process.close()
    return found


def _inputs(number: int) -> Struct:
    disk = {"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}
    properties = {
        "machineType": "e2-small",
        "disks": [disk],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "labels": {"number": str(number)},
    }
    return encode({"name": f"template-{number}", "properties": properties})


def _in_parallel(call: Callable[[int], Any], count: int, parallel: int) -> list[tuple[Any, float]]:
    """Begin a call for each number, so many at a time; return the answers, and the seconds of each of them."""
    free = threading.Semaphore(parallel)
    begun, ended = [0.0] * count, [0.0] * count
    calls = []
    for number in range(count):
        free.acquire()
        begun[number] = time.perf_counter()
        future = call(number)
        calls.append(future)
        future.add_done_callback(
            lambda _, number=number: (ended.__setitem__(number, time.perf_counter()), free.release())
        )
    for _ in range(parallel):
        free.acquire()
    return [(future.result(), end - begin) for future, begin, end in zip(calls, begun, ended, strict=True)]


class _Plugin:
    """The plugin, called as the engine calls it."""

    verbs: Final = ("create", "refresh", "import", "delete")

    def __init__(self, host: str, parallel: int) -> None:
        self._parallel = parallel
        self._process = self.start(host, str(OURS))
        self._inputs = [_inputs(number) for number in range(_COUNT)]
        self._made: list[Any] = []

    @staticmethod
    def start(host: str, *command: str) -> Process:
        """Start and configure a plugin, and let it load what its first calls need."""
        process = Process(*command)
        settings = encode({"project": "p", "emulatorHost": host})
        process.stub.Configure(proto.provider.ConfigureRequest(args=settings))
        process.stub.Check(proto.provider.CheckRequest(urn=f"{_URN}x", news=_inputs(0), type=_TEMPLATE))
        return process

    def run(self, verb: str, seconds: list[float]) -> None:
        """Call a verb for all templates; add the seconds of each call."""
        call = {"create": self._create, "refresh": self._refresh, "import": self._import, "delete": self._delete}[verb]
        answers = _in_parallel(call, _COUNT, self._parallel)
        if verb == "create":
            self._made = [answer for answer, _ in answers]
        seconds.extend(taken for _, taken in answers)

    def _create(self, number: int) -> Any:
        about = self._about(number)
        return self._process.stub.Create.future(proto.provider.CreateRequest(properties=self._inputs[number], **about))

    def _refresh(self, number: int) -> Any:
        made, about = self._made[number], self._about(number)
        return self._process.stub.Read.future(
            proto.provider.ReadRequest(id=made.id, inputs=self._inputs[number], properties=made.properties, **about)
        )

    def _import(self, number: int) -> Any:
        return self._process.stub.Read.future(
            proto.provider.ReadRequest(id=self._made[number].id, **self._about(number))
        )

    def _delete(self, number: int) -> Any:
        made, about = self._made[number], self._about(number)
        return self._process.stub.Delete.future(
            proto.provider.DeleteRequest(
                id=made.id, properties=made.properties, old_inputs=self._inputs[number], **about
            )
        )

    @staticmethod
    def _about(number: int) -> dict[str, str]:
        return {"urn": f"{_URN}{number}", "type": _TEMPLATE}

    def close(self) -> None:
        """Stop the plugin."""
        self._process.close()


class _ByHand:
    """Requests for each template, in threads of a process of their own."""

    verbs: Final = ("create", "refresh", "delete")

    def __init__(self, host: str, parallel: int) -> None:
        command = [sys.executable, _BY_HAND, host, str(_COUNT), str(parallel)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=SCRIPTS)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def run(self, verb: str, seconds: list[float]) -> None:
        """Call a verb for all templates; add the seconds of each call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{verb}\n")
        self._process.stdin.flush()
        seconds.extend(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """Stop the process."""
        self._process.communicate()
