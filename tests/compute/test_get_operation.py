"""`getOperation`: operations of every scope, their errors, and wrong arguments."""

from __future__ import annotations

import pytest
from engines.driver import failing
from values.programs import FLEET, PROJECT, TEMPLATE, ZONE, fleet, template

GET_OPERATION = "gcpx:compute:getOperation"


def _first_operation(cloud, scope):
    return next(iter(cloud.emulator.operations.list(PROJECT, scope)))


@pytest.mark.parametrize(("scope", "arguments"), [
    ("global", {}), (f"zones/{ZONE}", {"zone": ZONE}), ("regions/us-east1", {"region": "us-east1"}),
])  # fmt: skip
def test_an_operation_of_every_scope_is_read_by_name_and_by_link(engine, cloud, vm, scope, arguments):
    engine.create(TEMPLATE, "a", {"name": "a", **template()})
    engine.create(TEMPLATE, "c", {"name": "c", **template(), "region": "us-east1"})
    operation = _first_operation(cloud, scope)
    by_name = engine.invoke(GET_OPERATION, name=operation["name"], **arguments)

    assert by_name == engine.invoke(GET_OPERATION, name=operation["selfLink"])
    assert (by_name["status"], by_name["progress"]) == ("DONE", 100)
    assert by_name["operationType"] == operation["operationType"]
    assert by_name["targetLink"] == operation["targetLink"]


def test_a_failed_operation_has_its_errors_with_details(engine, cloud):
    cloud.post("/_emulator/limits", {"instances": {"us-east1": 1}})
    with failing():
        engine.create(FLEET, "f", fleet(3))
    name = _first_operation(cloud, "regions/us-east1")["name"]
    found = engine.invoke(GET_OPERATION, name=name, region="us-east1")
    error = found["error"]["errors"][1]

    assert error["code"] == "QUOTA_EXCEEDED"
    assert error["errorDetails"][0]["quotaInfo"]["limit"] == 1
    assert found["httpErrorStatusCode"] >= 400
    zones = found["instancesBulkInsertOperationMetadata"]["perLocationStatus"]
    assert {status["targetVmCount"] for status in zones.values()} == {3}


def test_an_operation_that_does_not_exist_is_an_error(engine, cloud):
    with failing() as failures:
        engine.invoke(GET_OPERATION, name="operation-none")

    assert "was not found" in failures[0].message


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [({"name": "a/b"}, "name"), ({"name": "a", "zone": "z", "region": "r"}, "zone"), ({}, "name")],
)
def test_wrong_arguments_are_refused(engine, cloud, arguments, wrong):
    assert engine.refusals(GET_OPERATION, **arguments).keys() == {wrong}
    assert cloud.calls() == []
