"""What gcpx takes: modules at its start and at that of the emulator, calls and bytes for each verb, functions and memory for a Check.

All of it is counted, so that it does not depend on the machine. `tests/budgets.json` has what it may be, and
`make budgets` writes it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import rpc, struct
from samples import SAMPLES
from servers.emulated import Emulated, running
from servers.surroundings import make_surroundings
from values.programs import PROJECT
from values.sample import Sample

import gcpx
from gcpx.protocol.engine import EngineLog
from gcpx.protocol.servicer import Servicer
from gcpx.provider import Provider

FILE: Final = Path(__file__).parents[2] / "budgets.json"
_ALLOWANCE: Final = 1.1
"""What may be more at a start and in a Check, because versions of Python differ."""
Counts = dict[str, Any]
_TEMPLATE: Final = "gcpx:compute:InstanceTemplate"
_URN: Final = f"urn:pulumi:dev::test::{_TEMPLATE}::web"
_START: Final = """
import sys
import grpc, grpc._server
from gcpx.protocol import proto
known = set(sys.modules)
from gcpx.__main__ import main
from gcpx.protocol.server import start
from gcpx.provider import Provider
server, port = start(Provider(), None)
print(len(set(sys.modules) - known))
from google.protobuf import json_format, struct_pb2
known |= {"google.protobuf.json_format"}
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    stub, message = proto.provider_grpc.ResourceProviderStub(channel), proto.provider
    inputs = json_format.Parse(sys.argv[1], struct_pb2.Struct())
    about = {"urn": sys.argv[2], "type": sys.argv[3]}
    stub.CheckConfig(message.CheckRequest(urn="urn:pulumi:dev::test::pulumi:providers:gcpx::p"), wait_for_ready=True)
    stub.Configure(message.ConfigureRequest())
    stub.Check(message.CheckRequest(news=inputs, **about))
    stub.Create(message.CreateRequest(properties=inputs, preview=True, **about))
print(len(set(sys.modules) - known))
server.stop(None)
"""


_EMULATOR_START = """
import asyncio, json, os, sys
read = set()
def note(event, values):
    if event == "open" and str(values[0]).endswith(".json"):
        read.add(values[0])
sys.addaudithook(note)
known = set(sys.modules)
from gcpx_emulator.__main__ import main
import uvicorn
from gcpx_emulator.app import application
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.terminal_log import TerminalLog
answered = []
async def receive():
    return {"type": "http.request", "body": b"", "more_body": False}
async def send(message):
    answered.append(message.get("status"))
path = "/compute/v1/projects/demo-project/zones/us-east1-b/instances"
scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
         "query_string": b"", "headers": [(b"host", b"localhost")], "scheme": "http", "server": ("localhost", 80)}
asyncio.run(application(Emulator())(scope, receive, send))
assert answered[0] == 200, answered
print(len(set(sys.modules) - known), sum(map(os.path.getsize, read)) // 1000)
"""


def large_template() -> dict[str, Any]:
    """Return the inputs of a template of about 5 KB, with which nothing is wrong."""
    script = "#!/bin/sh\n" + "echo 'the first line of many'\n" * 20
    disks = [
        {
            "boot": number == 0,
            "autoDelete": True,
            "deviceName": f"disk-{number}",
            "initializeParams": {
                "sourceImage": "projects/debian-cloud/global/images/family/debian-12",
                "diskSizeGb": 20 + number,
                "diskType": "pd-balanced",
                "labels": {"team": "web", "number": str(number)},
            },
        }
        for number in range(8)
    ]
    interfaces = [
        {
            "network": f"projects/{PROJECT}/global/networks/network-{number}",
            "subnetwork": f"projects/{PROJECT}/regions/us-east1/subnetworks/subnetwork-{number}",
            "accessConfigs": [{"name": "External NAT", "networkTier": "PREMIUM"}],
        }
        for number in range(4)
    ]
    return {
        "name": "web",
        "project": PROJECT,
        "properties": {
            "machineType": "e2-standard-4",
            "disks": disks,
            "networkInterfaces": interfaces,
            "labels": {f"label-{number}": f"value-{number}" for number in range(20)},
            "metadata": {"items": [{"key": "startup-script", "value": script}]},
            "tags": {"items": [f"tag-{number}" for number in range(10)]},
            "scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"},
        },
    }


def at_start() -> Counts:
    """Count the modules that a plugin loads besides gRPC and Pulumi's messages."""
    handshake, preview = map(int, _apart(_START, json.dumps(large_template()), _URN, _TEMPLATE).split())
    return {"modules at the Handshake": handshake, "modules after a preview of a template": preview}


def at_start_of_the_emulator() -> Counts:
    """Count what an emulator loads until it has answered its first request: modules, and kilobytes of API descriptions."""
    modules, kilobytes = map(int, _apart(_EMULATOR_START).split())
    return {"modules at the first answer": modules, "kilobytes of API descriptions": kilobytes}


def of_a_check() -> Counts:
    """Count what a Check of a template of 5 KB takes after the first one: functions of gcpx, and kilobytes."""
    found: Counts = json.loads(
        _apart("import json; from records import budgets; print(json.dumps(budgets.of_a_check_here()))")
    )
    return found


def _apart(code: str, *arguments: str) -> str:
    """Run code in a process of its own, where no other test has loaded a module or has a thread that takes memory."""
    command = [sys.executable, "-c", code, *arguments]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout


def of_a_check_here() -> Counts:
    """Count what `of_a_check` tells, in this process."""
    servicer = Servicer(Provider(), EngineLog())
    servicer.Configure(rpc.ConfigureRequest(args=struct({"project": PROJECT})), None)
    request = rpc.CheckRequest(urn=_URN, type=_TEMPLATE, news=struct(large_template()))

    def check() -> None:
        assert not servicer.Check(request, None).failures

    check()
    tracemalloc.start()
    check()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"functions called": _functions(check), "kilobytes": -(-peak // 1000)}


def _functions(work: Callable[[], object]) -> int:
    """Count the functions of gcpx that are called; versions of Python differ in whether a comprehension is one."""
    ours = str(Path(gcpx.__file__).parent)
    return sum(code.co_filename.startswith(ours) and not code.co_name.startswith("<") for code in called(work))


def called(work: Callable[[], object]) -> list[CodeType]:
    """Return the code of each Python function that is called, once for each call."""
    found: list[CodeType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.append(frame.f_code)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def of_verbs(cloud: Emulated, sample: Sample) -> Counts:
    """Count the calls of each verb of a sample's programs by API method, and the bytes of their bodies."""
    found: Counts = {}
    for name, program in sample.programs.items():
        make_surroundings(cloud)
        with driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=cloud.host) as engine:
            with _counting(cloud, found, f"{name}: create"):
                made = engine.create(sample.token, "kept", program.inputs)
            with _counting(cloud, found, f"{name}: read"):
                engine.refresh(made)
            for change, steps in program.updates.items():
                inputs = program.inputs
                for step in steps if isinstance(steps, tuple) else (steps,):
                    inputs = {key: value for key, value in (inputs | step).items() if value is not None}
                    with _counting(cloud, found, f"{name}: {change}"):
                        made = engine.update(made, inputs)
            with _counting(cloud, found, f"{name}: delete"):
                engine.delete(made)
    return found


@contextmanager
def _counting(cloud: Emulated, found: Counts, name: str) -> Iterator[None]:
    """Count what is sent in the block."""
    cloud.emulator.requests.kept.clear()
    yield
    entries = list(cloud.emulator.requests.kept)
    calls = Counter(entry["method"] for entry in entries)
    sent = sum(len(json.dumps(entry["body"])) for entry in entries if entry["body"] is not None)
    found[name] = {**dict(sorted(calls.items())), "bytes sent": sent}


def budgets() -> Counts:
    """Read what gcpx may take."""
    found: Counts = json.loads(FILE.read_text())
    return found


def _all() -> Iterator[tuple[str, Counts]]:
    counted = {"start": at_start(), "start of the emulator": at_start_of_the_emulator(), "check": of_a_check()}
    for name, counts in counted.items():
        yield name, {what: math.ceil(count * _ALLOWANCE) for what, count in counts.items()}
    with running() as cloud:
        for token, sample in SAMPLES.items():
            yield token, of_verbs(cloud, sample)


if __name__ == "__main__":
    FILE.write_text(json.dumps(dict(_all()), indent=1) + "\n")
