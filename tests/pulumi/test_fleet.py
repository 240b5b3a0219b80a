"""The fleet of the example under the real CLI: rolled, short of capacity, healed, parked, and interrupted on the way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from typing import Any

import attrs
import pytest
from cli.documented import commands, run_commands, section
from cli.yaml_program import Stack
from engines.clock import HANGS
from rolling.fleets import set_limits
from values.programs import FLEET, PROJECT
from workspace import ROOT, Workspace

pytestmark = pytest.mark.pulumi
STACK = "pulumi:pulumi:Stack"


@attrs.define
class Fleet:
    """The fleet of the example in Python, as a program that is data, with the example's settings."""

    stack: Stack
    settings: dict[str, Any] = attrs.Factory(lambda: {"count": 6})

    def configure(self, **settings):
        """Change settings, and write the program; None removes a setting."""
        self.settings |= settings
        self.stack.write(workers={"type": FLEET, "properties": self._inputs(**self.settings)})

    def run(self, *arguments, **more):
        return self.stack.workspace.run(*arguments, **more)

    def up(self, *options, check=True, **settings):
        """Change settings, and run `pulumi up` with its preview; return what it prints."""
        self.configure(**settings)
        done = self.run("up", "--yes", *options, check=check)
        assert check or done.returncode
        return done.stdout + done.stderr

    @staticmethod
    def _inputs(*, count, release="one", image="debian-12", pauseAfter=None, maxDeleted=None, policy=None):  # noqa: N803 - as in the program
        rolling = {"maxUnavailable": "20%", "keepNames": True, "minimalAction": "RESTART"}
        ready = {"guestAttribute": "worker/state=ready", "within": 300}
        boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": f"family/{image}"}}
        items = {"release": release, "enable-guest-attributes": "TRUE"}
        return {
            "region": "us-east1",
            "namePattern": "worker-####",
            "count": count,
            "minCount": 1,
            "locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]},
            "fallbacks": [{"zones": ["us-east1-c"]}, {"zones": ["us-east1-c"], "provisioningModel": "STANDARD"}],
            "onStopped": "START",
            **({"maxDeleted": maxDeleted} if maxDeleted else {}),
            "instanceProperties": {
                "machineType": "e2-small",
                "disks": [boot],
                "networkInterfaces": [{"network": "global/networks/default"}],
                "scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"},
                "metadata": {"items": [{"key": key, "value": value} for key, value in items.items()]},
            },
            "updatePolicy": {
                **rolling,
                "ready": ready,
                **({"pauseAfter": pauseAfter} if pauseAfter else {}),
                **(policy or {}),
            },
        }


@pytest.fixture
def fleet(cloud, stack):
    """The fleet with 6 workers, which report that they are ready when they boot."""
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"worker/state": "ready"}})
    made = Fleet(stack)
    made.configure()
    stack.up()
    cloud.emulator.requests.kept.clear()
    return made


def workers(cloud):
    """Return the instances in the emulator by name; fail if two have the same name."""
    found = [
        instance
        for zone in "bcd"
        for instance in cloud.emulator.store.list(f"projects/{PROJECT}/zones/us-east1-{zone}/instances")
    ]
    by_name = {instance["name"]: instance for instance in found}
    assert len(by_name) == len(found)
    return by_name


def ids(cloud):
    return {name: instance["id"] for name, instance in workers(cloud).items()}


def releases(cloud):
    """Return the release that each worker has in its metadata."""
    return {
        name: next(item["value"] for item in instance["metadata"]["items"] if item["key"] == "release")
        for name, instance in workers(cloud).items()
    }


def batches(said):
    """Return what each batch did, in the order of the batches: lines of progress may overtake each other."""
    found = re.findall(r"batch (\d+) of (\d+): ((?:replacing|restarting|creating|deleting) .*)", said)
    return [f"{number}/{of} {does}" for number, of, does in sorted(found, key=lambda line: int(line[0]))]


def counts(workspace):
    """Return the stack's output `count` after each update, from the history of the backend."""
    checkpoints = sorted((workspace.program.parent / "state" / ".pulumi" / "history").rglob("*.checkpoint.json"))
    found = [json.loads(path.read_text())["checkpoint"]["latest"]["resources"] for path in checkpoints]
    return [next(item["outputs"]["count"] for item in items if item["type"] == STACK) for items in found]


GUIDE = "docs/fleets.md"
QUOTED_FROM_THE_STORY = ["2. Read three lines of the preview", "Canary", "Capacity"]
QUOTED = ["A limit for deletions", "Readiness", "When a batch fails"]
"""The parts of the guide that quote messages: first those of the script, then those of the test below."""


def _own_messages(heading):
    """Return the lines of the messages that the guide quotes below a heading, without those below its subheadings."""
    own = section(GUIDE, heading).partition("\n### ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", own, re.DOTALL | re.MULTILINE)
    return [line.strip() for language, text in blocks if not language for line in text.splitlines() if line.strip()]


def _unquoted(headings, said):
    """Return the lines that the guide quotes and nothing has printed, whatever the fleet's generated ID."""
    printed = re.sub(r"workers-[0-9a-f]{7}", "workers-0a1b2c3", said)
    return [line for heading in headings for line in _own_messages(heading) if line not in printed]


def test_every_message_in_the_guide_is_compared_with_one_that_is_printed():
    headings = re.findall(r"^##+ (.*)$", (ROOT / GUIDE).read_text(), re.MULTILINE)

    assert sorted(QUOTED_FROM_THE_STORY + QUOTED) == sorted(heading for heading in headings if _own_messages(heading))


@pytest.mark.languages
def test_the_last_commands_of_the_guide_play_the_life_of_the_fleet(cloud, tmp_path, pulumi_home):
    workspace = Workspace.make(ROOT / "examples" / "fleet", tmp_path, cloud.host, pulumi_home)
    begin, _, steps = commands(GUIDE, "Try it").partition("pulumi stack init dev\n")
    assert "cp -r examples/fleet" in begin
    said = run_commands(workspace, steps)
    acts = dict(act.split("\n", 1) for act in said.split("\n=== ")[1:])

    assert _unquoted(QUOTED_FROM_THE_STORY, said) == []
    short = next(text for title, text in acts.items() if title.startswith("scale to 20"))
    assert counts(workspace) == [10, 10, 15, 15, 15, 18, 20, 20, 20, 0, 20], said
    assert "the rollout has paused: 1 of 15 members has" in acts["roll out the next release to one worker"]
    assert len(batches(acts["roll it out to the others"])) == 5
    assert "- 2 instances in us-east1-c: no capacity for e2-small" in short
    assert "2 members are started: worker-0002" in acts["heal after Google has preempted two"]
    assert len(batches(acts["roll out another image"])) == 5
    assert len(workers(cloud)) == 20
    workspace.run("preview", "--expect-no-changes")


def test_the_messages_that_the_guide_quotes_are_printed(fleet, cloud):
    said = fleet.up(check=False, count=3, maxDeleted="20%")
    set_limits(cloud, zones={"us-east1-b": 5})
    said += fleet.up(check=False, count=6, image="debian-13", maxDeleted=None, policy={})
    set_limits(cloud)
    fleet.up()
    broken = {"ready": {"guestAttribute": "worker/state=working", "within": 1}}
    said += fleet.up(check=False, release="two", policy=broken)
    assert _unquoted(QUOTED, said) == []


def test_an_interrupted_rollout_is_continued_by_the_next_up(fleet, cloud):
    before = ids(cloud)
    fleet.up(release="two", pauseAfter=1)
    fleet.configure(pauseAfter=None)
    cloud.hold_operations()
    command = ["pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--color", "never"]
    environment = {**os.environ, **fleet.stack.workspace.variables}
    with subprocess.Popen(
        command, cwd=fleet.stack.workspace.program, env=environment, stdout=subprocess.PIPE, text=True
    ) as rollout:
        assert rollout.stdout is not None
        lines = iter(rollout.stdout)
        begun = next(line for line in lines if "batch 1 of 5: restarting worker-0002" in line)
        rollout.send_signal(signal.SIGINT)
        said = begun + "".join(lines)
        assert rollout.wait(timeout=HANGS)
    assert "cancelled" in said
    assert "run `pulumi up` to go on" in said
    cloud.finish_operations()

    said = fleet.up()
    assert "5 members are restarted" in said
    assert set(releases(cloud).values()) == {"two"}
    assert {instance["status"] for instance in workers(cloud).values()} == {"RUNNING"}
    assert ids(cloud) == before
    fleet.run("preview", "--refresh", "--expect-no-changes")
