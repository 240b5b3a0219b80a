"""No call of the engine shows a secret, wherever it is in the inputs and however Google's response quotes it.

The places are those of the declarations. A normal run takes one place out of three, with verbs, faults, spellings and
shapes of the secret in turns; `make matrix` takes all places with all verbs.

Holds SECURITY.md: "Three kinds of values are secret"; "They never appear in clear".
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import attrs
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from samples import INPUTS
from secret_values.planted_secrets import SHAPES, SPELLINGS, shown
from secret_values.secret_calls import FAULTS, VERBS, Observer, Planting
from secret_values.secret_places import Place, places
from values import matrix
from values.programs import PROJECT

from gcpx.model.fields import object_type
from gcpx.provider import resource_class

PLACE = {"project": PROJECT, "region": "us-east1", "zone": "us-east1-b"}
TIMES = 5
"""How often the full product has each place with each verb."""
STEP = 3
"""A normal run takes one place out of so many."""


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
    """Yield every place with every verb, several times: faults, spellings and shapes are drawn, always the same."""
    draw = random.Random(7)
    for place, verb in itertools.product(places(kind), VERBS):
        for _ in range(TIMES if place.form != "unmarked" else 0):
            yield Case(place, verb, draw.choice([*FAULTS]), draw.choice([*SPELLINGS]), draw.choice([*SHAPES]))


def _some_cases(kind) -> Iterator[Case]:
    """Yield every third place; verbs, faults, spellings and shapes take turns."""
    turns = itertools.cycle(itertools.product(VERBS, FAULTS))
    spellings, shapes = itertools.cycle(SPELLINGS), itertools.cycle(SHAPES)
    for place in itertools.islice(places(kind), 0, None, STEP):
        verb, fault = next(turns)
        yield Case(place, "check" if place.form == "unmarked" else verb, fault, next(spellings), next(shapes))


def _cases(kind) -> Iterator[Case]:
    """Yield the cases of this run."""
    return iter(matrix.part(list(_all_cases(kind)))) if matrix.FULL else _some_cases(kind)


@pytest.fixture
def observer(cloud):
    cloud.make_disk()
    cloud.make_instance()
    with driver.engine(ClockedProvider(), **PLACE, emulatorHost=cloud.host, validateOnline="true") as engine:
        yield Observer(engine, cloud)


def _leaks(observer: Observer, token: str, cases: Iterator[Case]) -> tuple[int, list[str]]:
    """Make the calls; return their number, and what leaked."""
    made = observer.engine.create(token, "web", INPUTS[token])
    leaked, count = [], 0
    for case in cases:
        count += 1
        planting = Planting(made, case.place.plant(made.inputs, case.marker))
        said = observer.said(lambda p=planting, v=case.verb: VERBS[v](observer.engine, p), case.arguments)
        found = shown(said, case.marker)
        if found:
            leaked.append(f"{case}: {found!r} in {said}")
    return count, leaked


@pytest.mark.parametrize("token", INPUTS)
def test_no_call_shows_a_secret_that_google_quotes(observer, token, caplog, capfd, record_property):
    kind = object_type(resource_class(token).model)
    count, leaked = _leaks(observer, token, _cases(kind))
    logged = caplog.text + "".join(capfd.readouterr())
    caplog.clear()  # many planted values are not valid, and no check comes before most calls
    record_property("secrets", (count, len(leaked)))

    assert count
    assert leaked == []
    assert not [marker for marker in SHAPES.values() if shown(logged, marker)]
