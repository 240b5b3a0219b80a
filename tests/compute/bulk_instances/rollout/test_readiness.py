"""Members that run and are not ready count as missing, are changed first, and are asked only as often as needed."""

from __future__ import annotations

import pytest
from engines.driver import Resource, failing, plain
from engines.stack import PROVIDER_ID
from rolling.fleets import instance_path, member_names
from rolling.rollouts import ATTRIBUTES, BIGGER_DISK, BULK, DELETE, STOP, instances, left_by, rolling
from values.programs import FLEET, PROJECT

ATTRIBUTE = "app/state"
READY = {"ready": {"guestAttribute": f"{ATTRIBUTE}=ready", "within": 1}}
ASK = "compute.instances.getGuestAttributes"


def boot_ready(cloud, *, ready):
    """Decide whether instances are ready once they have booted."""
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {ATTRIBUTE: "ready" if ready else "broken"}})


def ready_members(cloud, resource):
    found = instances(cloud, resource)
    return {item["name"] for item in found if item.get("_guestAttributes", {}).get(ATTRIBUTE) == "ready"}


@pytest.fixture
def created(engine, cloud):
    boot_ready(cloud, ready=True)
    return engine.create(FLEET, "workers", rolling(5, READY, **ATTRIBUTES))


@pytest.fixture
def broken(engine, cloud, created):
    """The fleet after an update to a version that does not become ready."""
    boot_ready(cloud, ready=False)
    with failing() as failed:
        engine.update(created, rolling(5, READY, **ATTRIBUTES, **BIGGER_DISK))
    left = left_by(failed[0], created)
    assert len(ready_members(cloud, left)) == 4
    return left


def test_a_fix_of_a_version_that_does_not_become_ready_reaches_the_broken_member_first(engine, cloud, broken):
    fewest = 5

    def observe(_number, _request):
        nonlocal fewest
        found = cloud.emulator.store.list("projects/demo-project/zones/us-east1-b/instances")
        ready = [item for item in found if item.get("_guestAttributes", {}).get(ATTRIBUTE) == "ready"]
        fewest = min(fewest, len(ready))

    boot_ready(cloud, ready=True)
    (bad,) = set(member_names(broken)) - ready_members(cloud, broken)
    cloud.emulator.requests.kept.clear()
    with cloud.interceptor.observed(observe):
        fixed = engine.update(broken, rolling(5, READY, **ATTRIBUTES, canIpForward=True))

    assert len(ready_members(cloud, fixed)) == 5
    assert fewest == 4
    first = cloud.requests(DELETE)[0]["path"].rpartition("/")[2]
    assert first == next(member["id"] for member in broken.outputs["members"] if member["name"] == bad)


def test_a_version_that_is_broken_again_takes_no_member_that_is_ready(engine, cloud, broken):
    good = ready_members(cloud, broken)
    with failing() as failed:
        engine.update(broken, rolling(5, READY, **ATTRIBUTES, canIpForward=True))

    assert ready_members(cloud, left_by(failed[0], broken)) == good


def test_if_no_member_is_ready_no_more_run_at_most_than_may_be_unavailable(engine, cloud, created):
    for name in member_names(created):
        cloud.change(instance_path(name), lambda body: body.update(_guestAttributes={}))
    with failing() as failed:
        boot_ready(cloud, ready=False)
        engine.update(created, rolling(5, READY, **ATTRIBUTES, machineType="e2-medium"))

    assert "not ready within 1 second" in failed[0].partial.reasons[0]
    assert len(cloud.requests(STOP)) == 1


@pytest.mark.parametrize("count", [6, 4])
def test_a_fleet_that_grows_or_is_relabelled_asks_only_its_new_members(engine, cloud, created, count):
    cloud.change(instance_path("web-003"), lambda body: body.update(_guestAttributes={}))
    cloud.emulator.requests.kept.clear()
    more = rolling(count, {**READY, "maxUnavailable": 2}, **ATTRIBUTES, labels={"a": "1"})
    updated = engine.update(created, more)

    assert len(member_names(updated)) == count
    assert len(cloud.requests(ASK)) == (1 if count > 5 else 5), "a smaller fleet may lose members that are ready"
    assert len(cloud.requests(BULK)) == (1 if count > 5 else 0)


def test_each_member_is_asked_once_and_once_more_when_it_was_changed(engine, cloud, created):
    cloud.emulator.requests.kept.clear()
    engine.update(created, rolling(5, {**READY, "maxUnavailable": 2}, **ATTRIBUTES, machineType="e2-medium"))

    assert len(cloud.requests(ASK)) == 5 + 5


def test_a_creation_waits_until_members_are_ready_and_keeps_those_that_are_not(engine, cloud):
    boot_ready(cloud, ready=False)
    program = rolling(3, READY, **ATTRIBUTES)
    with failing() as failed:
        engine.create(FLEET, "workers", program)
    kept = failed[0].partial
    made = Resource(engine.urn(FLEET, "workers"), kept.id, plain(kept.inputs), plain(kept.properties))
    with failing() as again:
        engine.update(made, program)

    assert len(member_names(made)) == 3
    said = "3 instances were created, but not ready within 1 second: web-001 (RUNNING), web-002 (RUNNING), web-003"
    assert said in kept.reasons[0]
    assert "not ready within 1 second: web-001 (RUNNING)" in again[0].message
    for name in member_names(made):
        cloud.change(instance_path(name), lambda body: body.update(_guestAttributes={ATTRIBUTE: "ready"}))
    assert member_names(engine.update(made, program)) == member_names(made)


@pytest.mark.parametrize("change", ["none", "another count", "a lost member"])
def test_members_that_were_not_ready_are_waited_for_again_whatever_else_changes(engine, cloud, change):
    boot_ready(cloud, ready=False)
    with failing() as failed:
        engine.create(FLEET, "workers", rolling(3, READY, **ATTRIBUTES))
    made = left_by(failed[0], Resource(engine.urn(FLEET, "workers"), "", {}, {}))
    boot_ready(cloud, ready=True)
    if change == "a lost member":
        cloud.emulator.store.delete(instance_path("web-003"))
        with failing() as failed:
            engine.refresh(made)
        made = left_by(failed[0], made)
    program = rolling(4 if change == "another count" else 3, READY, **ATTRIBUTES)
    for _ in range(2):  # an update that fails forgets nothing either
        with failing() as failed:
            engine.update(made, program)
        assert "not ready within 1 second: web-001" in failed[0].message
        made = left_by(failed[0], made) if failed[0].partial else made

    for name in ("web-001", "web-002"):
        cloud.change(instance_path(name), lambda body: body.update(_guestAttributes={ATTRIBUTE: "ready"}))
    if change != "a lost member":
        cloud.change(instance_path("web-003"), lambda body: body.update(_guestAttributes={ATTRIBUTE: "ready"}))
    done = engine.update(made, program)
    assert len(ready_members(cloud, done)) == len(member_names(done))
    assert engine.refresh(done) == done


def _refuse_lists_after_creations(cloud):
    def observe(_, request):
        if "bulkInsert" in request:
            for collection in ("list", "aggregatedList"):
                cloud.fail(f"compute.instances.{collection}", times=40, status=403)

    return cloud.interceptor.observed(observe)


@pytest.mark.parametrize("verb", ["create", "update"])
def test_a_change_that_could_not_be_read_was_not_seen_ready(engine, cloud, verb):
    engine.provider_id = PROVIDER_ID
    engine.configure(project=PROJECT, emulatorHost=cloud.host)
    made = Resource(engine.urn(FLEET, "workers"), "", {}, {})
    program = rolling(3, READY, **ATTRIBUTES)
    if verb == "update":
        boot_ready(cloud, ready=True)
        made = engine.create(FLEET, "workers", rolling(2, READY, **ATTRIBUTES))
    boot_ready(cloud, ready=False)
    with failing() as failed, _refuse_lists_after_creations(cloud):
        if verb == "create":
            engine.create(FLEET, "workers", program)
        else:
            engine.update(made, program)
    cloud.emulator.faults.queue.clear()
    left = left_by(failed[0], made)
    with failing() as refreshed:
        engine.refresh(left)
    assert "the last change did not succeed" in refreshed[0].message
    for state in (left, left_by(refreshed[0], left)):
        with failing() as again:
            engine.update(state, program)
        assert "not ready within 1 second" in again[0].message
