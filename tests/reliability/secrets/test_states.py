"""No state, difference or message of a resource's life shows a valid input that the program marks as secret.

Holds SECURITY.md: "Three kinds of values are secret"; "They never appear in clear".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing, secret
from samples import SAMPLES
from secret_values.planted_secrets import without_secrets
from secret_values.secret_calls import Observer
from values.programs import PROJECT

PLACE = {"project": PROJECT, "region": "us-east1", "zone": "us-east1-b"}
LIVES = {name: (sample, life) for sample in SAMPLES.values() for name, life in sample.lives.items()}
_SHORTEST = 4
"""Shorter secrets are hidden only as whole values."""


def _texts(value: Any) -> set[str]:
    """Return the strings in inputs that are long enough to be hidden everywhere."""
    if isinstance(value, str):
        return {value} if len(value) >= _SHORTEST else set()
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_texts, items))


def _marked(value: Any, hidden: str) -> Any:
    """Return inputs with every string that is equal to `hidden` marked as secret."""
    if isinstance(value, dict):
        return {key: _marked(item, hidden) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item, hidden) for item in value]
    return secret(value) if value == hidden else value


@pytest.fixture
def observer(cloud):
    cloud.make_disk()
    cloud.make_regional_disk()
    cloud.make_instance()
    with driver.engine(ClockedProvider(), **PLACE, emulatorHost=cloud.host) as engine:
        yield Observer(engine, cloud)


def _states(observer: Observer, token: str, inputs: dict[str, Any], edits: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield everything that a life shows: creation, refresh, each edit, and the deletion."""
    engine = observer.engine
    yield engine.preview(token, "web", engine.checked(token, "web", inputs))
    made = engine.create(token, "web", inputs)
    yield made.outputs
    live = engine.refresh(made)
    yield [live.inputs, live.outputs]
    for edit in edits:
        inputs = {key: value for key, value in (inputs | edit).items() if value is not None}
        yield list(engine.diff(made, inputs).detailedDiff)
        if not engine.diff(made, inputs).replaces:
            yield engine.preview_update(made, inputs)
            made = engine.update(made, inputs)
            yield made.outputs
    engine.delete(made)


def _shown(observer: Observer, token: str, inputs: dict[str, Any], edits: list[dict[str, Any]]) -> str:
    """Return everything that is not marked as secret, until a call fails."""
    observer.engine.log.messages.clear()
    said = []
    try:
        said += [json.dumps(without_secrets(state)) for state in _states(observer, token, inputs, edits)]
    except grpc.RpcError:
        with failing() as failed:
            raise
        said.append(failed[0].message)
    return "\n".join([*said, *(text for *_, text in observer.engine.log.messages)])


@pytest.mark.parametrize("name", LIVES)
def test_a_life_shows_no_secret_input(observer, name):
    sample, life = LIVES[name]
    edits = [edit.inputs for edit in life.edits]
    for hidden in sorted(_texts(life.inputs)):
        said = _shown(observer, sample.token, _marked(life.inputs, hidden), _marked(edits, hidden))

        assert hidden not in said
