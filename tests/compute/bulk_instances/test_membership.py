"""A fleet keeps its members: every edit of its inputs is refused, replaces the fleet, or keeps all members in it."""

from __future__ import annotations

import attrs
import grpc
import pytest
from engines import driver
from engines.driver import UNKNOWN, failing
from rolling.fleets import instance_path, member_names
from values.programs import FLEET, PROJECT, TEMPLATE, fleet, template

PLACE = f"projects/{PROJECT}/regions/us-east1"
ROLE = {"role": "worker"}


@attrs.frozen
class _Deployed:
    """A fleet in its state, and the program that describes it."""

    resource: driver.Resource
    program: dict


def _deployed(engine, origin):
    """Create a fleet, with a generated or an explicit ID, or import it by one of the forms of its ID."""
    created = engine.create(FLEET, "workers", fleet(labels=ROLE))
    if origin == "generated ID":
        return _Deployed(created, fleet(labels=ROLE))
    if origin == "explicit ID":
        return _Deployed(created, fleet(labels=ROLE, fleetId=created.outputs["fleetId"]))
    ids = {
        "import by ID": created.id,
        "import by label": f"{PLACE}/labels/role=worker",
        "import by pattern": f"{PLACE}/namePattern/web-###",
    }
    imported = engine.import_(FLEET, "workers", ids[origin])
    return _Deployed(imported, {name: value for name, value in imported.inputs.items() if not name.startswith("__")})


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
    "found by a label instead": lambda program: {**program, "fleetId": "labels/role=worker"},
    "found by a pattern instead": lambda program: {**program, "fleetId": "namePattern/web-###"},
    "found by our label instead": lambda program: {**program, "fleetId": "labels/gcpx-bulk=mine"},
    "more members": lambda program: {**program, "count": 5},
    "fewer members": lambda program: {**program, "count": 2},
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize(
    "origin", ["generated ID", "explicit ID", "import by ID", "import by label", "import by pattern"]
)
def test_an_edit_is_refused_or_replaces_the_fleet_or_keeps_every_member(engine, cloud, origin, edit):
    deployed = _deployed(engine, origin)
    program = edit(deployed.program)
    response = engine.check(FLEET, "workers", program, deployed.resource.inputs)
    if response.failures:
        assert all("must" in failure.reason for failure in response.failures), response.failures
        return
    found = engine.diff(deployed.resource, program)
    if found.replaces and engine.failures(FLEET, program):
        return
    if found.replaces and found.deleteBeforeReplace:
        engine.delete(deployed.resource)
    updated = engine.create(FLEET, "again", program) if found.replaces else engine.update(deployed.resource, program)
    if found.replaces and not found.deleteBeforeReplace:
        engine.delete(deployed.resource)

    assert updated.outputs["memberCount"] == program.get("count", 2)
    assert engine.refresh(updated).outputs["members"] == updated.outputs["members"]


@pytest.mark.parametrize(
    ("origin", "edit", "path", "words"),
    [
        ("import by label", "the label is left out", "instanceProperties.labels.role", "must be worker"),
        ("import by label", "all labels are left out", "instanceProperties.labels.role", "must be worker"),
        ("import by label", "the labels are null", "instanceProperties.labels.role", "must be worker"),
        ("import by label", "the label is null", "instanceProperties.labels.role", "must be worker"),
        ("import by label", "the label has another value", "instanceProperties.labels.role", "must be worker"),
        ("generated ID", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("import by label", "our label is written", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("import by pattern", "our label is null", "instanceProperties.labels.gcpx-bulk", "must not be set"),
        ("import by pattern", "another pattern", "namePattern", "must be web-###"),
        ("import by pattern", "names in place of the pattern", "perInstanceProperties.alpha", "must fit web-###"),
        ("generated ID", "found by our label instead", "fleetId", "must be mine"),
    ],
)  # fmt: skip
def test_an_edit_that_would_lose_members_is_refused(engine, origin, edit, path, words):
    deployed = _deployed(engine, origin)
    response = engine.check(FLEET, "workers", EDITS[edit](deployed.program), deployed.resource.inputs)

    assert words in driver.reasons(response.failures)[path]


@pytest.mark.parametrize("labels", [UNKNOWN, {"role": UNKNOWN}], ids=["all", "one"])
def test_labels_that_are_not_known_yet_are_checked_when_they_are(engine, labels):
    deployed = _deployed(engine, "import by label")
    assert not engine.check(FLEET, "workers", _with(deployed.program, labels=labels), deployed.resource.inputs).failures

    late = engine.check(FLEET, "workers", _with(deployed.program, labels={"role": "server"}), deployed.resource.inputs)
    assert late.failures, "the engine checks again once values are known, before anything is changed"


def test_the_tracking_label_of_a_template_takes_no_member_away(engine, cloud):
    made = engine.create(TEMPLATE, "base", {"name": "base", **template(labels={"gcpx-bulk": "another", **ROLE})})
    inputs = {
        "region": "us-east1",
        "count": 2,
        "namePattern": "t-#",
        "sourceInstanceTemplate": made.outputs["selfLink"],
    }
    created = engine.create(FLEET, "workers", inputs)

    assert member_names(created) == ["t-1", "t-2"]
    assert cloud.get(instance_path("t-1"))["labels"]["gcpx-bulk"] == created.outputs["fleetId"]


def test_an_instance_without_the_label_is_not_a_member_of_a_fleet_with_an_empty_label(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(labels={"team": ""}))
    cloud.make_instance("other")
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/team=")

    assert member_names(imported) == member_names(created)


def test_an_import_by_the_tracking_label_is_one_by_fleet_id(engine):
    created = engine.create(FLEET, "workers", fleet())
    imported = engine.import_(FLEET, "again", f"{PLACE}/labels/gcpx-bulk={created.outputs['fleetId']}")

    assert (imported.id, imported.inputs["fleetId"]) == (created.id, created.outputs["fleetId"])


def test_a_new_fleet_refuses_instances_that_exist_already(engine, cloud):
    cloud.make_instance("web-007")
    cloud.change(instance_path("web-007"), lambda body: body.update(labels={**ROLE, "gcpx-bulk": "crew"}))
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(2, fleetId="crew"))

    assert failed[0].code == grpc.StatusCode.ALREADY_EXISTS
    assert failed[0].partial is None
    assert failed[0].message.startswith(
        "fleetId: must match no existing instance in us-east1: 1 instance matches it and was not created by this resource: web-007"
    )
    for words in ("choose another", "pulumi import", "deleteBeforeReplace"):
        assert words in failed[0].message
    assert cloud.calls("compute.regionInstances") == []


def test_a_fleet_of_another_resource_is_not_shared(engine):
    first = engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    with failing() as failed:
        engine.create(FLEET, "others", fleet(2, fleetId="crew"))

    assert "The resource workers of this stack manages it: choose another ID" in failed[0].message
    assert engine.refresh(first) == first


def test_a_creation_whose_response_was_lost_is_continued(clocked_engine, engine, cloud):
    cloud.fail("compute.regionInstances.bulkInsert", drop="after")
    cloud.fail("compute.regionInstances.bulkInsert", times=1000, status=503)
    cloud.fail("compute.regionOperations.list", times=1000, status=403)
    inputs = engine.checked(FLEET, "workers", fleet(2, fleetId="crew"))
    with failing() as failed:
        clocked_engine.stub.Create(
            driver.rpc.CreateRequest(urn=engine.urn(FLEET, "workers"), properties=driver.struct(inputs))
        )
    assert failed[0].partial is not None
    clocked_engine.log.wait_until_said("CustomEndpoint); looking for what was created")
    cloud.emulator.faults.queue.clear()

    # Even if the state was lost, too, the next creation finds the instances.
    assert member_names(engine.create(FLEET, "workers", fleet(2, fleetId="crew"))) == ["web-001", "web-002"]


def test_an_instance_that_joined_after_a_lost_response_is_refused(engine, cloud):
    engine.create(FLEET, "workers", fleet(2, fleetId="crew"))
    cloud.make_instance("other")
    cloud.change(instance_path("other"), lambda body: body.update(labels={"gcpx-bulk": "crew"}))
    with failing() as failed:
        engine.create(FLEET, "workers", fleet(2, fleetId="crew"))

    assert "1 instance matches it" in failed[0].message


def test_resources_that_create_the_same_fleet_at_once_create_it_once(engine, cloud):
    def create(number):
        inputs = engine.checked(FLEET, f"fleet-{number}", fleet(2, fleetId="crew"))
        request = driver.rpc.CreateRequest(urn=engine.urn(FLEET, f"fleet-{number}"), properties=driver.struct(inputs))
        return engine.stub.Create.future(request)

    calls = [create(number) for number in range(16)]
    codes = [call.code() for call in calls]  # waits for each
    made = [call.result() for call in calls if call.code() == grpc.StatusCode.OK]

    assert set(codes) == {grpc.StatusCode.OK, grpc.StatusCode.ALREADY_EXISTS}
    assert [driver.plain(found.properties)["memberCount"] for found in made] == [2]
    assert cloud.emulator.store.counts()["instances"] == 2


def test_the_first_list_of_a_process_names_the_zones_for_later_ones(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=6, locationPolicy={"targetShape": "BALANCED"}))
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        cloud.emulator.requests.kept.clear()
        assert another.refresh(created) == another.refresh(created) == created

    assert cloud.calls() == ["compute.instances.aggregatedList", *["compute.instances.list"] * 3]
    assert cloud.requests("compute.instances.aggregatedList")[0]["query"]["includeAllScopes"] == "true"
    zones = {entry["path"].split("/")[-2] for entry in cloud.requests("compute.instances.list")}
    assert zones == {"us-east1-b", "us-east1-c", "us-east1-d"}


def test_after_a_zone_is_gone_all_zones_are_listed_at_once_again(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    cloud.fail("compute.instances.list", status=404, message="The zone was not found")
    cloud.emulator.requests.kept.clear()

    assert engine.refresh(created) == created
    assert cloud.calls()[-1] == "compute.instances.aggregatedList"
    cloud.emulator.requests.kept.clear()
    assert engine.refresh(created) == created
    assert cloud.calls() == ["compute.instances.list"] * 3


def test_members_are_listed_at_once_if_the_list_names_no_zone_of_the_region(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as another:
        cloud.fail("compute.instances.aggregatedList", body='{"kind": "compute#instanceAggregatedList"}')
        with driver.failing() as failed:
            another.refresh(created)
        assert "has no zones" in failed[0].message, "an incomplete list does not mean that the fleet is gone"
        cloud.emulator.requests.kept.clear()
        assert another.refresh(created) == created

    assert cloud.calls() == ["compute.instances.aggregatedList"]


def test_members_that_another_stack_created_later_are_not_taken_for_those_of_an_earlier_fleet(engine, cloud):
    inputs = fleet(2, fleetId="crew")
    engine.delete(engine.create(FLEET, "workers", inputs))
    cloud.clock.advance(60)
    engine.stack = "prod"
    others = engine.create(FLEET, "workers", fleet(1, fleetId="crew"))
    engine.stack = "dev"
    with failing() as failed:
        engine.create(FLEET, "workers", inputs)

    assert failed[0].partial is None
    assert "was not created by this resource" in failed[0].message
    assert engine.refresh(others) == others
