"""Existing instances are imported as a fleet."""

from __future__ import annotations

import driver
import pytest
from fleets import instance_path, stop
from programs import FLEET, PROJECT, fleet, properties

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
