"""The commands of docs/recovering.md recover, and its messages are those that a user sees."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import httpx
import pytest
from cli.documented import commands, messages, run_commands
from engines import driver
from engines.clock import HANGS
from values.programs import FLEET, KEY, PROJECT, TEMPLATE, fleet, key, template
from workspace import ROOT

pytestmark = [pytest.mark.pulumi, pytest.mark.languages]
GUIDE = "docs/recovering.md"
TEMPLATES = f"projects/{PROJECT}/global/instanceTemplates"
WEB = {"type": TEMPLATE, "properties": template()}
WORKERS = {"type": FLEET, "properties": fleet(2)}


def _words(text):
    return " ".join(text.split())


def _assert_quoted(heading, said, number=0):
    """Assert that a message of a section was said; what stands for an ellipsis may be anything."""
    parts = [re.escape(part.strip()) for part in _words(messages(GUIDE, heading)[number]).split("...")]

    assert re.search(".*?".join(parts), _words(said)), said


def _recover(stack, heading):
    said = run_commands(stack.workspace, commands(GUIDE, heading))
    stack.assert_no_changes()
    return said


def _children(up, *, plugins):
    """Return the plugins of a running CLI, or its other children; it may have started a plugin more than once."""
    found = [pid for path in Path(f"/proc/{up.pid}/task").glob("*/children") for pid in path.read_text().split()]
    return [int(pid) for pid in found if (b"pulumi-resource-gcpx" in _command(pid)) == plugins]


def _command(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def _up(stack):
    """Run `pulumi up` in the background."""
    command = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--color", "never"]
    environment = {**os.environ, **stack.workspace.variables}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=stack.workspace.program, env=environment, text=True, **streams) as up:
        yield up


@contextlib.contextmanager
def _working(stack, cloud, request=""):
    """Run `pulumi up` until Google is working on a change, or on the change by a request; the work ends after the block."""
    held, begun = threading.Event(), threading.Event()

    def watch(_, asked):
        if asked.endswith(request) and not held.is_set():
            cloud.hold_operations()
            held.set()
        if held.is_set() and "/operations/" in asked:
            begun.set()

    with cloud.interceptor.observed(watch), _up(stack) as up:
        assert begun.wait(HANGS)
        yield up
    cloud.finish_operations()


def _count(cloud):
    cloud.emulator.operations.settle()
    return len(cloud.emulator.store.list(TEMPLATES))


def test_a_command_failed(stack, cloud):
    heading = "A command failed"
    stack.write(web={**WEB, "options": {"customTimeouts": {"create": "3s"}}})
    cloud.interceptor.hold(2, "after the work")  # the first one lists what earlier runs have begun
    with _up(stack) as up:
        _assert_quoted(heading, up.communicate(timeout=HANGS)[0])
    cloud.interceptor.drain()

    assert "~ 1 updated" in _recover(stack, heading)
    assert _count(cloud) == 1


def test_interrupted(stack, cloud):
    heading = "You pressed ^C"
    stack.write(web=WORKERS)
    with _working(stack, cloud) as up:
        up.send_signal(signal.SIGINT)
        _assert_quoted(heading, up.communicate(timeout=HANGS)[0])
    _recover(stack, heading)

    assert stack.resource("web")["outputs"]["memberCount"] == 2


def test_the_cli_was_killed(stack, cloud):
    heading = "The CLI was killed"
    stack.write(web=WEB)
    with _working(stack, cloud) as up:
        _kill([up.pid, *_children(up, plugins=False)])
        up.communicate(timeout=HANGS)
    _assert_quoted(heading, stack.up_fails())
    said = _recover(stack, heading)

    _assert_quoted(heading, said, 1)
    assert "pending" not in stack.up("--expect-no-changes")
    assert _count(cloud) == 1


def test_the_plugin_was_killed(stack, cloud):
    heading = "The plugin was killed"
    stack.write(web=WEB)
    with _working(stack, cloud) as up:
        _kill(_children(up, plugins=True))
        said = up.communicate(timeout=HANGS)[0]
    first, second = messages(GUIDE, heading)[0].split("...\n")

    assert _words(first) in _words(said)
    assert _words(second) in _words(said)
    _recover(stack, heading)
    assert _count(cloud) == 1


@pytest.mark.parametrize("killed", ["the CLI", "the plugin"])
def test_a_fleet_was_being_updated(stack, cloud, killed):
    stack.write(web=WORKERS)
    stack.up()
    changed = fleet(2)
    changed["instanceProperties"]["machineType"] = "e2-medium"
    stack.write(web={"type": FLEET, "properties": changed})
    with _working(stack, cloud, "/setMachineType") as up:
        _kill(_children(up, plugins=True) if killed == "the plugin" else [up.pid, *_children(up, plugins=False)])
        up.communicate(timeout=HANGS)
    if killed == "the CLI":
        run_commands(stack.workspace, "pulumi cancel --yes")
    stack.write(web=WORKERS)
    stack.up("--expect-no-changes")

    assert "TERMINATED" in _statuses(cloud)
    _recover(stack, "A fleet was being updated")
    assert _statuses(cloud) == ["RUNNING", "RUNNING"]


def test_an_error_has_an_import_command(stack, cloud):
    heading = "An error has an import command"
    stack.write(laptop={"type": KEY, "properties": key()})
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as interrupted:
        made = interrupted.create(KEY, "laptop", key())
    _assert_quoted(heading, stack.up_fails())
    script = commands(GUIDE, heading)

    assert "FINGERPRINT" in script
    run_commands(stack.workspace, script.replace("FINGERPRINT", made.id.rpartition("/")[2]))
    stack.assert_no_changes()
    assert stack.resource("laptop")["id"] == made.id


def test_a_warning_names_something_that_is_in_no_state(stack, cloud):
    stack.write(first=WEB)
    stack.up()
    stack.write(first=WEB, web=WEB)
    with _working(stack, cloud) as up:
        _kill(_children(up, plugins=True))
        up.communicate(timeout=HANGS)
    changed = template()
    changed["properties"]["machineType"] = "e2-medium"
    stack.write(first=WEB, web={"type": TEMPLATE, "properties": changed})

    _assert_quoted("A warning names something that is in no state", stack.up())
    assert _count(cloud) == 3


def _members():
    return [f"projects/{PROJECT}/zones/us-east1-{zone}/instances" for zone in "bcd"]


def _statuses(cloud):
    cloud.emulator.operations.settle()
    return sorted(member["status"] for path in _members() for member in cloud.emulator.store.list(path))


def test_the_state_is_behind_google(stack, cloud):
    heading = "The state is out of date"
    stack.write(web=WORKERS)
    stack.up()
    zone, member = next((path, item) for path in _members() for item in cloud.emulator.store.list(path))
    httpx.delete(f"http://{cloud.host}/compute/v1/{zone}/{member['name']}", trust_env=False).raise_for_status()
    cloud.emulator.operations.settle()
    _assert_quoted(heading, stack.up())
    _recover(stack, heading)

    assert len([item for path in _members() for item in cloud.emulator.store.list(path)]) == 2


def test_an_older_state_was_restored(stack, cloud):
    stack.write(first=WEB)
    stack.up()
    run_commands(stack.workspace, "pulumi stack export --file before.json")
    stack.write(first=WEB, web=WEB)
    stack.up()
    made = stack.resource("web")["id"]
    run_commands(stack.workspace, "pulumi stack import --file before.json")
    _recover(stack, "The state is out of date")

    assert stack.resource("web")["id"] == made
    assert _count(cloud) == 2


def test_a_forced_replacement(stack):
    stack.write(web=WEB)
    stack.up()
    web = stack.resource("web")

    assert "was not replaced" in stack.up("--target-replace", web["urn"])
    steps = re.search(r"generated name \| `(.*)` \|", (ROOT / GUIDE).read_text())[1]
    run_commands(stack.workspace, steps.replace("URN", f"'{web['urn']}'"))
    assert stack.resource("web")["id"] != web["id"]
