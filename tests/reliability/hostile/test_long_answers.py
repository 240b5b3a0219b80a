"""A long error answer takes no longer than it takes to read it: nothing in it is searched in quadratic time.

With 2 MB, a quadratic search takes an hour, so a test either ends or hangs.
"""

from __future__ import annotations

import json

import pytest
from engines import driver
from engines.clock import FakeClock
from engines.clocked import context
from engines.driver import secret
from values.programs import NOTIFICATION, TEMPLATE, notification, template

from gcpx.compute.operations import warn_of
from gcpx.gcp.errors import from_operation

LONG = 2 << 20
PLACES = {
    "message": lambda text: {"code": 400, "message": text, "status": "INVALID_ARGUMENT"},
    "status": lambda text: {"code": 400, "message": "m", "status": text},
    "reason": lambda text: {"code": 400, "message": "m", "errors": [{"reason": text, "message": text}]},
    "detail": lambda text: {"code": 403, "message": "m", "details": [{"reason": text, "metadata": {"service": text, "consumer": text, "permission": text}}]},
    "link": lambda text: {"code": 403, "message": "m", "details": [{"links": [{"url": text, "description": text}]}]},
    "quota": lambda text: {"code": 403, "message": "m", "details": [{"quotaInfo": {"metricName": text, "limit": text, "dimensions": {text: text}}}]},
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("unit", ["eyJ-", "resource 'http://projects/a/projects/", "planted-..."])
def test_a_long_error_answer_becomes_a_short_error(engine, cloud, place, unit):
    error = PLACES[place](unit * (LONG // len(unit)))
    cloud.fail("compute.instanceTemplates.insert", status=error["code"], body=json.dumps({"error": error}))
    with driver.failing() as failed:
        engine.create(TEMPLATE, "t", template(labels={"a": secret("planted-marker")}) | {"name": "web"})

    assert len(failed[0].message) < 20_000
    assert "planted-m" not in failed[0].message


def test_a_long_answer_without_structure_becomes_a_short_error(engine, cloud):
    cloud.fail("storage.notifications.list", status=400, body="eyJ-" * (LONG // 4))
    with driver.failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert len(failed[0].message) < 20_000


MANY = 200_000
_LINK = {"url": "u", "description": "d"}
LISTS = {
    "links": {"code": 403, "details": [{"links": [_LINK] * MANY}]},
    "details": {"code": 403, "details": [{"reason": "r", "metadata": {"permission": "p"}, "links": [_LINK]}] * MANY},
    "quotas": {"code": 403, "details": [{"quotaInfo": {"metricName": "m"}}] * MANY},
    "errors": {"code": 400, "errors": [{"reason": "r", "message": "m", "domain": "d"}] * MANY},
}


@pytest.mark.parametrize("error", LISTS.values(), ids=LISTS)
def test_an_error_answer_with_a_long_list_becomes_a_short_error(engine, cloud, error):
    body = json.dumps({"error": {"message": "m", **error}})
    cloud.fail("compute.instanceTemplates.insert", status=error["code"], body=body)
    with driver.failing() as failed:
        engine.create(TEMPLATE, "t", template() | {"name": "web"})

    assert len(failed[0].message) < 20_000


@pytest.mark.parametrize("number", [1, MANY])
def test_a_failed_operation_with_a_long_list_becomes_a_short_error(number):
    details = [{"help": {"links": [_LINK] * (MANY // number)}}]
    errors = [{"code": "C", "message": "m", "errorDetails": details}] * number

    assert len(str(from_operation("POST x", {"error": {"errors": errors}}))) < 20_000


def test_ten_warnings_of_an_operation_are_shown_and_the_others_are_counted():
    said: list[str] = []
    warnings = [{"code": "C", "message": f"warning {number}"} for number in range(MANY)]
    warn_of(context(FakeClock(), say=said.append), "insert web", {"warnings": warnings})

    assert said[:10] == [f"insert web: warning {number}" for number in range(10)]
    assert said[10:] == ["insert web: Google has given 199,990 more warnings"]


PLACES_UNREACHED = {
    "kind": "compute#instanceAggregatedList",
    "items": {},
    "unreachables": [f"zones/z{number}" for number in range(2_000)],
}


def test_an_error_about_many_places_names_some_and_counts_the_others(engine, cloud):
    cloud.fail("compute.instances.aggregatedList", status=200, body=json.dumps(PLACES_UNREACHED))
    with driver.failing() as failed:
        engine.invoke("gcpx:compute:aggregatedListInstances")

    assert "does not cover zones/z0, zones/z1, zones/z2 and 1,997 more," in failed[0].message


def test_a_warning_about_many_places_names_some_and_counts_the_others(engine, cloud):
    cloud.fail("compute.instances.aggregatedList", status=200, body=json.dumps(PLACES_UNREACHED))
    found = engine.invoke("gcpx:compute:aggregatedListInstances", returnPartialSuccess=True)

    assert "zones/z0, zones/z1, zones/z2 and 1,997 more cannot be reached" in engine.log.lasting[-1]
    assert found["unreachables"] == PLACES_UNREACHED["unreachables"]
