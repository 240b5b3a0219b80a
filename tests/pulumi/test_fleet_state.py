"""Under the real CLI, what happens to the members of a fleet is in its outputs, and the program's wishes stay."""

from __future__ import annotations

import json

import pytest
from rolling.fleets import stop
from rolling.rollouts import BROKEN
from values.programs import FLEET, fleet

pytestmark = pytest.mark.pulumi
DELETE, START = "compute.instances.delete", "compute.instances.start"


def _state(stack):
    resources = json.loads(stack.workspace.run("stack", "export").stdout)["deployment"]["resources"]
    return next(item for item in resources if item["type"] == FLEET)


@pytest.mark.parametrize("options", [{"ignoreChanges": ["count"]}, {}], ids=["count ignored", "count"])
def test_a_preempted_member_is_started_whether_or_not_the_program_ignores_count(cloud, stack, options):
    stack.write(workers={"type": FLEET, "properties": fleet(5), "options": options})
    stack.up()
    stop(cloud, "web-002", "compute.instances.preempted")
    cloud.emulator.requests.kept.clear()
    stack.workspace.run("refresh", "--yes")
    assert (_state(stack)["inputs"]["count"], _state(stack)["outputs"]["count"]) == (5, 4)
    shown = stack.workspace.run("preview", "--diff").stdout
    assert "count: 4 => 5" in shown
    done = stack.workspace.run("up", "--yes", "--refresh")

    assert "1 member is started: web-002 (preempted)" in done.stdout
    assert cloud.calls(START) == [START]
    assert cloud.calls(DELETE) == []
    assert _state(stack)["outputs"]["count"] == 5
    stack.workspace.run("up", "--yes", "--refresh", "--expect-no-changes")


def _fail_to_grow(cloud, stack):
    """Run an update that starts a stopped member of two, and fails to create a third."""
    stack.write(workers={"type": FLEET, "properties": fleet(2)})
    stack.up()
    cloud.fail("compute.regionInstances.bulkInsert", operation=BROKEN)
    stop(cloud, "web-001")
    stack.write(workers={"type": FLEET, "properties": fleet(3)})
    stack.up_fails()


def test_after_a_failed_update_plain_up_sees_what_has_happened_since(cloud, stack):
    _fail_to_grow(cloud, stack)
    assert _state(stack)["refreshBeforeUpdate"] is True
    stop(cloud, "web-002", "compute.instances.preempted")
    cloud.emulator.requests.kept.clear()
    done = stack.workspace.run("up", "--yes")

    assert "1 member is started: web-002 (preempted)" in done.stdout
    assert "refreshBeforeUpdate" not in _state(stack)
    assert _state(stack)["outputs"]["runningCount"] == 3
    cloud.emulator.requests.kept.clear()
    stack.up("--expect-no-changes")
    assert cloud.calls() == [], "a fleet without a failure costs no request"
