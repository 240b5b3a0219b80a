"""What holds over the life of any right inputs: check, preview, create, read, compare, import, delete."""

from __future__ import annotations

import json

import driver
import pytest
import search
from driver import SIGNATURE, UNKNOWN, rpc, struct
from hypothesis import given
from hypothesis import strategies as st
from programs import BUCKET, PROJECT, WRITTEN_OUT
from samples import SAMPLES
from valid import HIDDEN

from gcpx.provider import RESOURCES

INPUTS = {sample.token: sample.any_inputs for sample in SAMPLES.values()}
EXAMPLES = search.examples(steady=60, searched=1000)
pytestmark = pytest.mark.search


@pytest.fixture(scope="module")
def made_ready(_emulator):
    """An emulator with what the inputs name, and an engine."""
    _emulator.reset()
    bucket = {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT}
    _emulator.emulator.store.put(f"b/{BUCKET}", bucket)
    _emulator.make_topics()
    _emulator.make_disk()
    _emulator.make_regional_disk()
    _emulator.make_instance()
    with driver.engine(project=PROJECT, emulatorHost=_emulator.host) as made:
        yield made, _emulator


def written_out(value):
    """Write short names of images in full, as Check does."""
    if isinstance(value, dict):
        return {key: written_out(item) for key, item in value.items()}
    if isinstance(value, list):
        return [written_out(item) for item in value]
    return WRITTEN_OUT.get(value, value) if isinstance(value, str) else value


def revealed(value):
    """Strip the engine's secret wrappers."""
    if isinstance(value, dict):
        return revealed(value["value"]) if SIGNATURE in value else {key: revealed(item) for key, item in value.items()}
    return [revealed(item) for item in value] if isinstance(value, list) else value


def discloses(value):
    """Tell whether a secret stands outside of every wrapper."""
    if isinstance(value, dict):
        return False if SIGNATURE in value else any(discloses(item) for item in value.values())
    if isinstance(value, list):
        return any(discloses(item) for item in value)
    return isinstance(value, str) and HIDDEN in value


def foretold(preview, real):
    """Tell whether a preview said nothing but the truth, or that it does not know."""
    if preview in (UNKNOWN, real):
        return True
    if isinstance(preview, dict) and isinstance(real, dict):
        return all(foretold(item, real.get(key)) for key, item in preview.items())
    if isinstance(preview, list) and isinstance(real, list):
        return len(preview) == len(real) and all(map(foretold, preview, real))
    return preview in (None, "", [], {}) and real is None


def test_these_helpers_can_fail():
    assert discloses({"a": [f"x{HIDDEN}y"]})
    assert not discloses({"a": driver.secret(HIDDEN)})
    assert not foretold({"a": 1}, {"a": 2})
    assert not foretold({"a": 1}, {})
    assert foretold({"a": UNKNOWN, "b": [1]}, {"a": 2, "b": [1], "c": 3})


def test_every_resource_has_a_sample():
    assert set(INPUTS) == set(RESOURCES)


@pytest.mark.parametrize("token", INPUTS)
def test_the_life_of_any_right_inputs(made_ready, token):
    engine, cloud = made_ready
    tried, lived = [], []

    @given(INPUTS[token])
    @EXAMPLES
    @search.bounded
    def live(inputs):
        engine.log.messages.clear()
        tried.append(_named(inputs))
        checked = engine.check(token, "life", inputs)
        if checked.failures:
            return  # parts that do not go together, which is what rules are for
        lived.append(_named(inputs))
        first = driver.plain(checked.inputs)
        assert engine.checked(token, "life", first, first) == first, "checking again changes nothing"
        preview = engine.preview(token, "life", first)
        made = engine.create(token, "life", inputs)
        try:
            _hold(engine, token, first, preview, made)
        finally:
            engine.delete(made)

    live()
    assert len(lived) >= len(tried) / 2, "most of what is put together goes together"
    assert set().union(*lived) == set().union(*tried), "each property is in something that lived"
    cloud.emulator.requests.kept.clear()


def _named(inputs):
    """Give the properties that are set, those of the instances included."""
    below = inputs.get("properties") or inputs.get("instanceProperties") or {}
    return {*inputs, *(f"*.{name}" for name in below)}


def _hold(engine, token, first, preview, made):
    assert foretold(revealed(preview), revealed(made.outputs)), "a preview tells the truth"
    assert engine.diff_checked(made, first).changes == rpc.DiffResponse.DIFF_NONE, "what was made is no change"
    again = engine.refresh(made)
    assert revealed(again.outputs) == revealed(made.outputs), "what is read is what was made"
    assert engine.drift(made) == set(), "nothing drifts by itself"
    found = engine.import_(token, "life", made.id)
    # An import shows whatever Google does, and nobody has told that any of it is secret.
    assert engine.checked(token, "life", found.inputs, found.inputs) == found.inputs, "what is imported is right"
    assert engine.diff_checked(found, found.inputs).changes == rpc.DiffResponse.DIFF_NONE, "and no change"
    assert not any(map(discloses, (first, preview, made.outputs, again.inputs, again.outputs)))
    assert HIDDEN not in json.dumps(engine.log.messages)


def _resolves(path, values):
    """Follow a path as the engine writes it."""
    decoder = json.JSONDecoder()
    while path:
        if path.startswith('["'):
            key, end = decoder.raw_decode(path[1:])
            path = path[end + 2 :]
        elif path.startswith("["):
            number, _, path = path[1:].partition("]")
            key = int(number)
        else:
            end = min((index for index in (path.find("."), path.find("[")) if index > 0), default=len(path))
            key, path = path[:end], path[end:]
        path = path.removeprefix(".")
        try:
            values = values[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True


@pytest.mark.parametrize("token", INPUTS)
def test_differences_are_told_by_paths_that_are_there(made_ready, token):
    engine, _ = made_ready

    @given(INPUTS[token], INPUTS[token])
    @EXAMPLES
    @search.bounded
    def compare(old, new):
        old, new = ({**driver.plain(engine.check(token, "x", inputs).inputs)} for inputs in (old, new))
        request = rpc.DiffRequest(
            urn=engine.urn(token, "x"), olds=struct(old), old_inputs=struct(old), news=struct(new)
        )
        answer = engine.stub.Diff(request)
        again = engine.stub.Diff(request)
        assert answer == again
        for path in answer.detailedDiff:
            assert _resolves(path, revealed(old)) or _resolves(path, revealed(new)), path
        assert {path.replace("[", ".").split(".")[0] for path in answer.detailedDiff} == set(answer.diffs)
        assert set(answer.replaces) <= set(answer.diffs)
        assert bool(answer.detailedDiff) == (answer.changes == rpc.DiffResponse.DIFF_SOME)

    compare()


@pytest.mark.parametrize("token", INPUTS)
def test_unknowns_and_secrets_keep_their_places(made_ready, token):
    engine, _ = made_ready

    marked = (
        INPUTS[token].filter(bool).flatmap(lambda inputs: st.tuples(st.just(inputs), st.sampled_from(sorted(inputs))))
    )

    @given(marked, st.integers(0, 2))
    @EXAMPLES
    @search.bounded
    def keep(found, number):
        inputs, chosen = found
        mark = [UNKNOWN, driver.secret(UNKNOWN), driver.secret(inputs[chosen])][number]
        given_inputs = inputs | {chosen: mark}
        checked = driver.plain(engine.check(token, "x", given_inputs).inputs)
        expected = written_out(driver.plain(struct(given_inputs)))
        assert {key: value for key, value in checked.items() if key in expected} == expected

    keep()
