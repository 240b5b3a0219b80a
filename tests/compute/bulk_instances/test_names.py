"""The numbers of a name pattern: free ones are used when the higher ones run out, and a lack of numbers is explained."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, failing
from rolling.fleets import instance_path, member_names
from rolling.rollouts import rolling
from values.programs import FLEET, fleet

BULK = "compute.regionInstances.bulkInsert"
LIST = "compute.instances.aggregatedList"


def _lose(cloud, *names):
    for name in names:
        cloud.emulator.store.delete(instance_path(name))


def test_lost_members_with_the_lowest_numbers_are_created_again_in_a_full_pattern(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(9, namePattern="z-#"))
    _lose(cloud, "z-1", "z-2")
    refreshed = engine.refresh(created)
    repaired = engine.update(refreshed, fleet(9, namePattern="z-#"))

    assert member_names(repaired) == [f"z-{number}" for number in range(1, 10)]
    body = cloud.requests(BULK)[-1]["body"]
    assert body["perInstanceProperties"] == {"z-1": {}, "z-2": {}}
    assert "namePattern" not in body
    assert cloud.get(instance_path("z-1"))["labels"]["gcpx-bulk"] == created.outputs["fleetId"]
    assert engine.refresh(repaired) == repaired
    assert not engine.diff(repaired, fleet(9, namePattern="z-#")).detailedDiff


def test_growth_fills_gaps_only_if_the_higher_numbers_run_out(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(9, namePattern="z-#"))
    _lose(cloud, "z-1", "z-3", "z-8", "z-9")
    grown = engine.update(engine.refresh(created), fleet(7, namePattern="z-#"))
    assert member_names(grown) == ["z-2", "z-4", "z-5", "z-6", "z-7", "z-8", "z-9"], "two higher numbers are left"

    full = engine.update(grown, fleet(8, namePattern="z-#"))
    assert "z-1" in member_names(full)


def test_a_pattern_with_text_after_its_number_keeps_it(engine, cloud):
    pattern = "z-##-x"
    created = engine.create(FLEET, "workers", fleet(99, namePattern=pattern))
    _lose(cloud, "z-07-x")
    repaired = engine.update(engine.refresh(created), fleet(99, namePattern=pattern))

    assert cloud.requests(BULK)[-1]["body"]["perInstanceProperties"] == {"z-07-x": {}}
    assert repaired.outputs["memberCount"] == 99


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({"fleetId": "team"}, True),
        ({"fleetId": "team", "count": 4}, False),
        ({"namePattern": "y-#"}, False),
        ({"fleetId": "team", "locationPolicy": {"locations": {"zones/us-east1-d": {"preference": "ALLOW"}}}}, False),
        ({"region": "us-west1"}, False),
        ({"fleetId": "team", "count": UNKNOWN}, False),
    ],
)
def test_a_preview_deletes_the_old_fleet_first_if_the_pattern_has_too_few_names_for_both(engine, change, first):
    created = engine.create(FLEET, "workers", fleet(5, namePattern="z-#"))
    found = engine.diff(created, {**fleet(5, namePattern="z-#"), **change})

    assert found.replaces
    assert found.deleteBeforeReplace == first
    words = "5 members are deleted before new ones are created, because namePattern has too few names for both fleets"
    assert warnings(engine) == ([f"{words}: z-1, z-2, z-3 and 2 more"] if first else [])


def warnings(engine):
    return [text for severity, _, text in engine.log.messages if severity == "WARNING"]


NAMED = {name: value for name, value in fleet().items() if name not in {"count", "namePattern"}}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (
            fleet(1, fleetId="crew"),
            fleet(1, fleetId="crew", namePattern="app-###"),
            "both fleets have the same fleetId",
        ),
        (
            {**NAMED, "perInstanceProperties": {"web-001": {}}},
            {**NAMED, "fleetId": "crew", "perInstanceProperties": {"web-001": {}, "web-002": {}}},
            "the new ones may have the same names",
        ),
    ],
    ids=["fleetId", "names"],
)
def test_a_preview_says_why_the_old_fleet_is_deleted_first(engine, before, after, why):
    created = engine.create(FLEET, "workers", before)
    engine.log.messages.clear()
    found = engine.diff(created, after)

    assert (bool(found.replaces), found.deleteBeforeReplace) == (True, True)
    assert warnings(engine) == [f"1 member is deleted before new ones are created, because {why}: web-001"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (fleet(0, fleetId="crew"), fleet(0, fleetId="crew", namePattern="app-###")),
        (fleet(2, fleetId="crew"), fleet(3, fleetId="crew")),
        (rolling(9, namePattern="z-#"), rolling(9, namePattern="z-#", machineType="e2-medium")),
    ],
    ids=["parked", "grown", "rolled"],
)
def test_a_preview_that_deletes_no_member_first_says_nothing_of_it(engine, before, after):
    created = engine.create(FLEET, "workers", before)
    engine.log.messages.clear()
    engine.diff(created, after)
    assert warnings(engine) == []


def test_a_replacement_that_finds_too_few_higher_numbers_says_what_to_do(engine, cloud):
    engine.create(FLEET, "old", fleet(7, namePattern="z-#"))
    cloud.emulator.requests.kept.clear()
    with failing() as failed:
        engine.create(FLEET, "new", fleet(3, namePattern="z-#"))

    assert failed[0].partial is None
    for words in ("namePattern: z-#", "3 more instances", "at most 9", "z-7", "deleteBeforeReplace", "more #"):
        assert words in failed[0].message
    assert cloud.calls() == [*["compute.instances.list"] * 3, BULK, "compute.regionOperations.list", LIST]


@pytest.mark.parametrize(
    "program",
    [fleet(1, namePattern="z-#"), {**fleet(), "namePattern": None, "count": None, "perInstanceProperties": {"a": {}}}],
    ids=["numbered", "named"],
)
def test_another_refusal_is_told_as_it_is(engine, cloud, program):
    engine.create(FLEET, "old", fleet(8, namePattern="z-#"))
    cloud.fail(BULK, status=400, message="no such network")
    with failing() as failed:
        engine.create(FLEET, "new", {name: value for name, value in program.items() if value is not None})

    assert "no such network" in failed[0].message


def test_instances_that_cannot_be_listed_leave_the_refusal_as_it_is(engine, cloud):
    engine.create(FLEET, "old", fleet(8, namePattern="z-#"))
    cloud.fail(LIST, status=403)
    with failing() as failed:
        engine.create(FLEET, "new", fleet(3, namePattern="z-#"))

    assert "Has too few #" in failed[0].message


def test_a_fleet_uses_free_numbers_if_another_instance_has_the_highest(engine, cloud):
    cloud.make_instance("z-9")
    created = engine.create(FLEET, "workers", fleet(3, namePattern="z-#"))
    assert member_names(created) == ["z-1", "z-2", "z-3"]
    grown = engine.update(created, fleet(5, namePattern="z-#"))

    assert member_names(grown) == [f"z-{number}" for number in range(1, 6)]
    assert engine.refresh(grown) == grown


def test_too_few_free_numbers_are_told_with_the_instances_that_are_no_members(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(3, namePattern="z-#"))
    for number in range(5, 10):
        cloud.make_instance(f"z-{number}")
    with failing() as failed:
        engine.update(created, fleet(5, namePattern="z-#"))

    assert "namePattern: z-# has too few names for 2 more instances" in failed[0].message
    assert "z-5, z-6, z-7 and 2 more are not members of this fleet" in failed[0].message


def test_a_kept_name_that_another_instance_has_is_left_to_it(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, {"keepNames": True}))
    _lose(cloud, "web-002")
    refreshed = engine.refresh(created)
    cloud.make_instance("web-002")
    repaired = engine.update(refreshed, rolling(3, {"keepNames": True}))

    assert member_names(repaired) == ["web-001", "web-003", "web-004"]
    assert "gcpx-bulk" not in cloud.get(instance_path("web-002")).get("labels", {})
    assert engine.refresh(repaired) == repaired


def test_the_name_of_a_member_that_another_instance_has_is_told(engine, cloud):
    named = {name: value for name, value in fleet().items() if name not in {"count", "namePattern"}}
    created = engine.create(FLEET, "workers", {**named, "perInstanceProperties": {"alpha": {}}})
    cloud.make_instance("beta")
    with failing() as failed:
        engine.update(created, {**named, "perInstanceProperties": {"alpha": {}, "beta": {}}})

    assert "perInstanceProperties: beta is not a member of this fleet; choose other names" in failed[0].message


def test_a_rolling_replacement_of_a_fleet_with_a_full_pattern_uses_the_names_that_it_frees(engine, cloud):
    rolling = {"updatePolicy": {"maxUnavailable": 3, "maxSurge": 0}}
    created = engine.create(FLEET, "workers", {**fleet(9, namePattern="z-#"), **rolling})
    changed = {**fleet(9, namePattern="z-#", canIpForward=True), **rolling}
    assert not engine.diff(created, changed).replaces
    updated = engine.update(created, changed)

    assert member_names(updated) == member_names(created)
    assert cloud.get(instance_path("z-1"))["canIpForward"] is True
