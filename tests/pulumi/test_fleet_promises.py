"""Under the real CLI, an update of a fleet does what its preview has said, seen from outside at every request."""

from __future__ import annotations

import re
from collections import Counter

import attrs
import pytest
from cli.killed_cli import killed_up
from cli.yaml_program import Stack
from rolling.fleets import instance_path
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, BROKEN, rolling
from servers.emulated import Emulated
from values.programs import FLEET

pytestmark = pytest.mark.pulumi
DELETE, STOP, START = (f"compute.instances.{name}" for name in ("delete", "stop", "start"))
CREATE = "/instances/bulkInsert"
MEDIUM = {"machineType": "e2-medium"}


@attrs.define
class Watched:
    """A stack with one fleet, and the emulator's own view of its instances.

    Attributes:
        unbalanced: by how much the numbers of instances in the zones differed most between batches of the last run;
            the deletions of a batch reach Google in any order.
    """

    stack: Stack
    cloud: Emulated
    unbalanced: int = 0

    def up(self, inputs, *, fails=False, **others):
        """Run `pulumi up` with its preview; return what it prints, and the fewest members that ran and were ready."""
        self.stack.write(workers={"type": FLEET, "properties": inputs}, **others)
        fewest, self.unbalanced = [], 0
        self.cloud.emulator.requests.kept.clear()

        def observe(_number, request):
            fewest.append(self.ready())
            if request.endswith(CREATE):
                self.unbalanced = max(self.unbalanced, self.unbalance())

        with self.cloud.interceptor.observed(observe):
            done = self.stack.workspace.run("up", "--yes", check=not fails)
        self.instances()
        self.unbalanced = max(self.unbalanced, self.unbalance())
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

    def zones(self):
        """Count the instances in each of the three zones."""
        found = Counter(body["zone"][-1] for _, body in self.cloud.emulator.store.of_kind("instances"))
        return sorted(found[letter] for letter in "bcd")

    def unbalance(self):
        """Return by how much the numbers of instances in the zones differ."""
        fewest, _, most = self.zones()
        return most - fewest

    def instances(self):
        self.cloud.emulator.operations.settle()
        return {body["name"]: body for _, body in self.cloud.emulator.store.of_kind("instances")}

    def ready(self):
        """Count the instances that run and, if instances report that they are ready, have done so."""
        found = [body for _, body in self.cloud.emulator.store.of_kind("instances")]
        reports = self.cloud.get("guest-attributes/all") is not None
        return sum(
            body["status"] == "RUNNING"
            and (not reports or body.get("_guestAttributes", {}).get("app/state") == "ready")
            for body in found
        )

    def boot(self, state):
        """Say what instances report when they have booted."""
        self.cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": state}})

    def ids(self):
        return {name: body["id"] for name, body in self.instances().items()}

    def touched(self, method):
        """Return the IDs of the members to which requests of a method were sent, in their order."""
        return [request["path"].split("/instances/")[1].split("/")[0] for request in self.cloud.requests(method)]


@pytest.fixture
def watched(stack, cloud):
    return Watched(stack, cloud)


def test_a_member_that_cannot_be_stopped_keeps_no_other_member_stopped(watched, cloud):
    policy = {"maxUnavailable": 4}
    watched.up(rolling(4, policy))
    cloud.fail(STOP, operation=BROKEN)
    said, _ = watched.up(rolling(4, policy, **MEDIUM), fails=True)
    changed = [name for name, body in watched.instances().items() if body["machineType"].endswith("/e2-medium")]
    assert len(changed) == 3
    assert {body["status"] for body in watched.instances().values()} == {"RUNNING"}
    assert "stop" in said

    watched.up(rolling(4, policy, **MEDIUM))
    assert all(body["machineType"].endswith("/e2-medium") for body in watched.instances().values())
    assert len(watched.touched(STOP)) == 1, "the others are left alone"


def test_a_protected_member_keeps_no_other_member_from_being_replaced(watched, cloud):
    policy = {"maxUnavailable": 2}
    watched.up(rolling(4, policy))
    before = watched.ids()
    cloud.change(instance_path("web-002"), lambda body: body.update(deletionProtection=True))
    said, fewest = watched.up(rolling(4, policy, **BIGGER_DISK), fails=True)
    assert "web-002" in said
    assert set(watched.ids().values()) & set(before.values()) == {before["web-002"]}
    assert len(watched.ids()) == 4
    assert fewest >= 2

    cloud.change(instance_path("web-002"), lambda body: body.update(deletionProtection=False))
    watched.up(rolling(4, policy, **BIGGER_DISK))
    assert before["web-002"] not in watched.ids().values()


def test_the_member_that_is_not_ready_is_changed_first_when_a_bad_version_is_mended(watched, cloud):
    policy = {"maxUnavailable": 1, "ready": {"guestAttribute": "app/state=ready", "within": 1}}
    watched.boot("ready")
    watched.up(rolling(5, policy, **ATTRIBUTES))
    watched.boot("broken")
    said, fewest = watched.up(rolling(5, policy, **MEDIUM, **ATTRIBUTES), fails=True)
    assert "not ready within 1 second" in said
    assert len(watched.touched(STOP)) == 1
    assert fewest == 4

    watched.boot("ready")
    cloud.change(instance_path("web-001"), lambda body: body.update(_guestAttributes={"app/state": "ready"}))
    cloud.change(instance_path("web-003"), lambda body: body.update(_guestAttributes={"app/state": "broken"}))
    said, fewest = watched.up(rolling(5, policy, machineType="e2-standard-2", **ATTRIBUTES))
    assert "at least 4 of 5 members run at any time" in said
    assert watched.touched(STOP)[0] == watched.ids()["web-003"]
    assert fewest == 4


def test_instances_of_others_with_the_same_labels_are_named_and_left_alone(watched, cloud):
    watched.up(rolling(2))
    labels = cloud.get(instance_path("web-001"))["labels"]
    copied = cloud.make_instance("a-copy")
    cloud.change(copied, lambda body: body.update(labels=labels))
    before = cloud.get(copied)
    said, _ = watched.up(rolling(2, labels={"tier": "web"}))
    assert "a-copy" in said
    assert cloud.get(copied) == before
    assert len(watched.ids()) == 3

    watched.stack.workspace.run("destroy", "--yes")
    assert list(watched.ids()) == ["a-copy"]
    assert cloud.get(copied) == before


@pytest.mark.parametrize("label", [{}, {"gcpx-generation": "00000000-00000000-00000000"}], ids=["removed", "changed"])
def test_a_scale_in_deletes_whom_the_preview_has_named_although_a_label_was_edited(watched, cloud, label):
    watched.up(rolling(5))
    before = watched.ids()
    labels = {
        name: text for name, text in cloud.get(instance_path("web-001"))["labels"].items() if name != "gcpx-generation"
    }
    cloud.change(instance_path("web-001"), lambda body: body.update(labels={**labels, **label}))
    said, _ = watched.up(rolling(4))
    assert "1 member is deleted: web-005" in said
    assert watched.ids() == {name: number for name, number in before.items() if name != "web-005"}
    assert ("web-001: the label gcpx-generation shows other properties" in said) == bool(label)

    said, _ = watched.up(rolling(4, labels={"tier": "web"}))
    assert "replaced" not in said
    assert before["web-001"] in watched.ids().values()
    assert len(watched.ids()) == 4


def test_a_scale_in_deletes_nobody_else_if_the_named_member_is_no_longer_found(watched, cloud):
    watched.up(rolling(5))
    before = watched.ids()
    cloud.change(instance_path("web-005"), lambda body: body.update(labels={"gcpx-bulk": "another"}))
    said, _ = watched.up(rolling(4))
    assert "1 member is deleted: web-005" in said
    assert before == watched.ids()


def test_a_paused_fleet_deletes_whom_the_preview_has_named_although_another_member_has_stopped(watched, cloud):
    watched.up(rolling(5, {"pauseAfter": 1}))
    before = watched.ids()
    cloud.change(instance_path("web-002"), lambda body: body.update(status="TERMINATED"))
    said, _ = watched.up(rolling(4, {"pauseAfter": 1}))
    assert "1 member is deleted: web-005" in said
    assert before.keys() - watched.ids().keys() == {"web-005"}


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


def test_a_balanced_fleet_stays_balanced_when_it_is_replaced_and_when_it_shrinks(watched):
    balanced = {"locationPolicy": {"targetShape": "BALANCED"}}
    watched.up(rolling(9, **balanced))
    assert watched.zones() == [3, 3, 3]
    watched.up(rolling(9, {"maxUnavailable": 3}, **balanced, **BIGGER_DISK))
    assert watched.zones() == [3, 3, 3]
    assert watched.unbalanced <= 1
    watched.up(rolling(5, **balanced, **BIGGER_DISK))
    assert watched.zones() == [1, 2, 2]
    watched.up(rolling(3, **balanced, **BIGGER_DISK))
    assert watched.zones() == [1, 1, 1]
    assert watched.unbalanced <= 1
    watched.up(rolling(5, {"maxSurge": 2}, **balanced))
    assert watched.zones() == [1, 2, 2]
    assert watched.unbalanced <= 1


def test_chosen_members_are_restarted_and_others_are_not(watched):
    watched.up(rolling(4))
    ids = watched.ids()
    action = {"action": "RESTART", "members": [ids["web-002"], ids["web-004"]], "trigger": "first"}
    said, fewest = watched.up(rolling(4, rollingAction=action))
    assert "2 members are restarted: web-002, web-004" in said
    assert watched.touched(STOP) == action["members"]
    assert fewest == 3
    watched.stack.workspace.run("preview", "--expect-no-changes")
    watched.stack.workspace.run("up", "--yes", "--refresh", "--expect-no-changes")
