"""Existing instances are imported as a fleet."""

from __future__ import annotations

import pytest
from engines import driver
from engines.stack import Stack
from rolling.fleets import instance_path, stop
from rolling.rollouts import BROKEN, START, fail_after, left_by
from values.programs import FLEET, PROJECT, fleet, properties

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


@pytest.mark.parametrize("form", ["id", "pattern", "label"])
def test_a_fleet_is_imported_without_a_change(engine, cloud, form):
    created = engine.create(FLEET, "workers", fleet(labels={"role": "worker"}))
    region = f"projects/{PROJECT}/regions/us-east1"
    ids = {"id": created.id, "pattern": f"{region}/namePattern/web-###", "label": f"{region}/labels/role=worker"}
    imported = engine.import_(FLEET, "again", ids[form])

    assert imported is not None
    assert imported.inputs["count"] == 3
    assert imported.inputs["namePattern"] == "web-###"
    checked = engine.checked(FLEET, "again", imported.inputs, imported.inputs)
    assert checked == imported.inputs
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    assert engine.diff(imported, program).changes == NO_CHANGE
    assert (
        engine.diff(imported, fleet(labels={"role": "worker"}, fleetId=imported.inputs["fleetId"])).changes == NO_CHANGE
    )
    grown = engine.update(imported, {**program, "count": 4})
    assert grown.outputs["memberCount"] == 4
    assert cloud.get(instance_path("web-004"))["labels"].get("role") == "worker"


def test_instances_without_a_common_name_pattern_are_imported_by_name(engine):
    named = {
        "region": "us-east1",
        "instanceProperties": properties(),
        "perInstanceProperties": {"alpha": {}, "beta": {}},
    }
    created = engine.create(FLEET, "named", named)
    imported = engine.import_(FLEET, "again", created.id)

    assert imported.inputs["perInstanceProperties"] == {"alpha": {}, "beta": {}}
    assert not {"namePattern", "count"} & imported.inputs.keys()
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    assert engine.diff(imported, program).changes == NO_CHANGE


def test_labels_that_gcpx_sets_are_not_imported(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"role": "worker"}))
    own = {"gcpx-fallback": "0"}
    for name in ("web-001", "web-002"):
        cloud.change(instance_path(name), lambda body: body["labels"].update(own))
    imported = engine.import_(FLEET, "again", created.id)
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}

    assert imported.inputs["instanceProperties"]["labels"] == {"role": "worker"}
    assert "onStopped" not in imported.inputs
    assert [member.get("fallback") for member in imported.outputs["members"]] == [0, 0, None]
    assert engine.diff(imported, program).changes == NO_CHANGE
    assert engine.drift(imported) == set()
    cloud.emulator.requests.kept.clear()
    engine.update(imported, program)
    assert cloud.calls("compute.instances.setLabels") == [], "the labels stay as they are"


@pytest.mark.parametrize("names", ["numbered", "named"])
def test_stopped_members_are_imported_as_they_are_and_stay_stopped(engine, cloud, names):
    named = {
        "region": "us-east1",
        "instanceProperties": properties(),
        "perInstanceProperties": {"web-001": {}, "db": {}},
    }
    created = engine.create(FLEET, "workers", fleet(2) if names == "numbered" else named)
    stop(cloud, "web-001", "compute.instances.preempted")
    imported = engine.import_(FLEET, "again", created.id)
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}

    assert imported.inputs["onStopped"] == "KEEP"
    assert imported.outputs["runningCount"] == 1
    assert [member.get("stopReason") for member in imported.outputs["members"] if member["name"] == "web-001"] == [
        "PREEMPTED"
    ]
    assert engine.diff(imported, program).changes == NO_CHANGE
    assert engine.drift(imported) == set()
    assert engine.update(imported, program).outputs["members"] == imported.outputs["members"]


def test_the_members_of_an_imported_rolling_fleet_stay(engine, cloud):
    policy = {"maxUnavailable": 1}
    created = engine.create(FLEET, "crew", fleet(3, fleetId="crew", updatePolicy=policy, labels={"a": "1"}))
    imported = engine.import_(FLEET, "other", created.id)
    program = fleet(3, fleetId="crew", updatePolicy=policy, labels={"a": "1"})
    engine.log.messages.clear()
    engine.preview_update(imported, program)
    assert not any("replaced" in text for _, _, text in engine.log.messages)

    updated = engine.update(imported, program)
    members = [{member["id"] for member in one.outputs["members"]} for one in (created, updated)]
    assert members[0] == members[1]
    assert updated.outputs["generation"] == created.outputs["generation"]
    assert engine.diff(updated, program).changes == driver.rpc.DiffResponse.DIFF_NONE


REGION = f"projects/{PROJECT}/regions/us-east1"
IMAGE = "projects/debian-cloud/global/images/debian-11"


def _said(engine):
    return "\n".join(text for _, _, text in engine.log.messages)


@pytest.fixture
def unlike(engine, cloud):
    """An import of three instances by a label, of which web-002 has another machine type, label and boot image."""
    engine.create(FLEET, "before", fleet(3, labels={"role": "worker", "team": "a"}))

    def differ(body):
        body.update(machineType=body["machineType"].replace("e2-small", "n2-standard-4"))
        body["labels"]["team"] = "b"

    cloud.change(instance_path("web-002"), differ)
    cloud.change(
        instance_path("web-002").replace("/instances/", "/disks/"), lambda body: body.update(sourceImage=IMAGE)
    )
    engine.log.messages.clear()
    return engine.import_(FLEET, "workers", f"{REGION}/labels/role=worker")


def _web_002(cloud):
    body = cloud.get(instance_path("web-002"))
    return body["machineType"].rpartition("/")[2], body["labels"]["team"], body["id"]


def _program(imported, **properties):
    inputs = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    return {**inputs, "instanceProperties": {**inputs["instanceProperties"], **properties}}


def test_an_import_tells_what_differs_between_members_and_so_does_the_next_preview_as_no_change(engine, unlike):
    words = "web-002 (labels.team, machineType)"
    assert words in _said(engine)
    assert "web-002 (debian-11)" in _said(engine)
    assert [member.get("own") for member in unlike.outputs["members"]] == [None, ["labels.team", "machineType"], None]
    engine.log.messages.clear()

    assert engine.diff(unlike, _program(unlike)).changes == NO_CHANGE
    assert words in _said(engine)


def test_what_differs_at_an_import_stays_until_the_program_changes_that_property(engine, cloud, unlike):
    before, program = _web_002(cloud), _program(unlike)
    refreshed = engine.refresh(unlike)
    assert engine.diff(refreshed, program).changes == NO_CHANGE
    tagged = engine.update(refreshed, _program(unlike, tags={"items": ["web"]}))
    assert _web_002(cloud) == before
    assert cloud.get(instance_path("web-002"))["tags"]["items"] == ["web"]
    refreshed = engine.refresh(tagged)
    assert engine.diff(refreshed, _program(unlike, tags={"items": ["web"]})).changes == NO_CHANGE
    engine.log.messages.clear()
    changed = _program(unlike, tags={"items": ["web"]}, machineType="e2-medium")
    engine.preview_update(refreshed, changed)
    assert "3 members are restarted: web-001, web-002, web-003" in _said(engine)
    updated = engine.update(refreshed, changed)

    assert _web_002(cloud) == ("e2-medium", "b", before[2])
    assert [member.get("own") for member in updated.outputs["members"]] == [None, ["labels.team"], None]
    assert engine.diff(engine.refresh(updated), changed).changes == NO_CHANGE


def test_a_restart_for_another_property_keeps_the_machine_type_that_a_member_had_at_the_import(engine, cloud, unlike):
    before, tags = _web_002(cloud), {"items": ["web"]}
    changed = _program(unlike, tags=tags, minCpuPlatform="Intel Skylake")
    updated = engine.update(engine.update(unlike, _program(unlike, tags=tags)), changed)

    assert _web_002(cloud) == before
    assert cloud.get(instance_path("web-002"))["minCpuPlatform"] == "Intel Skylake"
    assert engine.diff(engine.refresh(updated), changed).changes == NO_CHANGE


def _account(name, *scopes):
    urls = [f"https://www.googleapis.com/auth/{scope}" for scope in scopes]
    return [{"email": f"{name}@{PROJECT}.iam.gserviceaccount.com", "scopes": urls}]


def _metadata(**values):
    return {"metadata": {"items": [{"key": key, "value": value} for key, value in values.items()]}}


OWN_PARTS = {
    "a label": ({"labels": {"team": "a"}}, {"labels": {"team": "b"}}, {"labels": {"team": "a", "env": "prod"}}),
    "an item of the metadata": (_metadata(a="1", b="1"), _metadata(a="2", b="1"), _metadata(b="2", a="1")),
    "a tag": ({"tags": {"items": ["web"]}}, {"tags": {"items": []}}, {"tags": {"items": ["api", "web"]}}),
    "a part of the scheduling": (
        {"scheduling": {"onHostMaintenance": "TERMINATE"}},
        {"scheduling": {"onHostMaintenance": "MIGRATE"}},
        {"scheduling": {"automaticRestart": False, "onHostMaintenance": "TERMINATE"}},
    ),
    "a service account": (
        {"serviceAccounts": _account("one", "compute")},
        {"serviceAccounts": _account("two", "compute")},
        {"serviceAccounts": _account("one", "cloud-platform")},
    ),
}
"""By what a member has for itself: the properties of the fleet, those of the member, and another change of the fleet's."""
KEPT_PARTS = {
    "a label": lambda body: (body["labels"]["team"], body["labels"]["env"]) == ("b", "prod"),
    "an item of the metadata": lambda body: (
        {item["key"]: item["value"] for item in body["metadata"]["items"]} == {"a": "2", "b": "2"}
    ),
    "a tag": lambda body: body["tags"]["items"] == ["api"],
    "a part of the scheduling": lambda body: (
        (body["scheduling"]["automaticRestart"], body["scheduling"]["onHostMaintenance"]) == (False, "MIGRATE")
    ),
    "a service account": lambda body: body["serviceAccounts"] == _account("two", "cloud-platform"),
}


@pytest.mark.parametrize("part", OWN_PARTS)
def test_a_change_of_one_part_of_a_setting_leaves_the_parts_that_a_member_has_for_itself(engine, cloud, part):
    fleets, own, changed = OWN_PARTS[part]
    created = engine.create(FLEET, "before", fleet(2, **fleets))

    def differ(body):
        for name, value in own.items():
            body[name] = {**body.get(name, {}), **value} if isinstance(value, dict) else value

    cloud.change(instance_path("web-002"), differ)
    imported = engine.import_(FLEET, "workers", created.id)
    kept = imported.outputs["members"][1]["own"]
    used = engine.update(imported, _program(imported, labels={"used": "yes", **fleets.get("labels", {})}))
    updated = engine.update(used, _program(imported, **changed))

    assert KEPT_PARTS[part](cloud.get(instance_path("web-002")))
    assert not KEPT_PARTS[part](cloud.get(instance_path("web-001")))
    assert updated.outputs["members"][1]["own"] == kept
    assert engine.diff(engine.refresh(updated), _program(imported, **changed)).changes == NO_CHANGE


def _types(cloud):
    found = cloud.emulator.store.list(f"projects/{PROJECT}/zones/us-east1-b/instances")
    return {item["name"]: item["machineType"].rpartition("/")[2] for item in found}


def _rolled(imported, **properties):
    policy = {"maxUnavailable": 1, "maxSurge": 0, "onFailure": "ROLL_BACK"}
    return {**_program(imported, **properties), "updatePolicy": policy}


@pytest.mark.parametrize("restarted", [1, 2])
def test_a_rollback_gives_back_what_a_member_had_for_itself(engine, cloud, unlike, restarted):
    before, types = _web_002(cloud), _types(cloud)
    labels = {**unlike.inputs["instanceProperties"]["labels"], "team": "c"}
    fail_after(cloud, START, restarted)
    with driver.failing() as failed:
        engine.update(unlike, _rolled(unlike, machineType="e2-medium", labels=labels))

    assert "was rolled back" in failed[0].message
    assert failed[0].partial is None
    assert _web_002(cloud) == before
    assert _types(cloud) == types


def test_a_rollback_that_changes_the_state_keeps_there_what_members_have_for_themselves(engine, cloud):
    engine.create(FLEET, "before", fleet(4, labels={"role": "worker"}))
    for name, other in {"web-002": "c3-standard-4", "web-004": "n2-standard-4"}.items():
        cloud.change(
            instance_path(name),
            lambda body, other=other: body.update(machineType=body["machineType"].replace("e2-small", other)),
        )
    imported = engine.import_(FLEET, "workers", f"{REGION}/labels/role=worker")
    fail_after(cloud, START, 1)
    with driver.failing() as failed:
        engine.update(imported, _rolled(imported, machineType="e2-medium"))
    state = left_by(failed[0], imported)
    own = {member["name"]: member.get("own") for member in state.outputs["members"]}

    assert "was rolled back" in failed[0].message
    assert state.inputs["instanceProperties"]["machineType"] == "e2-small"
    assert own["web-004"] == ["machineType"]
    with driver.failing() as unfinished:  # the last change failed
        engine.refresh(state)
    refreshed = left_by(unfinished[0], state)
    assert not any("differs" in member for member in refreshed.outputs["members"])
    engine.update(refreshed, _program(refreshed))
    assert _types(cloud)["web-004"] == "n2-standard-4"


@pytest.mark.parametrize("policy", [{"onFailure": "ROLL_BACK"}, {}], ids=str)
@pytest.mark.parametrize("refreshes", [False, True], ids=["at once", "after a refresh"])
@pytest.mark.parametrize("goes", ["on", "back"])
def test_after_a_failure_members_have_for_themselves_what_the_update_has_not_taken(
    cloud, engine, policy, refreshes, goes
):
    engine.create(FLEET, "before", fleet(4, labels={"role": "worker"}))
    for name in ("web-002", "web-004"):
        cloud.change(
            instance_path(name),
            lambda body: body.update(machineType=body["machineType"].replace("small", "standard-4")),
        )
    stack = Stack(cloud, FLEET, "workers")
    assert stack.import_(f"{REGION}/labels/role=worker")
    program, bigger = (
        {**_program(stack.state, **change), "updatePolicy": {"maxUnavailable": 1, "maxSurge": 0, **policy}}
        for change in ({}, {"machineType": "e2-medium"})
    )
    fail_after(cloud, START, 1)  # of web-001
    cloud.fail(START, operation=BROKEN)  # that of the rollback
    stack.up(bigger)
    assert ("It could not be rolled back" in stack.failed.message) == bool(policy)
    cloud.emulator.faults.queue.clear()
    if refreshes:
        stack.refresh()
    for _ in range(2):
        stack.up(bigger if goes == "on" else program)
        assert stack.failed is None
        stack.refresh()

    taken = "e2-medium" if goes == "on" else "e2-small"
    own = {"web-004": "e2-standard-4", **({"web-002": "e2-standard-4"} if policy else {})} if goes == "back" else {}
    assert _types(cloud) == {f"web-00{number}": own.get(f"web-00{number}", taken) for number in range(1, 5)}
    assert {item["name"] for item in stack.state.outputs["members"] if item.get("own")} == own.keys()
    stack.end_plugin()


def test_two_resources_of_a_program_that_manage_one_fleet_are_told(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    imported = engine.import_(FLEET, "again", created.id)
    engine.log.messages.clear()
    for resource in (created, imported):
        assert engine.diff(resource, fleet(fleetId=created.outputs["fleetId"])).changes == NO_CHANGE

    warnings = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    assert [f"{created.id} is managed by the resource workers of this stack, too" in text for text in warnings] == [
        True
    ]


@pytest.mark.parametrize("form", ["labels/role=worker", "namePattern/web-###"])
def test_two_resources_that_have_the_same_members_under_unlike_ids_are_told_and_held(engine, cloud, form):
    created = engine.create(FLEET, "workers", fleet(labels={"role": "worker"}))
    apart = engine.create(FLEET, "apart", fleet(namePattern="db-###"))
    imported = engine.import_(FLEET, "again", f"{REGION}/{form}")
    engine.configure(project=PROJECT, emulatorHost=cloud.host)
    engine.log.messages.clear()
    for resource in (created, apart, imported):
        engine.diff(resource, resource.inputs)

    warnings = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    assert [f"{imported.id} is managed by the resource workers of this stack, too" in text for text in warnings] == [
        True
    ]
    engine.delete(imported)
    assert all(cloud.get(instance_path(name)) for name in ("web-001", "web-002", "web-003"))
    engine.delete(apart)
    engine.delete(created)
    assert not any(cloud.get(instance_path(name)) for name in ("db-001", "web-001", "web-002", "web-003"))


def test_a_machine_type_that_the_program_changes_directly_after_an_import_is_a_change(engine):
    created = engine.create(FLEET, "workers", fleet(2))
    imported = engine.import_(FLEET, "workers", created.id)
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    assert not engine.diff(imported, program).detailedDiff
    bigger = {**program, "instanceProperties": {**program["instanceProperties"], "machineType": "e2-medium"}}

    assert set(engine.diff(imported, bigger).detailedDiff) == {"instanceProperties.machineType"}


SPOT = {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"}
AFTER_IMPORTS = {
    "a part of the scheduling": ({}, {"scheduling": {"automaticRestart": False}}, False),
    "a default": ({"scheduling": {"automaticRestart": False}}, {"scheduling": {"automaticRestart": True}}, False),
    "what happens to Spot VMs": (
        {"scheduling": SPOT}, {"scheduling": {**SPOT, "instanceTerminationAction": "DELETE"}}, True,
    ),
    "a run limit": ({}, {"scheduling": {"maxRunDuration": {"seconds": 3600}}}, True),
    "a new service account": ({}, {"serviceAccounts": _account("one", "compute")}, True),
    "another service account": (
        {"serviceAccounts": _account("one", "compute")}, {"serviceAccounts": _account("two", "compute")}, True,
    ),
    "no service account": ({"serviceAccounts": _account("one", "compute")}, {"serviceAccounts": []}, True),
    "a CPU platform": ({}, {"minCpuPlatform": "Intel Skylake"}, True),
}  # fmt: skip
"""By what a program changes directly after an import: the properties before and after, and whether that needs a restart."""


@pytest.mark.parametrize(("before", "after", "restarts"), AFTER_IMPORTS.values(), ids=AFTER_IMPORTS)
def test_what_a_program_changes_directly_after_an_import_is_shown_and_done(engine, cloud, before, after, restarts):
    created = engine.create(FLEET, "before", fleet(2, **before))
    imported = engine.import_(FLEET, "workers", created.id)
    (name,) = after
    assert engine.diff(imported, _program(imported)).changes == NO_CHANGE
    shown = list(engine.diff(imported, _program(imported, **after)).detailedDiff)
    assert shown
    assert all(path.startswith(f"instanceProperties.{name}") for path in shown)
    engine.log.messages.clear()
    engine.preview_update(imported, _program(imported, **after))
    what = "restarted" if restarts else "changed without a restart"
    assert f"what this update does: 2 members are {what}: web-001, web-002" in _said(engine)
    updated = engine.update(imported, _program(imported, **after))

    assert len(cloud.calls("compute.instances.stop")) == (2 if restarts else 0)
    again = engine.import_(FLEET, "again", created.id).inputs["instanceProperties"].get(name)
    assert again == _minimal(after[name])
    assert engine.diff(engine.refresh(updated), _program(imported, **after)).changes == NO_CHANGE


def _minimal(value):
    """Return what an import tells of a value: nothing of defaults."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item not in (True, "STOP")} or None
    return value or None


@pytest.mark.parametrize("left_out", [{"minCpuPlatform": "Intel Skylake"}, {"scheduling": SPOT}], ids=str)
def test_what_google_may_have_chosen_is_no_change_if_the_program_leaves_it_out_after_an_import(engine, left_out):
    created = engine.create(FLEET, "before", fleet(2, **left_out))
    imported = engine.import_(FLEET, "workers", created.id)
    program = _program(imported)
    program["instanceProperties"] = {
        name: value for name, value in program["instanceProperties"].items() if name not in left_out
    }

    assert engine.diff(imported, program).changes == NO_CHANGE


def _import_of_two_fleets(engine):
    engine.create(FLEET, "one", fleet(2, labels={"role": "worker"}, namePattern="a-#"))
    engine.create(FLEET, "two", fleet(1, labels={"role": "worker"}, namePattern="b-#", canIpForward=True))
    return engine.import_(FLEET, "workers", f"{REGION}/labels/role=worker")


@pytest.mark.parametrize("change", [{"tags": {"items": ["web"]}}, {"machineType": "e2-medium"}], ids=str)
def test_members_that_come_from_several_fleets_stay_when_the_program_changes_something(engine, cloud, change):
    imported = _import_of_two_fleets(engine)
    assert [member.get("own") for member in imported.outputs["members"]] == [None, None, ["generation"]]
    tagged = {**_program(imported, **change), "updatePolicy": {"maxUnavailable": 1, "pauseAfter": 3}}
    engine.log.messages.clear()
    engine.preview_update(imported, tagged)
    assert "replaced" not in _said(engine)
    updated = engine.update(engine.refresh(imported), tagged)

    ids = [[member["id"] for member in one.outputs["members"]] for one in (imported, updated)]
    assert ids[0] == ids[1]
    assert "paused" not in _said(engine)
    assert len(cloud.calls("compute.instances.stop")) == (3 if "machineType" in change else 0)
    assert {member["generation"] for member in updated.outputs["members"]} == {updated.outputs["generation"]}
    assert not any("own" in member for member in updated.outputs["members"])
    assert engine.diff(engine.refresh(updated), tagged).changes == NO_CHANGE


def test_members_that_come_from_several_fleets_stay_after_an_update_that_failed(engine, cloud):
    imported = _import_of_two_fleets(engine)
    tagged = _program(imported, tags={"items": ["web"]})
    cloud.fail("compute.instances.setTags", times=30, status=403)
    with driver.failing() as failed:
        engine.update(imported, tagged)
    cloud.emulator.faults.queue.clear()
    updated = engine.update(left_by(failed[0], imported), tagged)

    ids = [[member["id"] for member in one.outputs["members"]] for one in (imported, updated)]
    assert ids[0] == ids[1]


def test_a_reminder_of_what_differs_names_the_member_that_the_program_describes_although_it_left(engine, cloud):
    engine.create(FLEET, "before", fleet(3, labels={"role": "worker", "team": "a"}))
    cloud.change(instance_path("web-002"), lambda body: body["labels"].update(team="b"))
    imported = engine.import_(FLEET, "workers", f"{REGION}/labels/role=worker")
    cloud.emulator.store.delete(instance_path("web-001"))
    refreshed = engine.refresh(imported)
    engine.log.messages.clear()
    engine.diff(refreshed, _program(imported))

    assert "1 member differs from instanceProperties: web-002 (labels.team)" in _said(engine)


def test_the_members_of_a_fleet_that_was_imported_during_a_paused_rollout_stay(engine):
    paused = engine.create(FLEET, "before", fleet(3, updatePolicy={"pauseAfter": 1}))
    paused = engine.update(paused, fleet(3, updatePolicy={"pauseAfter": 1}, canIpForward=True))
    imported = engine.import_(FLEET, "workers", paused.id)
    grown = engine.update(imported, {**_program(imported), "count": 4})

    assert {member["id"] for member in paused.outputs["members"]} <= {
        member["id"] for member in grown.outputs["members"]
    }
    assert len({member["generation"] for member in grown.outputs["members"]}) == 1
