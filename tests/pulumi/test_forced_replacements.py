"""A forced replacement under the real CLI never deletes what the state still needs, however many runs it takes.

`tests/ownership/test_replace_by_force.py` tries the same with every resource, without and with a refresh in any order.
"""

from __future__ import annotations

import pytest
from samples import SAMPLES
from values.programs import ATTACHMENT, IMAGE, KEY, TEMPLATE, image, template

pytestmark = [pytest.mark.pulumi, pytest.mark.usefixtures("no_pauses")]
TOKENS = {"attachment": ATTACHMENT, "key": KEY}
LIVES = {name: life for sample in SAMPLES.values() for name, life in sample.lives.items() if name in TOKENS}
PROGRAM = {name: {"type": TOKENS[name], "properties": life.inputs} for name, life in LIVES.items()}
FAILING = {"type": TEMPLATE, "properties": template(), "options": {"dependsOn": [f"${{{name}}}" for name in TOKENS]}}
"""A resource that comes after the others, so that a run fails between their creation and the deletion of the old ones."""
KEY_READ = SAMPLES["ssh_key"].read_method
ONE_BY_ONE = ["--refresh", "--parallel", "1"]
"""Options with which the engine reads the entries in the order of the state."""


@pytest.fixture
def forced(stack, vm):
    """A stack with an attachment and a key."""
    stack.write(**PROGRAM)
    stack.up()
    return stack


def _urns(stack):
    return [stack.resource(name)["urn"] for name in TOKENS]


def _taint(stack):
    stack.workspace.run("state", "taint", *_urns(stack), "--yes")


def _assert_kept_until_destroyed(stack, cloud):
    """Assert that everything exists and that the state has it once, and that nothing is left after `destroy`."""
    assert not any(life.is_gone(cloud) for life in LIVES.values())
    stack.assert_no_changes()
    assert sorted(_entries(stack)) == sorted((urn, False) for urn in _urns(stack))
    stack.destroy()
    assert all(life.is_gone(cloud) for life in LIVES.values())


def _entries(stack):
    """Return the URNs of the attachment and the key in the state, and whether the entry is to be deleted."""
    found = [item for item in stack.resources() if item["type"] in TOKENS.values()]
    return [(item["urn"], item.get("delete", False)) for item in found]


def test_a_forced_replacement_of_what_was_removed_outside_keeps_what_it_creates(forced, cloud):
    targets = [word for urn in _urns(forced) for word in ("--target-replace", urn)]
    for life in LIVES.values():
        life.remove(cloud)

    assert "+-2 replaced" in forced.up(*targets)
    _assert_kept_until_destroyed(forced, cloud)


@pytest.fixture
def interrupted(stack, cloud, vm):
    """A stack with two entries of an attachment and of a key, whose replacement failed before the old ones were deleted.

    Both could not be read at first. The attachment still existed when its replacement was forced; the key did not.
    """
    cloud.fail("compute.instances.get", status=403)
    cloud.fail(KEY_READ, delay=0.0)  # a key is also read before its creation
    cloud.fail(KEY_READ, status=403)
    stack.write(**PROGRAM)
    stack.up_fails()
    stack.up()
    LIVES["key"].remove(cloud)
    _taint(stack)
    stack.write(**PROGRAM, failing=FAILING)
    cloud.fail("compute.instanceTemplates.insert", status=400)
    stack.up_fails()
    assert sorted(is_old for _, is_old in _entries(stack)) == [False, False, True, True]
    return stack


def test_a_run_that_deletes_the_old_entries_keeps_what_the_new_ones_have(interrupted, cloud):
    interrupted.write(**PROGRAM)
    said = interrupted.up(*ONE_BY_ONE)

    kept = {name for name in TOKENS if f"{interrupted.resource(name)['id']} was not replaced" in said}
    assert kept == {"attachment"}, "its replacement found it"
    _assert_kept_until_destroyed(interrupted, cloud)


def test_a_destruction_of_two_entries_leaves_nothing(interrupted, cloud):
    interrupted.workspace.run("destroy", "--yes", "--skip-preview", "--refresh")

    assert all(life.is_gone(cloud) for life in LIVES.values())
    assert _entries(interrupted) == []


@pytest.mark.parametrize("token", [IMAGE, TEMPLATE])
def test_a_preview_with_online_checks_refuses_a_forced_replacement_without_its_source(stack, cloud, vm, token):
    stack.workspace.run("config", "set", "gcpx:validateOnline", "true")
    stack.write(web={"type": token, "properties": {"name": "web", **image()}})
    stack.up()
    cloud.delete(vm)
    done = stack.workspace.run("preview", "--target-replace", stack.resource("web")["urn"], check=False)

    assert done.returncode != 0
    assert "zones/us-east1-b/instances/example-vm does not exist" in done.stdout
