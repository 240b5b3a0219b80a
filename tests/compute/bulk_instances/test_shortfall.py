"""Google creates fewer instances than wanted: a warning from `minCount` on, otherwise a partial failure or an error."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.driver import failing
from rolling.fleets import instance_path, member_names, set_limits
from values.programs import FLEET, fleet

BULK = "compute.regionInstances.bulkInsert"
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


def test_a_fleet_that_has_its_minimum_is_created_with_a_warning(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 7, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=5))

    assert created.outputs["memberCount"] == 7
    assert created.outputs["perLocationStatus"]["zones/us-east1-b"]["failedToCreateVmCount"] == 3
    assert ("WARNING", created.urn) in [
        (severity, urn) for severity, urn, said in engine.log.messages if "7 of 10" in said
    ]
    assert engine.diff(created, fleet(count=10, minCount=5)).changes == NO_CHANGE
    set_limits(cloud)
    refreshed = engine.refresh(created)
    assert engine.update(refreshed, fleet(count=10, minCount=5)).outputs["memberCount"] == 10


def test_a_minimum_of_0_is_sent_and_accepts_any_number(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", fleet(count=10, minCount=0))

    assert cloud.requests(BULK)[0]["body"]["minCount"] == "0"
    assert engine.refresh(created).outputs["memberCount"] == 1


@pytest.mark.parametrize(
    "fault", [None, {"errors": [{"code": "STOCKOUT", "message": "sold out"}]}], ids=["done", "failed"]
)
def test_a_creation_that_created_nothing_fails_with_the_reason(engine, cloud, fault):
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    if fault:
        cloud.fail(BULK, operation=fault)
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10, minCount=0))

    assert failed[0].partial is None, "there is nothing to keep in the state"
    words = (
        ["sold out"]
        if fault
        else ["at least one instance", "0 of 10", "10 instances in us-east1-b: no capacity for e2-small"]
    )
    assert all(word in failed[0].message for word in words), failed[0].message
    set_limits(cloud)
    assert engine.create(FLEET, "workers", fleet(count=10, minCount=0)).outputs["memberCount"] == 10


def test_growth_that_created_nothing_keeps_the_fleet_and_warns(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=2, minCount=0))
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    grown = engine.update(created, fleet(count=5, minCount=0))

    assert cloud.requests(BULK)[-1]["body"]["minCount"] == "0"
    assert grown.outputs["memberCount"] == 2
    assert any("2 of 5" in said for _, _, said in engine.log.messages)


def test_a_fleet_that_lost_all_members_and_gets_none_back_is_an_error(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=2, minCount=0))
    for name in member_names(created):
        cloud.emulator.store.delete(instance_path(name))
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    with failing() as failed:
        engine.update(created, fleet(count=2, minCount=0))

    assert "0 of 2" in failed[0].message


def test_an_exceeded_quota_leaves_no_instance_and_is_named_with_its_limit(engine, cloud):
    set_limits(cloud, instances={"us-east1": 4})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10))

    assert failed[0].code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failed[0].partial is None
    assert "The limit of compute.googleapis.com/instances is 4 in region us-east1" in failed[0].message
    assert "instances" not in cloud.emulator.store.counts()


def test_a_zone_without_capacity_fails_with_the_reason(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 1, "us-east1-c": 1, "us-east1-d": 1})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(count=10))

    assert "currently unavailable in the us-east1-b zone" in failed[0].message
    assert "VM_MIN_COUNT_NOT_REACHED" in failed[0].message


def test_growth_that_failed_keeps_the_existing_members_in_the_state_and_is_repeated(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=30))
    error = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
    cloud.fail(BULK, operation=error)
    with failing() as failed:
        engine.update(created, fleet(count=100))
    partial = failed[0].partial

    assert partial.id == created.id
    assert "something broke" in partial.reasons[0]
    assert "30 of 100 instances exist" in partial.reasons[0]
    state = driver.Resource(created.urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))
    assert state.outputs["memberCount"] == 30
    assert engine.update(state, fleet(count=100)).outputs["memberCount"] == 100
