"""Lists that lag behind creations: no instance is created twice, and none is given up."""

from __future__ import annotations

import json

import pytest
from engines.driver import failing
from engines.stack import PROVIDER_ID
from rolling.fleets import instance_path, member_names, set_limits
from rolling.rollouts import BIGGER_DISK, BULK, left_by, rolling
from values.programs import FLEET, PROJECT, fleet

ZONE_LIST = "compute.instances.list"
ZONES = 3
FOR_GOOD = 10**9
THEN_C = {"locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]}, "fallbacks": [{"zones": ["us-east1-c"]}]}


@pytest.fixture(params=[True, False], ids=["done at once", "done later"])
def _done(request, cloud):
    cloud.emulator.operations.done_at_once = request.param


def _lag(cloud, looks, after=0):
    """Let the lists of all zones be empty for a while, perhaps after some that are not."""
    if after:
        cloud.fail(ZONE_LIST, times=after * ZONES, delay=0.0)
    cloud.fail(ZONE_LIST, times=looks * ZONES, body=json.dumps({"kind": "compute#instanceList"}))


def _names(cloud):
    return sorted(item["name"] for _, item in cloud.emulator.store.of_kind("instances"))


@pytest.mark.usefixtures("_done")
@pytest.mark.parametrize("program", [fleet, rolling], ids=["fleet", "rolling fleet"])
def test_a_fleet_that_grows_waits_until_the_new_members_are_listed(clocked_engine, cloud, program):
    created = clocked_engine.create(FLEET, "workers", program(2))
    _lag(cloud, looks=3, after=1)
    grown = clocked_engine.update(created, program(4))

    assert member_names(grown) == _names(cloud) == ["web-001", "web-002", "web-003", "web-004"]
    assert len(cloud.requests(BULK)) == 2


@pytest.mark.usefixtures("_done")
@pytest.mark.parametrize("program", [fleet, rolling], ids=["fleet", "rolling fleet"])
def test_a_fleet_whose_new_members_are_not_listed_is_kept_and_finished_by_the_next_run(clocked_engine, cloud, program):
    clocked_engine.provider_id = PROVIDER_ID
    clocked_engine.configure(project=PROJECT, emulatorHost=cloud.host)
    created = clocked_engine.create(FLEET, "workers", program(2))
    _lag(cloud, looks=FOR_GOOD, after=1)
    with failing() as failed:
        clocked_engine.update(created, program(4))
    cloud.emulator.faults.queue.clear()
    grown = clocked_engine.update(left_by(failed[0], created), program(4))

    assert member_names(grown) == _names(cloud) == ["web-001", "web-002", "web-003", "web-004"]
    assert len(cloud.requests(BULK)) == 2


@pytest.mark.usefixtures("_done")
def test_members_that_replace_others_are_not_created_twice(clocked_engine, cloud):
    created = clocked_engine.create(FLEET, "workers", rolling(2, {"maxUnavailable": 2}))
    _lag(cloud, looks=3, after=1)
    replaced = clocked_engine.update(created, rolling(2, {"maxUnavailable": 2}, **BIGGER_DISK))

    assert member_names(replaced) == _names(cloud)
    assert len(replaced.outputs["members"]) == 2
    assert len(cloud.requests(BULK)) == 2


@pytest.mark.usefixtures("_done")
def test_a_fallback_does_not_create_named_instances_again_that_are_not_listed_yet(clocked_engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 4, "us-east1-d": 0})
    names = {name: {} for name in ("a", "b", "c", "d", "e", "f")}
    _lag(cloud, looks=3)
    inputs = {**fleet(count=None, **THEN_C), "namePattern": None, "perInstanceProperties": names}
    created = clocked_engine.create(FLEET, "workers", inputs)

    assert member_names(created) == _names(cloud) == list(names)
    assert len(cloud.requests(BULK)) == 2


@pytest.mark.usefixtures("_done")
def test_a_fallback_does_not_give_the_names_of_members_again_that_are_not_listed_yet(clocked_engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 4, "us-east1-d": 0})
    _lag(cloud, looks=3)
    created = clocked_engine.create(FLEET, "workers", fleet(count=6, **THEN_C))

    assert member_names(created) == _names(cloud) == [f"web-{number:03}" for number in range(1, 7)]


@pytest.mark.usefixtures("_done")
@pytest.mark.parametrize("program", [fleet, rolling], ids=["fleet", "rolling fleet"])
def test_members_that_are_deleted_at_once_do_not_keep_an_update_waiting(clocked_engine, cloud, program):
    created = clocked_engine.create(FLEET, "workers", program(2))

    deleted = []

    def delete(_, request):
        if request.startswith("GET") and not deleted and cloud.get(instance_path("web-004")):
            deleted.append("web-004")
            cloud.delete(instance_path("web-004"))

    with cloud.interceptor.observed(delete):
        grown = clocked_engine.update(created, program(4, minCount=1))

    assert member_names(grown) == ["web-001", "web-002", "web-003", "web-004"]


def test_a_fleet_whose_members_are_elsewhere_is_not_lost_if_google_does_not_list_operations(clocked_engine, cloud):
    _lag(cloud, looks=FOR_GOOD)
    cloud.fail("compute.zoneOperations.list", times=FOR_GOOD, status=403)
    with failing() as failed:
        clocked_engine.create(FLEET, "workers", fleet(2))
    cloud.emulator.faults.queue.clear()

    assert failed[0].partial is not None
    assert len(_names(cloud)) == 2
