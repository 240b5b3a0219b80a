"""No call of the engine shows a secret, wherever it is in the inputs and however Google's response quotes it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import attrs
import driver
import pytest
from hurried import HurriedProvider
from planted import SHAPES, SPELLINGS, shown
from programs import PROJECT
from samples import INPUTS
from secret_calls import FAULTS, VERBS, Observer, Planting
from secret_places import Place, places

from gcpx.model.fields import object_type
from gcpx.provider import FUNCTIONS, resource_class

PLACE = {"project": PROJECT, "region": "us-east1", "zone": "us-east1-b"}
SHARDS = 8
"""The parts of the full product, which workers share."""


@attrs.frozen
class Case:
    """One call with one planted secret."""

    place: Place
    verb: str
    fault: str
    spelling: str
    shape: str

    @property
    def marker(self) -> str:
        return SHAPES[self.shape]

    @property
    def arguments(self) -> dict[str, object]:
        """The fault that quotes the secret."""
        return FAULTS[self.fault](SPELLINGS[self.spelling](self.marker))


def _all_cases(kind) -> Iterator[Case]:
    """Yield every place with every verb and spelling; faults and shapes take turns."""
    faults, shapes = itertools.cycle(FAULTS), itertools.cycle(SHAPES)
    for place, verb, spelling in itertools.product(places(kind), VERBS, SPELLINGS):
        if place.form != "unmarked" or verb == "check":
            yield Case(place, verb, next(faults), spelling, next(shapes))


def _some_cases(kind) -> Iterator[Case]:
    """Yield every place once, and each pair of verb, fault, spelling and shape at least once over all places."""
    turns = itertools.product(VERBS, FAULTS)
    turns = itertools.cycle(turns)
    spellings, shapes = itertools.cycle(SPELLINGS), itertools.cycle(SHAPES)
    for place in places(kind):
        verb, fault = next(turns)
        yield Case(place, "check" if place.form == "unmarked" else verb, fault, next(spellings), next(shapes))


@pytest.fixture
def observer(cloud):
    cloud.make_disk()
    cloud.make_instance()
    with driver.engine(HurriedProvider(), **PLACE, emulatorHost=cloud.host, validateOnline="true") as engine:
        yield Observer(engine, cloud)


def _leaks(observer: Observer, token: str, cases: Iterator[Case]) -> tuple[int, list[str]]:
    """Make the calls; return their number, and what leaked."""
    made = observer.engine.create(token, "web", INPUTS[token])
    leaked, count = [], 0
    for count, case in enumerate(cases, 1):
        planting = Planting(made, case.place.plant(made.inputs, case.marker))
        said = observer.said(lambda p=planting, v=case.verb: VERBS[v](observer.engine, p), case.arguments)
        found = shown(said, case.marker)
        if found:
            leaked.append(f"{case}: {found!r} in {said}")
    assert not observer.internal, observer.internal
    return count, leaked


@pytest.mark.parametrize("token", INPUTS)
def test_no_call_shows_a_secret_that_google_quotes(observer, token, caplog, capfd):
    kind = object_type(resource_class(token).model)
    count, leaked = _leaks(observer, token, _some_cases(kind))
    logged = caplog.text + "".join(capfd.readouterr())
    caplog.clear()  # many planted values are not valid, and no check comes before most calls

    assert count == len(list(places(kind)))
    assert leaked == []
    assert not [marker for marker in SHAPES.values() if shown(logged, marker)]


@pytest.mark.matrix
@pytest.mark.parametrize("token", INPUTS)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_call_shows_a_secret_in_any_spelling(observer, token, shard, caplog):
    kind = object_type(resource_class(token).model)
    count, leaked = _leaks(observer, token, itertools.islice(_all_cases(kind), shard, None, SHARDS))
    caplog.clear()
    print(f"secrets: {token}: cases {count}, leaked {len(leaked)}")

    assert leaked == []
