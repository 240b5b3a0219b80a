"""Changes keep the fleet: its members are changed one by one, and some settings need no call at all."""

from __future__ import annotations

import pytest
from rolling.fleets import instance_path
from values.programs import FLEET, fleet

LIST = "compute.instances.list"


def test_labels_tags_and_metadata_change_on_the_running_instances(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"a": "1", "b": "1"}))
    cloud.change(instance_path("web-001"), lambda body: body["labels"].update(added="by-hand"))
    changed = fleet(labels={"a": "2"}, tags={"items": ["x"]}, metadata={"items": [{"key": "k", "value": "v"}]})
    assert not engine.diff(created, changed).replaces
    updated = engine.update(created, changed)
    first, last = cloud.get(instance_path("web-001")), cloud.get(instance_path("web-003"))

    own = {"gcpx-bulk": created.outputs["fleetId"], "gcpx-generation": updated.outputs["generation"]}
    assert first["labels"] == {"a": "2", "added": "by-hand", **own}
    assert last["labels"] == {"a": "2", **own}
    assert (last["tags"]["items"], last["metadata"]["items"]) == (["x"], [{"key": "k", "value": "v"}])
    assert first["id"] in {member["id"] for member in created.outputs["members"]}, "no instance was replaced"
    cloud.emulator.requests.kept.clear()
    engine.update(updated, changed)
    assert set(cloud.calls()) == {LIST}, "nothing differs, so nothing is called"


@pytest.mark.parametrize(
    "stale",
    [
        {"status": 412, "reason": "conditionNotMet"},
        {"operation": {"errors": [{"code": "CONDITION_NOT_MET"}], "httpErrorStatusCode": 412}},
    ],
    ids=["response", "operation"],
)
def test_labels_that_someone_else_changed_meanwhile_are_read_again(engine, cloud, stale):
    created = engine.create(FLEET, "workers", fleet(count=1))
    cloud.fail("compute.instances.setLabels", **stale)
    engine.update(created, fleet(count=1, labels={"a": "1"}))

    assert cloud.get(instance_path("web-001"))["labels"]["a"] == "1"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"machineType": "e2-medium"}, "instanceProperties.machineType"),
        ({"canIpForward": True}, "instanceProperties.canIpForward"),
    ],
)
def test_other_properties_change_member_by_member(engine, change, path):
    created = engine.create(FLEET, "workers", fleet())
    found = engine.diff(created, fleet(**change))

    assert list(found.detailedDiff) == [path]
    assert list(found.replaces) == []


def test_a_new_location_policy_or_minimum_needs_no_call(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    changed = fleet(minCount=1, locationPolicy={"targetShape": "BALANCED"})
    assert not engine.diff(created, changed).replaces
    cloud.emulator.requests.kept.clear()
    engine.update(created, changed)

    assert set(cloud.calls()) == {LIST}
