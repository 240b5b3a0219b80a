"""A fleet keeps its members: whatever is edited is refused with words, replaces the fleet, or leaves all of them in it."""

from __future__ import annotations

import attrs
import driver
import grpc
import pytest
from driver import UNKNOWN, failing
from programs import FLEET, PROJECT, TEMPLATE, fleet, template

PLACE = f"projects/{PROJECT}/regions/us-east1"
ROLE = {"role": "worker"}


def _instance(name):
    return f"projects/{PROJECT}/zones/us-east1-b/instances/{name}"


def _names(resource):
    return [member["name"] for member in resource.outputs["members"]]


@attrs.frozen
class _Made:
    """A fleet in its state, and the program that describes it."""

    resource: driver.Resource
    program: dict


def _made(engine, by):
    created = engine.create(FLEET, "workers", fleet(labels=ROLE))
    if by == "made":
        return _Made(created, fleet(labels=ROLE))
    if by == "named":
        return _Made(created, fleet(labels=ROLE, fleetId=created.outputs["fleetId"]))
    forms = {"id": created.id, "label": f"{PLACE}/labels/role=worker", "pattern": f"{PLACE}/namePattern/web-###"}
    imported = engine.import_(FLEET, "workers", forms[by])
    return _Made(imported, {name: value for name, value in imported.inputs.items() if not name.startswith("__")})


def _with(program, **properties):
    return {**program, "instanceProperties": {**program["instanceProperties"], **properties}}


def _without(program, name):
    kept = {key: value for key, value in program["instanceProperties"].items() if key != name}
    return {**program, "instanceProperties": kept}


EDITS = {
    "the label is left out": lambda program: _with(program, labels={"other": "1"}),
    "all labels are left out": lambda program: _without(program, "labels"),
    "the labels are empty": lambda program: _with(program, labels={}),
    "the labels are null": lambda program: _with(program, labels=None),
    "the label is null": lambda program: _with(program, labels={"role": None}),
    "the label is empty": lambda program: _with(program, labels={"role": ""}),
    "the label has another value": lambda program: _with(program, labels={"role": "server"}),
    "another label joins": lambda program: _with(program, labels={**ROLE, "other": "1"}),
    "the label's value is secret": lambda program: _with(program, labels={"role": driver.secret("server")}),
    "our label is written": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": "mine"}),
    "our label is null": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": None}),
    "our label is empty": lambda program: _with(program, labels={**ROLE, "gcpx-bulk": ""}),
    "another pattern": lambda program: {**program, "namePattern": "db-###"},
    "a wider pattern": lambda program: {**program, "namePattern": "web-####"},
    "names in place of the pattern": lambda program: {
        **{name: value for name, value in program.items() if name not in {"namePattern", "count"}},
        "perInstanceProperties": {"alpha": {}, "beta": {}},
    },
    "another fleetId": lambda program: {**program, "fleetId": "another"},
    "found by a label from now on": lambda program: {**program, "fleetId": "labels/role=worker"},
    "found by a pattern from now on": lambda program: {**program, "fleetId": "namePattern/web-###"},
    "found by our label from now on": lambda program: {**program, "fleetId": "labels/gcpx-bulk=mine"},
    "more members": lambda program: {**program, "count": 5},
    "fewer members": lambda program: {**program, "count": 2},
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("by", ["made", "named", "id", "label", "pattern"])
def test_an_edit_is_refused_replaces_or_keeps_every_member(engine, cloud, by, edit):
    made = _made(engine, by)
    program = edit(made.program)
    response = engine.check(FLEET, "workers", program, made.resource.inputs)
    if response.failures:
        assert all("must" in failure.reason for failure in response.failures), response.failures
        return
    found = engine.diff(made.resource, program)
    if found.deleteBeforeReplace:
        engine.delete(made.resource)
    updated = engine.create(FLEET, "again", program) if found.replaces else engine.update(made.resource, program)
    if found.replaces and not found.deleteBeforeReplace:
        engine.delete(made.resource)

    assert updated.outputs["createdCount"] == program.get("count", 2)
    assert engine.refresh(updated).outputs["members"] == updated.outputs["members"]


@pytest.mark.parametrize(
    ("by", "edit", "path", "words"),
    [
        ("label", "the label is left out", "instanceProperties.labels.role", "must be worker"),
        ("label", "all labels are left out", "instanceProperties.labels.role", "must be worker"),
        ("label", "the labels are null", "instanceProperties.labels.role", "must be worker"),
        ("label", "the label is null", "instanceProperties.labels.role", "must be worker"),
        ("label", "the label has another value", "instanceProperties.labels.role", "must be worker"),
        ("made", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("label", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("pattern", "our label is null", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("pattern", "another pattern", "namePattern", "must be web-###"),
        ("pattern", "names in place of the pattern", "perInstanceProperties.alpha", "must fit web-###"),
        ("made", "found by our label from now on", "fleetId", "must be mine"),
    ],
)  # fmt: skip
def test_what_would_lose_members_is_refused_with_words(engine, by, edit, path, words):
    made = _made(engine, by)
    response = engine.check(FLEET, "workers", EDITS[edit](made.program), made.resource.inputs)

    assert words in driver.reasons(response.failures)[path]


@pytest.mark.parametrize("labels", [UNKNOWN, {"role": UNKNOWN}], ids=["all", "one"])
def test_labels_that_are_not_known_yet_are_judged_when_they_are(engine, labels):
    made = _made(engine, "label")
    assert not engine.check(FLEET, "workers", _with(made.program, labels=labels), made.resource.inputs).failures

    late = engine.check(FLEET, "workers", _with(made.program, labels={"role": "server"}), made.resource.inputs)
    assert late.failures, "the engine checks again once values are known, before anything is changed"


def test_the_label_of_a_template_removes_no_member(engine, cloud):
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"gcpx-bulk": "another", **ROLE})})
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLink"],
    }
    created = engine.create(FLEET, "workers", inputs)

    assert _names(created) == ["t-1", "t-2"]
    assert cloud.get(_instance("t-1"))["labels"]["gcpx-bulk"] == created.outputs["fleetId"]


@pytest.mark.parametrize("fleet_id", ["labels/role=worker", "namePattern/t-#"])
def test_members_of_a_fleet_with_another_label_join_no_other_fleet(engine, cloud, fleet_id):
    other = engine.create(FLEET, "other", fleet(fleetId="another", count=1))
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"gcpx-bulk": "another"})})
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "fleetId": fleet_id,
        "sourceInstanceTemplate": made.outputs["selfLink"],
        "instanceProperties": {"labels": ROLE},
    }
    assert _names(engine.create(FLEET, "workers", inputs)) == ["t-1", "t-2"]

    assert cloud.get(_instance("t-1"))["labels"] == ROLE
    assert engine.refresh(other).outputs["createdCount"] == 1


def test_an_instance_without_the_label_is_not_a_member_of_a_fleet_with_an_empty_label(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"team": ""}))
    cloud.make_instance("stranger")
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/team=")

    assert _names(imported) == _names(created)


def test_our_label_imports_as_the_fleet_that_it_names(engine):
    created = engine.create(FLEET, "workers", fleet())
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/gcpx-bulk={created.outputs['fleetId']}")

    assert (imported.id, imported.inputs["fleetId"]) == (created.id, created.outputs["fleetId"])


STRANGERS = {
    "our label": {"fleetId": "crew"},
    "another label": {"fleetId": "labels/role=worker", "labels": ROLE},
    "a pattern": {"fleetId": "namePattern/web-###"},
}


@pytest.mark.parametrize("own", STRANGERS.values(), ids=STRANGERS.keys())
def test_a_new_fleet_takes_no_instances_that_are_there(engine, cloud, own):
    cloud.make_instance("web-007")
    cloud.change(_instance("web-007"), lambda body: body.update(labels={**ROLE, "gcpx-bulk": "crew"}))
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(2, **own))

    assert failed[0].code == grpc.StatusCode.ALREADY_EXISTS
    assert failed[0].partial is None
    assert failed[0].message.startswith(
        "fleetId: must match no existing instance in us-east1: 1 instances, such as web-007"
    )
    for words in ("Choose another", "pulumi import", "deleteBeforeReplace"):
        assert words in failed[0].message
    assert cloud.calls("compute.regionInstances") == []


def test_a_fleet_of_another_resource_is_not_shared(engine):
    first = engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    with failing() as failed:
        engine.create(FLEET, "others", fleet(2, fleetId="crew"))

    assert "deleteBeforeReplace" in failed[0].message
    assert engine.refresh(first) == first


@pytest.mark.parametrize("own", STRANGERS.values(), ids=STRANGERS.keys())
def test_a_creation_whose_answer_was_lost_goes_on_with_what_it_made(engine, cloud, own):
    cloud.fail("compute.regionInstances.bulkInsert", drop="after")
    cloud.fail("compute.regionInstances.bulkInsert", times=1000, status=503)
    inputs = engine.checked(FLEET, "workers", fleet(2, **own))
    with failing() as failed:
        engine.stub.Create(
            driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"), properties=driver.struct(inputs), timeout=1)
        )
    assert failed[0].partial is None
    cloud.emulator.faults.queue.clear()

    assert _names(engine.create(FLEET, "workers", fleet(2, **own))) == ["web-001", "web-002"]


def test_a_stranger_that_joined_what_a_lost_creation_made_is_not_taken(engine, cloud):
    engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    cloud.make_instance("stranger")
    cloud.change(_instance("stranger"), lambda body: body.update(labels={"gcpx-bulk": "crew"}))
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(2, fleetId="crew"))

    assert "3 instances" in failed[0].message


def test_resources_that_make_one_fleet_at_once_make_it_once(engine, cloud):
    def create(number):
        inputs = engine.checked(FLEET, f"fleet-{number}", fleet(2, fleetId="crew"))
        request = driver.rpc.CreateRequest(urn=engine.urn(FLEET, f"fleet-{number}"), properties=driver.struct(inputs))
        return engine.stub.Create.future(request)

    calls = [create(number) for number in range(16)]
    codes = [call.code() for call in calls]  # waits for each
    made = [call.result() for call in calls if call.code() == grpc.StatusCode.OK]

    assert set(codes) == {grpc.StatusCode.OK, grpc.StatusCode.ALREADY_EXISTS}
    assert [driver.plain(found.properties)["createdCount"] for found in made] == [2]
    assert cloud.emulator.store.counts()["instances"] == 2
