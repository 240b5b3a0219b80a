"""Rolling updates through the protocol: which members are touched, how many at once, and where a rollout goes on."""

from __future__ import annotations

from typing import Any

import pytest
from engines import driver
from engines.driver import UNKNOWN, Resource, failing
from rolling.fleets import instance_path, member_names, set_limits, stop
from values.programs import FLEET, PROJECT, fleet, one_at_a_time, properties

BULK = "compute.regionInstances.bulkInsert"
DELETE, STOP, START = (f"compute.instances.{name}" for name in ("delete", "stop", "start"))
SET_LABELS, SET_METADATA = "compute.instances.setLabels", "compute.instances.setMetadata"
SET_MACHINE_TYPE = "compute.instances.setMachineType"
BIGGER_DISK = {
    "disks": [
        {
            "boot": True,
            "autoDelete": True,
            "initializeParams": {
                "diskSizeGb": 50,
                "sourceImage": "projects/debian-cloud/global/images/family/debian-12",
            },
        }
    ]
}


def rolling(count: int = 4, policy: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return fleet(count, updatePolicy=one_at_a_time(policy), **more)


def ids(resource: Resource) -> dict[str, str]:
    return {member["name"]: member["id"] for member in resource.outputs["members"]}


def said(engine: Any) -> str:
    return "\n".join(text for severity, _, text in engine.log.messages if severity == "INFO")


def mutations(cloud: Any) -> list[str]:
    reads = ("get", "list", "aggregatedList", "wait", "getGuestAttributes")
    return [name for name in cloud.calls("compute.") if name.rpartition(".")[2] not in reads]


def test_members_are_labelled_with_their_generation_and_a_preview_without_changes_is_empty(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())

    assert {cloud.get(instance_path(name))["labels"]["gcpx-generation"] for name in member_names(created)} == {
        created.outputs["generation"]
    }
    assert engine.diff(created, rolling()).changes == driver.rpc.DiffResponse.DIFF_NONE
    assert not engine.drift(created)


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({"labels": {"tier": "web"}}, {SET_LABELS}),
        ({"metadata": {"items": [{"key": "a", "value": "1"}]}}, {SET_METADATA, SET_LABELS}),
        ({"tags": {"items": ["http"]}}, {"compute.instances.setTags", SET_LABELS}),
        ({"scheduling": {"automaticRestart": False}}, {"compute.instances.setScheduling", SET_LABELS}),
        ({"machineType": "e2-medium"}, {STOP, SET_MACHINE_TYPE, START, SET_LABELS}),
        ({"minCpuPlatform": "Intel Ice Lake"}, {STOP, "compute.instances.setMinCpuPlatform", START, SET_LABELS}),
        (
            {
                "serviceAccounts": [
                    {
                        "email": "a@example.iam.gserviceaccount.com",
                        "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
                    }
                ]
            },
            {STOP, "compute.instances.setServiceAccount", START, SET_LABELS},
        ),
        (BIGGER_DISK, {DELETE, BULK}),
        ({"canIpForward": True}, {DELETE, BULK}),
    ],
    ids=["labels", "metadata", "tags", "scheduling", "machine type", "platform", "service account", "disks", "other"],
)
def test_each_property_needs_the_least_that_changes_it(engine, cloud, change, calls):
    created = engine.create(FLEET, "workers", rolling())
    changed = rolling(**change)
    assert engine.diff(created, changed).replaces == []
    cloud.emulator.requests.kept.clear()
    updated = engine.update(created, changed)

    assert set(mutations(cloud)) == calls
    replaced = DELETE in calls
    assert (ids(updated).items() & ids(created).items() == set()) == replaced
    assert len(member_names(updated)) == 4
    assert updated.outputs["generation"] != created.outputs["generation"]
    assert {member["generation"] for member in updated.outputs["members"]} == {updated.outputs["generation"]}
    assert all(member["status"] == "RUNNING" for member in updated.outputs["members"])
    assert engine.diff(updated, changed).changes == driver.rpc.DiffResponse.DIFF_NONE
    assert not engine.drift(updated)


def test_a_change_reaches_the_instances(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(labels={"old": "1"}, machineType="e2-small"))
    updated = engine.update(created, rolling(labels={"new": "2"}, machineType="e2-medium"))

    for name in member_names(updated):
        instance = cloud.get(instance_path(name))
        assert instance["machineType"].endswith("/e2-medium")
        assert instance["labels"]["new"] == "2"
        assert "old" not in instance["labels"]


def test_batches_are_as_large_as_the_policy_allows(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(6, {"maxUnavailable": 2}))
    cloud.emulator.requests.kept.clear()
    engine.update(created, rolling(6, {"maxUnavailable": 2}, **BIGGER_DISK))

    assert [name for name in mutations(cloud) if name in {DELETE, BULK}] == [DELETE, DELETE, BULK] * 3
    assert [request["body"]["count"] for request in cloud.requests(BULK)] == ["2", "2", "2"]


def test_a_surge_creates_first(engine, cloud):
    policy = {"maxSurge": "50%", "maxUnavailable": 0}
    created = engine.create(FLEET, "workers", rolling(4, policy))
    cloud.emulator.requests.kept.clear()
    updated = engine.update(created, rolling(4, policy, **BIGGER_DISK))

    assert [name for name in mutations(cloud) if name in {DELETE, BULK}] == [BULK, DELETE, DELETE, BULK, DELETE, DELETE]
    assert len(member_names(updated)) == 4


def test_names_and_zones_are_kept_on_demand(engine, cloud):
    program = {
        "count": 6,
        "policy": {"keepNames": True, "maxUnavailable": 3},
        "locationPolicy": {"targetShape": "BALANCED"},
    }
    created = engine.create(FLEET, "workers", rolling(**program))
    updated = engine.update(created, rolling(**program, **BIGGER_DISK))

    places = [{member["name"]: member["zone"] for member in one.outputs["members"]} for one in (created, updated)]
    assert places[0] == places[1]
    assert len(set(places[0].values())) == 3
    assert not ids(created).items() & ids(updated).items()


def test_a_named_fleet_rolls_under_its_names(engine, cloud):
    program = {**rolling(), "perInstanceProperties": {"alpha": {}, "beta": {}, "gamma": {}}}
    del program["namePattern"], program["count"]
    created = engine.create(FLEET, "workers", program)
    changed = {**program, "instanceProperties": {**program["instanceProperties"], **BIGGER_DISK}}
    cloud.emulator.requests.kept.clear()
    updated = engine.update(created, changed)

    assert member_names(updated) == ["alpha", "beta", "gamma"]
    assert [name for name in mutations(cloud) if name in {DELETE, BULK}] == [DELETE, BULK] * 3


def test_only_outdated_members_are_touched(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, **BIGGER_DISK))
    assert len(ids(paused).items() & ids(created).items()) == 3
    assert any("has paused: 1 of 4" in text for _, _, text in engine.log.messages)
    assert (
        engine.diff(paused, rolling(4, {"pauseAfter": 1}, **BIGGER_DISK)).changes == driver.rpc.DiffResponse.DIFF_NONE
    )
    assert not engine.drift(paused)

    further = engine.update(paused, rolling(4, {"pauseAfter": 3}, **BIGGER_DISK))
    assert len(ids(further).items() & ids(created).items()) == 1
    assert len(ids(further).items() & ids(paused).items()) == 2
    done = engine.update(further, rolling(4, **BIGGER_DISK))
    assert not ids(done).items() & ids(created).items()
    assert len(ids(done).items() & ids(further).items()) == 3


def test_a_paused_rollout_goes_back_when_the_properties_are_set_back(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, **BIGGER_DISK))
    back = engine.update(paused, rolling(4))

    assert back.outputs["generation"] == created.outputs["generation"]
    assert len(ids(back).items() & ids(created).items()) == 3


def test_labels_that_are_removed_disappear_from_members_that_a_pause_held_back(engine, cloud):
    old, new = {"labels": {"old": "1"}}, {"labels": {"new": "1"}}
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}, **old))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, **new))
    done = engine.update(paused, rolling(4, **new))

    assert all("old" not in cloud.get(instance_path(name))["labels"] for name in member_names(done))
    assert "removedKeys" not in done.outputs["__kept"]


def test_a_failed_batch_stops_and_the_next_update_goes_on(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    changed = rolling(**BIGGER_DISK)
    cloud.fail(BULK, operation={"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]})
    with failing() as failed:
        engine.update(created, changed)
    partial = failed[0].partial
    assert "something broke" in partial.reasons[0]
    assert "3 of 4 members exist, and 0 of them have the new properties" in partial.reasons[0]

    stopped = Resource(created.urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))
    cloud.emulator.requests.kept.clear()
    done = engine.update(stopped, changed)
    assert len(cloud.requests(DELETE)) == 3
    assert len(member_names(done)) == 4
    assert not ids(done).items() & ids(created).items()


def test_a_failed_batch_rolls_back_on_demand(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"onFailure": "ROLL_BACK"}))
    changed = rolling(4, {"onFailure": "ROLL_BACK"}, machineType="e2-medium", labels={"new": "1"})
    cloud.fail(START, operation={"errors": [{"code": "INTERNAL_ERROR", "message": "does not start"}]})
    with failing() as failed:
        engine.update(created, changed)

    assert failed[0].partial is None, "the old inputs stay in the state"
    assert "rolled back" in failed[0].message
    assert "does not start" in failed[0].message
    for name in member_names(created):
        instance = cloud.get(instance_path(name))
        assert instance["machineType"].endswith("/e2-small")
        assert instance["status"] == "RUNNING"
        assert "new" not in instance["labels"]
        assert instance["labels"]["gcpx-generation"] == created.outputs["generation"]


def test_a_stock_out_in_the_middle_stops_with_the_reason_and_a_running_fleet(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    set_limits(cloud, zones={"us-east1-b": 3, "us-east1-c": 0, "us-east1-d": 0})
    with failing() as failed:
        engine.update(created, rolling(**BIGGER_DISK))
    partial = failed[0].partial
    assert "0 of 1" in partial.reasons[0], partial.reasons
    running = [member for member in driver.plain(partial.properties)["members"] if member["status"] == "RUNNING"]
    assert len(running) == 3


def test_a_batch_waits_for_the_guest_attribute_and_fails_without_it(engine, cloud):
    ready = {"ready": {"guestAttribute": "app/state=ready", "within": 1}}
    metadata = {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]}}
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    created = engine.create(FLEET, "workers", rolling(3, ready, **metadata))
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "broken"}})
    changed = rolling(3, ready, **metadata, **BIGGER_DISK)
    with failing() as failed:
        engine.update(created, changed)
    assert "not ready within 1 second: web-004 (RUNNING)" in failed[0].partial.reasons[0]
    assert len([name for name in ids(created) if cloud.get(instance_path(name))]) == 2, "the second batch has not begun"

    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})


def test_after_a_refused_replacement_the_state_keeps_the_outputs_of_the_last_creation(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    cloud.fail("compute.regionInstances.bulkInsert", status=400, reason="invalid", times=9)
    with failing() as failed:
        engine.update(created, rolling(**BIGGER_DISK))
    kept = driver.plain(failed[0].partial.properties)

    for name in ("__kept", "perLocationStatus", "shortfalls"):
        assert kept[name] == created.outputs[name]


def test_if_the_time_of_the_call_is_over_before_members_are_ready_the_error_says_so(clocked_engine, cloud):
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "ready"}})
    ready = {"ready": {"guestAttribute": "app/state=ready", "within": 300}}
    metadata = {"metadata": {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]}}
    created = clocked_engine.create(FLEET, "workers", rolling(2, ready, **metadata))
    cloud.emulator.store.put("guest-attributes/all", {"onBoot": {"app/state": "broken"}})
    clocked_engine.timeout = 60
    with failing() as failed:
        clocked_engine.update(created, rolling(2, ready, **metadata, **BIGGER_DISK))

    assert "within the custom timeout of 60 s; raise customTimeouts: web-" in failed[0].partial.reasons[0]


def test_stopped_members_are_started_or_replaced_as_the_fleet_says(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    stop(cloud, "web-002")
    refreshed = engine.refresh(created)
    assert refreshed.outputs["runningCount"] == 3
    healed = engine.update(refreshed, rolling())
    assert ids(healed) == ids(created)
    assert cloud.get(instance_path("web-002"))["status"] == "RUNNING"

    stop(cloud, "web-002")
    replaced = engine.update(engine.refresh(healed), rolling(onStopped="REPLACE"))
    assert "web-002" not in ids(replaced)
    assert len(ids(replaced)) == 4

    stop(cloud, "web-003")
    kept = engine.update(engine.refresh(replaced), rolling(onStopped="KEEP", labels={"a": "1"}))
    assert cloud.get(instance_path("web-003"))["status"] == "TERMINATED"
    assert cloud.get(instance_path("web-003"))["labels"]["a"] == "1"
    assert kept.outputs["runningCount"] == 3


def test_members_of_the_same_name_in_two_zones_are_told_apart(engine, cloud):
    own = {"fleetId": "labels/role=worker", "labels": {"role": "worker"}}
    engine.create(FLEET, "before", rolling(2, labels=own["labels"]))
    other = cloud.make_instance("web-002", "us-east1-c")
    cloud.change(other, lambda body: body.update(labels=cloud.get(instance_path("web-002"))["labels"]))
    refreshed = engine.import_(FLEET, "workers", f"projects/{PROJECT}/regions/us-east1/{own['fleetId']}")
    stop(cloud, "web-002", zone="us-east1-c")
    healed = engine.update(engine.refresh(refreshed), rolling(3, **own))
    assert {member["status"] for member in healed.outputs["members"]} == {"RUNNING"}
    assert cloud.calls(START) == [START]

    cloud.emulator.requests.kept.clear()
    rolled = engine.update(healed, rolling(3, **own, **BIGGER_DISK))
    assert [name for name in mutations(cloud) if name in {DELETE, BULK}] == [DELETE, BULK] * 3
    before = {member["id"] for member in healed.outputs["members"]}
    assert before.isdisjoint(member["id"] for member in rolled.outputs["members"])


def test_a_preview_says_who_is_changed_how_and_in_how_many_batches(engine, cloud):
    policy = {"maxUnavailable": 2}
    created = engine.create(FLEET, "workers", rolling(5, policy))
    engine.preview_update(created, rolling(5, policy, **BIGGER_DISK))
    assert ": 5 members are replaced: web-001, web-002, web-003 and 2 more" in said(engine)
    assert "- 3 batches; at least 3 of 5 members run at any time" in said(engine)

    engine.log.messages.clear()
    engine.preview_update(created, rolling(7, policy, machineType="e2-medium"))
    assert ": 5 members are restarted" in said(engine)
    assert "- 2 instances are created" in said(engine)
    engine.log.messages.clear()
    engine.preview_update(created, rolling(3, policy, labels={"a": "1"}))
    assert ": 3 members are changed without a restart: web-001, web-002, web-003" in said(engine)
    assert "- 2 members are deleted: web-005, web-004" in said(engine)
    assert mutations(cloud) == [BULK], "a preview changes nothing"


ALL = "at most 3 members are {}: web-001, web-002, web-003"


@pytest.mark.parametrize(
    ("unknown", "properties", "lines", "deletes"),
    [
        ({"count": UNKNOWN}, {}, ["deleted"], True),
        ({"count": UNKNOWN}, {"machineType": "e2-medium"}, ["restarted", "deleted"], True),
        ({"updatePolicy": UNKNOWN}, {"labels": {"a": "1"}}, ["replaced"], True),
        ({"updatePolicy": {"minimalAction": UNKNOWN, "maxUnavailable": 1}}, {"labels": {"a": "1"}}, ["replaced"], True),
        ({"updatePolicy": {"maxSurge": UNKNOWN}}, {"machineType": "e2-medium"}, ["restarted"], False),
        ({"updatePolicy": UNKNOWN}, {}, [], False),
        ({"onStopped": UNKNOWN}, {}, [], False),
    ],
)
def test_a_preview_says_what_may_happen_if_the_size_or_the_policy_is_not_known_yet(
    engine, unknown, properties, lines, deletes
):
    created = engine.create(FLEET, "workers", rolling(3))
    engine.preview_update(created, {**rolling(3, **properties), **unknown})
    assert all(ALL.format(line) in said(engine) for line in lines)
    assert (f"{next(iter(unknown))} is not known yet" in said(engine)) == bool(lines)
    assert "batch" not in said(engine).replace("batches and other numbers", "")
    warned = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    assert [text for text in warned if "this update deletes at most 3 members" in text] == (warned if deletes else [])


def test_a_preview_says_what_may_happen_to_stopped_members_if_that_is_not_known_yet(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    stop(cloud, "web-002")
    engine.preview_update(engine.refresh(created), {**rolling(3), "onStopped": UNKNOWN})
    assert "at most 1 member is replaced: web-002 (stopped by somebody)" in said(engine)


def test_a_preview_says_what_may_happen_if_the_names_of_members_are_not_known_yet(engine):
    named = {**rolling(perInstanceProperties={"a": {}, "b": {}}), "count": None, "namePattern": None}
    created = engine.create(FLEET, "workers", named)
    engine.preview_update(created, {**named, "perInstanceProperties": UNKNOWN})
    assert "at most 2 members are deleted: a, b" in said(engine)


@pytest.mark.parametrize(
    ("more", "least"),
    [
        ({}, 3),
        ({"networkInterfaces": [{"network": UNKNOWN}]}, 3),
        ({"networkInterfaces": [{"network": "default", "networkIP": UNKNOWN}]}, 2),
        ({"placement": UNKNOWN}, 2),
    ],
)
def test_a_surge_is_announced_only_if_it_is_sure_that_there_is_room_for_it(engine, more, least):
    created = engine.create(FLEET, "workers", fleet(3))
    engine.preview_update(created, fleet(3, **BIGGER_DISK, **more))
    assert f"at least {least} of 3 members run at any time" in said(engine)


def test_a_preview_names_stopped_members_with_the_reason(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    stop(cloud, "web-002", "compute.instances.preempted")
    refreshed = engine.refresh(created)
    engine.log.messages.clear()
    engine.preview_update(refreshed, fleet())
    assert said(engine) == "what this update does: 1 member is started: web-002 (preempted)"


def test_what_the_policy_does_not_allow_is_refused_before_anything_is_changed(engine, cloud):
    policy = {"mostDisruptiveAction": "RESTART"}
    created = engine.create(FLEET, "workers", rolling(4, policy))
    cloud.emulator.requests.kept.clear()
    for attempt in (engine.preview_update, engine.update):
        with failing() as failed:
            attempt(created, rolling(4, policy, **BIGGER_DISK))
        assert "mostDisruptiveAction: RESTART does not allow" in failed[0].message
    assert mutations(cloud) == []


def test_the_least_action_is_done_with_all_that_are_behind(engine, cloud):
    policy = {"minimalAction": "REPLACE"}
    created = engine.create(FLEET, "workers", rolling(2, policy))
    updated = engine.update(created, rolling(2, policy, labels={"a": "1"}))
    assert not ids(updated).items() & ids(created).items()


def test_a_fleet_that_becomes_rolling_marks_its_members_and_replaces_none(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(3))
    updated = engine.update(created, rolling(3))
    assert ids(updated) == ids(created)
    assert {member["generation"] for member in updated.outputs["members"]} == {updated.outputs["generation"]}

    other = engine.create(FLEET, "others", {**fleet(3), "namePattern": "other-###"})
    both = engine.update(other, {**rolling(3, **BIGGER_DISK), "namePattern": "other-###"})
    assert not ids(both).items() & ids(other).items()


def test_another_spelling_of_the_same_properties_touches_nobody(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(networkInterfaces=[{"network": "default"}]))
    spelled = rolling(networkInterfaces=[{"network": "global/networks/default"}], labels={"a": "1"})
    updated = engine.update(created, spelled)
    assert ids(updated) == ids(created)


def test_members_of_a_fallback_keep_its_machine_type_when_the_fleets_changes(engine, cloud):
    program = rolling(4, {"maxUnavailable": 4}, fallbacks=[{"machineType": "n2-standard-2"}], minCount=1)
    set_limits(cloud, machineTypes={zone: {"e2-small": 2} for zone in ("us-east1-b", "us-east1-c", "us-east1-d")})
    created = engine.create(FLEET, "workers", program)
    kinds = {member["name"]: member.get("fallback") for member in created.outputs["members"]}
    assert sorted(kinds.values(), key=str) == [0, 0, None, None]

    set_limits(cloud)
    changed = {**program, "instanceProperties": {**program["instanceProperties"], "machineType": "e2-medium"}}
    updated = engine.update(created, changed)
    assert ids(updated) == ids(created)
    for member in updated.outputs["members"]:
        path = instance_path(member["name"], member["zone"])
        wanted = "e2-medium" if member.get("fallback") is None else "n2-standard-2"
        assert cloud.get(path)["machineType"].endswith(f"/{wanted}")


def test_members_whose_machine_type_google_chose_keep_it(engine, cloud):
    selections = {"instanceSelections": {"any": {"machineTypes": ["n2-standard-2"]}}}
    program = rolling(2, instanceFlexibilityPolicy=selections)
    del program["instanceProperties"]["machineType"]
    created = engine.create(FLEET, "workers", program)
    changed = {**program, "instanceProperties": {**program["instanceProperties"], "minCpuPlatform": "Intel Ice Lake"}}
    updated = engine.update(created, changed)
    for member in updated.outputs["members"]:
        instance = cloud.get(instance_path(member["name"], member["zone"]))
        assert instance["machineType"].endswith("/n2-standard-2")
        assert instance["status"] == "RUNNING"


def test_members_with_local_disks_are_replaced_and_not_restarted(engine, cloud):
    local = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}, "interface": "NVME"}
    program = rolling(2, machineType="n2-standard-2")
    program["instanceProperties"]["disks"].append(local)
    created = engine.create(FLEET, "workers", program)
    changed = {**program, "instanceProperties": {**program["instanceProperties"], "machineType": "n2-standard-4"}}
    engine.preview_update(created, changed)
    assert ": 2 members are replaced: web-001, web-002" in said(engine)
    assert not ids(engine.update(created, changed)).items() & ids(created).items()


LOCAL = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}, "interface": "NVME"}
ASKED = {"action": "RESTART", "trigger": "one"}


def _of_template(cloud, *disks, **more):
    """Return a rolling fleet whose template has the machine type n2-standard-2, and these disks beside the boot disk."""
    made = properties(machineType="n2-standard-2")
    boot = [{"autoDelete": True, **disk} for disk in made["disks"]]
    body = {"name": "with-disks", "properties": {**made, "disks": [*boot, *disks]}}
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", body)
    return {
        "region": "us-east1",
        "count": 2,
        "namePattern": "web-###",
        "sourceInstanceTemplate": "global/instanceTemplates/with-disks",
        "instanceProperties": {"labels": {"a": "1"}},
        "updatePolicy": one_at_a_time(),
        **more,
    }


def _with_machine_type(program, name):
    return {**program, "instanceProperties": {**program["instanceProperties"], "machineType": name}}


CHANGES = {
    "another size": (lambda _: rolling(2, machineType="n2-standard-2"), "n2-standard-4", "restarted"),
    "another series": (lambda _: rolling(2, machineType="n2-standard-2"), "e2-small", "restarted"),
    "a series with other hardware": (lambda _: rolling(2, machineType="n2-standard-2"), "c3-standard-4", "replaced"),
    "local disks of the new type": (
        lambda _: rolling(2, machineType="c3-standard-4"),
        "c3-standard-4-lssd",
        "replaced",
    ),
    "local disks of the old type": (
        lambda _: rolling(2, machineType="c3-standard-4-lssd"),
        "c3-standard-4",
        "replaced",
    ),
    "local disks of the template": (lambda cloud: _of_template(cloud, LOCAL), "n2-standard-4", "replaced"),
    "no local disks in the template": (_of_template, "n2-standard-4", "restarted"),
    "an action": (_of_template, "", "restarted"),
    "an action and local disks of the template": (lambda cloud: _of_template(cloud, LOCAL), "", "replaced"),
    "an action and local disks of the type": (lambda _: rolling(2, machineType="c3-standard-4-lssd"), "", "replaced"),
}


@pytest.mark.parametrize(("make", "machine_type", "done"), CHANGES.values(), ids=CHANGES)
def test_the_preview_and_the_update_agree_whether_members_can_be_restarted(engine, cloud, make, machine_type, done):
    program = make(cloud)
    created = engine.create(FLEET, "workers", program)
    changed = _with_machine_type(program, machine_type) if machine_type else {**program, "rollingAction": ASKED}
    engine.preview_update(created, changed)
    updated = engine.update(created, changed)
    kept = ids(updated).items() & ids(created).items()

    assert f"2 members are {done}: web-001, web-002" in said(engine)
    assert len(kept) == (2 if done == "restarted" else 0)
    assert {member["status"] for member in updated.outputs["members"]} == {"RUNNING"}


@pytest.mark.parametrize(
    "limit", [{"updatePolicy": one_at_a_time({"mostDisruptiveAction": "RESTART"})}, {"maxDeleted": 0}], ids=str
)
def test_a_restart_that_local_disks_forbid_is_refused_in_the_preview_if_members_may_not_be_replaced(
    engine, cloud, limit
):
    program = _of_template(cloud, LOCAL, **limit)
    created = engine.create(FLEET, "workers", program)
    with failing() as failed:
        engine.preview_update(created, _with_machine_type(program, "n2-standard-4"))

    assert ("maxDeleted" if "maxDeleted" in limit else "mostDisruptiveAction") in failed[0].message


@pytest.mark.parametrize("minimum", [2, None], ids=["enough run", "too few run"])
def test_stopped_members_without_capacity_are_told_and_the_rest_is_done(engine, cloud, minimum):
    program = fleet(3, **({"minCount": minimum} if minimum else {}))
    created = engine.create(FLEET, "workers", program)
    stop(cloud, "web-002")
    refreshed = engine.refresh(created)
    set_limits(cloud, zones={"us-east1-b": 2})
    changed = fleet(3, labels={"a": "1"}, **({"minCount": minimum} if minimum else {}))
    if minimum:
        engine.update(refreshed, changed)
        warned = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    else:
        with failing() as failed:
            engine.update(refreshed, changed)
        warned = list(failed[0].partial.reasons)
    assert "2 of 3 instances run; web-002 could not be started" in warned[-1]
    assert "onStopped: REPLACE" in warned[-1]
    assert all(cloud.get(instance_path(name))["labels"]["a"] == "1" for name in member_names(created))


def test_a_suspended_member_is_stopped_before_it_is_changed(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2))
    stop(cloud, "web-002", "suspend", status="SUSPENDED", lastSuspendedTimestamp="2031-05-01T09:00:00.000Z")
    updated = engine.update(engine.refresh(created), rolling(2, machineType="e2-medium"))
    assert ids(updated) == ids(created)
    assert cloud.get(instance_path("web-002"))["status"] == "RUNNING"
    assert cloud.get(instance_path("web-002"))["machineType"].endswith("/e2-medium")


@pytest.mark.parametrize("named", [False, True])
def test_a_rollback_deletes_no_member_that_was_stopped_before(engine, cloud, named):
    def program(machine_type):
        made = rolling(4, {"onFailure": "ROLL_BACK"}, machineType=machine_type)
        if named:
            del made["namePattern"], made["count"]
            made["perInstanceProperties"] = {f"web-{number:03}": {} for number in range(1, 5)}
        return made

    created = engine.create(FLEET, "workers", program("e2-small"))
    stop(cloud, "web-002")
    refreshed = engine.refresh(created)
    cloud.fail(SET_MACHINE_TYPE, operation={"errors": [{"code": "INTERNAL_ERROR", "message": "does not change"}]})
    with failing() as failed:
        engine.update(refreshed, program("e2-medium"))

    assert "rolled back" in failed[0].message
    assert ids(engine.refresh(refreshed)) == ids(created)


def test_a_refresh_says_that_a_rollout_is_not_finished(engine, cloud):
    created = engine.create(FLEET, "workers", rolling())
    cloud.fail(SET_LABELS, status=409, message="not now")
    with failing():
        engine.update(created, rolling(labels={"a": "1"}))
    with failing() as failed:
        engine.refresh(created)
    partial = failed[0].partial
    assert "the last update did not finish: 3 of 4 members differ from the state: " in partial.reasons[0]

    found = Resource(created.urn, partial.id, driver.plain(partial.inputs), driver.plain(partial.properties))
    back = engine.update(found, rolling())
    assert not engine.drift(back)
    assert {member["generation"] for member in back.outputs["members"]} == {created.outputs["generation"]}


def test_a_member_without_its_generation_label_keeps_the_generation_that_the_state_knows(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(4, {"pauseAfter": 1}))
    paused = engine.update(created, rolling(4, {"pauseAfter": 1}, **BIGGER_DISK))
    outdated = next(iter(ids(created).items() & ids(paused).items()))[0]
    cloud.change(instance_path(outdated), lambda body: body["labels"].pop("gcpx-generation"))

    done = engine.update(engine.refresh(paused), rolling(4, **BIGGER_DISK))
    assert not ids(done).items() & ids(created).items()


def test_the_label_of_a_generation_that_somebody_has_removed_is_set_again(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2))
    cloud.change(instance_path("web-002"), lambda body: body["labels"].pop("gcpx-generation"))
    refreshed = engine.refresh(created)
    assert list(engine.diff(refreshed, rolling(2)).detailedDiff) == ["members"]
    healed = engine.update(refreshed, rolling(2))

    assert ids(healed) == ids(created)
    assert cloud.get(instance_path("web-002"))["labels"]["gcpx-generation"] == created.outputs["generation"]


def test_stopped_members_of_a_paused_rollout_are_replaced(engine, cloud):
    policy = {"pauseAfter": 1}
    created = engine.create(FLEET, "workers", rolling(3, policy, onStopped="REPLACE"))
    paused = engine.update(created, rolling(3, policy, onStopped="REPLACE", **BIGGER_DISK))
    outdated = next(iter(ids(created).items() & ids(paused).items()))[0]
    stop(cloud, outdated)
    healed = engine.update(engine.refresh(paused), rolling(3, policy, onStopped="REPLACE", **BIGGER_DISK))

    assert outdated not in ids(healed)
    assert len(ids(healed)) == 3
    assert len(ids(healed).items() & ids(created).items()) == 1, "the other one waits until the pause ends"
    assert not engine.drift(healed)


def test_a_surge_replaces_the_member_that_the_preview_has_named_if_another_one_stops_meanwhile(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2, onStopped="KEEP"))
    changed = rolling(2, {"maxSurge": 1, "pauseAfter": 1}, onStopped="KEEP", **BIGGER_DISK)
    engine.preview_update(created, changed)
    assert any("1 member is replaced: web-001" in said for _, _, said in engine.log.messages)
    stop(cloud, "web-002")
    paused = engine.update(created, changed)

    assert ids(created).items() & ids(paused).items() == {("web-002", ids(created)["web-002"])}


def test_a_suspended_member_is_resumed(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(2))
    stop(cloud, "web-002", "suspend", status="SUSPENDED")
    healed = engine.update(engine.refresh(created), rolling(2))

    assert ids(healed) == ids(created)
    assert cloud.get(instance_path("web-002"))["status"] == "RUNNING"
    assert "compute.instances.resume" in cloud.calls()
