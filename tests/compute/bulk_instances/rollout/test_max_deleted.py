"""A limit for deletions: no update deletes more members than its policy allows, and the preview says so first."""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path, member_names, stop
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, DELETE, left_by, rolling
from values.programs import FLEET


def refused(deleted, members, allowed):
    most = allowed if "%" in allowed else f"{allowed} of {members} members,"
    return f"maxDeleted: allows one update to delete {most} but this one would delete {deleted} of {members} members"


@pytest.mark.parametrize(
    ("policy", "change", "deleted", "allowed"),
    [
        ({"maxDeleted": 2}, {"count": 2}, 3, "2"),
        ({"maxDeleted": "50%"}, {"count": 2}, 3, "50% of 5 members, which is 2,"),
        ({"maxDeleted": 0}, {"count": 4}, 1, "0"),
        ({"maxDeleted": "99%"}, {"count": 0}, 5, "99% of 5 members, which is 4,"),
        ({"maxDeleted": 4}, BIGGER_DISK, 5, "4"),
        ({"maxDeleted": 4, "maxSurge": 2}, BIGGER_DISK, 5, "4"),
        ({"maxDeleted": 2, "pauseAfter": 3}, BIGGER_DISK, 3, "2"),
        ({"maxDeleted": 4}, {"count": 4, **BIGGER_DISK}, 5, "4"),
        ({"maxDeleted": 4, "minimalAction": "REPLACE"}, {"labels": {"a": "1"}}, 5, "4"),
    ],
    ids=str,
)
def test_what_deletes_more_is_refused_by_the_preview_and_by_the_update_before_anything_is_changed(
    engine, cloud, policy, change, deleted, allowed
):
    change = dict(change)
    created = engine.create(FLEET, "workers", rolling(5, policy))
    wanted = rolling(change.pop("count", 5), policy, **change)
    cloud.emulator.requests.kept.clear()
    with failing() as previewed:
        engine.preview_update(created, wanted)
    with failing() as updated:
        engine.update(created, wanted)

    for failure in (*previewed, *updated):
        assert refused(deleted, 5, allowed) in failure.message
        assert f"raise maxDeleted to {deleted} for this update" in failure.message
        assert failure.partial is None
    assert {request["method"] for request in cloud.emulator.requests.kept} <= {"compute.instances.list"}


@pytest.mark.parametrize(
    ("policy", "change"),
    [
        ({"maxDeleted": 2}, {"count": 3}),
        ({"maxDeleted": "100%"}, {"count": 0}),
        ({"maxDeleted": 5}, BIGGER_DISK),
        ({"maxDeleted": 2, "pauseAfter": 2}, BIGGER_DISK),
        ({"maxDeleted": 0}, {"machineType": "e2-medium"}),
        ({"maxDeleted": 0}, {"count": 8, "labels": {"a": "1"}}),
    ],
    ids=str,
)
def test_what_deletes_as_many_as_allowed_is_done(engine, cloud, policy, change):
    change = dict(change)
    created = engine.create(FLEET, "workers", rolling(5, policy))
    wanted = rolling(change.pop("count", 5), policy, **change)
    engine.preview_update(created, wanted)
    updated = engine.update(created, wanted)

    assert len(member_names(updated)) == wanted["count"]


def test_an_update_ends_when_more_have_to_be_deleted_than_its_plan_had(engine, cloud):
    policy = {"maxDeleted": 2, "pauseAfter": 2}
    created = engine.create(FLEET, "workers", rolling(5, policy, onStopped="REPLACE"))
    first = []

    def observe(_number, request):
        if "bulkInsert" in request and not first:
            first.append(request)
            for name in ("web-004", "web-005"):
                stop(cloud, name)

    with cloud.interceptor.observed(observe), failing() as failed:
        engine.update(created, rolling(5, policy, onStopped="REPLACE", **BIGGER_DISK))

    assert "but this one would delete 3 of 5 members" in failed[0].partial.reasons[0]
    assert len(cloud.requests(DELETE)) == 1
    assert cloud.get(instance_path("web-005")) is not None
    assert len(member_names(left_by(failed[0], created))) == 5


def test_a_rollback_may_delete_what_the_update_has_created(engine, cloud):
    policy = {"maxDeleted": 1, "onFailure": "ROLL_BACK", "ready": {"guestAttribute": "app/state=ready", "within": 1}}
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    created = engine.create(FLEET, "workers", rolling(3, policy, **ATTRIBUTES))
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "broken"}})
    with failing() as failed:
        engine.update(created, rolling(6, policy, tags={"items": ["web"]}, **ATTRIBUTES))

    assert "was rolled back" in failed[0].message
    assert len(cloud.requests(DELETE)) == 3
    assert all(cloud.get(instance_path(name)) for name in member_names(created))


def test_a_preview_that_does_not_know_whether_members_are_replaced_says_what_the_update_will_refuse(engine, cloud):
    small = {"name": "small", "properties": {**rolling(1)["instanceProperties"]}}
    cloud.post("/compute/v1/projects/demo-project/global/instanceTemplates", small)
    cloud.post(
        "/compute/v1/projects/demo-project/global/instanceTemplates",
        {**small, "name": "big", "properties": {**small["properties"], **BIGGER_DISK}},
    )

    def program(name):
        inputs = rolling(4, {"maxDeleted": 1})
        del inputs["instanceProperties"]
        return {**inputs, "sourceInstanceTemplate": f"global/instanceTemplates/{name}"}

    created = engine.create(FLEET, "workers", program("small"))
    engine.log.messages.clear()
    engine.preview_update(created, program("big"))
    said = "\n".join(text for _, _, text in engine.log.messages)
    assert "if more members have to be deleted than maxDeleted allows, which is 1, the update fails" in said
    with failing() as failed:
        engine.update(created, program("big"))
    assert refused(4, 4, "1") in failed[0].message
