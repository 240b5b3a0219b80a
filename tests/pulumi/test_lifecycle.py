"""Each resource under the real CLI: made, seen unchanged, drifted, repaired, replaced or updated, imported, gone."""

from __future__ import annotations

import json

import pytest
from programs import TOPICS
from samples import SAMPLES

from gcpx.provider import RESOURCES

pytestmark = pytest.mark.pulumi


TOKENS = {name: sample.token for sample in SAMPLES.values() for name in sample.lives}
LIVES = {name: life for sample in SAMPLES.values() for name, life in sample.lives.items()}


def test_every_resource_has_a_life():
    assert set(TOKENS.values()) == set(RESOURCES)


def _program(inputs):
    """Give the program of all resources, which live side by side in one stack: a run of the CLI shows them all."""
    return {name: {"type": TOKENS[name], "properties": values} for name, values in inputs.items()}


@pytest.fixture
def lives(stack, vm):
    """A stack in which every resource is up."""
    stack.write(**_program({name: life.inputs for name, life in LIVES.items()}))
    stack.up()
    return stack


def _changes(steps):
    return {name: set(step.changes) for name, step in steps.items()}


def _are_gone(cloud):
    """Tell for each resource whether it is gone."""
    return {name: life.is_gone(cloud) for name, life in LIVES.items()}


EVERY = dict.fromkeys(LIVES, True)


def test_whole_lives(lives, cloud):
    lives.is_clean()
    _drift_and_repair(lives, cloud)
    inputs = {name: life.inputs for name, life in LIVES.items()}
    for number in range(max(len(life.edits) for life in LIVES.values())):
        _edit(lives, inputs, {name: life.edits[number] for name, life in LIVES.items() if len(life.edits) > number})
    lives.destroy()

    assert _are_gone(cloud) == EVERY
    # The instance and the disks that were there before are all that is left.
    assert cloud.emulator.store.counts() == {"b": 1, "instances": 1, "disks": 2, "topics": len(TOPICS)}


def _drift_and_repair(stack, cloud):
    drifted = {}
    for name, life in LIVES.items():
        change, path = life.drift
        drifted[name] = {path}
        change(cloud)
    assert _changes(stack.preview_refresh()) == drifted
    stack.workspace.run("refresh", "--yes", "--skip-preview")
    assert _changes(stack.preview()) == drifted
    stack.up()
    stack.is_clean()


def _edit(stack, inputs, edits):
    """Edit several resources at once; each goes its own step, by its own paths."""
    for name, edit in edits.items():
        inputs[name] = {key: value for key, value in {**inputs[name], **edit.inputs}.items() if value is not None}
    stack.write(**_program(inputs))
    found = stack.preview()
    assert _changes(found) == {name: edit.paths for name, edit in edits.items()}
    for name, edit in edits.items():
        assert found[name].op in {edit.step, f"create-{edit.step}ment", "delete-replaced"}, found[name]
    stack.up()
    stack.is_clean()


def test_an_import_by_every_id_is_followed_by_a_clean_preview(lives, cloud, tmp_path):
    for number in range(max(len(life.imports) for life in LIVES.values())):
        ids = {name: life.imports[number] for name, life in LIVES.items() if len(life.imports) > number}
        lives.workspace.run("state", "delete", *(lives.resource(name)["urn"] for name in ids), "--yes")
        generated = _imported(lives, ids, tmp_path)
        lives.is_clean()

        named = {LIVES[name].inputs["name"] for name in ids if "name" in LIVES[name].inputs}
        assert {name for name in named if f"name: {name}\n" in generated} == named
        assert "compute#" not in generated, "no output is offered as an input"
    lives.destroy()
    assert _are_gone(cloud) == EVERY


def _imported(stack, ids, folder):
    """Import all in one go; gives the program that the CLI writes for it."""
    wanted = [{"type": TOKENS[name], "name": name, "id": found} for name, found in ids.items()]
    order, out = folder / "import.json", folder / "imported.yaml"
    order.write_text(json.dumps({"resources": wanted}))
    stack.workspace.run("import", "--file", str(order), "--yes", "--skip-preview", "--protect=false", "--out", str(out))
    return out.read_text()


def test_something_deleted_by_hand_is_noticed_and_made_again(lives, cloud):
    for life in LIVES.values():
        life.remove(cloud)

    assert {name: step.op for name, step in lives.preview_refresh().items()} == dict.fromkeys(LIVES, "delete")
    lives.workspace.run("refresh", "--yes", "--skip-preview")
    assert {name: step.op for name, step in lives.preview().items()} == dict.fromkeys(LIVES, "create")
    lives.up()
    lives.destroy()


def test_something_already_gone_is_destroyed_without_complaint(lives, cloud):
    for life in LIVES.values():
        life.remove(cloud)

    lives.destroy()
