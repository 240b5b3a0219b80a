"""Sessions of the real engine, recorded once: the same calls still get the same answers."""

from __future__ import annotations

import json
import re

import demo
import driver
import pytest
from driver import rpc
from google.protobuf import empty_pb2, json_format
from programs import PROJECT, WRITTEN_OUT
from workspace import ROOT

SESSIONS = sorted((ROOT / "tests" / "recorded").glob("*/session.jsonl"))
REQUESTS = {
    "Cancel": empty_pb2.Empty,
    "Check": rpc.CheckRequest,
    "CheckConfig": rpc.CheckRequest,
    "Configure": rpc.ConfigureRequest,
    "Create": rpc.CreateRequest,
    "Delete": rpc.DeleteRequest,
    "Diff": rpc.DiffRequest,
    "DiffConfig": rpc.DiffRequest,
    "GetPluginInfo": empty_pb2.Empty,
    "GetSchema": rpc.GetSchemaRequest,
    "Handshake": rpc.ProviderHandshakeRequest,
    "Read": rpc.ReadRequest,
    "Update": rpc.UpdateRequest,
}
_TIME, _NUMBER, _FINGERPRINT, _ADDRESS = r"\d{4}-\d\d-\d\dT.*", r"\d+", r"[A-Za-z0-9+/]{11}=", r"\d+(\.\d+){3}"
MADE_UP = {
    "creationTimestamp": _TIME,
    "labelFingerprint": _FINGERPRINT,
    "natIP": _ADDRESS,
    "networkIP": _ADDRESS,
    "numericId": _NUMBER,
    "operationGroupId": r"[0-9a-f]{8}-[0-9a-f-]{27}",
    "selfLinkUnique": r"https://\S+\?uniqueId=\d+",
}
"""What Google makes up anew, by property, and how it looks; whatever else changes is a mistake."""


class Memory:
    """What a recorded text is called this time."""

    def __init__(self):
        self.now = {}

    def told(self, value):
        """Write a recorded value as it is this time."""
        if isinstance(value, dict):
            return {self.told(key): self.told(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.told(item) for item in value]
        if isinstance(value, str):
            for before, after in self.now.items():
                value = value.replace(before, after) if len(before) > 8 else after if value == before else value
        return value

    def compare(self, recorded, now, where):
        """Hold an answer to the recorded one, and learn what is made up anew."""
        if isinstance(recorded, dict) and isinstance(now, dict):
            assert recorded.keys() == now.keys(), where
            for key in recorded:
                self.compare(recorded[key], now[key], f"{where}.{key}")
        elif isinstance(recorded, list) and isinstance(now, list):
            assert len(recorded) == len(now), where
            for index, (before, after) in enumerate(zip(recorded, now, strict=True)):
                self.compare(before, after, f"{where}[{index}]")
        elif self.told(recorded) != now and WRITTEN_OUT.get(str(recorded)) != now:
            form = MADE_UP.get(where.rpartition(".")[2], r"(?!)")
            assert re.fullmatch(form, str(recorded)), f"{where}: {recorded} is {now}"
            assert re.fullmatch(form, str(now)), f"{where}: {recorded} is {now}"
            self.now[str(recorded)] = str(now)


def _answer(stub, method, request):
    message = json_format.ParseDict(request, REQUESTS[method](), ignore_unknown_fields=True)
    return json_format.MessageToDict(getattr(stub, method)(message))


def test_there_is_a_recording():
    assert SESSIONS
    methods = {json.loads(line)["method"] for path in SESSIONS for line in path.read_text().splitlines()}
    assert methods >= {"Handshake", "CheckConfig", "Configure", "Check", "Diff", "Create", "Read", "Update", "Delete"}


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parent.name)
def test_a_recorded_session_is_answered_as_before(cloud, path, monkeypatch):
    cloud.emulator.store.reset()
    demo.prepare(cloud.host)
    monkeypatch.setenv("GCPX_EMULATOR_HOST", cloud.host)
    monkeypatch.setenv("GOOGLE_PROJECT", PROJECT)
    memory = Memory()
    with driver.engine() as engine:
        for number, line in enumerate(path.read_text().splitlines()):
            entry = json.loads(line)
            if entry["method"] in {"GetSchema", "GetPluginInfo"}:
                continue  # they tell the version, which is another one
            now = _answer(engine.stub, entry["method"], memory.told(entry["request"]))
            memory.compare(entry["response"] or {}, now, f"call {number}, {entry['method']}")
