"""What somebody changes on members outside Pulumi: a refresh shows it, the preview names it, the update sets it back."""

from __future__ import annotations

from typing import Any

import pytest
from engines.driver import failing
from engines.stack import Declared, Stack
from rolling.fleets import instance_path, member_names, set_limits, stop
from rolling.rollouts import BROKEN, DELETE, SET_LABELS, START, STOP, left_by, rolling
from values.programs import FLEET, fleet

LIST = "compute.instances.list"
SET_TYPE = "compute.instances.setMachineType"
GIVEN = {
    "labels": {"team": "web"},
    "tags": {"items": ["http"]},
    "metadata": {"items": [{"key": "mode", "value": "fast"}]},
}


def given(count: int = 3, policy: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the inputs of a fleet whose members have labels, tags and metadata."""
    return fleet(count, **GIVEN, **more) if policy is None else rolling(count, policy, **GIVEN, **more)


def resize(cloud: Any, name: str, machine_type: str = "e2-medium") -> None:
    """Give an instance another machine type, as somebody might by hand."""

    def change(body: dict[str, Any]) -> None:
        body["machineType"] = f"{body['machineType'].rpartition('/')[0]}/{machine_type}"

    cloud.change(instance_path(name), change)


def relabel(cloud: Any, name: str, **labels: str) -> None:
    """Set labels of an instance."""
    cloud.change(instance_path(name), lambda body: body["labels"].update(labels))


def machine_types(cloud: Any, *names: str) -> list[str]:
    """Return the machine types of instances."""
    return [cloud.get(instance_path(name))["machineType"].rpartition("/")[2] for name in names]


def differs(resource: Any) -> dict[str, list[str]]:
    """Return what differs, by the name of the member."""
    return {item["name"]: item["differs"] for item in resource.outputs["members"] if "differs" in item}


def said(engine: Any, severity: str = "INFO") -> str:
    """Return what the plugin has told the user, and forget it."""
    text = "\n".join(text for level, _, text in engine.log.messages if level == severity)
    engine.log.messages.clear()
    return text


def paths(engine: Any, resource: Any, program: dict[str, Any]) -> list[str]:
    """Return the paths that a diff shows; none of them may replace the fleet."""
    found = engine.diff(resource, program)
    assert not found.replaces
    return list(found.detailedDiff)


@pytest.mark.parametrize("policy", [None, {}, {"maxUnavailable": 2}, {"pauseAfter": 1}], ids=str)
def test_a_refresh_without_changes_shows_none(engine, cloud, policy):
    program = given(3, policy)
    created = engine.create(FLEET, "workers", program)
    relabel(cloud, "web-001", added="by-hand")
    refreshed = engine.refresh(created)

    assert refreshed.outputs == created.outputs
    assert paths(engine, refreshed, program) == []
    assert said(engine, "WARNING") == ""


@pytest.mark.parametrize("policy", [None, {"maxUnavailable": 1}], ids=["all at once", "rolling"])
def test_what_somebody_has_changed_is_shown_named_and_set_back(engine, cloud, policy):
    program = given(4, policy)
    created = engine.create(FLEET, "workers", program)
    resize(cloud, "web-001")
    relabel(cloud, "web-002", team="db", added="by-hand")
    cloud.change(instance_path("web-003"), lambda body: body["tags"].update(items=["ssh"]))
    cloud.change(instance_path("web-003"), lambda body: body["metadata"].update(items=[{"key": "mode", "value": "x"}]))
    cloud.emulator.requests.kept.clear()
    refreshed = engine.refresh(created)

    assert differs(refreshed) == {"web-001": ["machineType"], "web-002": ["labels"], "web-003": ["metadata", "tags"]}
    assert set(cloud.calls()) == {LIST}, "the list tells all"
    shown = said(engine, "WARNING")
    assert "3 of 4 members differ from the program: web-001 (machineType), web-002 (labels), web-003 (metadata" in shown
    assert differs(engine.refresh(refreshed)) == differs(refreshed), "a second refresh forgets nothing"
    assert paths(engine, refreshed, program) == ["members"]

    said(engine)
    engine.preview_update(refreshed, program)
    words = said(engine)
    assert "1 member is restarted: web-001" in words
    assert "2 members are changed without a restart: web-002, web-003" in words
    assert "3 members are set back: " in words
    assert all(one in words for one in ("web-001 (machineType)", "web-002 (labels)", "web-003 (metadata, tags)"))

    cloud.emulator.requests.kept.clear()
    updated = engine.update(refreshed, program)
    assert differs(updated) == {}
    assert (len(cloud.calls(STOP)), len(cloud.calls(DELETE))) == (1, 0)
    assert machine_types(cloud, "web-001", "web-002") == ["e2-small", "e2-small"]
    assert (
        cloud.get(instance_path("web-002"))["labels"] | {"team": "web", "added": "by-hand"}
        == (cloud.get(instance_path("web-002"))["labels"])
    )
    again = engine.refresh(updated)
    assert (differs(again), paths(engine, again, program)) == ({}, [])
    first, last = (cloud.get(instance_path(name))["labels"] for name in ("web-001", "web-004"))
    assert first == last, "no label of the restart is left"


@pytest.mark.parametrize("policy", [None, {}], ids=["all at once", "rolling"])
def test_an_update_sets_back_only_what_the_preview_has_named(engine, cloud, policy):
    created = engine.create(FLEET, "workers", given(3, policy))
    relabel(cloud, "web-001", team="db")
    resize(cloud, "web-002")
    cloud.emulator.requests.kept.clear()
    engine.update(created, given(4, policy))

    assert (cloud.calls(SET_LABELS), cloud.calls(STOP)) == ([], [])
    assert cloud.get(instance_path("web-001"))["labels"]["team"] == "db"


def test_members_are_set_back_in_batches_of_the_policy(engine, cloud):
    program = given(4, {"maxUnavailable": 2})
    created = engine.create(FLEET, "workers", program)
    for number in range(1, 5):
        resize(cloud, f"web-00{number}")
    refreshed = engine.refresh(created)
    said(engine)
    engine.preview_update(refreshed, program)
    words = said(engine)
    assert "4 members are restarted" in words
    assert "2 batches; at least 2 of 4 members run at any time" in words

    engine.update(refreshed, program)
    assert machine_types(cloud, "web-001", "web-004") == ["e2-small", "e2-small"]


@pytest.mark.parametrize("policy", [{"mostDisruptiveAction": "REFRESH"}, {"maxSurge": 1}])
def test_what_the_policy_does_not_allow_stays_and_blocks_nothing(engine, cloud, policy):
    program = given(3, policy)
    created = engine.create(FLEET, "workers", program)
    resize(cloud, "web-002")
    refreshed = engine.refresh(created)
    assert "; not set back, because updatePolicy does not allow it: web-002 (machineType)" in said(engine, "WARNING")
    assert paths(engine, refreshed, program) == []

    grown = engine.update(refreshed, given(4, policy))
    assert machine_types(cloud, "web-002") == ["e2-medium"]
    assert differs(grown) == {"web-002": ["machineType"]}


def test_a_machine_type_stays_as_it_is_if_no_member_may_be_unavailable(engine, cloud):
    program = given(3, {"maxUnavailable": 0, "maxSurge": 1})
    created = engine.create(FLEET, "workers", program)
    resize(cloud, "web-002")
    refreshed = engine.refresh(created)
    assert paths(engine, refreshed, program) == []

    engine.update(refreshed, program)
    assert (cloud.calls(DELETE), cloud.calls(STOP)) == ([], [])


@pytest.mark.parametrize("policy", [None, {"maxUnavailable": 1}], ids=["all at once", "rolling"])
def test_a_refusal_ends_the_restoration_of_that_member_alone(engine, cloud, policy):
    program = given(3, policy)
    created = engine.create(FLEET, "workers", program)
    for name in ("web-001", "web-002", "web-003"):
        resize(cloud, name)
    refreshed = engine.refresh(created)
    cloud.fail(SET_TYPE, operation=BROKEN)
    with failing() as caught:
        engine.update(refreshed, program)

    assert sorted(machine_types(cloud, "web-001", "web-002", "web-003")) == ["e2-medium", "e2-small", "e2-small"]
    assert {cloud.get(instance_path(f"web-00{number}"))["status"] for number in (1, 2, 3)} == {"RUNNING"}
    engine.update(left_by(caught[0], refreshed), program)
    assert machine_types(cloud, "web-001", "web-002", "web-003") == ["e2-small"] * 3


@pytest.mark.parametrize("policy", [None, {}], ids=["all at once", "rolling"])
def test_members_of_a_fallback_keep_what_it_has_changed(engine, cloud, policy):
    set_limits(cloud, zones={"us-east1-b": 2})
    more = {"locationPolicy": {"zones": [{"zone": "zones/us-east1-b"}]}}
    program = given(3, policy, fallbacks=[{"zones": ["us-east1-c"], "machineType": "n2-standard-2"}], **more)
    created = engine.create(FLEET, "workers", program)
    refreshed = engine.refresh(created)
    assert [item.get("fallback") for item in refreshed.outputs["members"]] == [None, None, 0]
    assert differs(refreshed) == {}

    path = instance_path(refreshed.outputs["members"][2]["name"], "us-east1-c")
    wanted = cloud.get(path)["machineType"]
    cloud.change(path, lambda body: body.update(machineType=wanted.replace("n2-standard-2", "e2-small")))
    refreshed = engine.refresh(created)
    assert list(differs(refreshed).values()) == [["machineType"]]
    engine.update(refreshed, program)
    assert cloud.get(path)["machineType"].endswith("n2-standard-2")


def test_the_canary_of_a_pause_is_set_back_and_no_other_member_changes(engine, cloud):
    created = engine.create(FLEET, "workers", given(4, {"pauseAfter": 1}))
    program = given(4, {"pauseAfter": 1}, scheduling={"automaticRestart": False})
    paused = engine.update(created, program)
    relabel(cloud, "web-001", team="db")
    refreshed = engine.refresh(paused)
    assert differs(refreshed) == {"web-001": ["labels"]}
    engine.update(refreshed, program)

    labels = [cloud.get(instance_path(f"web-00{number}"))["labels"] for number in (1, 2, 3, 4)]
    assert labels[0]["team"] == "web"
    assert [item["gcpx-generation"] == labels[0]["gcpx-generation"] for item in labels] == [True, False, False, False]


def test_a_stopped_member_that_rests_is_changed_and_left_stopped(engine, cloud):
    program = given(3, None, onStopped="KEEP")
    created = engine.create(FLEET, "workers", program)
    stop(cloud, "web-002")
    resize(cloud, "web-002")
    refreshed = engine.refresh(created)
    said(engine)
    engine.preview_update(refreshed, program)
    words = said(engine)
    assert "1 member is changed, and left stopped: web-002 (stopped by somebody)" in words
    assert "1 member is set back: web-002 (machineType)" in words

    engine.update(refreshed, program)
    found = cloud.get(instance_path("web-002"))
    assert (machine_types(cloud, "web-002"), found["status"]) == (["e2-small"], "TERMINATED")


@pytest.mark.parametrize("team", ["web", "db"])
def test_an_edited_generation_is_named_before_the_member_is_restarted(engine, cloud, team):
    program = given(3, {})
    created = engine.create(FLEET, "workers", program)
    relabel(cloud, "web-002", **{"gcpx-generation": "00000000-00000000-00000000"})
    with failing() as caught:
        engine.refresh(created)
    refreshed = left_by(caught[0], created)
    said(engine)
    properties = {**program["instanceProperties"], "labels": {"team": team}}
    program = {**program, "instanceProperties": properties}
    engine.preview_update(refreshed, program)
    assert "1 member is restarted: web-002" in said(engine)

    cloud.emulator.requests.kept.clear()
    updated = engine.update(refreshed, program)
    number = cloud.get(instance_path("web-002"))["id"]
    assert [request["path"].rpartition("/instances/")[2] for request in cloud.requests(STOP)] == [f"{number}/stop"]
    labels = [cloud.get(instance_path(name))["labels"] for name in member_names(updated)]
    assert {(item["team"], item["gcpx-generation"]) for item in labels} == {(team, updated.outputs["generation"])}


@pytest.mark.parametrize("most", ["REFRESH", "RESTART", "REPLACE"])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_label_cannot_say_that_a_member_was_created_with_other_properties(engine, cloud, most, is_read):
    program = given(3, {"mostDisruptiveAction": most})
    created = state = engine.create(FLEET, "workers", program)
    right = created.outputs["generation"]
    relabel(cloud, "web-002", **{"gcpx-generation": f"00000000{right[8:]}"})
    ids = {cloud.get(instance_path(name))["id"] for name in member_names(created)}
    if is_read:
        state = engine.refresh(created)
        assert differs(state) == {"web-002": ["labels"]}
        said(engine)
        engine.preview_update(state, program)
        assert "1 member is set back: web-002 (labels)" in said(engine)
    cloud.emulator.requests.kept.clear()
    updated = engine.update(state, {**program, "count": 3 if is_read else 4})

    assert ids <= {member["id"] for member in updated.outputs["members"]}
    assert not cloud.requests("compute.instances.stop")
    assert {cloud.get(instance_path(name))["labels"]["gcpx-generation"] for name in member_names(updated)} == {right}
    assert engine.refresh(updated) == updated


def test_a_removed_label_of_gcpx_is_shown_and_set_back(engine, cloud):
    program = given(3, {})
    created = engine.create(FLEET, "workers", program)
    cloud.change(instance_path("web-002"), lambda body: body["labels"].pop("gcpx-generation"))
    refreshed = engine.refresh(created)
    assert differs(refreshed) == {"web-002": ["labels"]}
    updated = engine.update(refreshed, program)
    assert cloud.get(instance_path("web-002"))["labels"]["gcpx-generation"] == updated.outputs["generation"]


def test_a_template_is_not_read_to_compare_members(engine, cloud):
    template = engine.create("gcpx:compute:InstanceTemplate", "base", {"properties": fleet()["instanceProperties"]})
    own = {"labels": {"team": "web"}}
    program = {**fleet(3), "instanceProperties": own, "sourceInstanceTemplate": template.outputs["selfLink"]}
    created = engine.create(FLEET, "workers", program)
    resize(cloud, "web-001")
    relabel(cloud, "web-002", team="db")
    cloud.emulator.requests.kept.clear()
    refreshed = engine.refresh(created)

    assert set(cloud.calls()) == {LIST}
    assert differs(refreshed) == {"web-002": ["labels"]}


def test_a_refresh_names_the_members_that_are_gone_and_the_preview_those_that_come_back(engine, cloud):
    program = given(4, {"keepNames": True})
    created = engine.create(FLEET, "workers", program)
    assert created.outputs["memberNames"] == ["web-001", "web-002", "web-003", "web-004"]
    for name in ("web-002", "web-003"):
        cloud.emulator.store.delete(instance_path(name))
    refreshed = engine.refresh(created)

    assert "2 members are gone: web-002, web-003" in said(engine)
    assert refreshed.outputs["memberNames"] == ["web-001", "web-004"]
    engine.refresh(refreshed)
    assert "gone" not in said(engine)
    engine.preview_update(refreshed, program)
    assert "2 instances are created: web-002, web-003" in said(engine)
    assert engine.update(refreshed, program).outputs["memberNames"] == created.outputs["memberNames"]


def test_an_update_names_the_members_that_it_has_created(engine):
    created = engine.create(FLEET, "workers", given(2))
    assert "were created" not in said(engine), "the members of a new fleet are in its outputs"
    grown = engine.update(created, given(4))

    assert "2 instances were created: web-003, web-004" in said(engine)
    engine.log.messages.clear()
    engine.update(grown, given(1))
    assert "created" not in said(engine)


def test_a_preview_names_the_instances_that_the_program_adds(engine, cloud):
    def named(*names: str) -> dict[str, Any]:
        program = {**fleet(), "perInstanceProperties": {name: {} for name in names}}
        del program["namePattern"], program["count"]
        return program

    created = engine.create(FLEET, "workers", named("alpha"))
    engine.preview_update(created, named("alpha", "gamma", "beta"))
    assert "2 instances are created: beta, gamma" in said(engine)


@pytest.mark.parametrize("policy", [None, {}], ids=["no policy", "a policy"])
def test_a_member_that_could_not_be_started_again_is_started_by_the_next_update(engine, cloud, policy):
    program = given(3, policy, onStopped="KEEP")
    created = engine.create(FLEET, "workers", program)
    resize(cloud, "web-002")
    refreshed = engine.refresh(created)
    cloud.fail(START, operation=BROKEN)
    with failing() as caught:
        engine.update(refreshed, program)
    assert cloud.get(instance_path("web-002"))["status"] == "TERMINATED"

    left = left_by(caught[0], refreshed)
    said(engine)
    engine.preview_update(left, program)
    assert "1 member is restarted: web-002" in said(engine)
    updated = engine.update(left, program)
    first, second = (cloud.get(instance_path(name)) for name in ("web-001", "web-002"))
    assert (second["status"], second["labels"]) == ("RUNNING", first["labels"])
    assert differs(engine.refresh(updated)) == {}


def test_what_an_update_could_not_set_is_set_by_the_next_one(engine, cloud):
    created = engine.create(FLEET, "workers", given())
    program = given() | {"instanceProperties": {**given()["instanceProperties"], "labels": {"team": "db"}}}
    cloud.fail(SET_LABELS, operation=BROKEN)
    with failing() as caught:
        engine.update(created, program)
    left = left_by(caught[0], created)
    engine.update(left, program)
    assert [cloud.get(instance_path(f"web-00{number}"))["labels"]["team"] for number in (1, 2, 3)] == ["db"] * 3


@pytest.mark.parametrize(
    "ignored", ["instanceProperties.labels", 'instanceProperties["labels"].team', "instanceProperties"]
)
def test_a_changed_setting_that_the_program_ignores_stays_as_it_is(cloud, ignored):
    stack = Stack(cloud)
    stack.up({"workers": Declared(FLEET, given(2))})
    relabel(cloud, "web-002", team="theirs")
    declared = {"workers": Declared(FLEET, given(2), ignore_changes=(ignored,))}
    stack.up(declared, refresh=True)
    assert stack.steps == {}
    assert cloud.get(instance_path("web-002"))["labels"]["team"] == "theirs"

    stack.up({"workers": Declared(FLEET, given(2))}, refresh=True)
    assert cloud.get(instance_path("web-002"))["labels"]["team"] == "web"


def test_another_change_leaves_ignored_settings_as_they_are(cloud):
    stack, ignored = Stack(cloud), ("instanceProperties.labels",)
    stack.up({"workers": Declared(FLEET, given(2))})
    relabel(cloud, "web-002", team="theirs")
    program = given(2)
    program["instanceProperties"] = {**program["instanceProperties"], "machineType": "e2-medium"}
    stack.up({"workers": Declared(FLEET, program, ignore_changes=ignored)}, refresh=True)

    assert machine_types(cloud, "web-001", "web-002") == ["e2-medium", "e2-medium"]
    assert cloud.get(instance_path("web-002"))["labels"]["team"] == "theirs"
    stack.up({"workers": Declared(FLEET, program, ignore_changes=ignored)}, refresh=True)
    assert stack.steps == {}
