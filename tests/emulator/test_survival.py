"""`--data` after a kill at any moment: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import os
import queue
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from servers import plain_http
from values.programs import PROJECT, ZONE

from gcpx_emulator.app import application
from gcpx_emulator.core.store import Store
from gcpx_emulator.emulator import Emulator

ZONE_PATH = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}"
TOPIC = f"/v1/projects/{PROJECT}/topics/events"
SUBSCRIPTIONS = [f"/v1/projects/{PROJECT}/subscriptions/{name}" for name in ("one", "two")]
VM = f"projects/{PROJECT}/zones/{ZONE}/instances/web"
TABLES = ("resources", "operations", "pending", "counters")


def instance(name):
    """Return the body of a Spot instance with a boot disk, which is deleted with it."""
    return {
        "name": name,
        "machineType": f"zones/{ZONE}/machineTypes/e2-small",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "scheduling": {"provisioningModel": "SPOT"},
    }


BULK = {"count": "3", "namePattern": "many-#", "instanceProperties": {**instance("x"), "name": None, "machineType": "e2-small"}}  # fmt: skip
OBJECT = "/upload/storage/v1/b/uploads/o?uploadType=media&name=a.txt"
STEPS = [
    ("POST", f"/storage/v1/b?project={PROJECT}", {"name": "uploads", "versioning": {"enabled": True}}),
    ("PUT", TOPIC, {}),
    *(("PUT", path, {"topic": TOPIC.removeprefix("/v1/")}) for path in SUBSCRIPTIONS),
    ("POST", "/storage/v1/b/uploads/notificationConfigs", {"topic": f"//pubsub.googleapis.com{TOPIC.replace('/v1', '', 1)}", "payload_format": "NONE"}),
    ("POST", OBJECT, b"old"),
    ("POST", OBJECT, b"new"),
    ("DELETE", "/storage/v1/b/uploads/o/a.txt", None),
    ("POST", f"{TOPIC}:publish", {"messages": [{"data": "YQ=="}, {"data": "Yg=="}]}),
    ("POST", f"{SUBSCRIPTIONS[0]}:pull", {"maxMessages": 10}),
    ("POST", f"{ZONE_PATH}/instances", instance("web")),
    ("GET", f"{ZONE_PATH}/instances/web", None),
    ("POST", f"{ZONE_PATH}/instances/bulkInsert", BULK),
    ("POST", f"{ZONE_PATH}/instances/web/setLabels", {"labels": {"a": "b"}, "labelFingerprint": "?"}),
    ("POST", "/_emulator/preempt", {"instances": [VM]}),
    ("POST", "/_emulator/limits", {"zones": {ZONE: 10}}),
    ("DELETE", f"/_emulator/resources/{VM}", None),
    ("POST", "/_emulator/clock", {"advance": 3600}),
    ("POST", "/_emulator/reset", {}),
]  # fmt: skip


def _rows(file):
    """Return the rows of all tables, as they are after a start that recovers the file."""
    Store(str(file)).close()
    with sqlite3.connect(file) as opened:
        rows = {table: opened.execute(f"select * from {table} order by rowid").fetchall() for table in TABLES}
    opened.close()
    return rows


class Copies:
    """Copies of a store's file with its journal, each as it is before a statement."""

    def __init__(self, file, folder):
        self.file, self.folder, self.states = file, folder, []

    def take(self, _statement):
        self.states.append(self.state())

    def state(self):
        copy = self.folder / f"copy-{len(self.states)}"
        for end in ("", "-journal", "-wal"):
            source = self.file.with_name(self.file.name + end)
            if source.exists():
                shutil.copy(source, copy.with_name(copy.name + end))
        return _rows(copy)


async def _halves(client, copies, steps):
    """Carry out each step, and what the one before has begun; return those that were half done at a moment."""
    halves = []
    for method, path, body in steps:
        if "setLabels" in path:
            found = (await client.get(f"{ZONE_PATH}/instances/web")).json()
            body["labelFingerprint"] = found["labelFingerprint"]
        for request in (("GET", f"{ZONE_PATH}/operations", None), (method, path, body)):
            before = copies.state()
            copies.states.clear()
            await _sent(client, *request)
            assert copies.states, request
            after = copies.state()
            if any(state not in (before, after) for state in copies.states):
                halves.append(f"{request[0]} {request[1]} at {method} {path}")
    return halves


async def _sent(client, method, path, body):
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = await client.request(method, path, **sent)
    assert answer.is_success, (path, answer.text)


def test_at_each_statement_a_request_is_carried_out_or_not(tmp_path):
    file = tmp_path / "data.sqlite"
    store = Store(str(file))
    copies = Copies(file, tmp_path)
    store.observe(copies.take)

    async def carry_out():
        app = application(Emulator(store))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await _halves(client, copies, STEPS)

    halves = asyncio.run(carry_out())
    store.close()

    assert halves == []


class Victim:
    """An emulator in a process, which is killed."""

    def __init__(self, file):
        command = [sys.executable, "-m", "gcpx_emulator", "--data", str(file)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip().removeprefix("listening on ")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


class Writers:
    """Threads that create and delete until the emulator is killed; what they know is what was acknowledged."""

    def __init__(self, url, round_):
        self.url, self.round, self.acknowledged = url, round_, queue.Queue()
        self.present, self.absent = set(), set()

    def write(self, thread):
        number = 0
        try:
            with plain_http.client(self.url) as client:
                while True:
                    number += 1
                    self._make(client, f"r{self.round}-t{thread}-n{number}", is_deleted=number % 3 == 0)
        except httpx.TransportError:
            return

    def _make(self, client, name, *, is_deleted):
        created = client.post(f"{ZONE_PATH}/instances", json=instance(name))
        self._acknowledge(created, f"{ZONE_PATH}/instances/{name}", self.present)
        if is_deleted:
            self.present.discard(f"{ZONE_PATH}/instances/{name}")  # until the answer, either is right
            self._acknowledge(client.delete(f"{ZONE_PATH}/instances/{name}"), f"{ZONE_PATH}/instances/{name}", self.absent)  # fmt: skip
        for path in (OBJECT.replace("a.txt", name), OBJECT):
            self._acknowledge(client.post(path, content=name), f"/storage/v1/b/uploads/o/{path.partition('name=')[2]}", self.present)  # fmt: skip

    def _acknowledge(self, answer, path, known):
        assert answer.is_success, answer.text
        known.add(path)
        self.acknowledged.put(path)


def _half_there(client):
    """Return what refers to something that does not exist, or exists without what it was created with."""
    found = {kind: client.get(f"/_emulator/resources?kind={kind}").json() for kind in ("instances", "disks", "o")}
    instances, disks = found["instances"], found["disks"]
    for path, one in instances.items():
        for disk in one["disks"]:
            if disk["source"].partition("/v1/")[2] not in disks:
                yield f"{path} without its disk"
    for path, disk in disks.items():
        if not disk.get("users") or any(user.partition("/v1/")[2] not in instances for user in disk["users"]):
            yield f"{path} without its instance"


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_emulator_has_what_it_acknowledged(tmp_path):
    file, rng = tmp_path / "data.sqlite", random.Random(12)
    present, absent = set(), set()
    victim = Victim(file)
    plain_http.post(f"{victim.url}/storage/v1/b?project={PROJECT}", json=STEPS[0][2]).raise_for_status()
    for round_ in range(6):
        writers, last = Writers(victim.url, round_), rng.randrange(3, 60)
        with ThreadPoolExecutor(4) as pool:
            threads = [pool.submit(writers.write, number) for number in range(4)]
            for _ in range(last):
                writers.acknowledged.get(timeout=60)
            victim.kill()
        for thread in threads:
            thread.result()
        present |= writers.present
        absent |= writers.absent
        victim = Victim(file)
        with plain_http.client(victim.url) as client:
            assert list(_half_there(client)) == []
            assert [path for path in sorted(present) if client.get(path).status_code != 200] == []
            assert [path for path in sorted(absent) if client.get(path).status_code != 404] == []
    victim.kill()
    assert present
    assert absent
