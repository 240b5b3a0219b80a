"""What a program begins to call secret is marked in the state, although its value stays as it was."""

from __future__ import annotations

import pytest
from engines.driver import SIGNATURE, plain, rpc, secret, struct
from values.programs import FLEET, TEMPLATE, fleet, template

HIDDEN = "mq7xv9tz3lp0"
PLACES = {
    "a label": {"labels": {"a": HIDDEN}},
    "an element of a list": {"tags": {"items": ["first", HIDDEN]}},
    "a whole list": {"tags": {"items": [HIDDEN]}},
    "metadata": {"metadata": {"items": [{"key": "k", "value": HIDDEN}]}},
}
MARKED = {
    "a label": {"labels": {"a": secret(HIDDEN)}},
    "an element of a list": {"tags": {"items": ["first", secret(HIDDEN)]}},
    "a whole list": {"tags": {"items": secret([HIDDEN])}},
    "metadata": {"metadata": {"items": [{"key": "k", "value": secret(HIDDEN)}]}},
}


def shows(outputs):
    """Return whether the text is somewhere outside of what is marked."""
    if isinstance(outputs, dict):
        return SIGNATURE not in outputs and any(map(shows, outputs.values()))
    return any(map(shows, outputs)) if isinstance(outputs, list) else HIDDEN in str(outputs)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("token", "program"), [(TEMPLATE, template), (FLEET, lambda **more: fleet(2, **more))], ids=["template", "fleet"]
)
def test_a_value_that_becomes_secret_is_marked_by_the_next_update(engine, cloud, token, program, place):
    made = engine.create(token, "web", program(**PLACES[place]))
    assert shows(made.outputs)
    wanted = program(**MARKED[place])
    differences = engine.diff(made, wanted)
    assert differences.changes == rpc.DiffResponse.DIFF_SOME
    assert not differences.replaces
    cloud.emulator.requests.kept.clear()
    updated = engine.update(made, wanted)

    assert not shows(updated.outputs)
    assert not [method for method in cloud.calls() if not method.endswith((".get", ".list", "List"))]
    assert engine.diff(updated, wanted).changes == rpc.DiffResponse.DIFF_NONE


def test_what_was_secret_all_the_time_is_no_change(engine):
    wanted = template(**MARKED["a label"], **MARKED["a whole list"])
    made = engine.create(TEMPLATE, "web", wanted)
    assert engine.diff(made, wanted).changes == rpc.DiffResponse.DIFF_NONE


def test_a_plain_token_is_marked_in_the_configuration(engine):
    news = struct({"accessToken": "ya29.plain", "project": "demo-project"})
    urn = "urn:pulumi:dev::test::pulumi:providers:gcpx::p"
    checked = engine.stub.CheckConfig(rpc.CheckRequest(urn=urn, news=news))
    assert not checked.failures
    assert plain(checked.inputs) == {"accessToken": secret("ya29.plain"), "project": "demo-project"}
