"""What holds for any inputs, good or bad, of every resource."""

from __future__ import annotations

import driver
import pytest
import search
from driver import UNKNOWN, rpc, secret, struct
from hypothesis import given
from hypothesis import strategies as st

from gcpx.model.fields import ListOf, MapOf, ObjectType, object_type
from gcpx.provider import RESOURCES, resource_class

EXAMPLES = search.examples(steady=100, searched=1000)
pytestmark = pytest.mark.search
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6) | st.just(UNKNOWN) | st.just("hunter2hunter2").map(secret),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def shaped(kind, wrong):
    """Inputs of a type's shape, in which any value may be junk."""
    if isinstance(kind, ObjectType):
        names = {name: shaped(prop.type, wrong) for name, prop in kind.inputs.items()}
        chosen = st.lists(st.sampled_from(sorted(names)), max_size=5, unique=True)
        good = chosen.flatmap(lambda picked: st.fixed_dictionaries({name: names[name] for name in picked}))
    elif isinstance(kind, ListOf):
        good = st.lists(shaped(kind.item, wrong), max_size=2)
    elif isinstance(kind, MapOf):
        good = st.dictionaries(st.text("ab./", min_size=1, max_size=3), shaped(kind.item, wrong), max_size=2)
    else:
        good = {"string": st.text("ab-/", max_size=5), "integer": st.integers(0, 400), "boolean": st.booleans()}.get(
            kind.name, st.text(max_size=3)
        )
    return st.deferred(lambda: good | wrong) if wrong is not None else good


@pytest.fixture(scope="module")
def offline():
    with driver.engine(project="demo", emulatorHost="127.0.0.1:1") as made:
        yield made


@pytest.mark.parametrize("token", RESOURCES)
def test_any_inputs_are_accepted_or_refused_and_never_an_accident(offline, token):
    kind = object_type(resource_class(token).model)

    @given(shaped(kind, junk).filter(lambda value: isinstance(value, dict) and driver.SIGNATURE not in value))
    @EXAMPLES
    @search.bounded
    def check(inputs):
        _is_no_accident(offline, token, inputs)

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
]


def _places(kind, path=()):
    """Give the path of each property that a user may set, through the first element of lists and one key of maps."""
    for name, prop in kind.inputs.items():
        yield (*path, name)
        inner, marks = prop.type, []
        while isinstance(inner, ListOf | MapOf):
            marks.append(0 if isinstance(inner, ListOf) else "a")
            inner = inner.item
            yield (*path, name, *marks)
        if isinstance(inner, ObjectType):
            yield from _places(inner, (*path, name, *marks))


def _at(path, value):
    """Give inputs that have nothing but a value at a path."""
    for part in reversed(path):
        value = [value] if part == 0 else {part: value}
    return value


@pytest.mark.parametrize("token", RESOURCES)
def test_nothing_at_any_place_is_an_accident(offline, token):
    for path in _places(object_type(resource_class(token).model)):
        for value in JUNK:
            _is_no_accident(offline, token, _at(path, value))


def _is_no_accident(offline, token, inputs):
    """Check inputs: refused with words and without secrets, or taken for good; and no change from themselves."""
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
    # An unknown may turn out to be anything, so it alone may differ from itself.
    assert UNKNOWN in str(response.inputs) or changed.changes == rpc.DiffResponse.DIFF_NONE


@pytest.mark.parametrize("token", RESOURCES)
def test_any_two_inputs_are_compared_without_an_accident(offline, token):
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
