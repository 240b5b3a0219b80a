"""Members stay in the zones that the location policy says, through growth, refills, rollouts and lack of room."""

from __future__ import annotations

from collections import Counter

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, set_limits
from rolling.rollouts import BIGGER_DISK, BULK, rolling
from values.programs import FLEET, fleet

B, C, D = ("us-east1-b", "us-east1-c", "us-east1-d")
BALANCED = {"targetShape": "BALANCED"}


def _zones(cloud):
    """Count the fleet's instances in each zone."""
    cloud.emulator.operations.settle()
    found = [body for _, body in cloud.emulator.store.of_kind("instances") if "gcpx-bulk" in body.get("labels", {})]
    return Counter(body["zone"].rpartition("/")[2] for body in found)


def _lose(cloud, stack, zone, number=99):
    lost = [member["name"] for member in stack.state.outputs["members"] if member["zone"] == zone][:number]
    for name in lost:
        cloud.delete(instance_path(name, zone))
    stack.refresh()


def _names(stack):
    return [member["name"] for member in stack.state.outputs["members"]]


@pytest.mark.parametrize(
    "policy",
    [{}, {"maxUnavailable": 4}, {"maxSurge": 2}, {"maxSurge": 3, "maxUnavailable": 2}, {"keepNames": True}],
    ids=str,
)
def test_a_balanced_fleet_stays_balanced_in_a_rollout(stack, cloud, policy):
    stack.run("up", rolling(9, policy, locationPolicy=BALANCED))
    assert _zones(cloud) == {B: 3, C: 3, D: 3}
    stack.run("up", rolling(9, policy, locationPolicy=BALANCED, **BIGGER_DISK))

    assert stack.failed is None
    assert _zones(cloud) == {B: 3, C: 3, D: 3}
    assert len(set(_names(stack))) == 9


def test_a_balanced_fleet_is_never_out_of_balance_by_more_than_the_members_of_a_batch(stack, cloud):
    stack.run("up", rolling(9, locationPolicy=BALANCED))
    seen = []
    with cloud.interceptor.observed(lambda _number, _request: seen.append(_zones(cloud))):
        stack.up(rolling(9, locationPolicy=BALANCED, **BIGGER_DISK))

    assert seen
    assert all(max(zones.values()) - min(zones.values()) <= 1 for zones in seen), seen


@pytest.mark.parametrize("count", [4, 5, 7, 10])
def test_a_balanced_fleet_stays_balanced_when_it_grows(stack, cloud, count):
    stack.run("up", fleet(2, locationPolicy=BALANCED))
    stack.run("up", fleet(4, locationPolicy=BALANCED))
    stack.run("up", fleet(count, locationPolicy=BALANCED))

    found = _zones(cloud)
    assert found.total() == count
    assert max(found.values()) - min(found[zone] for zone in (B, C, D)) <= 1
    assert len(set(_names(stack))) == count


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_balanced_fleet_is_refilled_in_the_zone_that_lost_its_members(stack, cloud, listed):
    places = {**BALANCED, **({"zones": [{"zone": f"zones/{zone}"} for zone in (B, C, D)]} if listed else {})}
    stack.run("up", fleet(9, locationPolicy=places))
    _lose(cloud, stack, D)
    stack.run("up", fleet(9, locationPolicy=places))

    assert _zones(cloud) == {B: 3, C: 3, D: 3}
    assert len(set(_names(stack))) == 9


def test_members_of_a_balanced_fleet_go_to_the_other_zones_if_one_has_no_room(stack, cloud):
    stack.run("up", fleet(9, locationPolicy=BALANCED))
    _lose(cloud, stack, D)
    set_limits(cloud, zones={D: 0})
    stack.run("up", fleet(9, locationPolicy=BALANCED))

    assert stack.failed is None
    assert sorted(_zones(cloud).values()) == [4, 5]


def test_a_new_balanced_fleet_uses_the_zones_that_have_room(stack, cloud):
    set_limits(cloud, zones={D: 1})
    stack.run("up", fleet(9, locationPolicy=BALANCED))

    assert stack.failed is None
    assert _zones(cloud) == {B: 4, C: 4, D: 1}


def test_a_zone_that_is_allowed_excludes_no_other(stack, cloud):
    policy = {**BALANCED, "locations": {f"zones/{B}": {"preference": "ALLOW"}}}
    stack.run("up", fleet(3, locationPolicy=policy))
    assert _zones(cloud) == {B: 1, C: 1, D: 1}
    stack.run("up", fleet(6, locationPolicy=policy))

    assert stack.failed is None
    assert _zones(cloud) == {B: 2, C: 2, D: 2}


UNKNOWN_ZONE = "us-east1-x is not a zone of us-east1, which has the zones us-east1-b, us-east1-c, us-east1-d"


@pytest.mark.parametrize("kind", ["zones", "locations", "fallback"])
def test_a_zone_that_does_not_exist_is_named_with_those_that_do(engine, cloud, kind):
    policies = {
        "zones": {"locationPolicy": {"zones": [{"zone": "zones/us-east1-x"}]}},
        "locations": {"locationPolicy": {"locations": {"zones/us-east1-x": {"preference": "ALLOW"}}}},
        "fallback": {"fallbacks": [{"zones": ["us-east1-x"]}]},
    }
    if kind == "fallback":
        set_limits(cloud, zones={B: 0, C: 0, D: 0})
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(2, **policies[kind]))

    assert failed[0].message.count(UNKNOWN_ZONE) == 1
    assert failed[0].message.count("Invalid value for field") == 1


def test_a_rollout_of_a_balanced_fleet_goes_on_in_the_zones_that_have_room(stack, cloud):
    policy = {"maxUnavailable": 3}
    stack.run("up", rolling(9, policy, locationPolicy=BALANCED))
    set_limits(cloud, zones={C: 0})
    stack.run("up", rolling(9, policy, locationPolicy=BALANCED, **BIGGER_DISK))

    assert stack.failed is None
    assert sorted(_zones(cloud).values()) == [4, 5]


@pytest.mark.parametrize("change", [{"count": 6}, {"roll": True}, {"lose": 2}], ids=str)
def test_a_fleet_in_one_zone_stays_in_its_zone(stack, cloud, change):
    set_limits(cloud, zones={B: 0, C: 0})
    stack.run("up", rolling(4))
    assert _zones(cloud) == {D: 4}
    set_limits(cloud)
    if "lose" in change:
        _lose(cloud, stack, D, change["lose"])
    stack.run("up", rolling(change.get("count", 4), **(BIGGER_DISK if "roll" in change else {})))

    assert stack.failed is None
    assert _zones(cloud) == {D: change.get("count", 4)}


def test_a_fleet_in_one_zone_that_is_full_says_where_there_is_room(stack, cloud):
    stack.run("up", fleet(2, minCount=1))
    (zone,) = _zones(cloud)
    set_limits(cloud, zones={zone: 2})
    stack.run("up", fleet(4, minCount=1))

    assert stack.failed is None
    assert _zones(cloud) == {zone: 2}
    assert "Google reported room in" in stack.warnings[0]


@pytest.mark.parametrize("shape", ["ANY", "BALANCED", "ANY_SINGLE_ZONE"])
def test_the_most_members_of_a_zone_hold_for_the_fleet(stack, cloud, shape):
    locations = {
        f"zones/{B}": {"preference": "ALLOW", "constraints": {"maxCount": 2}},
        f"zones/{C}": {"preference": "ALLOW", "constraints": {"maxCount": 4}},
        f"zones/{D}": {"preference": "DENY"},
    }
    places = {"targetShape": shape, "locations": locations}
    for count in (2, 3, 4):
        stack.run("up", fleet(count, minCount=1, locationPolicy=places))
    found = _zones(cloud)

    assert stack.failed is None
    assert found[B] <= 2
    assert found[C] <= 4
    assert found.total() == 4 or shape == "ANY_SINGLE_ZONE"


def test_members_go_to_the_other_zones_if_google_refuses_the_one_with_the_fewest(stack, cloud):
    """As it does if a zone does not offer the machine type."""
    stack.run("up", fleet(5, locationPolicy=BALANCED))
    cloud.fail(BULK, status=400, message="not in this zone")
    stack.run("up", fleet(6, locationPolicy=BALANCED))

    assert stack.failed is None
    assert _zones(cloud).total() == 6
    assert [body["locationPolicy"] for body in (one["body"] for one in cloud.requests(BULK)[1:])] == [
        {"zones": [{"zone": f"zones/{D}"}]},
        {"zones": [{"zone": f"zones/{B}"}]},
    ]


def test_new_members_of_a_balanced_fleet_are_asked_for_in_these_zones_only(stack, cloud):
    """Google may use zones that `locations` does not name, so `zones` names them, too."""
    for count in (4, 6):
        stack.run("up", fleet(count, locationPolicy=BALANCED))
    places = cloud.requests(BULK)[-1]["body"]["locationPolicy"]

    assert stack.failed is None
    assert sorted(_zones(cloud).values()) == [2, 2, 2]
    assert [item["zone"] for item in places["zones"]] == list(places["locations"])
    assert len(places["zones"]) == 2


def test_a_stock_out_does_not_advise_zones_that_are_allowed(stack, cloud):
    stack.run("up", fleet(2, minCount=1))
    (zone,) = _zones(cloud)
    set_limits(cloud, zones={zone: 2})
    stack.run("up", fleet(4, minCount=1))

    others = ", ".join(sorted({B, C, D} - {zone}))
    assert stack.warnings[0].endswith(
        f"no capacity for e2-small, but Google reported room in {others}: let members be in several zones, with the target "
        "shape ANY or BALANCED, or name them in fallbacks"
    )
