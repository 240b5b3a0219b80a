"""Existing instances are imported as a fleet."""

from __future__ import annotations

import pytest
from engines import driver
from rolling.fleets import instance_path, stop
from rolling.rollouts import left_by
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
    words = "web-002 (labels, machineType)"
    assert words in _said(engine)
    assert "web-002 (debian-11)" in _said(engine)
    assert [member.get("own") for member in unlike.outputs["members"]] == [None, ["labels", "machineType"], None]
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
    assert [member.get("own") for member in updated.outputs["members"]] == [None, ["labels"], None]
    assert engine.diff(engine.refresh(updated), changed).changes == NO_CHANGE


def test_a_restart_for_another_property_keeps_the_machine_type_that_a_member_had_at_the_import(engine, cloud, unlike):
    before, tags = _web_002(cloud), {"items": ["web"]}
    changed = _program(unlike, tags=tags, minCpuPlatform="Intel Skylake")
    updated = engine.update(engine.update(unlike, _program(unlike, tags=tags)), changed)

    assert _web_002(cloud) == before
    assert cloud.get(instance_path("web-002"))["minCpuPlatform"] == "Intel Skylake"
    assert engine.diff(engine.refresh(updated), changed).changes == NO_CHANGE


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


def test_a_machine_type_that_the_program_changes_directly_after_an_import_is_a_change(engine):
    created = engine.create(FLEET, "workers", fleet(2))
    imported = engine.import_(FLEET, "workers", created.id)
    program = {name: value for name, value in imported.inputs.items() if not name.startswith("__")}
    assert not engine.diff(imported, program).detailedDiff
    bigger = {**program, "instanceProperties": {**program["instanceProperties"], "machineType": "e2-medium"}}

    assert set(engine.diff(imported, bigger).detailedDiff) == {"instanceProperties.machineType"}


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

    assert "1 member differs from instanceProperties: web-002 (labels)" in _said(engine)


def test_the_members_of_a_fleet_that_was_imported_during_a_paused_rollout_stay(engine):
    paused = engine.create(FLEET, "before", fleet(3, updatePolicy={"pauseAfter": 1}))
    paused = engine.update(paused, fleet(3, updatePolicy={"pauseAfter": 1}, canIpForward=True))
    imported = engine.import_(FLEET, "workers", paused.id)
    grown = engine.update(imported, {**_program(imported), "count": 4})

    assert {member["id"] for member in paused.outputs["members"]} <= {
        member["id"] for member in grown.outputs["members"]
    }
    assert len({member["generation"] for member in grown.outputs["members"]}) == 1
