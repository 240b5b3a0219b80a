"""A fleet has as many members as wanted: missing ones are created, and surplus ones deleted."""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import left_by
from values.programs import FLEET, PROJECT, fleet

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
    assert (refreshed.inputs["count"], refreshed.outputs["count"]) == (3, 2)
    assert set(engine.diff(refreshed, fleet()).detailedDiff) == {"count"}
    repaired = engine.update(refreshed, fleet())

    assert member_names(repaired) == ["web-001", "web-003", "web-004"]
    assert cloud.requests(BULK)[-1]["body"]["count"] == "1"


NAMED = {name: value for name, value in fleet().items() if name not in {"count", "namePattern"}}


@pytest.mark.parametrize(
    ("program", "path"),
    [(fleet(), "count"), ({**NAMED, "perInstanceProperties": {"web-001": {}}}, "perInstanceProperties")],
    ids=["numbered", "named"],
)
def test_a_fleet_that_has_lost_all_members_stays_and_is_filled_again_under_its_id(engine, cloud, program, path):
    created = engine.create(FLEET, "workers", program)
    for name in member_names(created):
        cloud.emulator.store.delete(instance_path(name))
    refreshed = engine.refresh(created)
    assert (refreshed.id, refreshed.inputs, refreshed.outputs["members"]) == (created.id, created.inputs, [])
    assert any("the fleet stays in the state" in text for _, _, text in engine.log.messages)
    assert engine.refresh(refreshed) == refreshed
    assert set(engine.diff(refreshed, program).detailedDiff) == {path}

    filled = engine.update(refreshed, program)
    assert len(member_names(filled)) == len(member_names(created))
    assert not engine.diff(filled, program).detailedDiff
    for name in member_names(filled):
        cloud.emulator.store.delete(instance_path(name))
    engine.delete(engine.refresh(filled))


@pytest.mark.parametrize("reads", ["refresh", "none"])
def test_a_fleet_whose_last_update_was_not_read_stays_without_members_too(engine, cloud, reads):
    created = engine.create(FLEET, "workers", fleet(2))

    def observe(_, request):
        if "bulkInsert" in request:
            for collection in ("list", "aggregatedList"):
                cloud.fail(f"compute.instances.{collection}", times=40, status=403)

    with failing() as failed, cloud.interceptor.observed(observe):
        engine.update(created, fleet(3))
    left = left_by(failed[0], created)
    assert left.outputs["__unread"]
    cloud.emulator.faults.queue.clear()
    for name in ("web-001", "web-002", "web-003"):
        cloud.emulator.store.delete(instance_path(name))
    if reads == "refresh":
        left = engine.refresh(left)
        assert left.outputs["members"] == []
        assert any("the fleet stays in the state" in text for _, _, text in engine.log.messages)

    filled = engine.update(left, fleet(3))
    assert (filled.id, len(member_names(filled))) == (created.id, 3)
    assert engine.refresh(filled) == filled


def test_the_drift_of_a_fleet_shows_what_exists_and_what_the_program_wants(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(5))
    cloud.emulator.store.delete(instance_path("web-002"))
    refreshed = engine.refresh(created)
    change = engine.diff(refreshed, fleet(5)).detailedDiff["count"]

    assert (refreshed.inputs["count"], refreshed.outputs["count"]) == (5, 4)
    assert (change.kind, change.inputDiff) == (change.UPDATE, False)
    assert not engine.diff(refreshed, fleet(4)).detailedDiff.keys() - {"count"}


def test_a_shortage_that_the_program_accepts_is_no_change_before_a_refresh(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 3})
    program = fleet(5, minCount=2, locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]})
    created = engine.create(FLEET, "workers", program)
    assert (len(member_names(created)), created.outputs["count"]) == (3, 5)
    assert not engine.diff(created, program).detailedDiff
    assert set(engine.diff(created, {**program, "fallbacks": [{"zones": ["us-east1-c"]}]}).detailedDiff) == {
        "fallbacks"
    }
    refreshed = engine.refresh(created)

    assert set(engine.diff(refreshed, program).detailedDiff) == {"count"}
    set_limits(cloud)
    filled = engine.update(refreshed, program)
    assert len(member_names(filled)) == 5
    assert not engine.diff(engine.refresh(filled), program).detailedDiff


NUMBERED_IN_B = fleet(5, minCount=2, locationPolicy={"zones": [{"zone": "zones/us-east1-b"}]})
NAMED_IN_B = {
    **{name: value for name, value in NUMBERED_IN_B.items() if name not in {"count", "namePattern"}},
    "perInstanceProperties": {f"web-00{number}": {} for number in range(1, 6)},
}


@pytest.mark.parametrize(
    ("program", "path"), [(NUMBERED_IN_B, "count"), (NAMED_IN_B, "perInstanceProperties")], ids=["numbered", "named"]
)
def test_where_each_update_reads_first_an_accepted_shortage_is_a_change_only_if_members_are_lost(
    engine, cloud, program, path
):
    engine.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")
    set_limits(cloud, zones={"us-east1-b": 3})
    state = engine.create(FLEET, "workers", program)
    assert any("to create the others, raise minCount" in text for _, _, text in engine.log.messages)
    for _ in range(2):
        state = engine.refresh(state)
        assert len(member_names(state)) == 3
        assert not engine.diff(state, program).detailedDiff

    cloud.emulator.store.delete(instance_path(member_names(state)[-1]))
    for _ in range(2):
        state = engine.refresh(state)
        assert set(engine.diff(state, program).detailedDiff) == {path}
    state = engine.refresh(engine.update(state, program))
    assert len(member_names(state)) == 3
    assert not engine.diff(state, program).detailedDiff

    stop(cloud, member_names(state)[0])
    state = engine.refresh(state)
    assert set(engine.diff(state, program).detailedDiff) == {path}, "a stopped member can be started"
    set_limits(cloud)
    state = engine.update(state, {**program, "minCount": 5})
    assert len(member_names(state)) == 5
    assert not engine.diff(engine.refresh(state), {**program, "minCount": 5}).detailedDiff


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
    assert engine.drift(updated) == {"perInstanceProperties"}
    renamed = {**changed, "perInstanceProperties": {"beta": {"hostname": "other.example.com"}, "gamma": {}}}
    assert member_names(engine.update(updated, renamed)) == ["beta", "gamma"]
    assert cloud.get(instance_path("beta"))["hostname"] == "other.example.com"
