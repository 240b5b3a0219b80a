"""What a policy promises holds without a preview too, in a pause, in a stock-out, and when the policy is dropped."""

from __future__ import annotations

import pytest
from engines.driver import UNKNOWN, failing
from engines.stack import Stack
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import BIGGER_DISK, BULK, DELETE, rolling
from values.programs import FLEET, PROJECT, fleet

MEDIUM = {"machineType": "e2-medium"}
NAMES = ("alpha", "beta")


def said(engine):
    return "\n".join(text for _, _, text in engine.log.messages)


def named(policy, **hostnames):
    program = {**rolling(2, policy), "perInstanceProperties": {name: {} for name in NAMES}}
    del program["namePattern"], program["count"]
    program["perInstanceProperties"] |= {name: {"hostname": host} for name, host in hostnames.items()}
    return program


def zones(resource):
    return {member["name"]: member["zone"] for member in resource.outputs["members"]}


def test_a_new_host_name_needs_what_the_policy_may_not_allow(engine, cloud):
    policy = {"mostDisruptiveAction": "RESTART"}
    created = engine.create(FLEET, "workers", named(policy))
    for attempt in (engine.preview_update, engine.update):
        with failing() as failed:
            attempt(created, named(policy, alpha="alpha.example.com"))
        assert "mostDisruptiveAction: RESTART does not allow" in failed[0].message
    assert cloud.calls(DELETE) == []


def test_a_value_that_is_not_known_yet_refuses_nothing_and_the_preview_says_at_most(engine):
    policy = {"mostDisruptiveAction": "RESTART"}
    created = engine.create(FLEET, "workers", rolling(3, policy))
    engine.preview_update(created, rolling(3, policy, machineType=UNKNOWN, canIpForward=UNKNOWN))
    assert "at most 3 members are replaced" in said(engine)

    with failing() as failed:
        engine.preview_update(created, rolling(3, policy, machineType=UNKNOWN, **BIGGER_DISK))
    assert "mostDisruptiveAction: RESTART does not allow" in failed[0].message


@pytest.mark.parametrize("policy", [{"mostDisruptiveAction": "RESTART"}, {"maxDeleted": 0}])
def test_a_host_name_that_is_not_known_yet_refuses_nothing_and_the_preview_says_at_most(engine, policy):
    created = engine.create(FLEET, "workers", named(policy, alpha="alpha.example.com"))
    engine.preview_update(created, named(policy, alpha=UNKNOWN))
    assert "at most 1 member is replaced: alpha" in said(engine)


@pytest.mark.parametrize("policy", [{"mostDisruptiveAction": "RESTART"}, {"maxDeleted": 0}])
@pytest.mark.parametrize("hosts", [{}, {"alpha": "alpha.example.com"}])
def test_properties_of_a_member_that_are_not_known_yet_may_hold_another_host_name(engine, policy, hosts):
    created = engine.create(FLEET, "workers", named(policy, **hosts))
    changed = named(policy)
    changed["perInstanceProperties"]["alpha"] = UNKNOWN
    engine.preview_update(created, changed)
    assert "at most 1 member is replaced: alpha" in said(engine)


@pytest.mark.parametrize("policy", [{"mostDisruptiveAction": "RESTART"}, {"maxDeleted": 0}])
def test_a_fallback_that_is_not_known_yet_refuses_nothing_and_the_preview_says_at_most(engine, cloud, policy):
    def program(machine_type, **more):
        fallback = {"zones": ["us-east1-c"], "machineType": machine_type}
        in_b = {"zones": [{"zone": "zones/us-east1-b"}]}
        return rolling(2, policy, locationPolicy=in_b, fallbacks=[fallback], **more)

    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-d": 0})
    created = engine.create(FLEET, "workers", program("e2-medium"))
    account = {"email": "runner@demo-project.iam.gserviceaccount.com", "scopes": ["cloud-platform"]}
    engine.preview_update(created, program(UNKNOWN, serviceAccounts=[account]))
    assert "at most 2 members are replaced: web-001, web-002" in said(engine)


REFUSALS = {
    "mostDisruptiveAction": "RESTART does not allow this change, which needs REPLACE",
    "maxDeleted": "this one would delete 1 of 2 members",
}


@pytest.mark.parametrize("policy", [{"mostDisruptiveAction": "RESTART"}, {"maxDeleted": 0}], ids=list(REFUSALS))
@pytest.mark.parametrize(
    ("hosts", "properties", "more"),
    [
        ({"alpha": UNKNOWN, "beta": "b.example.com"}, {}, {}),
        ({"alpha": "a.example.com", "beta": UNKNOWN}, {}, {}),
        ({"alpha": UNKNOWN}, {}, {}),
        ({"beta": "b.example.com"}, {"machineType": UNKNOWN}, {}),
        ({"beta": "b.example.com"}, {}, {"rollingAction": {"action": "RESTART", "trigger": UNKNOWN}}),
    ],
)
def test_the_preview_refuses_a_host_name_that_certainly_changes_beside_what_is_not_known_yet(
    engine, cloud, policy, hosts, properties, more
):
    created = engine.create(FLEET, "workers", named(policy, beta="beta.example.com"))
    program = {**named(policy, **hosts), **more}
    program["instanceProperties"] = {**program["instanceProperties"], **properties}
    with failing() as failed:
        engine.preview_update(created, program)
    assert REFUSALS[next(iter(policy))] in failed[0].message
    assert cloud.calls(DELETE) == []


def test_the_preview_refuses_to_delete_surplus_members_although_all_may_have_to_be_replaced(engine):
    policy = {"maxDeleted": 0}
    created = engine.create(FLEET, "workers", rolling(3, policy))
    with failing() as failed:
        engine.preview_update(created, rolling(2, policy, canIpForward=UNKNOWN))
    assert "this one would delete 1 of 3 members" in failed[0].message


def test_the_preview_refuses_to_delete_stopped_members_that_are_certainly_replaced_beside_what_is_not_known_yet(
    engine, cloud
):
    created = engine.create(FLEET, "workers", rolling(3, {"maxDeleted": 0}, onStopped="REPLACE"))
    stop(cloud, "web-002")
    read = engine.refresh(created)
    with failing() as failed:
        engine.preview_update(read, rolling(3, {"maxDeleted": 0}, onStopped="REPLACE", machineType=UNKNOWN))
    assert "this one would delete 1 of 3 members" in failed[0].message


def test_the_unknown_host_name_of_a_new_member_leaves_certain_what_the_others_need(engine):
    created = engine.create(FLEET, "workers", named({}))
    more = named({})
    more["perInstanceProperties"]["gamma"] = {"hostname": UNKNOWN}
    engine.preview_update(created, {**more, "instanceProperties": {**more["instanceProperties"], **MEDIUM}})
    assert "what this update does: 2 members are restarted: alpha, beta" in said(engine)


def test_a_pause_changes_nothing_about_who_leaves_a_fleet_that_becomes_smaller(engine):
    policy = {"pauseAfter": "30%", "maxUnavailable": 10}
    created = engine.create(FLEET, "workers", rolling(10, policy))
    paused = engine.update(created, rolling(10, policy, **MEDIUM))
    smaller = engine.update(paused, rolling(4, policy, **MEDIUM))

    new = [item["name"] for item in smaller.outputs["members"] if item["generation"] == smaller.outputs["generation"]]
    assert new == ["web-001", "web-002", "web-003"], "a pause does not undo what was changed before"
    assert len(member_names(smaller)) == 4


def test_a_replacement_that_is_smaller_than_the_fleet_is_deleted_again(cloud):
    stack = Stack(cloud, FLEET, "workers", is_strict=False)
    stack.up(fleet(10, minCount=5))
    set_limits(cloud, zones={"us-east1-b": 15, "us-east1-c": 0, "us-east1-d": 0})
    before = stack.state.outputs["members"]
    stack.up(fleet(10, minCount=5, namePattern="app-###", **MEDIUM))

    words = "5 instances could be created, but the fleet that they should replace has 10"
    assert words in stack.failed.message
    assert "no capacity for e2-medium" in stack.failed.message
    left = cloud.emulator.store.list(f"projects/{PROJECT}/zones/us-east1-b/instances")
    assert {item["id"] for item in left} == {member["id"] for member in before}

    set_limits(cloud)
    stack.up(fleet(10, minCount=5, namePattern="app-###", **MEDIUM))
    assert stack.failed is None
    assert len(stack.state.outputs["members"]) == 10
    stack.end_plugin()


@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_replacement_is_compared_with_the_members_of_the_fleet_and_not_with_unmanaged_instances(cloud, room):
    stack = Stack(cloud, FLEET, "workers", is_strict=False)
    stack.up(fleet(2))
    labels = cloud.get(instance_path("web-001"))["labels"]
    cloud.change(cloud.make_instance("clone"), lambda body: body.update(labels=labels))
    zones = ("us-east1-b", "us-east1-c", "us-east1-d")
    set_limits(cloud, machineTypes={zone: {"n1-standard-1": room if zone.endswith("b") else 0} for zone in zones})
    stack.up(fleet(3, minCount=1, namePattern="app-###", machineType="n1-standard-1"))

    left = sorted(item["name"] for item in cloud.emulator.store.list(f"projects/{PROJECT}/zones/us-east1-b/instances"))
    if room == 2:
        assert stack.failed is None
        assert left == ["app-001", "app-002", "clone"]
    else:
        one = "1 instance could be created, but the fleet that it should replace has 2; it stays, and the new one was deleted"
        assert left == ["clone", "web-001", "web-002"]
        assert (one if room else "count of 1 VMs could not be created") in stack.failed.message
        assert ("lower count to 1" in stack.failed.message) == bool(room)
    stack.end_plugin()


def test_a_surge_needs_room_in_the_placement_groups(engine):
    placement = {"policies": ["rack-1", "rack-2"], "membersPerPolicy": 2}
    reasons = engine.failures(FLEET, rolling(4, {"maxSurge": 1}, placement=placement))
    assert reasons == {
        "updatePolicy.maxSurge": "must leave room in placement, which takes 4 members: use at most 0, or name more policies"
    }
    assert not engine.failures(FLEET, rolling(3, {"maxSurge": 1}, placement=placement))
    assert not engine.failures(FLEET, rolling(4, placement=placement))


@pytest.mark.parametrize("fallback", [True, False])
def test_members_keep_their_names_and_leave_zones_that_are_not_allowed_any_more(engine, fallback):
    def program(*allowed, **more):
        policy = {"targetShape": "BALANCED", "zones": [{"zone": f"zones/us-east1-{zone}"} for zone in allowed]}
        own = {"fallbacks": [{"zones": ["us-east1-b"]}]} if fallback else {}
        return rolling(4, {"keepNames": True}, locationPolicy=policy, **own, **more)

    created = engine.create(FLEET, "workers", program("b", "c"))
    updated = engine.update(created, program("c", "d", **BIGGER_DISK))

    assert zones(created).keys() == zones(updated).keys()
    if fallback:
        assert zones(updated) == zones(created), "a fallback still allows the other zone"
    else:
        assert set(zones(updated).values()) <= {"us-east1-c", "us-east1-d"}


def test_the_advice_for_a_member_that_comes_back_in_its_zone_says_what_would_move_it(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2, {"keepNames": True}))
    set_limits(cloud, zones={"us-east1-b": 1})
    with failing() as failed:
        engine.update(created, rolling(2, {"keepNames": True}, **BIGGER_DISK))

    words = "members that keep their names come back in their zones; to have them elsewhere, leave the zone out of"
    assert words in failed[0].partial.reasons[0]


def test_what_earlier_requests_have_created_stays_although_a_fallback_does_not_reach_the_minimum(engine, cloud):
    set_limits(cloud, zones={"us-east1-b": 2, "us-east1-c": 1, "us-east1-d": 0})
    in_b = {"zones": [{"zone": "zones/us-east1-b"}]}
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(6, locationPolicy=in_b, fallbacks=[{"zones": ["us-east1-c"]}]))

    assert "2 of 6 instances exist" in failed[0].partial.reasons[0]
    assert cloud.get(instance_path("web-002"))["status"] == "RUNNING"
    assert len(cloud.requests(BULK)) == 2
