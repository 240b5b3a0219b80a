"""Realistic programs show no change after any operation of the real CLI."""

from __future__ import annotations

import json

import pytest
import yaml
from values.programs import PROJECT
from workspace import ROOT

pytestmark = pytest.mark.pulumi
FOLDER = ROOT / "tests" / "corpus"
PROGRAMS = {path.stem: yaml.load(path.read_text(), yaml.CSafeLoader) for path in sorted(FOLDER.glob("*.yaml"))}
GROUPS = 2
"""How many stacks the programs share; one stack per program would take an hour and find nothing more."""


def _prepare(cloud):
    cloud.add_machine_type("x9-standard-4")
    cloud.make_instance()
    cloud.make_disk()
    cloud.make_regional_disk()


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_preview_shows_no_change_after_any_operation(stack, cloud, group):
    _prepare(cloud)
    before = cloud.emulator.store.counts()
    chosen = [program for index, program in enumerate(PROGRAMS.values()) if index % GROUPS == group]
    stack.write(**{name: spec for program in chosen for name, spec in program["resources"].items()})
    stack.up()
    stack.workspace.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    stack.assert_no_changes()
    stack.destroy()

    assert cloud.emulator.store.counts() == before


RESOURCES = [
    pytest.param(spec["type"], spec["properties"], id=name)
    for program in PROGRAMS.values()
    for name, spec in program["resources"].items()
    if "${" not in json.dumps(spec)
]


@pytest.mark.parametrize(("token", "inputs"), RESOURCES)
def test_an_import_of_a_created_resource_shows_no_change(engine, cloud, token, inputs):
    """The calls are those of the engine: Read, then Check and Diff of the imported inputs, then of the program's."""
    _prepare(cloud)
    made = engine.create(token, "made", inputs)
    found = engine.import_(token, "made", made.id)

    assert engine.checked(token, "made", found.inputs, found.inputs) == found.inputs
    assert not engine.diff_checked(found, found.inputs).detailedDiff
    assert engine.drift(made) == set()
    program = engine.checked(token, "made", inputs, found.inputs)
    assert not engine.diff_checked(found, program).replaces, PROJECT
