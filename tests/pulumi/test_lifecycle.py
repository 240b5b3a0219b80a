"""Each resource works under the real CLI through its whole life, from creation to deletion."""

from __future__ import annotations

import json

import pytest
from samples import SAMPLES
from values.programs import FLEET, TOPICS

pytestmark = [pytest.mark.pulumi, pytest.mark.usefixtures("no_pauses")]


TOKENS = {name: sample.token for sample in SAMPLES.values() for name in sample.lives}
LIVES = {name: life for sample in SAMPLES.values() for name, life in sample.lives.items()}


def _program(inputs):
    """Return a program with all resources, so that one run of the CLI covers them all."""
    return {name: {"type": TOKENS[name], "properties": values} for name, values in inputs.items()}


@pytest.fixture
def lives(stack, vm):
    """A stack in which every resource has been created."""
    stack.write(**_program({name: life.inputs for name, life in LIVES.items()}))
    stack.up()
    return stack


def _changes(steps):
    return {name: set(step.changes) for name, step in steps.items()}


def _are_gone(cloud):
    """Tell for each resource whether it no longer exists."""
    return {name: life.is_gone(cloud) for name, life in LIVES.items()}


ALL_GONE = dict.fromkeys(LIVES, True)


def test_every_resource_is_created_imported_repaired_edited_and_destroyed(lives, cloud, tmp_path):
    lives.assert_no_changes()
    _import_anew(lives, tmp_path)
    _drift_and_repair(lives, cloud)
    inputs = {name: life.inputs for name, life in LIVES.items()}
    for number in range(max(len(life.edits) for life in LIVES.values())):
        _edit(lives, inputs, {name: life.edits[number] for name, life in LIVES.items() if len(life.edits) > number})
    lives.destroy()

    assert _are_gone(cloud) == ALL_GONE
    # Only the instance and the disks that existed before are left.
    assert cloud.emulator.store.counts() == {"b": 1, "instances": 1, "disks": 2, "topics": len(TOPICS)}


def _drift_and_repair(stack, cloud):
    drifted = {}
    for name, (change, path) in {name: life.drift for name, life in LIVES.items() if life.drift}.items():
        drifted[name] = {path}
        change(cloud)
    assert _changes(stack.preview_refresh()) == drifted
    stack.workspace.run("refresh", "--yes", "--skip-preview")
    assert _changes(stack.preview()) == drifted
    stack.up()
    stack.assert_no_changes()


def _edit(stack, inputs, edits):
    """Edit several resources at once; each takes the expected step and changes at the expected paths."""
    for name, edit in edits.items():
        inputs[name] = {key: value for key, value in {**inputs[name], **edit.inputs}.items() if value is not None}
    stack.write(**_program(inputs))
    found = stack.preview()
    assert _changes(found) == {name: edit.paths for name, edit in edits.items()}
    for name, edit in edits.items():
        assert found[name].op in {edit.step, f"create-{edit.step}ment", "delete-replaced"}, found[name]
    stack.up()
    stack.assert_no_changes()


def _import_anew(stack, folder):
    """Import what exists, by an ID of each; `tests/provider/test_life_cycles.py` imports the same by every form of ID."""
    stack.workspace.run("state", "delete", *(stack.resource(name)["urn"] for name in LIVES), "--yes")
    generated = _import(stack, {name: life.imports[0] for name, life in LIVES.items()}, folder)
    stack.assert_no_changes()

    named = {life.inputs["name"] for life in LIVES.values() if "name" in life.inputs}
    assert {name for name in named if f"name: {name}\n" in generated} == named
    assert "compute#" not in generated, "no output appears as an input"


def _import(stack, ids, folder):
    """Import resources at once; return the program that the CLI generates."""
    wanted = [{"type": TOKENS[name], "name": name, "id": found} for name, found in ids.items()]
    order, out = folder / "import.json", folder / "imported.yaml"
    order.write_text(json.dumps({"resources": wanted}))
    stack.workspace.run("import", "--file", str(order), "--yes", "--skip-preview", "--protect=false", "--out", str(out))
    return out.read_text()


def test_a_resource_deleted_outside_pulumi_is_created_again(lives, cloud):
    for life in LIVES.values():
        life.remove(cloud)

    # A fleet without members is still declared.
    fleets = dict.fromkeys((name for name in LIVES if TOKENS[name] == FLEET), "update")
    shown = {name: step.op for name, step in lives.preview_refresh().items()}
    assert shown == dict.fromkeys(LIVES, "delete") | fleets
    lives.workspace.run("refresh", "--yes", "--skip-preview")
    assert {name: step.op for name, step in lives.preview().items()} == dict.fromkeys(LIVES, "create") | fleets
    lives.up()
    lives.destroy()
