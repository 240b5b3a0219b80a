"""Check and Diff keep their invariants for any inputs of every resource, valid or not."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import UNKNOWN, rpc, secret, struct
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES
from values import search

from gcpx.model.fields import ListOf, MapOf, ObjectType, object_type
from gcpx.provider import RESOURCES, resource_class

EXAMPLES = search.examples(steady=40, searched=1000)
pytestmark = pytest.mark.search
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6) | st.just(UNKNOWN) | st.just("hunter2hunter2").map(secret),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
SCALARS = {
    "string": st.text("ab-/", max_size=5),
    "integer": st.integers(0, 400),
    "integer or percentage": st.integers(0, 20) | st.integers(0, 100).map("{}%".format),
    "boolean": st.booleans(),
}
"""Values of the scalar types, by the type's name."""


def shaped(kind, wrong):
    """Return a strategy for values of a type's shape, in which values from `wrong` may take any place."""
    if isinstance(kind, ObjectType):
        names = {name: shaped(prop.type, wrong) for name, prop in kind.inputs.items()}
        chosen = st.lists(st.sampled_from(sorted(names)), max_size=5, unique=True)
        good = chosen.flatmap(lambda picked: st.fixed_dictionaries({name: names[name] for name in picked}))
    elif isinstance(kind, ListOf):
        good = st.lists(shaped(kind.item, wrong), max_size=2)
    elif isinstance(kind, MapOf):
        good = st.dictionaries(st.text("ab./", min_size=1, max_size=3), shaped(kind.item, wrong), max_size=2)
    else:
        good = SCALARS.get(kind.name, st.text(max_size=3))
    return st.deferred(lambda: good | wrong) if wrong is not None else good


@pytest.fixture(scope="module")
def offline():
    with driver.direct(project="demo") as made:
        yield made


@pytest.mark.parametrize("token", RESOURCES)
def test_any_inputs_are_accepted_or_refused_without_an_internal_error(offline, token):
    kind = object_type(resource_class(token).model)

    @given(shaped(kind, junk).filter(lambda value: isinstance(value, dict) and driver.SIGNATURE not in value))
    @EXAMPLES
    @search.bounded
    def check(inputs):
        _assert_checked(offline, token, inputs)

    check()


JUNK = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    UNKNOWN,
    secret("hunter2hunter2"),
    [],
    ["x"],
    [None],
    {},
    {"a": "b"},
    {"a": None},
    {driver.SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "x"},
]


def _input_paths(kind, path=()):
    """Yield the path of each property that a user may set, with one element of each list and one key of each map."""
    for name, prop in kind.inputs.items():
        yield (*path, name)
        inner, marks = prop.type, []
        while isinstance(inner, ListOf | MapOf):
            marks.append(0 if isinstance(inner, ListOf) else "a")
            inner = inner.item
            yield (*path, name, *marks)
        if isinstance(inner, ObjectType):
            yield from _input_paths(inner, (*path, name, *marks))


def _inputs_with(path, value, inputs=None):
    """Return inputs with a value at a path; without inputs, they contain nothing else."""
    if not path:
        return value
    head, *rest = path
    if head == 0:
        known = inputs if isinstance(inputs, list) and inputs else [None]
        return [_inputs_with(rest, value, known[0]), *known[1:]]
    known = inputs if isinstance(inputs, dict) and driver.SIGNATURE not in inputs else {}
    return {**known, head: _inputs_with(rest, value, known.get(head))}


@pytest.mark.parametrize("token", RESOURCES)
def test_junk_at_any_path_causes_no_internal_error(offline, token):
    for index, path in enumerate(_input_paths(object_type(resource_class(token).model))):
        # A third of the values at each path: properties of instances are in three resources, at other indexes.
        for value in JUNK if search.SEARCHING else JUNK[index % 3 :: 3]:
            _assert_checked(offline, token, _inputs_with(path, value))


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=lambda sample: sample.token)
def test_junk_within_valid_inputs_causes_no_internal_error(offline, sample):
    paths = list(_input_paths(object_type(resource_class(sample.token).model)))

    @given(sample.any_inputs, st.sampled_from(paths), st.sampled_from(JUNK) | junk)
    @EXAMPLES
    @search.bounded
    def check(inputs, path, value):
        _assert_checked(offline, sample.token, _inputs_with(path, value, inputs))

    check()


def _assert_checked(offline, token, inputs):
    """Assert that failures have reasons without secrets, valid inputs are stable, and equal inputs are no change."""
    response = offline.check(token, "x", inputs)
    for failure in response.failures:
        assert failure.reason
        assert "hunter2" not in failure.property + failure.reason
    if not response.failures:
        checked = driver.plain(response.inputs)
        assert driver.plain(offline.check(token, "x", checked, checked).inputs) == checked
    same = rpc.DiffRequest(
        urn=offline.urn(token, "x"), olds=struct({}), old_inputs=response.inputs, news=response.inputs
    )
    changed = offline.stub.Diff(same)
    # An unknown may have any value in the end, so only unknowns may differ from themselves.
    assert UNKNOWN in str(response.inputs) or changed.changes == rpc.DiffResponse.DIFF_NONE


@pytest.mark.parametrize("token", RESOURCES)
def test_any_two_inputs_are_compared_without_an_internal_error(offline, token):
    kind = object_type(resource_class(token).model)
    dicts = shaped(kind, junk).filter(lambda value: isinstance(value, dict) and driver.SIGNATURE not in value)

    @given(dicts, dicts, dicts)
    @EXAMPLES
    @search.bounded
    def compare(old, new, live):
        request = rpc.DiffRequest(
            urn=offline.urn(token, "x"), olds=struct(live), old_inputs=struct(old), news=struct(new)
        )
        answer = offline.stub.Diff(request)
        heads = {path.split(".")[0].split("[")[0] for path in answer.detailedDiff}
        assert heads == set(answer.diffs)
        assert set(answer.replaces) <= set(answer.diffs)
        assert (answer.changes == rpc.DiffResponse.DIFF_SOME) == bool(answer.detailedDiff)

    compare()
