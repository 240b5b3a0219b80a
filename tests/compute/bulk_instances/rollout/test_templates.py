"""Rolling fleets whose template is gone: they can be made smaller and parked, but not changed."""

from __future__ import annotations

from typing import Any

import pytest
from engines.driver import failing
from engines.stack import Declared, Output, Stack
from rolling.preview_words import PreviewWords
from rolling.rollouts import BIGGER_DISK, BULK, DELETE, START, fail_after, instances, left_by
from servers.emulated import Emulated
from values.programs import FLEET, PROJECT, TEMPLATE, one_at_a_time, properties, template

TEMPLATES = f"projects/{PROJECT}/global/instanceTemplates"


def program(count: int, name: str = "small", **policy: Any) -> dict[str, Any]:
    return {
        "region": "us-east1",
        "count": count,
        "namePattern": "web-###",
        "sourceInstanceTemplate": f"global/instanceTemplates/{name}",
        "updatePolicy": one_at_a_time(policy),
    }


def make_templates(cloud: Emulated) -> None:
    for name, machine in (("small", "e2-small"), ("medium", "e2-medium")):
        made = properties(machineType=machine, labels={"tier": "web"})
        disks = [{"autoDelete": True, **disk} for disk in made["disks"]]
        cloud.post(f"/compute/v1/{TEMPLATES}", {"name": name, "properties": {**made, "disks": disks}})


def test_a_fleet_whose_template_is_gone_can_be_made_smaller_and_parked(engine, cloud):
    make_templates(cloud)
    created = engine.create(FLEET, "workers", program(3))
    cloud.emulator.store.delete(f"{TEMPLATES}/small")
    cloud.emulator.requests.kept.clear()
    smaller = engine.update(created, program(2))
    assert smaller.outputs["generation"] == created.outputs["generation"]
    assert [instance["labels"]["tier"] for instance in instances(cloud, smaller)] == ["web", "web"]
    engine.update(smaller, program(0))
    assert len(cloud.calls(DELETE)) == 3
    assert cloud.calls(BULK) == []


def test_members_that_are_behind_a_template_that_is_gone_are_not_touched(engine, cloud):
    make_templates(cloud)
    created = engine.create(FLEET, "workers", program(3))
    fail_after(cloud, START, 1)
    with failing() as failed:
        engine.update(created, program(3, "medium"))
    cloud.emulator.store.delete(f"{TEMPLATES}/medium")
    before = instances(cloud, created)
    with failing() as again:
        engine.update(left_by(failed[0], created), program(3, "medium"))
    assert "sourceInstanceTemplate: must name something that exists" in again[0].message
    assert instances(cloud, created) == before


def test_the_way_back_from_a_pause_is_not_refused_because_of_members_that_have_the_previous_properties(engine, cloud):
    make_templates(cloud)
    created = engine.create(FLEET, "workers", program(4))
    canary = {**program(4, pauseAfter=1), "instanceProperties": BIGGER_DISK}
    paused = engine.update(created, canary)
    cloud.emulator.requests.kept.clear()
    engine.log.messages.clear()
    engine.preview_update(paused, {**program(4), "maxDeleted": 1})
    assert any("at most 4 members are replaced" in text for _, _, text in engine.log.messages)
    engine.update(paused, {**program(4), "maxDeleted": 1})
    assert len(cloud.calls(DELETE)) == 1


def test_the_preview_after_a_pause_knows_the_machine_type_of_the_template(engine, cloud):
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(machineType="n2-standard-2")})
    inputs = {**program(3), "sourceInstanceTemplate": made.outputs["selfLink"]}
    other = {**inputs, "instanceProperties": {"machineType": "c3-standard-4"}}
    created = engine.create(FLEET, "workers", other)
    paused = engine.refresh(engine.update(created, {**inputs, "updatePolicy": one_at_a_time({"pauseAfter": 1})}))
    before = {item["id"] for item in instances(cloud, paused)}
    engine.log.messages.clear()
    engine.preview_update(paused, inputs)

    assert any("2 members are replaced" in text for _, _, text in engine.log.messages)
    with failing() as failed:
        engine.preview_update(paused, {**inputs, "updatePolicy": one_at_a_time({"mostDisruptiveAction": "RESTART"})})
    assert "does not allow this change, which needs REPLACE" in failed[0].message
    updated = engine.update(paused, inputs)
    assert len(before & {member["id"] for member in updated.outputs["members"]}) == 1


@pytest.mark.parametrize("link", ["selfLink", "selfLinkUnique"])
def test_a_preview_says_that_a_template_of_the_same_name_may_change_no_member(cloud, link):
    stack = Stack(cloud)

    def up(machine: str) -> None:
        made = {"name": "base", **template(machineType=machine)}
        of_it = {**program(2), "sourceInstanceTemplate": Output("base", link)}
        stack.up({"base": Declared(TEMPLATE, made), "workers": Declared(FLEET, of_it)})
        assert stack.failed is None

    up("e2-small")
    cloud.emulator.requests.kept.clear()
    up("e2-medium")
    words = "\n".join(stack.messages)

    assert (
        "sourceInstanceTemplate is not known yet; if it stays the same link, no member changes: a selfLink does"
        in words
    )
    assert not PreviewWords.among(stack.messages).members("replaced").certain
    assert len(cloud.calls(START)) == (2 if link == "selfLinkUnique" else 0)
