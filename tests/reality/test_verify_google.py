"""`make verify-google`, with an emulator in place of Google: it finds planted differences, and deletes what it creates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from engines.clock import HANGS
from engines.inventory import Inventory
from faults.assumptions import ASSUMPTIONS
from faults.other_google import Answer, replaced_by
from values.programs import PROJECT, USER
from workspace import ROOT

CLEAN = "Steps that failed: 0. Assumptions that are wrong: 0. Differences of shapes: 0. Left behind: 0."
PLANTED = {
    "a repeated request ID is refused with 409": "| a repeated request ID returns | the same operation, DONE | refused with 409 duplicate |",
    "filters by clientOperationId are ignored": "| a filter of operations by clientOperationId | finds only what fits | is ignored |",
    "filters by operationGroupId find nothing": "| a filter of operations by operationGroupId | finds only what fits | finds nothing |",
    "wait is 404": "| operations.wait | answers with DONE | (failed: ",
    "paths refuse numeric IDs with 400": "| a deletion by numeric ID is | accepted | refused with 400 invalid |",
    "types of operations have no collection": "| the type of the operation of compute.regionInstanceTemplates.insert | compute.regionInstanceTemplates.insert | insert |",
    "bulk creations have no status of each location": "| a bulk creation has a status of each location | yes | no |",
    "OS Login answers changes with an empty object": "| OS Login answers a creation with | expirationTimeUsec, fingerprint, key, name | nothing |",
    "topics have no host": "| a notification names its topic | with the host | without the host |",
    "a field that the emulator lacks": "- compute.instanceTemplates.get 200: only Google has planted.field (text)",
    "another form of a field": "- storage.notifications.get 200: id is number at Google, and digits in the emulator",
}
"""The line of the report that shows a difference, by the name of a wrong assumption or of a shape."""


async def _other_shapes(asked, google):
    answer = await google(asked)
    if asked.method == "compute.instanceTemplates.get" and answer.status == 200:
        return Answer(200, {**answer.body, "planted": {"field": "x"}})
    if asked.method == "storage.notifications.get" and answer.status == 200:
        return Answer(200, {**answer.body, "id": int(answer.body["id"])})
    return answer


def _with_all(changes):
    """Make one change of several; each asks the one before it."""

    first, *others = changes
    if not others:
        return first
    rest = _with_all(others)

    async def change(asked, google):
        return await first(asked, lambda given: rest(given, google))

    return change


@pytest.fixture
def start(cloud, tmp_path):
    """Start the command against the emulator; what it needs is given as a user gives it."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GCPX_", "GOOGLE_"))}
    variables |= {
        "GCPX_EMULATOR_HOST": cloud.host,
        "GRPC_VERBOSITY": "NONE",
        "OSLOGIN_USER": USER,
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("tests/support", "tools")),
    }
    command = [sys.executable, "-m", "verify_google", "--project", PROJECT, "--out", str(tmp_path)]
    started = []

    def start(answer=PROJECT):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, env=variables, text=True, **pipes)
        started.append(process)
        process.stdin.write(f"{answer}\n")
        process.stdin.flush()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _ended(process):
    said, _ = process.communicate(timeout=HANGS)
    return process.returncode, said


def test_an_emulator_is_as_the_emulator_is(cloud, start, tmp_path):
    before = Inventory.of(cloud)
    code, said = _ended(start())

    assert code == 0, said
    assert CLEAN in (tmp_path / "report.md").read_text()
    assert "a few cents" in said.partition("Type the ID")[0], "the costs come before the question"
    assert Inventory.of(cloud) == before
    recorded = (tmp_path / "exchanges.json").read_text()
    assert {item["method"] for item in json.loads(recorded)} >= {
        "compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert", "compute.machineImages.setLabels",
        "compute.instances.attachDisk", "compute.regionInstances.bulkInsert", "storage.notifications.insert",
        "oslogin.users.sshPublicKeys.create", "compute.regions.list",
    }  # fmt: skip
    assert PROJECT not in recorded
    assert USER not in recorded
    assert "ssh-ed25519" not in recorded


def test_planted_differences_are_in_the_report(cloud, start, tmp_path):
    before = Inventory.of(cloud)
    changes = [item.other(cloud) for item in ASSUMPTIONS if item.name in PLANTED]
    with replaced_by(cloud, _with_all([*changes, _other_shapes])):
        code, said = _ended(start())

    assert code == 1, said
    report = (tmp_path / "report.md").read_text()
    assert [line for line in PLANTED.values() if line not in report] == []
    assert Inventory.of(cloud) == before


@pytest.mark.parametrize("moment", ["/global/instanceTemplates", "/instances/bulkInsert", "/sshPublicKeys"])
def test_an_interruption_leaves_nothing(cloud, start, moment):
    before, reached = Inventory.of(cloud), threading.Event()

    def observe(_, request):
        if request.startswith("POST") and request.endswith(moment):
            reached.set()

    with cloud.interceptor.observed(observe):
        process = start()
        assert reached.wait(HANGS)
        process.send_signal(signal.SIGINT)
        code, said = _ended(process)

    assert code == 130, said
    assert "Nothing is left." in said
    assert Inventory.of(cloud) == before


def test_an_interruption_does_not_stop_the_deletion(cloud, start):
    before, deletes = Inventory.of(cloud), threading.Event()

    def observe(_, request):
        if request.startswith("DELETE") and "/notificationConfigs" not in request and "/b/" in request:
            deletes.set()

    with cloud.interceptor.observed(observe):
        process = start()
        assert deletes.wait(HANGS)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        code, said = _ended(process)

    assert code in {0, 130}, said
    assert Inventory.of(cloud) == before


def test_nothing_is_sent_without_consent(cloud, start):
    with cloud.interceptor.observed() as requests:
        code, said = _ended(start("another-project"))

    assert code == 2
    assert "Nothing was created." in said
    assert requests == []
