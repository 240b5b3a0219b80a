"""What a failed update of a fleet says, read as its reader: how far it got, and what to do."""

from __future__ import annotations

from engines.driver import failing
from rolling.fleets import instance_path, set_limits
from rolling.rollouts import BIGGER_DISK, BROKEN, BULK, START, left_by, rolling
from values.programs import FLEET, PROJECT

LIST = "compute.instances.list"


def test_a_protected_member_comes_with_the_command_that_frees_it(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, {"maxUnavailable": 3}))
    cloud.change(instance_path("web-002"), lambda body: body.update(deletionProtection=True))
    with failing() as failed:
        engine.update(created, rolling(1, {"maxUnavailable": 3}))

    command = f"gcloud compute instances update projects/{PROJECT}/zones/us-east1-b/instances/web-002 --no-deletion-protection"
    assert f"To allow it, run `{command}`" in failed[0].partial.reasons[0]
    with failing() as again:
        engine.delete(created)
    assert command in again[0].message


def test_progress_counts_what_failed_apart(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"maxUnavailable": 4}))
    cloud.fail("compute.instances.delete", operation=BROKEN)
    with failing():
        engine.update(created, rolling(1, {"maxUnavailable": 4}))

    said = [text for _, _, text in engine.log.messages if "instances deleted" in text]
    assert said[-1] == "2/3 instances deleted, 1 failed"


def test_progress_does_not_call_a_member_that_is_gone_a_failure(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, {"maxUnavailable": 3}))

    def observe(_, request):
        if request.startswith("DELETE ") and cloud.get(instance_path("web-003")):
            cloud.delete(instance_path("web-003"))

    with cloud.interceptor.observed(observe):
        engine.delete(created)

    said = [text for _, _, text in engine.log.messages if "instances deleted" in text]
    assert said[-1] == "2/3 instances deleted, 1 already gone"


def test_a_rollback_that_fails_says_where_the_next_up_leads(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3, {"onFailure": "ROLL_BACK"}))
    cloud.fail(START, operation=BROKEN, times=9)
    with failing() as failed:
        engine.update(created, rolling(3, {"onFailure": "ROLL_BACK"}, machineType="e2-medium"))

    assert failed[0].partial.reasons[0].splitlines()[-1] == (
        "3 of 3 members exist, and 0 of them have the new properties; `pulumi up` goes on to the new properties; to go back, "
        "restore the previous program and run `pulumi up --refresh`"
    )


def test_members_that_were_deleted_do_not_count_although_they_cannot_be_listed(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(6, {"maxUnavailable": 2}))

    def observe(_number, request):
        if request.endswith("/bulkInsert"):
            cloud.fail(BULK, status=403)
            cloud.fail(LIST, status=403, times=20)

    with failing() as failed, cloud.interceptor.observed(observe):
        engine.update(created, rolling(6, {"maxUnavailable": 2}, **BIGGER_DISK))

    assert (
        "as far as gcpx knows, 4 of 6 members exist, and 0 of them have the new properties"
        in (failed[0].partial.reasons[0])
    )


def test_a_stock_out_takes_no_more_members_before_the_missing_ones_are_back(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4))
    set_limits(cloud, zones={"us-east1-b": 0, "us-east1-c": 0, "us-east1-d": 0})
    with failing() as failed:
        engine.update(created, rolling(4, **BIGGER_DISK))
    left = left_by(failed[0], created)
    with failing() as failed:
        engine.update(left, rolling(4, **BIGGER_DISK))

    assert "Google has room for 3 of 4 members, 3 are ready" in failed[0].partial.reasons[0]
    assert len(cloud.calls("compute.instances.delete")) == 1
