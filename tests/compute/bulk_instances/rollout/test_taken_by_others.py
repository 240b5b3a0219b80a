"""Members that somebody else deletes during an update: the update goes on, names them, and makes as many again."""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, member_names, stop
from rolling.rollouts import BIGGER_DISK, BULK, START, fail_after, instances, left_by, rolling
from values.programs import FLEET, fleet

BACK = {"onFailure": "ROLL_BACK"}


def _deleting(cloud, name, after=1):
    """Delete an instance once, as soon as so many more bulk creations have begun and it exists."""
    begun, done = len(cloud.calls(BULK)) + after, []

    def observe(_number, request):
        is_due = len(cloud.calls(BULK)) >= begun and request.startswith("GET") and not done
        if is_due and "/instances" in request and cloud.get(instance_path(name)):
            done.append(name)
            cloud.emulator.operations.settle()
            cloud.delete(instance_path(name))

    return cloud.interceptor.observed(observe)


def _said(engine):
    return [said for _, _, said in engine.log.messages]


@pytest.mark.parametrize("policy", [{}, BACK], ids=["on", "rolled back"])
def test_a_rollout_goes_on_if_somebody_deletes_a_member_while_another_one_is_made(engine, cloud, policy):
    created = engine.create(FLEET, "workers", rolling(4, policy))
    with _deleting(cloud, "web-004"):
        done = engine.update(created, rolling(4, policy, **BIGGER_DISK))

    assert len(done.outputs["members"]) == 4
    assert all(member["generation"] == done.outputs["generation"] for member in done.outputs["members"])
    assert "1 member was deleted by somebody else during this update: web-004" in _said(engine)


def test_a_growth_goes_on_if_somebody_deletes_a_new_member_at_once(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(2))
    with _deleting(cloud, "web-004"):
        grown = engine.update(created, fleet(4))

    assert len(member_names(grown)) == 4
    assert len(cloud.requests(BULK)) == 3


def test_what_only_heals_is_not_rolled_back(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, BACK))
    stop(cloud, "web-001")
    cloud.delete(instance_path("web-003"))
    refreshed = engine.refresh(created)
    fail_after(cloud, START, 0)
    with failing() as failed:
        engine.update(refreshed, rolling(3, BACK))
    state = left_by(failed[0], created)

    assert "rolled back" not in failed[0].partial.reasons[0]
    assert "web-001" in [instance["name"] for instance in instances(cloud, state)]
    healed = engine.update(state, rolling(3, BACK))
    assert "web-001" in member_names(healed)
    assert len(member_names(healed)) == 3


def test_a_fleet_that_shrinks_says_who_left(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(5))
    engine.update(created, fleet(3))

    assert "2 members were deleted: web-004, web-005" in _said(engine)
