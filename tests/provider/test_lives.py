"""Any valid inputs keep their invariants through check, preview, create, refresh, diff, import and delete."""

from __future__ import annotations

import json

import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import SIGNATURE, UNKNOWN, failing, rpc, struct
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES
from values import search
from values.programs import BUCKET, FULL_IMAGE_NAMES, PROJECT
from values.valid import HIDDEN

INPUTS = {sample.token: sample.any_inputs for sample in SAMPLES.values()}
EXAMPLES = search.examples(steady=25, searched=1000)
pytestmark = pytest.mark.search


@pytest.fixture(scope="module")
def engine_and_cloud(_emulator):
    """An engine whose plugin does not wait, and an emulator that contains everything the inputs refer to."""
    _emulator.reset()
    bucket = {"kind": "storage#bucket", "name": BUCKET, "id": BUCKET, "_project": PROJECT}
    _emulator.emulator.store.put(f"b/{BUCKET}", bucket)
    _emulator.make_topics()
    _emulator.make_disk()
    _emulator.make_regional_disk()
    _emulator.make_instance()
    _emulator.add_machine_type("x9-standard-4")  # of the corpus
    for policy in ("rack", "shelf"):
        _emulator.make_placement_policy(policy)
    _emulator.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    with driver.direct(ClockedProvider(), project=PROJECT, emulatorHost=_emulator.host) as made:
        yield made, _emulator


def with_full_image_names(value):
    """Replace short image names with full ones, as Check does."""
    if isinstance(value, dict):
        return {key: with_full_image_names(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_full_image_names(item) for item in value]
    return FULL_IMAGE_NAMES.get(value, value) if isinstance(value, str) else value


MAPS = ("customAttributes", "labels")
"""The maps in the generated inputs."""


def without_empty(value):
    """Leave out what means the same as leaving it out, as Check does; items of maps and lists stay."""
    if isinstance(value, list):
        return [without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: item if name in MAPS else without_empty(item)
        for name, item in value.items()
        if reveal(item) not in ("", []) and (name not in MAPS or reveal(item) != {})
    }


def reveal(value):
    """Remove the engine's secret wrappers."""
    if isinstance(value, dict):
        return reveal(value["value"]) if SIGNATURE in value else {key: reveal(item) for key, item in value.items()}
    return [reveal(item) for item in value] if isinstance(value, list) else value


def discloses(value):
    """Return whether a secret appears outside of every wrapper."""
    if isinstance(value, dict):
        return False if SIGNATURE in value else any(discloses(item) for item in value.values())
    if isinstance(value, list):
        return any(discloses(item) for item in value)
    return isinstance(value, str) and HIDDEN in value


def is_fulfilled(preview, real):
    """Return whether each value of a preview is unknown or equals the actual one."""
    if preview in (UNKNOWN, real):
        return True
    if isinstance(preview, dict) and isinstance(real, dict):
        return all(is_fulfilled(item, real.get(key)) for key, item in preview.items())
    if isinstance(preview, list) and isinstance(real, list):
        return len(preview) == len(real) and all(map(is_fulfilled, preview, real))
    return preview in (None, "", [], {}) and real is None


def test_the_helpers_detect_disclosure_and_wrong_predictions():
    assert discloses({"a": [f"x{HIDDEN}y"]})
    assert not discloses({"a": driver.secret(HIDDEN)})
    assert not is_fulfilled({"a": 1}, {"a": 2})
    assert not is_fulfilled({"a": 1}, {})
    assert is_fulfilled({"a": UNKNOWN, "b": [1]}, {"a": 2, "b": [1], "c": 3})


@pytest.mark.parametrize("token", INPUTS)
def test_invariants_hold_over_the_life_of_any_valid_inputs(engine_and_cloud, token):
    engine, cloud = engine_and_cloud
    tried, accepted = [], []

    @given(INPUTS[token])
    @EXAMPLES
    @search.bounded
    def live(inputs):
        engine.log.messages.clear()
        tried.append(_property_names(inputs))
        checked = engine.check(token, "life", inputs)
        if checked.failures:
            return  # a random combination may break a rule
        accepted.append(_property_names(inputs))
        first = driver.plain(checked.inputs)
        assert engine.checked(token, "life", first, first) == first, "checking again changes nothing"
        preview = engine.preview(token, "life", first)
        made = engine.create(token, "life", inputs)
        try:
            _assert_invariants(engine, token, first, preview, made)
        finally:
            engine.next_run()
            engine.delete(made)

    live()
    assert len(accepted) >= len(tried) / 2, "most combinations are valid"
    assert set().union(*accepted) == set().union(*tried), "each property is part of a valid combination"
    cloud.emulator.requests.kept.clear()


def _property_names(inputs):
    """Return the names of the properties that are set, including those of the instances."""
    below = inputs.get("properties") or inputs.get("instanceProperties") or {}
    return {*inputs, *(f"*.{name}" for name in below)}


def _assert_invariants(engine, token, first, preview, made):
    assert is_fulfilled(reveal(preview), reveal(made.outputs)), "a preview predicts the outputs"
    assert engine.diff_checked(made, first).changes == rpc.DiffResponse.DIFF_NONE, "a created resource shows no change"
    again = engine.refresh(made)
    assert reveal(again.outputs) == reveal(made.outputs), "a refresh returns the outputs of the creation"
    assert engine.drift(made) == set(), "nothing drifts without a change"
    _assert_imported(engine, token, made)
    assert not any(map(discloses, (first, preview, made.outputs, again.inputs, again.outputs)))
    assert HIDDEN not in json.dumps(engine.log.messages)


def _assert_imported(engine, token, made):
    if made.outputs.get("memberCount") == 0:  # a parked fleet is in the state alone
        with failing() as failed:
            engine.import_(token, "life", made.id)
        assert failed[0].code == grpc.StatusCode.NOT_FOUND
        return
    found = engine.import_(token, "life", made.id)
    # Imported values are not searched for the secret, because nothing marks it as one.
    assert engine.checked(token, "life", found.inputs, found.inputs) == found.inputs, "imported inputs are valid"
    assert engine.diff_checked(found, found.inputs).changes == rpc.DiffResponse.DIFF_NONE, (
        "imported inputs show no change"
    )


def _resolves(path, values):
    """Return whether a path, as the engine writes it, exists in the values."""
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
def test_every_reported_path_exists_in_the_old_or_the_new_inputs(engine_and_cloud, token):
    engine, _ = engine_and_cloud

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
            assert _resolves(path, reveal(old)) or _resolves(path, reveal(new)), path
        assert {path.replace("[", ".").split(".")[0] for path in answer.detailedDiff} == set(answer.diffs)
        assert set(answer.replaces) <= set(answer.diffs)
        assert bool(answer.detailedDiff) == (answer.changes == rpc.DiffResponse.DIFF_SOME)

    compare()


@pytest.mark.parametrize("token", INPUTS)
def test_unknowns_and_secrets_keep_their_places(engine_and_cloud, token):
    engine, _ = engine_and_cloud

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
        expected = without_empty(with_full_image_names(driver.plain(struct(given_inputs))))
        assert {key: value for key, value in checked.items() if key in expected} == expected

    keep()
