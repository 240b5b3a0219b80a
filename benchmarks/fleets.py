"""Fleets of up to 20,000 instances: what each change costs, and the plugin's CPU time and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
import httpx
from google.protobuf.struct_pb2 import Struct
from measurement import SUBNETWORK, Measured, Row, make_subnetwork, measured
from plugin_process import OURS, Process
from sizes import sized
from workspace import emulator

from gcpx.protocol import proto
from gcpx.protocol.wire import encode

SIZES: Final = sized((1_000, 5_000, 20_000), (10, 12))
_FLEET: Final = "gcpx:compute:BulkInstances"
_URN: Final = f"urn:pulumi:dev::bench::{_FLEET}::many"
_LATENCY: Final = sized(3.0, 0.01)
"""The seconds that each operation takes."""
_BESIDE: Final = 0.5
"""The seconds that a creation of 1,000 instances may take beside the operation."""
_ONE_BY_ONE: Final = sized(5, 1)
"""How many members are changed one after the other; each further one costs as much."""
_MOST_ROLLED: Final = SIZES[0]
"""The largest fleet for which every change is measured; a restart of larger ones takes many minutes here."""
_OF_LARGE_FLEETS: Final = (
    "create",
    "refresh",
    "change a label",
    f"replace {_ONE_BY_ONE} one by one",
    "replace the others, 25 % at a time",
    "delete",
)


@attrs.frozen
class Change:
    """A change of a fleet: its cost, the plugin's seconds of CPU, and the plugin's highest memory until then in MiB."""

    name: str
    size: int
    measured: Measured
    cpu: float
    memory: float

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        cost = attrs.asdict(self.measured.cost)
        return {"name": self.name, "size": self.size, **cost, "cpu": self.cpu, "memory": self.memory}

    def lines(self) -> Iterator[str]:
        """Describe the change, and the calls by method."""
        cost = self.measured.cost
        name = f"{self.name}, {self.size:,} members"
        traffic = f"{cost.calls:7,} calls {cost.sent / 1000:9,.0f} kB sent {cost.received / 1000:11,.0f} kB received"
        yield f"{name:<44}{traffic}   {cost.seconds:7.1f} s, plugin {self.cpu:6.1f} s of CPU, {self.memory:4.0f} MiB"
        for method, total in sorted(self.measured.methods.items(), key=lambda item: -item[1]["calls"]):
            short = method.removeprefix("compute.")
            yield (
                f"    {short:<40}{total['calls']:7,} calls {total['sent'] / 1000:9,.0f} kB sent "
                f"{total['received'] / 1000:11,.0f} kB received"
            )


def changes(sizes: tuple[int, ...] = SIZES) -> Iterator[Change]:
    """Measure every change of fleets of these sizes, each in a plugin and an emulator of its own."""
    for size in sizes:
        with emulator("--latency", str(_LATENCY)) as host:
            fleet = _Fleet(_configured(host), host, size)
            yield from fleet.life()
            fleet.process.close()


def creation() -> Row:
    """Compare the time of a creation, without its operation, with the limit.

    That is the best of three, because other work on the machine only adds time.
    """
    return Row(
        f"create, {SIZES[0]:,} members, without operation", min(_beside() for _ in range(3)), _BESIDE, "s", "limit", 1.0
    )


def _configured(host: str) -> Process:
    """Start a plugin for an emulator, and create a subnetwork with room for all members."""
    process = Process(str(OURS))
    make_subnetwork(host)
    process.stub.Configure(proto.provider.ConfigureRequest(args=encode({"project": "p", "emulatorHost": host})))
    return process


def _beside() -> float:
    """Time a creation until its request arrives, and again from the first list of the members.

    That includes the emulator's responses to lists. What the emulator needs to start and end the operation is left out.
    """
    with emulator("--latency", str(_LATENCY)) as host:
        process = _configured(host)
        inputs = _inputs(SIZES[0])
        process.stub.Check(proto.provider.CheckRequest(urn=_URN, news=inputs, type=_FLEET))  # as the engine does
        began = time.time()
        process.stub.Create(proto.provider.CreateRequest(urn=_URN, properties=inputs, type=_FLEET))
        finished = time.time()
        requests = httpx.get(f"http://{host}/_emulator/requests", trust_env=False).json()
        process.close()
    first = {entry["method"].removeprefix("compute."): entry["time"] for entry in reversed(requests)}
    return float(first["regionInstances.bulkInsert"] - began + finished - first["instances.list"])


def _inputs(count: int, policy: dict[str, Any] | None = None, **properties: Any) -> Struct:
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    network = {"subnetwork": SUBNETWORK}
    made = {"machineType": "e2-small", "disks": [disk], "networkInterfaces": [network], **properties}
    place = {"region": "us-east1", "fleetId": "many", "namePattern": "m-#####"}
    rolling = {"updatePolicy": {**(policy or {"maxUnavailable": "25%"})}}
    spread = {"locationPolicy": {"targetShape": "BALANCED"}}
    return encode({"count": count, "instanceProperties": made, **place, **spread, **rolling})


@attrs.define
class _Fleet:
    """A fleet of a plugin.

    Attributes:
        inputs: those of the last creation or update.
    """

    process: Process
    host: str
    size: int
    id: str = ""
    inputs: Struct = attrs.Factory(Struct)
    outputs: Struct = attrs.Factory(Struct)

    def life(self) -> Iterator[Change]:
        """Create, change and delete the fleet."""
        labels, size = {"labels": {"team": "web"}}, self.size
        one_by_one = {"pauseAfter": _ONE_BY_ONE}
        restarted = {**labels, "minCpuPlatform": "Intel Ice Lake"}
        replaced = {**restarted, "canIpForward": True}
        steps: dict[str, Callable[[], None]] = {
            "create": lambda: self._create(_inputs(size)),
            "refresh": self._refresh,
            "change a label": lambda: self._update(_inputs(size, **labels)),
            "add 10 %": lambda: self._update(_inputs(size * 11 // 10, **labels)),
            "remove them": lambda: self._update(_inputs(size, **labels)),
            f"restart {_ONE_BY_ONE} one by one": lambda: self._update(_inputs(size, one_by_one, **restarted)),
            "restart the others, 25 % at a time": lambda: self._update(_inputs(size, **restarted)),
            f"replace {_ONE_BY_ONE} one by one": lambda: self._update(_inputs(size, one_by_one, **replaced)),
            "replace the others, 25 % at a time": lambda: self._update(_inputs(size, **replaced)),
            "delete": self._delete,
        }
        if size > _MOST_ROLLED:
            steps = {name: step for name, step in steps.items() if name in _OF_LARGE_FLEETS}
        for name, step in steps.items():
            before = self.process.cpu()
            found = measured(self.host, step)
            yield Change(name, size, found, self.process.cpu() - before, self.process.highest_memory())

    def _create(self, news: Struct) -> None:
        request = proto.provider.CreateRequest(urn=_URN, properties=news, type=_FLEET)
        made = self.process.stub.Create(request)
        self.id, self.inputs, self.outputs = made.id, news, made.properties

    def _refresh(self) -> None:
        request = proto.provider.ReadRequest(
            id=self.id, urn=_URN, inputs=self.inputs, properties=self.outputs, type=_FLEET
        )
        self.process.stub.Read(request)

    def _update(self, news: Struct) -> None:
        request = proto.provider.UpdateRequest(
            id=self.id, urn=_URN, olds=self.outputs, old_inputs=self.inputs, news=news, type=_FLEET
        )
        self.inputs, self.outputs = news, self.process.stub.Update(request).properties

    def _delete(self) -> None:
        request = proto.provider.DeleteRequest(
            id=self.id, urn=_URN, properties=self.outputs, old_inputs=self.inputs, type=_FLEET
        )
        self.process.stub.Delete(request)
