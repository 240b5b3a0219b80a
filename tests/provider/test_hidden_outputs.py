"""Outputs that only later updates need are in the state, and neither the schema nor the CLI shows them."""

from __future__ import annotations

import json

import pytest
from engines.driver import failing
from rolling.fleets import instance_path
from rolling.rollouts import DELETE, fail_after, left_by, rolling
from values.programs import FLEET, fleet
from workspace import ROOT

HIDDEN = {"lastMachineType", "lastRollingAction", "lostMembers", "operationGroupId", "removedKeys"}
SHOWN = set(json.loads((ROOT / "schema.json").read_text())["resources"][FLEET]["properties"])


def test_the_schema_lacks_what_is_hidden():
    assert not HIDDEN & SHOWN
    assert {"members", "runningCount", "perLocationStatus"} <= SHOWN


@pytest.mark.parametrize("verb", ["create", "update", "refresh"])
def test_what_is_hidden_is_below_a_key_that_the_engine_hides(engine, verb):
    resource = engine.create(FLEET, "workers", fleet(2))
    if verb != "create":
        resource = engine.update(resource, fleet(2, rollingAction={"action": "RESTART", "trigger": "one"}))
    if verb == "refresh":
        resource = engine.refresh(resource)

    assert {name for name in resource.outputs if not name.startswith("__")} <= SHOWN
    expected = {"operationGroupId", "lastMachineType"} | ({"lastRollingAction"} if verb != "create" else set())
    assert resource.outputs["__kept"].keys() == expected


def test_the_next_update_knows_what_is_hidden(engine, cloud):
    policy = {"keepNames": True}
    created = engine.create(FLEET, "workers", rolling(2, policy))
    cloud.emulator.store.delete(instance_path("web-001"))
    refreshed = engine.refresh(created)

    assert [member["name"] for member in refreshed.outputs["__kept"]["lostMembers"]] == ["web-001"]
    healed = engine.update(refreshed, rolling(2, policy))
    assert "lostMembers" not in healed.outputs["__kept"]
    assert healed.outputs["memberNames"] == ["web-001", "web-002"]


def test_what_is_hidden_is_in_the_state_of_a_failed_update(engine, cloud):
    created = engine.create(FLEET, "workers", rolling(3))
    fail_after(cloud, DELETE, 1)
    with failing() as failed:
        engine.update(created, rolling(3, rollingAction={"action": "REPLACE", "trigger": "one"}))

    assert left_by(failed[0], created).outputs["__kept"]["operationGroupId"]
