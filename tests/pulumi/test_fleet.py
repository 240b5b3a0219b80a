"""The fleet of the example under the real CLI: rolled, short of capacity, healed, parked, and interrupted on the way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from typing import Any

import attrs
import httpx
import pytest
from cli.documented import commands, run_commands, section
from cli.yaml_program import Stack
from engines.clock import HANGS
from rolling.fleets import instance_path, set_limits
from rolling.rollouts import fail_after
from values.programs import FLEET, PROJECT
from workspace import ROOT, Workspace

pytestmark = pytest.mark.pulumi
BULK, DELETE = "compute.regionInstances.bulkInsert", "compute.instances.delete"
STACK = "pulumi:pulumi:Stack"
STOP, START = "compute.instances.stop", "compute.instances.start"


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


def members_in(cloud, zone):
    return [name for name, instance in sorted(workers(cloud).items()) if instance["zone"].endswith(zone)]


def preempt(cloud, names):
    body = {"names": names, "project": PROJECT}
    response = httpx.post(f"http://{cloud.host}/_emulator/preempt", json=body, trust_env=False, timeout=HANGS)
    response.raise_for_status()


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


def test_a_release_is_rolled_to_a_canary_and_then_to_the_others_in_batches(fleet, cloud):
    before = ids(cloud)
    said = fleet.up(release="two", pauseAfter=1)
    assert ": 1 member is restarted: worker-0001" in said
    assert "- the rollout pauses when 1 of 6 members has the new properties" in said
    assert [name for name, release in releases(cloud).items() if release == "two"] == ["worker-0001"]
    assert cloud.calls(STOP, START) == [STOP, START]
    fleet.run("preview", "--expect-no-changes")

    said = fleet.up(pauseAfter=None)
    assert ": 5 members are restarted: worker-0002, worker-0003, worker-0004 and 2 more" in said
    assert "- 5 batches; at least 5 of 6 members run at any time" in said
    assert batches(said) == [f"{number}/5 restarting worker-000{number + 1}" for number in range(1, 6)]
    assert set(releases(cloud).values()) == {"two"}
    assert ids(cloud) == before, "restarted workers are the same instances"
    fleet.run("preview", "--expect-no-changes")


def test_an_image_is_rolled_by_replacing_workers_under_their_names(fleet, cloud):
    before = ids(cloud)
    said = fleet.up(count=10)
    cloud.emulator.requests.kept.clear()
    said = fleet.up(image="debian-13")

    assert ": 10 members are replaced: worker-0001, worker-0002, worker-0003 and 7 more" in said
    assert "- 5 batches; at least 8 of 10 members run at any time" in said
    assert batches(said)[0] == "1/5 replacing worker-0001, worker-0002"
    assert [request["body"]["count"] for request in cloud.requests(BULK)] == ["2"] * 5
    assert len(cloud.calls(DELETE)) == 10
    assert sorted(ids(cloud)) == [f"worker-{number:04}" for number in range(1, 11)]
    assert not set(ids(cloud).values()) & set(before.values())
    fleet.run("preview", "--expect-no-changes")


def test_a_stock_out_is_filled_by_fallbacks_and_what_is_short_is_explained(fleet, cloud):
    set_limits(cloud, zones={"us-east1-b": 6, "us-east1-c": 3})
    said = fleet.up(count=8)
    assert "warning" not in said
    assert members_in(cloud, "us-east1-c") == ["worker-0007", "worker-0008"]
    labels = [workers(cloud)[name]["labels"].get("gcpx-fallback", "") for name in ("worker-0006", "worker-0007")]
    assert [label.partition("-")[0] for label in labels] == ["", "0"]

    said = fleet.up(count=12)
    warning = said[said.index("warning: 9 of 12 instances exist; to create the others, run `pulumi up --refresh`") :]
    assert (
        "- 4 instances in us-east1-b: no capacity for e2-small, but Google reported room in us-east1-c, us-east1-d"
        in warning
    )
    assert "- 3 instances in us-east1-c: no capacity for e2-small, but Google reported room in us-east1-d" in warning
    fleet.run("preview", "--expect-no-changes")

    set_limits(cloud)
    said = fleet.up("--refresh")
    assert "what this update does: 3 instances are created" in said
    assert sorted(workers(cloud)) == [f"worker-{number:04}" for number in range(1, 13)]
    fleet.run("preview", "--expect-no-changes")


def test_preempted_workers_are_seen_with_refresh_and_started(fleet, cloud):
    before = ids(cloud)
    preempt(cloud, "worker-000[23]")
    fleet.run("preview", "--expect-no-changes")
    said = fleet.up("--refresh")

    assert "2 members are started: worker-0002 (preempted), worker-0003 (preempted)" in said
    assert ids(cloud) == before
    assert {instance["status"] for instance in workers(cloud).values()} == {"RUNNING"}
    assert cloud.calls(START) == [START, START]
    fleet.run("preview", "--refresh", "--expect-no-changes")


def test_a_worker_that_somebody_has_resized_is_seen_with_refresh_and_set_back(fleet, cloud):
    path, before = instance_path("worker-0002"), ids(cloud)
    wanted = cloud.get(path)["machineType"]
    cloud.change(path, lambda body: body.update(machineType=f"{wanted.rpartition('/')[0]}/e2-medium"))
    fleet.run("preview", "--expect-no-changes")
    refreshed = fleet.run("refresh", "--yes")
    assert "1 of 6 members differs from the program: worker-0002 (machineType)" in refreshed.stdout + refreshed.stderr

    preview = fleet.run("preview")
    assert ": 1 member is restarted: worker-0002" in preview.stdout
    assert "- 1 member is set back: worker-0002 (machineType)" in preview.stdout
    fleet.up()
    assert (cloud.get(path)["machineType"], ids(cloud)) == (wanted, before)
    fleet.run("preview", "--refresh", "--expect-no-changes")


def test_nothing_is_forgotten_while_a_zone_is_not_reached(fleet, cloud):
    zone = members_zone(cloud)
    before, created = ids(cloud), fleet.stack.resource("workers")["outputs"]
    cloud.post("/_emulator/outages", {"scopes": [zone], "alwaysPartial": True})
    for command in (["refresh", "--yes"], ["up", "--yes", "--refresh"], ["destroy", "--yes"]):
        failed = fleet.run(*command, check=False)

        assert failed.returncode, command
        assert f"it does not cover {zone}, so gcpx does not know" in failed.stdout + failed.stderr
        assert fleet.stack.resource("workers")["outputs"] == created
        assert ids(cloud) == before

    cloud.post("/_emulator/outages", {})
    fleet.run("preview", "--refresh", "--expect-no-changes")
    fleet.run("destroy", "--yes")
    assert workers(cloud) == {}


def members_zone(cloud):
    """Return the zone of the first worker, as a scope."""
    return f"zones/{min(workers(cloud).items())[1]['zone'].rpartition('/')[2]}"


def test_a_fleet_is_parked_and_comes_back(fleet, cloud):
    assert "6 members are deleted: worker-0006, worker-0005, worker-0004 and 3 more" in fleet.up(count=0)
    assert workers(cloud) == {}
    fleet.run("preview", "--refresh", "--expect-no-changes")
    assert "6 instances are created" in fleet.up(count=6)
    assert len(workers(cloud)) == 6


def test_a_rollout_can_be_targeted(fleet, cloud):
    said = fleet.up("--target", fleet.stack.resource("workers")["urn"], release="two")

    assert len(batches(said)) == 6
    assert set(releases(cloud).values()) == {"two"}
    fleet.run("preview", "--expect-no-changes")


def test_a_failed_batch_tells_why_and_the_next_up_goes_on(fleet, cloud):
    before = ids(cloud)
    set_limits(cloud, zones={"us-east1-b": 5})
    said = fleet.up(check=False, image="debian-13")
    assert "0 of 1 instances could be created:" in said
    assert "- 1 instance in us-east1-b: no capacity for e2-small" in said
    assert "5 of 6 members exist, and 0 of them have the new properties; run `pulumi up` to go on from there" in said
    assert ids(cloud).items() < before.items(), "only the first batch was touched"

    set_limits(cloud)
    said = fleet.up()
    assert ": 5 members are replaced" in said
    assert "- 1 instance is created" in said
    assert sorted(ids(cloud)) == sorted(before)
    assert not set(ids(cloud).values()) & set(before.values())
    fleet.run("preview", "--expect-no-changes")


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


def test_a_failed_rollout_is_taken_back_by_setting_the_properties_back(fleet, cloud):
    before = ids(cloud)
    fail_after(cloud, BULK, 1)
    fleet.up(check=False, image="debian-13")
    said = fleet.up(image="debian-12")

    assert ": 1 member is replaced: worker-0001" in said
    assert "- 1 instance is created" in said
    kept = {name: before[name] for name in before if name not in {"worker-0001", "worker-0002"}}
    assert kept.items() <= ids(cloud).items()
    assert sorted(ids(cloud)) == sorted(before)
    fleet.run("preview", "--refresh", "--expect-no-changes")


def test_a_machine_with_copied_labels_is_named_and_left_alone(fleet, cloud):
    before = ids(cloud)
    labels = workers(cloud)["worker-0001"]["labels"]
    cloud.change(cloud.make_instance("a-copy"), lambda body: body.update(labels=labels))
    copied = workers(cloud)["a-copy"]
    fleet.configure(count=4)
    previewed = fleet.run("preview")
    assert "2 members are deleted: worker-0006, worker-0005" in previewed.stdout + previewed.stderr
    said = fleet.up()
    assert "1 instance matches the label gcpx-bulk=" in said
    assert "is not a member of this fleet" in said
    assert "a-copy" in said
    assert before.items() - ids(cloud).items() == {(name, before[name]) for name in ("worker-0005", "worker-0006")}
    fleet.run("preview", "--refresh", "--expect-no-changes")

    destroyed = fleet.run("destroy", "--yes")
    assert "a-copy" in destroyed.stdout + destroyed.stderr
    assert workers(cloud) == {"a-copy": copied}
