"""Replays the recorded sessions of the real engine, and compares the plugin's responses with the recorded ones."""

from __future__ import annotations

import json
import re

from driver import rpc
from google.protobuf import empty_pb2, json_format
from programs import FULL_IMAGE_NAMES
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
GENERATED = {
    "creationTimestamp": _TIME,
    "labelFingerprint": _FINGERPRINT,
    "natIP": _ADDRESS,
    "networkIP": _ADDRESS,
    "numericId": _NUMBER,
    "operationGroupId": r"[0-9a-f]{8}-[0-9a-f-]{27}",
    "selfLinkUnique": r"https://\S+\?uniqueId=\d+",
}
"""The form of the values that Google generates anew, by property; a change of any other value is an error."""
ADDED = {"runningCount": lambda recorded: recorded["createdCount"], "shortfalls": lambda _: []}
"""Outputs of later versions, with the values that they have beside the recorded ones."""


class GeneratedValues:
    """Maps the generated values of the recorded session to those of this run."""

    def __init__(self):
        self.current = {}

    def replace_in(self, value):
        """Return a recorded value with the generated values of this run."""
        if isinstance(value, dict):
            return {self.replace_in(key): self.replace_in(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.replace_in(item) for item in value]
        if isinstance(value, str):
            for before, after in self.current.items():
                value = value.replace(before, after) if len(before) > 8 else after if value == before else value
        return value

    def compare(self, recorded, now, where):
        """Assert that a response equals the recorded one, and remember the values that were generated anew."""
        if isinstance(recorded, dict) and isinstance(now, dict):
            added = {key: value for key, value in now.items() if key in ADDED and key not in recorded}
            assert added == {key: ADDED[key](recorded) for key in added}, where
            now = {key: value for key, value in now.items() if key in recorded or not key.startswith("__")}
            assert recorded.keys() == now.keys() - added.keys(), where
            for key in recorded:
                self.compare(recorded[key], now[key], f"{where}.{key}")
        elif isinstance(recorded, list) and isinstance(now, list):
            assert len(recorded) == len(now), where
            for index, (before, after) in enumerate(zip(recorded, now, strict=True)):
                self.compare(before, after, f"{where}[{index}]")
        elif self.replace_in(recorded) != now and FULL_IMAGE_NAMES.get(str(recorded)) != now:
            form = GENERATED.get(where.rpartition(".")[2], r"(?!)")
            assert re.fullmatch(form, str(recorded)), f"{where}: {recorded} is {now}"
            assert re.fullmatch(form, str(now)), f"{where}: {recorded} is {now}"
            self.current[str(recorded)] = str(now)


def _send(stub, method, request):
    message = json_format.ParseDict(request, REQUESTS[method](), ignore_unknown_fields=True)
    return json_format.MessageToDict(getattr(stub, method)(message))


def replay(stub, path):
    """Send the requests of a recorded session, and assert that each gets the recorded response."""
    generated = GeneratedValues()
    for number, line in enumerate(path.read_text().splitlines()):
        entry = json.loads(line)
        if entry["method"] in {"GetSchema", "GetPluginInfo"}:
            continue  # their responses contain the version, which has changed since
        now = _send(stub, entry["method"], generated.replace_in(entry["request"]))
        generated.compare(entry["response"] or {}, now, f"call {number}, {entry['method']}")
