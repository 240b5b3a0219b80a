"""Partner metadata are any JSON: every value gets to Google and back as the program has it."""

from __future__ import annotations

import pytest
from engines import driver
from values.programs import TEMPLATE, template

SUBDOMAIN = "partner.example.com"
VALUES = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.5,
        "",
        "1",
        [],
        {},
        [None, True, [1]],
        {"a": None, "b": {"c": [2.5, {"d": None}]}},
    ),
    *(1 << 53, (1 << 53) + 2, -(1 << 53) - 2, 1 << 62, 1 << 63, 1 << 64, 1e20, 1 << 100, -(1 << 80), 1e300, 5e-324),
]
"""JSON of all types; the numbers are those that a double, in which the engine sends them, holds exactly."""


def _inputs(value):
    return {"name": "web", **template(partnerMetadata={SUBDOMAIN: {"entries": {"given": value, "other": "x"}}})}


def _entries(body):
    return body["properties"]["partnerMetadata"][SUBDOMAIN]["entries"]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_sent_and_returned_unchanged(engine, cloud, value):
    wanted = {"given": value, "other": "x"}
    created = engine.create(TEMPLATE, "web", _inputs(value))
    sent = cloud.requests("compute.instanceTemplates.insert")[0]["body"]
    imported = engine.import_(TEMPLATE, "web", created.id)

    for found in (_entries(sent), _entries(created.inputs), _entries(created.outputs), _entries(imported.inputs)):
        assert found == wanted
        assert isinstance(found["given"], bool) == isinstance(value, bool)
    assert engine.drift(created) == set()
    assert engine.diff(created, _inputs(value)).changes == driver.rpc.DiffResponse.DIFF_NONE


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), ([1], [True]), (None, "x"), ({"a": None}, {}), (1 << 64, "18446744073709551616")], ids=repr)  # fmt: skip
def test_values_that_are_equal_only_in_python_differ(engine, old, new):
    created = engine.create(TEMPLATE, "web", _inputs(old))
    changed = engine.diff(created, _inputs(new)).detailedDiff

    assert [*changed] == [f'properties.partnerMetadata["{SUBDOMAIN}"].entries.given']


def test_a_null_that_google_leaves_out_is_no_drift(engine, cloud):
    created = engine.create(TEMPLATE, "web", _inputs(None))
    cloud.change(created.id, lambda body: _entries(body).pop("given"))

    assert engine.drift(created) == set()


def test_a_null_differs_from_an_entry_that_is_left_out(engine):
    created = engine.create(TEMPLATE, "web", _inputs(None))
    without = {"name": "web", **template(partnerMetadata={SUBDOMAIN: {"entries": {"other": "x"}}})}

    assert [*engine.diff(created, without).detailedDiff] == [f'properties.partnerMetadata["{SUBDOMAIN}"].entries.given']
