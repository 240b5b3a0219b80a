"""Under the real CLI, an update of a fleet does what its preview has said, seen from outside at every request."""

from __future__ import annotations

import re

import attrs
import pytest
from cli.killed_cli import killed_up
from cli.yaml_program import Stack
from rolling.fleets import instance_path
from rolling.rollouts import BROKEN, rolling
from servers.emulated import Emulated
from values.programs import FLEET

pytestmark = pytest.mark.pulumi
START = "compute.instances.start"
MEDIUM = {"machineType": "e2-medium"}


@attrs.define
class Watched:
    """A stack with one fleet, and the emulator's own view of its instances."""

    stack: Stack
    cloud: Emulated

    def up(self, inputs, *, fails=False):
        """Run `pulumi up` with its preview; return what it prints, and the fewest members that ran and were ready."""
        self.stack.write(workers={"type": FLEET, "properties": inputs})
        fewest = []

        with self.cloud.interceptor.observed(lambda *_: fewest.append(self.ready())):
            done = self.stack.workspace.run("up", "--yes", check=not fails)
        assert not fails or done.returncode
        return done.stdout + done.stderr, min(fewest)

    def kill(self, inputs, end):
        """Run `pulumi up` with its preview, and kill it at the first request whose path has this end."""
        self.stack.write(workers={"type": FLEET, "properties": inputs})
        interceptor = self.cloud.interceptor

        def observe(_number, request):
            if request.endswith(end):
                interceptor.hold(how="without the work")

        with interceptor.observed(observe), killed_up(self.stack):
            interceptor.wait_until_held()
        interceptor.drain()
        self.stack.workspace.run("cancel", "--yes")  # the killed CLI has left its lock

    def instances(self):
        self.cloud.emulator.operations.settle()
        return {body["name"]: body for _, body in self.cloud.emulator.store.of_kind("instances")}

    def ready(self):
        """Count the instances that run."""
        return sum(body["status"] == "RUNNING" for _, body in self.cloud.emulator.store.of_kind("instances"))

    def ids(self):
        return {name: body["id"] for name, body in self.instances().items()}


@pytest.fixture
def watched(stack, cloud):
    return Watched(stack, cloud)


def test_a_scale_in_deletes_nobody_else_if_the_named_member_is_no_longer_found(watched, cloud):
    watched.up(rolling(5))
    before = watched.ids()
    cloud.change(instance_path("web-005"), lambda body: body.update(labels={"gcpx-bulk": "another"}))
    said, _ = watched.up(rolling(4))
    assert "1 member is deleted: web-005" in said
    assert before == watched.ids()


def promised(said):
    """Return how many members a preview says to run at any time; 0 if it says nothing."""
    found = re.search(r"at least (\d) of 6 members run at any time", said)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("failures", [1, 2])
def test_as_many_members_run_as_the_preview_has_said_although_the_fleet_keeps_stopped_ones(watched, cloud, failures):
    policy = {"maxUnavailable": 2}
    watched.up(rolling(6, policy, onStopped="KEEP"))
    cloud.fail(START, operation=BROKEN, times=failures)
    said, fewest = watched.up(rolling(6, policy, onStopped="KEEP", **MEDIUM), fails=True)
    assert fewest >= promised(said) == 4
    cloud.emulator.faults.queue.clear()

    said, fewest = watched.up(rolling(6, policy, onStopped="KEEP", **MEDIUM))
    assert fewest >= max(4, promised(said))
    assert watched.ready() == 6


@pytest.mark.parametrize("end", ["/stop", "/setMachineType", "/start"])
def test_as_many_members_run_as_the_preview_has_said_after_a_kill_of_a_fleet_that_keeps_stopped_ones(watched, end):
    inputs = rolling(6, {"maxUnavailable": 2}, onStopped="KEEP")
    watched.up(inputs)
    before = watched.ids()
    changed = rolling(6, {"maxUnavailable": 2}, onStopped="KEEP", **MEDIUM)
    watched.kill(changed, end)
    said, fewest = watched.up(changed)
    assert fewest >= promised(said) == 4
    assert watched.ready() == 6
    assert watched.ids() == before
    assert all(body["machineType"].endswith("/e2-medium") for body in watched.instances().values())


@pytest.mark.parametrize("failures", [1, 2])
def test_as_many_members_run_as_the_preview_has_said_in_a_rollback_of_a_fleet_that_keeps_stopped_ones(
    watched, cloud, failures
):
    policy = {"maxUnavailable": 2, "onFailure": "ROLL_BACK"}
    watched.up(rolling(6, policy, onStopped="KEEP"))
    before = watched.ids()
    cloud.fail(START, operation=BROKEN, times=failures)
    said, fewest = watched.up(rolling(6, policy, onStopped="KEEP", **MEDIUM), fails=True)
    assert "was rolled back" in said
    assert fewest >= promised(said) == 4
    assert watched.ready() == 6
    assert watched.ids() == before
    assert all(body["machineType"].endswith("/e2-small") for body in watched.instances().values())
