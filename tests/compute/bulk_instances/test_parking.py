"""A fleet with `count` 0 is parked: it has no instances, and stays in the state."""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import failing
from rolling.fleets import instance_path, member_names
from values.programs import FLEET, fleet, properties

BULK = "compute.regionInstances.bulkInsert"
LIST = "compute.instances.aggregatedList"
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
NAMES = {"alpha": {}, "beta": {"hostname": "beta.example.com"}}
NAMED = {"region": "us-east1", "instanceProperties": properties(), "perInstanceProperties": NAMES}
NONE = {"memberCount": 0, "runningCount": 0, "members": [], "count": 0}
PROGRAMS = {"numbered": fleet(2), "named": NAMED}


def _outputs(resource):
    return {name: resource.outputs.get(name) for name in NONE}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_fleet_is_created_parked_and_stays_in_the_state(engine, cloud, program):
    parked = {**program, "count": 0}
    created = engine.create(FLEET, "workers", parked)
    assert cloud.calls() == [LIST], "nothing is created"
    assert _outputs(created) == NONE

    refreshed = engine.refresh(created)
    assert refreshed == created
    assert engine.diff(refreshed, parked).changes == NO_CHANGE
    engine.delete(refreshed)
    assert not cloud.calls(BULK, "compute.instances.delete")


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_parked_fleet_gets_its_instances_and_is_parked_again(engine, cloud, program):
    parked = {**program, "count": 0}
    resource = engine.create(FLEET, "workers", parked)
    for _ in range(3):
        found = engine.diff(resource, program)
        assert (set(found.detailedDiff), list(found.replaces)) == ({"count"}, [])
        resource = engine.update(resource, program)
        assert len(member_names(resource)) == 2
        assert engine.refresh(resource) == resource
        resource = engine.update(resource, parked)
        assert _outputs(resource) == NONE
        assert engine.refresh(resource) == resource
        assert cloud.emulator.store.counts().get("instances", 0) == 0

    assert len(cloud.requests(BULK)) >= 3


def test_a_fleet_is_parked_with_its_minimum_kept_for_later(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(4, minCount=2))
    parked = engine.update(created, fleet(0, minCount=2))
    assert _outputs(parked) == NONE
    assert engine.refresh(parked) == parked
    back = engine.update(parked, fleet(4, minCount=2))

    assert cloud.requests(BULK)[-1]["body"]["minCount"] == "2"
    assert back.outputs["memberCount"] == 4


def test_a_new_parked_fleet_refuses_instances_that_exist_already(engine, cloud):
    engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    with failing() as failed:
        engine.create(FLEET, "others", fleet(0, fleetId="crew"))

    assert "it and were not created by this resource" in failed[0].message


def test_a_parked_fleet_that_is_replaced_stays_parked(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(0, fleetId="crew"))
    changed = fleet(0, fleetId="crew", namePattern="app-###")
    found = engine.diff(created, changed)
    assert list(found.replaces) == ["namePattern"]
    assert found.deleteBeforeReplace
    engine.delete(created)

    assert _outputs(engine.create(FLEET, "workers", changed)) == NONE


def test_a_parked_fleet_cannot_be_imported_because_nothing_of_it_exists(engine):
    created = engine.create(FLEET, "workers", fleet(0, fleetId="crew"))

    with failing() as failed:
        engine.import_(FLEET, "again", created.id)
    assert "does not exist" in failed[0].message


def test_instance_properties_change_while_a_fleet_is_parked(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(0, labels={"team": "web"}))
    changed = engine.update(created, fleet(0, labels={"team": "shop"}))
    assert _outputs(changed) == NONE
    engine.update(changed, fleet(1, labels={"team": "shop"}))

    assert cloud.get(instance_path("web-001"))["labels"]["team"] == "shop"


@pytest.mark.parametrize("count", [0, "0", 0.0])
def test_every_spelling_of_0_parks_a_fleet(engine, cloud, count):
    created = engine.create(FLEET, "workers", fleet(count))

    assert engine.refresh(created) == created
    assert cloud.requests(BULK) == []
