"""Each resource's life, by what its sample says: created, drifted, edited, imported, removed, deleted.

Holds reliability.md: "What is promised".
"""

from __future__ import annotations

import attrs
import pytest
from engines.driver import failing, rpc
from grpc import StatusCode
from samples import SAMPLES

NO_CHANGE = rpc.DiffResponse.DIFF_NONE
LIVES = [
    pytest.param(sample.token, life, id=name) for sample in SAMPLES.values() for name, life in sample.lives.items()
]
pytestmark = [pytest.mark.parametrize(("token", "life"), LIVES), pytest.mark.usefixtures("vm")]


def test_a_change_at_google_is_drift_at_its_path(engine, cloud, token, life):
    made = engine.create(token, "x", life.inputs)
    assert engine.refresh(made) == made
    assert engine.drift(made) == set()
    if life.drift is not None:
        change, path = life.drift
        change(cloud)

        assert engine.drift(made) == {path}


def test_an_edit_takes_its_step_and_then_there_is_nothing_to_do(engine, token, life):
    made, inputs = engine.create(token, "x", life.inputs), life.inputs
    for edit in life.edits:
        inputs = {name: value for name, value in {**inputs, **edit.inputs}.items() if value is not None}
        planned = engine.diff(made, inputs)
        assert (set(planned.detailedDiff), bool(planned.replaces)) == (edit.paths, edit.step == "replace")
        made = _replace(engine, made, inputs, planned) if planned.replaces else engine.update(made, inputs)
        assert engine.diff(made, inputs).changes == NO_CHANGE
        assert engine.drift(made) == set()


def _replace(engine, old, inputs, planned):
    _, token, name = old.urn.rsplit("::", 2)
    if planned.deleteBeforeReplace:
        engine.delete(old)
        return engine.create(token, name, inputs)
    new = engine.create(token, name, inputs)
    engine.delete(old)
    return new


def test_every_id_imports_the_same_without_a_change(engine, token, life):
    """`tests/pulumi/test_lifecycle.py` imports by the first ID with the real CLI, which therefore does as well by each."""
    made = engine.create(token, "x", life.inputs)
    imported = [engine.import_(token, "x", resource_id) for resource_id in life.imports]

    for found in imported:
        assert found.id == made.id
        assert engine.diff(found, found.inputs).changes == NO_CHANGE
        assert (found.inputs, found.outputs) == (imported[0].inputs, imported[0].outputs)


def test_what_a_program_only_reads_is_the_same_after_a_refresh(engine, cloud, token, life):
    """The engine keeps no inputs of what a program reads with `get`."""
    made = engine.create(token, "x", life.inputs)
    found = engine.import_(token, "x", made.id)
    read = attrs.evolve(found, inputs={})

    assert engine.refresh(read) == read
    life.remove(cloud)
    assert engine.refresh(read) is None


def test_what_is_removed_at_google_is_gone_and_can_be_deleted(engine, cloud, token, life):
    made = engine.create(token, "x", life.inputs)
    life.remove(cloud)

    assert engine.is_gone(made)
    engine.delete(made)


def test_what_is_deleted_is_gone(engine, cloud, token, life):
    made = engine.create(token, "x", life.inputs)
    assert not life.is_gone(cloud)
    engine.delete(made)

    assert life.is_gone(cloud)
    assert engine.is_gone(made)
    with failing() as failed:
        engine.import_(token, "x", made.id)
    assert failed[0].code == StatusCode.NOT_FOUND
    engine.delete(made)
