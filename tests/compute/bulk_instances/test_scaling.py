"""A fleet has as many members as wanted: missing ones are created, and surplus ones deleted."""

from __future__ import annotations

from fleets import instance_path, member_names
from programs import FLEET, fleet

BULK = "compute.regionInstances.bulkInsert"
ZONE_LIST = "compute.instances.list"


def test_a_fleet_grows_in_one_call_and_shrinks_from_the_highest_number_down(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    assert not engine.diff(created, fleet(count=5)).replaces
    grown = engine.update(created, fleet(count=5))
    assert cloud.requests(BULK)[1]["body"]["count"] == "2"
    assert member_names(grown) == [f"web-00{number}" for number in range(1, 6)]
    cloud.emulator.requests.kept.clear()
    shrunk = engine.update(grown, fleet(count=2))

    assert member_names(shrunk) == ["web-001", "web-002"]
    assert cloud.calls("compute.instances.delete") == ["compute.instances.delete"] * 3
    assert "compute.instances.get" not in cloud.calls()
    assert engine.refresh(shrunk) == shrunk
    grown_again = engine.update(shrunk, fleet(count=5))
    assert grown_again.outputs["memberCount"] == 5, "the same growth later is another request"


def test_a_thousand_members_are_read_by_pages_of_zones_and_ten_of_them_deleted_in_ten_calls(engine, cloud):
    created = engine.create(FLEET, "many", fleet(count=1000, namePattern="m-####"))
    assert created.outputs["memberCount"] == 1000
    cloud.emulator.requests.kept.clear()
    engine.refresh(created)
    assert cloud.calls() == [ZONE_LIST] * 4, "two pages of one zone, and one of each of the two others"
    cloud.clock.advance(60)
    cloud.emulator.requests.kept.clear()
    shrunk = engine.update(created, fleet(count=990, namePattern="m-####"))

    deletions, operations = ["compute.instances.delete"] * 10, ["compute.zoneOperations.list"]
    assert cloud.calls() == [*[ZONE_LIST] * 4, *deletions, *operations], "the members that stay are not read again"
    assert engine.refresh(shrunk) == shrunk


def test_a_lost_member_is_drift_and_is_created_again(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    cloud.emulator.store.delete(instance_path("web-002"))
    assert engine.drift(created) == {"count"}
    refreshed = engine.refresh(created)
    assert refreshed.inputs["count"] == 2
    assert set(engine.diff(refreshed, fleet()).detailedDiff) == {"count"}
    repaired = engine.update(refreshed, fleet())

    assert member_names(repaired) == ["web-001", "web-003", "web-004"]
    assert cloud.requests(BULK)[-1]["body"]["count"] == "1"


def test_a_fleet_without_members_is_gone(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    for name in member_names(created):
        cloud.emulator.store.delete(instance_path(name))

    assert engine.refresh(created) is None
    engine.delete(created)


def test_named_instances_are_created_and_deleted_by_name(engine, cloud):
    named = fleet(
        count=None, namePattern=None, perInstanceProperties={"alpha": {}, "beta": {"hostname": "beta.example.com"}}
    )
    created = engine.create(FLEET, "named", {name: value for name, value in named.items() if value is not None})
    changed = {**created.inputs, "perInstanceProperties": {"beta": {"hostname": "beta.example.com"}, "gamma": {}}}
    found = engine.diff(created, changed)
    updated = engine.update(created, changed)

    assert set(found.detailedDiff) == {"perInstanceProperties.alpha", "perInstanceProperties.gamma"}
    assert not found.replaces
    assert member_names(updated) == ["beta", "gamma"]
    assert cloud.requests(BULK)[1]["body"]["perInstanceProperties"] == {"gamma": {}}
    cloud.emulator.store.delete(instance_path("beta"))
    assert engine.drift(updated) == {"perInstanceProperties.beta"}
    renamed = {**changed, "perInstanceProperties": {"beta": {"hostname": "other.example.com"}, "gamma": {}}}
    assert member_names(engine.update(updated, renamed)) == ["beta", "gamma"]
    assert cloud.get(instance_path("beta"))["hostname"] == "other.example.com"
