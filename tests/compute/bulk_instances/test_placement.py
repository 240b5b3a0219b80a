"""Compact placement: members are divided into groups, each of which shares one policy and one zone."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN
from rolling.fleets import set_limits
from values.programs import FLEET, PROJECT, fleet

BULK = "compute.regionInstances.bulkInsert"
POLICIES = f"/compute/beta/projects/{PROJECT}/regions/us-east1/resourcePolicies"


@pytest.fixture
def racks(cloud):
    """Three compact placement policies."""
    names = ["rack-1", "rack-2", "rack-3"]
    for name in names:
        cloud.make_placement_policy(name)
    return names


def _groups(cloud, resource):
    """Return the members of each policy, by their zones."""
    groups = {}
    for member in resource.outputs["members"]:
        (policy,) = cloud.get(f"projects/{PROJECT}/zones/{member['zone']}/instances/{member['name']}")["resourcePolicies"]  # fmt: skip
        groups.setdefault(policy.rpartition("/")[2], []).append(member["zone"])
    return groups


def test_members_are_divided_into_groups_of_the_allowed_size(engine, cloud, racks):
    created = engine.create(FLEET, "workers", fleet(50, placement={"policies": racks, "membersPerPolicy": 22}))

    assert {policy: len(zones) for policy, zones in _groups(cloud, created).items()} == {"rack-1": 22, "rack-2": 22, "rack-3": 6}  # fmt: skip
    assert [entry["body"]["count"] for entry in cloud.requests(BULK)] == ["22", "22", "6"]
    assert all("placement" not in entry["body"] for entry in cloud.requests(BULK))
    assert engine.refresh(created).inputs == created.inputs


def test_growth_fills_the_groups_in_their_zones(engine, cloud, racks):
    placed = {"placement": {"policies": racks, "membersPerPolicy": 4}}
    in_c = {"locationPolicy": {"zones": [{"zone": "zones/us-east1-c"}]}}
    created = engine.create(FLEET, "workers", fleet(2, **placed, **in_c))
    grown = engine.update(created, fleet(6, **placed))

    groups = _groups(cloud, grown)
    assert groups["rack-1"] == ["us-east1-c"] * 4, "a group stays in its zone"
    assert len(groups["rack-2"]) == 2


def test_a_group_that_fell_short_is_filled_by_a_fallback(engine, cloud, racks):
    set_limits(cloud, machineTypes={zone: {"e2-small": 3} for zone in ("us-east1-b", "us-east1-c", "us-east1-d")})
    inputs = fleet(
        6, placement={"policies": racks, "membersPerPolicy": 4}, fallbacks=[{"machineType": "n2-standard-2"}]
    )
    created = engine.create(FLEET, "workers", inputs)

    groups = _groups(cloud, created)
    assert {policy: len(zones) for policy, zones in groups.items()} == {"rack-1": 4, "rack-2": 2}
    assert all(len(set(zones)) == 1 for zones in groups.values())


def test_policies_of_the_instance_properties_stay(engine, cloud, racks):
    cloud.post(POLICIES, {"name": "nightly", "instanceSchedulePolicy": {"timeZone": "UTC"}})
    engine.create(FLEET, "workers", fleet(1, resourcePolicies=["nightly"], placement={"policies": racks}))

    (request,) = cloud.requests(BULK)
    assert request["body"]["instanceProperties"]["resourcePolicies"] == ["nightly", "rack-1"]


@pytest.mark.parametrize(("inputs", "path", "words"), [
    (fleet(23, placement={"policies": ["a"], "membersPerPolicy": 22}), "placement.policies", "22 members, but count is 23"),
    (fleet(151, placement={"policies": ["a"]}), "placement.policies", "room for 150 members, but count is 151"),
    (fleet(placement={"policies": []}), "placement.policies", "is required"),
    (fleet(placement={"policies": ["a"], "membersPerPolicy": 1501}), "placement.membersPerPolicy", "1 to 1,500"),
    (fleet(placement={"policies": ["a", "a"]}), "placement.policies[1]", "must differ"),
    (fleet(placement={"policies": ["a"]}, locationPolicy={"targetShape": "BALANCED"}), "locationPolicy.targetShape", "must be ANY_SINGLE_ZONE with placement"),
    (fleet(placement={"policies": ["a"]}, fallbacks=[{"zones": ["us-east1-b"]}]), "fallbacks[0].zones", "stays in their zone"),
])  # fmt: skip
def test_placement_that_cannot_work_is_refused_at_preview(engine, cloud, inputs, path, words):
    failures = engine.failures(FLEET, inputs)

    assert words in failures.get(path, ""), failures
    assert cloud.calls() == []


@pytest.mark.parametrize("placement", [
    UNKNOWN, {"policies": UNKNOWN}, {"policies": [UNKNOWN, UNKNOWN]}, {"policies": ["a"], "membersPerPolicy": UNKNOWN},
], ids=str)  # fmt: skip
def test_placement_that_is_not_known_yet_is_accepted(engine, placement):
    assert engine.failures(FLEET, fleet(placement=placement)) == {}


FLEX = {"provisioningModel": "FLEX_START"}
LIMIT = {"maxRunDuration": {"seconds": 3600}}


@pytest.mark.parametrize(("properties", "path", "words"), [
    ({"scheduling": FLEX}, "instanceProperties.scheduling.maxRunDuration", "is required with FLEX_START"),
    ({"scheduling": {**FLEX, "maxRunDuration": {"seconds": 604_801}}}, "instanceProperties.scheduling.maxRunDuration.seconds", "at most 604,800"),
    ({"scheduling": {**FLEX, **LIMIT, "onHostMaintenance": "MIGRATE"}}, "instanceProperties.scheduling.onHostMaintenance", "must be TERMINATE with FLEX_START"),
    ({"scheduling": {**FLEX, **LIMIT}, "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name", "values": ["r"]}}, "instanceProperties.reservationAffinity.consumeReservationType", "which does not use reservations"),
    ({"scheduling": {"provisioningModel": "RESERVATION_BOUND"}}, "instanceProperties.reservationAffinity.consumeReservationType", "must be SPECIFIC_RESERVATION"),
])  # fmt: skip
def test_what_a_provisioning_model_requires_or_excludes_is_refused_at_preview(engine, properties, path, words):
    failures = engine.failures(FLEET, fleet(**properties))

    assert words in failures.get(path, ""), failures


def test_a_template_may_have_what_a_provisioning_model_requires(engine):
    inputs = {
        "region": "us-east1",
        "count": 1,
        "namePattern": "a-#",
        "sourceInstanceTemplate": "global/instanceTemplates/t",
    }
    for model in ("FLEX_START", "RESERVATION_BOUND"):
        scheduled = {"instanceProperties": {"scheduling": {"provisioningModel": model}}}

        assert engine.failures(FLEET, {**inputs, **scheduled}) == {}


@pytest.mark.parametrize("scheduling", [
    {**FLEX, **LIMIT, "instanceTerminationAction": "DELETE"},
    {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"},
    {**LIMIT, "instanceTerminationAction": "DELETE"},
    {"terminationTime": "2036-12-31T23:59:59Z", "instanceTerminationAction": "STOP"},
], ids=str)  # fmt: skip
def test_a_fleet_has_the_scheduling_of_its_inputs(engine, cloud, scheduling):
    created = engine.create(FLEET, "workers", fleet(scheduling=scheduling))

    (request,) = cloud.requests(BULK)
    assert (
        request["body"]["instanceProperties"]["scheduling"].items()
        >= {name: value for name, value in scheduling.items() if not isinstance(value, dict)}.items()
    )
    assert created.outputs["memberCount"] == 3
    assert engine.diff(created, fleet(scheduling=scheduling)).changes == 1
